/* Directories of a TIFF structure, and the numbers in them. */
#include "codecs/metadata/tiff.h"

#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"

const uint8_t tiff_type_size[TIFF_BIG_TYPES] = {
    0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8,
};

uint32_t tiff_get(const struct tiff *tiff, size_t at, unsigned bytes)
{
    return read_uint(tiff->data + at, bytes, tiff->big);
}

bool tiff_contains(const struct tiff *tiff, size_t at, uint64_t length)
{
    return at <= tiff->size && length <= tiff->size - at;
}

bool tiff_open(struct tiff *tiff, const uint8_t *data, size_t size)
{
    *tiff = (struct tiff){ .data = data, .size = size };
    if (size < TIFF_HEADER)
        return false;
    tiff->big = data[0] == 'M';
    return memcmp(data, tiff->big ? "MM\0*" : "II*", 4) == 0;
}

struct tiff_ifd tiff_ifd_at(const struct tiff *tiff, size_t start)
{
    struct tiff_ifd ifd = { 0 };
    if (start < TIFF_HEADER || !tiff_contains(tiff, start, 2))
        return ifd;
    size_t claimed = tiff_get(tiff, start, 2);
    size_t count = (tiff->size - start - 2) / TIFF_ENTRY;
    if (claimed < count)
        count = claimed;
    ifd.start = start;
    ifd.end = start + 2 + count * TIFF_ENTRY;
    if (count == claimed && tiff_contains(tiff, ifd.end, 4))
        ifd.link = ifd.end;
    return ifd;
}

bool tiff_add_orientation(struct bytes *file, bool big_endian, bool big,
                          const struct tiff_ifd *ifd, unsigned orientation)
{
    enum { TAG_ORIENTATION = 274 };
    const unsigned head = big ? 8 : 2, wide = big ? 8 : 4, entry = 4 + 2 * wide;
    const size_t padding = file->size % 2,
                 most = padding + ifd->end - ifd->start + entry + wide;
    bool added = false;
    if (!bytes_reserve(file, most))
        return false;
    uint8_t *const made = file->data + file->size + padding, *to = made + head;
    memset(made - padding, 0, most);
    for (size_t at = ifd->start + head; at < ifd->end || !added;) {
        const uint8_t *from = file->data + at;
        const uint64_t tag =
            at < ifd->end ? read_uint(from, 2, big_endian) : UINT16_MAX + 1;
        if (tag > TAG_ORIENTATION && !added) {
            write_uint(to, 2, big_endian, TAG_ORIENTATION);
            write_uint(to + 2, 2, big_endian, TIFF_SHORT);
            write_uint(to + 4, wide, big_endian, 1);
            write_uint(to + 4 + wide, 2, big_endian, orientation);
            added = true;
            to += entry;
            continue;
        }
        if (tag != TAG_ORIENTATION) {
            memcpy(to, from, entry);
            to += entry;
        }
        at += entry;
    }
    write_uint(made, head, big_endian, (size_t)(to - made) / entry);
    if (ifd->link)
        memcpy(to, file->data + ifd->link, wide);
    file->size = (size_t)(to + wide - file->data);
    return true;
}

size_t tiff_find_from(const struct tiff *tiff, const struct tiff_ifd *ifd,
                      size_t at, unsigned tag)
{
    const size_t from = at;
    while (at < ifd->end && tiff_get(tiff, at, 2) != tag)
        at += TIFF_ENTRY;
    return account_look(at - from) && at < ifd->end ? at : 0;
}

size_t tiff_find(const struct tiff *tiff, const struct tiff_ifd *ifd,
                 unsigned tag)
{
    return tiff_find_from(tiff, ifd, ifd->start + 2, tag);
}

unsigned tiff_type(const struct tiff *tiff, size_t entry)
{
    return tiff_get(tiff, entry + TIFF_ENTRY_TYPE, 2);
}

