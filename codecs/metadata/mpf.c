/* The list of pictures in a Multi-Picture Format segment (CIPA DC-007, 5.2).
 *
 * The header leads to the index IFD, whose tag MPEntry holds 16 bytes for each
 * picture; its link leads to the attribute IFD. These two are all we follow. */
#include "codecs/metadata/mpf.h"

#include "codecs/image/budget.h"

enum { MP_ENTRY = 16 };

enum {
    TAG_MP_ENTRY = 0xb002,
    /* From here to here: the orientation of a panorama, and how the viewpoints
     * lie (5.2.4.3 to 5.2.4.15). */
    TAG_PAN_ORIENTATION = 0xb201,
    TAG_ROLL_ANGLE = 0xb20d,
};

/* MP Type Code, the lower 24 bits of the attribute (5.2.3.3.1). */
enum { CLASS = 0xff0000, CLASS_LARGE_THUMBNAIL = 0x010000 };

static void look_for_places(struct mpf *mpf, const struct tiff_ifd *ifd)
{
    if (!budget_look(ifd->end - ifd->start))
        return;
    for (size_t at = ifd->start + 2; at < ifd->end; at += TIFF_ENTRY) {
        uint32_t tag = tiff_get(&mpf->tiff, at, 2);
        if (tag >= TAG_PAN_ORIENTATION && tag <= TAG_ROLL_ANGLE)
            mpf->places = true;
    }
}

/* Finds the list. If it claims more entries than there are, these count. */
static void take_list(struct mpf *mpf, size_t entry)
{
    const struct tiff *tiff = &mpf->tiff;
    size_t bytes = tiff_count(tiff, entry);
    size_t at = tiff_get(tiff, entry + TIFF_ENTRY_VALUE, 4);
    if (mpf->count || tiff_type(tiff, entry) != TIFF_UNDEFINED ||
        bytes < MP_ENTRY || at < TIFF_HEADER || at > tiff->size)
        return;
    mpf->entries = at;
    mpf->count = (bytes < tiff->size - at ? bytes : tiff->size - at) / MP_ENTRY;
}

bool mpf_open(struct mpf *mpf, const uint8_t *block, size_t size)
{
    struct tiff *tiff = &mpf->tiff;
    *mpf = (struct mpf){ .count = 0 };
    if (!tiff_open(tiff, block, size))
        return false;
    struct tiff_ifd ifd = tiff_ifd_at(tiff, tiff_get(tiff, 4, 4));
    for (size_t at = ifd.start + 2; at < ifd.end; at += TIFF_ENTRY)
        if (tiff_get(tiff, at, 2) == TAG_MP_ENTRY)
            take_list(mpf, at);
    look_for_places(mpf, &ifd);
    if (ifd.link) {
        ifd = tiff_ifd_at(tiff, tiff_get(tiff, ifd.link, 4));
        look_for_places(mpf, &ifd);
    }
    return mpf->count > 0;
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
