/* The list of pictures in a Multi-Picture Format segment (CIPA DC-007, 5.2).
 *
 * The header leads to the index IFD, whose tag MPEntry holds 16 bytes for each
 * picture; its link leads to the attribute IFD. These two are all we follow. */
#include "codecs/metadata/mpf.h"

#include <string.h>

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

static uint32_t get(bool big, const uint8_t *at, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | at[big ? i : bytes - 1 - i];
    return value;
}

static void put32(bool big, uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++, value >>= 8)
        at[big ? 3 - i : i] = value & 0xff;
}

/* How many entries the IFD at `start` has within the block. */
static size_t ifd_count(const struct mpf *mpf, const uint8_t *block,
                        size_t size, size_t start)
{
    if (start < HEADER || start > size || size - start < 2)
        return 0;
    size_t claimed = get(mpf->big, block + start, 2);
    size_t there = (size - start - 2) / IFD_ENTRY;
    return claimed < there ? claimed : there;
}

static void look_for_places(struct mpf *mpf, const uint8_t *block, size_t size,
                            size_t start)
{
    size_t count = ifd_count(mpf, block, size, start);
    for (size_t i = 0; i < count; i++) {
        uint32_t tag = get(mpf->big, block + start + 2 + i * IFD_ENTRY, 2);
        if (tag >= TAG_PAN_ORIENTATION && tag <= TAG_ROLL_ANGLE)
            mpf->places = true;
    }
}

/* A list that claims more than there is has what is there. */
static void take_list(struct mpf *mpf, size_t size, const uint8_t *entry)
{
    size_t bytes = get(mpf->big, entry + 4, 4);
    size_t at = get(mpf->big, entry + 8, 4);
    if (mpf->count || get(mpf->big, entry + 2, 2) != TYPE_UNDEFINED ||
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
    size_t start = get(mpf->big, block + 4, 4);
    size_t count = ifd_count(mpf, block, size, start);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *entry = block + start + 2 + i * IFD_ENTRY;
        if (get(mpf->big, entry, 2) == TAG_MP_ENTRY)
            take_list(mpf, size, entry);
    }
    size_t link = start + 2 + count * IFD_ENTRY;
    look_for_places(mpf, block, size, start);
    if (count && size - link >= 4)
        look_for_places(mpf, block, size, get(mpf->big, block + link, 4));
    return mpf->count > 0;
}

struct mpf_entry mpf_get(const struct mpf *mpf, const uint8_t *block, size_t i)
{
    const uint8_t *at = block + mpf->entries + i * MP_ENTRY;
    uint32_t attribute = get(mpf->big, at, 4);
    return (struct mpf_entry){
        .size = get(mpf->big, at + 4, 4),
        .offset = get(mpf->big, at + 8, 4),
        .preview = (attribute & CLASS) == CLASS_LARGE_THUMBNAIL,
    };
}

void mpf_put(const struct mpf *mpf, uint8_t *block, size_t i,
             struct mpf_entry entry)
{
    uint8_t *at = block + mpf->entries + i * MP_ENTRY;
    put32(mpf->big, at + 4, entry.size);
    put32(mpf->big, at + 8, entry.offset);
}
