/* The thumbnail in an EXIF block. */
#include "codecs/metadata/exif_thumbnail.h"

#include <string.h>

#include "codecs/image/budget.h"
#include "codecs/metadata/exif_directories.h"

enum { COMPRESSION_JPEG = 6 };

/* EXIF 2.3, 4.5.5: a JPEG thumbnail lies where JPEGInterchangeFormat says. */
static bool find_jpeg(const struct tiff *tiff, const struct tiff_ifd *ifd1,
                      size_t *at, size_t *length)
{
    uint32_t offset, bytes;
    if (!tiff_number(tiff, tiff_find(tiff, ifd1, TAG_JPEG_OFFSET), &offset) ||
        !tiff_number(tiff, tiff_find(tiff, ifd1, TAG_JPEG_LENGTH), &bytes))
        return false;
    *at = offset;
    *length = bytes;
    return offset >= TIFF_HEADER && bytes > 0 &&
           tiff_contains(tiff, offset, bytes);
}

/* Number `i` of an entry that holds SHORT or LONG. */
static bool get_nth(const struct tiff *tiff, size_t entry, size_t i,
                    uint32_t *number)
{
    size_t at, length;
    if (!entry || !budget_look(TIFF_ENTRY) ||
        !tiff_values(tiff, entry, &at, &length))
        return false;
    unsigned type = tiff_type(tiff, entry), bytes = tiff_type_size[type];
    if ((type != TIFF_SHORT && type != TIFF_LONG) || i >= length / bytes)
        return false;
    *number = tiff_get(tiff, at + i * bytes, bytes);
    return true;
}

/* Any other one lies in strips (TIFF 6.0, section 3), which follow each other
 * in all files known: where one does not, we stop. */
static bool find_strips(const struct tiff *tiff, const struct tiff_ifd *ifd1,
                        size_t *at, size_t *length)
{
    size_t offsets = tiff_find(tiff, ifd1, TAG_STRIP_OFFSETS);
    size_t counts = tiff_find(tiff, ifd1, TAG_STRIP_BYTE_COUNTS);
    uint32_t offset, bytes;
    *length = 0;
    for (size_t i = 0;
         get_nth(tiff, offsets, i, &offset) && get_nth(tiff, counts, i, &bytes);
         i++) {
        if (i == 0)
            *at = offset;
        if (offset < TIFF_HEADER || bytes == 0 || offset != *at + *length ||
            !tiff_contains(tiff, offset, bytes))
            break;
        *length += bytes;
    }
    return *length > 0;
}

/* Returns the IFD of the thumbnail; an empty one if there is none. */
static struct tiff_ifd open_ifd1(struct tiff *tiff, const uint8_t *data,
                                 size_t size)
{
    struct tiff_ifd ifd[EXIF_IFDS];
    exif_directories_open(tiff, ifd, data, size);
    return ifd[IFD1];
}

unsigned exif_thumbnail_orientation(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    struct tiff_ifd ifd1 = open_ifd1(&tiff, data, size);
    return exif_directories_orientation(&tiff, &ifd1);
}

void exif_thumbnail_exchange(uint8_t *data, size_t size)
{
    struct tiff tiff;
    struct tiff_ifd ifd1 = open_ifd1(&tiff, data, size);
    exif_directories_exchange(&tiff, data, &ifd1);
}

/* The Compression tag is often missing or wrong. It decides only where there
 * are strips as well. */
bool exif_thumbnail_find(const uint8_t *data, size_t size, size_t *offset,
                         size_t *length)
{
    struct tiff tiff;
    struct tiff_ifd ifd1 = open_ifd1(&tiff, data, size);
    if (!find_jpeg(&tiff, &ifd1, offset, length) || *length < 2 ||
        memcmp(data + *offset, "\xff\xd8", 2) != 0)
        return false;
    uint32_t compression = COMPRESSION_JPEG;
    tiff_number(&tiff, tiff_find(&tiff, &ifd1, TAG_COMPRESSION), &compression);
    size_t strips, bytes;
    return compression == COMPRESSION_JPEG ||
           !find_strips(&tiff, &ifd1, &strips, &bytes);
}