uint32_t tiff_count(const struct tiff *tiff, size_t entry)
{
    return tiff_get(tiff, entry + TIFF_ENTRY_COUNT, 4);
}

bool tiff_number(const struct tiff *tiff, size_t entry, uint32_t *number)
{
    if (!entry || tiff_count(tiff, entry) != 1)
        return false;
    unsigned type = tiff_type(tiff, entry);
    if (type != TIFF_BYTE && type != TIFF_SHORT && type != TIFF_LONG &&
        type != TIFF_IFD)
        return false;
    *number = tiff_get(tiff, entry + TIFF_ENTRY_VALUE, tiff_type_size[type]);
    return true;
}

bool tiff_values(const struct tiff *tiff, size_t entry, size_t *at,
                 size_t *length)
{
    unsigned type = tiff_type(tiff, entry);
    if (type >= TIFF_TYPES)
        return false;
    uint64_t bytes = (uint64_t)tiff_count(tiff, entry) * tiff_type_size[type];
    *at = entry + TIFF_ENTRY_VALUE;
    if (bytes > 4)
        *at = tiff_get(tiff, *at, 4);
    *length = (size_t)bytes;
    return tiff_contains(tiff, *at, bytes);
}

void tiff_put(const struct tiff *tiff, uint8_t *data, size_t at, unsigned bytes,
              uint32_t value)
{
    write_uint(data + at, bytes, tiff->big, value);
}

/* ---- The list of pictures of MPF (CIPA DC-007, 5.2) -----------------------
 *
 * The header leads to the index IFD, whose tag MPEntry holds 16 bytes for each
 * picture. */

enum { MP_ENTRY = 16, TAG_MP_ENTRY = 0xb002 };

/* MP Type Code, the lower 24 bits of the attribute (5.2.3.3.1). */
enum { CLASS = 0xff0000, CLASS_LARGE_THUMBNAIL = 0x010000 };

/* If the list claims more entries than there are, these count. */
bool mpf_open(struct mpf *mpf, const uint8_t *block, size_t size)
{
    struct tiff *tiff = &mpf->tiff;
    *mpf = (struct mpf){ .count = 0 };
    if (!tiff_open(tiff, block, size))
        return false;
    struct tiff_ifd ifd = tiff_ifd_at(tiff, tiff_get(tiff, 4, 4));
    for (size_t entry = ifd.start + 2; entry < ifd.end && !mpf->count;
         entry += TIFF_ENTRY) {
        size_t bytes = tiff_count(tiff, entry);
        const size_t at = tiff_get(tiff, entry + TIFF_ENTRY_VALUE, 4);
        if (tiff_get(tiff, entry, 2) != TAG_MP_ENTRY ||
            tiff_type(tiff, entry) != TIFF_UNDEFINED || bytes < MP_ENTRY ||
            at < TIFF_HEADER || at > tiff->size)
            continue;
        bytes = bytes < tiff->size - at ? bytes : tiff->size - at;
        mpf->entries = at;
        mpf->count = bytes / MP_ENTRY;
    }
    return account_look(ifd.end - ifd.start) && mpf->count > 0;
}

struct mpf_entry mpf_get(const struct mpf *mpf, size_t i)
{
    const struct tiff *tiff = &mpf->tiff;
    size_t at = mpf->entries + i * MP_ENTRY;
    return (struct mpf_entry){
        .size = tiff_get(tiff, at + 4, 4),
        .offset = tiff_get(tiff, at + 8, 4),
        .preview = (tiff_get(tiff, at, 4) & CLASS) == CLASS_LARGE_THUMBNAIL,
    };
}

void mpf_put(const struct mpf *mpf, uint8_t *block, size_t i,
             struct mpf_entry entry)
{
    size_t at = mpf->entries + i * MP_ENTRY;
    tiff_put(&mpf->tiff, block, at + 4, 4, entry.size);
    tiff_put(&mpf->tiff, block, at + 8, 4, entry.offset);
}
