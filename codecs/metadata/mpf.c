/* The list of pictures in a Multi-Picture Format segment (CIPA DC-007, 5.2).
 *
 * The header leads to the index IFD, whose tag MPEntry holds 16 bytes for each
 * picture; its link leads to the attribute IFD. These two are all we follow. */
#include "codecs/metadata/mpf.h"

#include <string.h>

#include "codecs/base/byte_order.h"

enum { HEADER = 8, IFD_ENTRY = 12, MP_ENTRY = 16 };
enum { TYPE_UNDEFINED = 7 };

enum {
    TAG_MP_ENTRY = 0xb002,
    /* From here to here: the orientation of a panorama, and how the viewpoints
     * lie (5.2.4.3 to 5.2.4.15). */
    TAG_PAN_ORIENTATION = 0xb201,
    TAG_ROLL_ANGLE = 0xb20d,
};

/* MP Type Code, the lower 24 bits of the attribute (5.2.3.3.1). */
enum { CLASS = 0xff0000, CLASS_LARGE_THUMBNAIL = 0x010000 };

/* How many entries the IFD at `start` has within the block. */
static size_t ifd_count(const struct mpf *mpf, const uint8_t *block,
                        size_t size, size_t start)
{
    if (start < HEADER || start > size || size - start < 2)
        return 0;
    size_t claimed = read_uint(block + start, 2, mpf->big);
    size_t there = (size - start - 2) / IFD_ENTRY;
    return claimed < there ? claimed : there;
}

static void look_for_places(struct mpf *mpf, const uint8_t *block, size_t size,
                            size_t start)
{
    size_t count = ifd_count(mpf, block, size, start);
    for (size_t i = 0; i < count; i++) {
        uint32_t tag =
            read_uint(block + start + 2 + i * IFD_ENTRY, 2, mpf->big);
        if (tag >= TAG_PAN_ORIENTATION && tag <= TAG_ROLL_ANGLE)
            mpf->places = true;
    }
}

/* A list that claims more than there is has what is there. */
static void take_list(struct mpf *mpf, size_t size, const uint8_t *entry)
{
    size_t bytes = read_uint(entry + 4, 4, mpf->big);
    size_t at = read_uint(entry + 8, 4, mpf->big);
    if (mpf->count || read_uint(entry + 2, 2, mpf->big) != TYPE_UNDEFINED ||
        bytes < MP_ENTRY || at < HEADER || at > size)
        return;
    mpf->entries = at;
    mpf->count = (bytes < size - at ? bytes : size - at) / MP_ENTRY;
}

bool mpf_open(struct mpf *mpf, const uint8_t *block, size_t size)
{
    *mpf = (struct mpf){ 0 };
    if (size < HEADER)
        return false;
    mpf->big = block[0] == 'M';
    if (memcmp(block, mpf->big ? "MM\0*" : "II*", 4) != 0)
        return false;
    size_t start = read_uint(block + 4, 4, mpf->big);
    size_t count = ifd_count(mpf, block, size, start);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *entry = block + start + 2 + i * IFD_ENTRY;
        if (read_uint(entry, 2, mpf->big) == TAG_MP_ENTRY)
            take_list(mpf, size, entry);
    }
    size_t link = start + 2 + count * IFD_ENTRY;
    look_for_places(mpf, block, size, start);
    if (count && size - link >= 4)
        look_for_places(mpf, block, size, read_uint(block + link, 4, mpf->big));
    return mpf->count > 0;
}

struct mpf_entry mpf_get(const struct mpf *mpf, const uint8_t *block, size_t i)
{
    const uint8_t *at = block + mpf->entries + i * MP_ENTRY;
    uint32_t attribute = read_uint(at, 4, mpf->big);
    return (struct mpf_entry){
        .size = read_uint(at + 4, 4, mpf->big),
        .offset = read_uint(at + 8, 4, mpf->big),
        .preview = (attribute & CLASS) == CLASS_LARGE_THUMBNAIL,
    };
}

void mpf_put(const struct mpf *mpf, uint8_t *block, size_t i,
             struct mpf_entry entry)
{
    uint8_t *at = block + mpf->entries + i * MP_ENTRY;
    write_uint(at + 4, 4, mpf->big, entry.size);
    write_uint(at + 8, 4, mpf->big, entry.offset);
}