bool exif_thumbnail_exists(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    struct tiff_ifd ifd1 = open_ifd1(&tiff, data, size);
    size_t at, length;
    return find_jpeg(&tiff, &ifd1, &at, &length) ||
           find_strips(&tiff, &ifd1, &at, &length);
}

/* A number that fits into a SHORT may not do so afterwards. */
static void set_number(const struct tiff *tiff, uint8_t *data, size_t entry,
                       size_t number)
{
    tiff_put(tiff, data, entry + TIFF_ENTRY_TYPE, 2, TIFF_LONG);
    tiff_put(tiff, data, entry + TIFF_ENTRY_VALUE, 4, (uint32_t)number);
}

/* Takes `length` bytes away, unless something else stands there. */
static void erase(struct bytes *exif, size_t at, size_t length)
{
    struct tiff tiff;
    if (!tiff_open(&tiff, exif->data, exif->size) ||
        !tiff_contains(&tiff, at, length) ||
        exif_directories_use(&tiff, at, at + length))
        return;
    memset(exif->data + at, 0, length);
    if (at + length == exif->size)
        exif->size = at;
}

/* Puts the file where the old one is, if it fits or if the block ends there;
 * else behind the end, on a word boundary (TIFF 6.0, section 2). At the end it
 * is cut rather than filled up, so that turn after turn the block stays as
 * small as its thumbnail. */
int exif_thumbnail_set(struct bytes *exif, const void *jpeg, size_t length)
{
    size_t at, old;
    if (!exif_thumbnail_find(exif->data, exif->size, &at, &old))
        return 0;
    struct tiff tiff;
    struct tiff_ifd ifd1 = open_ifd1(&tiff, exif->data, exif->size);
    const size_t offset = tiff_find(&tiff, &ifd1, TAG_JPEG_OFFSET);
    const size_t bytes = tiff_find(&tiff, &ifd1, TAG_JPEG_LENGTH);
    bool stays = !exif_directories_use(&tiff, at, at + old) &&
                 (length <= old || at + old == exif->size);
    size_t to = stays ? at : exif->size + (exif->size & 1);
    if (length > UINT32_MAX || to > UINT32_MAX - length)
        return -1;
    size_t end = to + length;
    if (end > exif->size && !bytes_reserve(exif, end - exif->size))
        return -1;

    erase(exif, at, old);
    while (exif->size < to)
        exif->data[exif->size++] = 0;
    if (exif->size < end)
        exif->size = end;
    memcpy(exif->data + to, jpeg, length);
    set_number(&tiff, exif->data, offset, to);
    set_number(&tiff, exif->data, bytes, length);
    return 0;
}

void exif_thumbnail_drop(struct bytes *exif)
{
    struct tiff tiff;
    struct tiff_ifd ifd1 = open_ifd1(&tiff, exif->data, exif->size);
    if (!ifd1.start)
        return;
    const size_t link = tiff_ifd_at(&tiff, tiff_get(&tiff, 4, 4)).link;
    size_t at, length, strips_at, strips_length;
    bool jpeg = find_jpeg(&tiff, &ifd1, &at, &length);
    bool strips = find_strips(&tiff, &ifd1, &strips_at, &strips_length);
    if (jpeg)
        erase(exif, at, length);
    if (strips)
        erase(exif, strips_at, strips_length);
    tiff_put(&tiff, exif->data, link, 4, 0);
}

bool exif_thumbnail_overlaps(const struct tiff *tiff, size_t from, size_t to)
{
    struct tiff same;
    struct tiff_ifd ifd1 = open_ifd1(&same, tiff->data, tiff->size);
    size_t at, length;
    return (find_jpeg(tiff, &ifd1, &at, &length) &&
            exif_directories_overlap(from, to, at, at + length)) ||
           (find_strips(tiff, &ifd1, &at, &length) &&
            exif_directories_overlap(from, to, at, at + length));
}
