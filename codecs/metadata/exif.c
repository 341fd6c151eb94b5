/* Finds and rewrites what an EXIF block says about orientation and size. */
#include "codecs/metadata/exif.h"

#include <string.h>

#include "codecs/metadata/exif_directories.h"

unsigned exif_tag(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    if (!tiff_open(&tiff, data, size))
        return 0;
    struct tiff_ifd ifd0 = tiff_ifd_at(&tiff, tiff_get(&tiff, 4, 4));
    return exif_directories_orientation(&tiff, &ifd0);
}

unsigned exif_orientation(const uint8_t *data, size_t size)
{
    unsigned orientation = exif_tag(data, size);
    return orientation ? orientation : 1;
}

/* ---- The turn -------------------------------------------------------------*/

/* All of them: not every reader takes the first. */
static void set_orientation(const struct tiff *tiff, uint8_t *data,
                            const struct tiff_ifd *ifd, unsigned orientation)
{
    uint32_t old;
    size_t entry = tiff_find(tiff, ifd, TAG_ORIENTATION);
    while (entry) {
        if (tiff_number(tiff, entry, &old))
            tiff_put(tiff, data, entry + TIFF_ENTRY_VALUE,
                     tiff_type_size[tiff_type(tiff, entry)], orientation);
        entry = tiff_find_from(tiff, ifd, entry + TIFF_ENTRY, TAG_ORIENTATION);
    }
}

/* Moves the pixel at (p[0], p[1]) of a picture of size[0] x size[1] to where it
 * is after the turn. Returns false if it was not in the picture. */
static bool turn_point(uint32_t p[2], const uint32_t size[2], enum xform t)
{
    if (p[0] >= size[0] || p[1] >= size[1])
        return false;
    bool flip = xform_transposes(t);
    uint32_t x = p[flip], y = p[!flip];
    p[0] = t & XFORM_MIRROR_X ? size[flip] - 1 - x : x;
    p[1] = t & XFORM_MIRROR_Y ? size[!flip] - 1 - y : y;
    return true;
}

/* EXIF 2.3, SubjectArea: a point; a circle, with its diameter; or a rectangle,
 * by its center, width and height. A place outside of the picture, or one that
 * its type cannot hold after the turn, is left as it is. */
static void turn_subject(const struct tiff *tiff, uint8_t *data, size_t entry,
                         enum xform t, const uint32_t size[2])
{
    size_t at, length;
    if (!entry || !tiff_values(tiff, entry, &at, &length))
        return;
    uint32_t count = tiff_count(tiff, entry), value[4];
    unsigned type = tiff_type(tiff, entry), bytes = tiff_type_size[type];
    if (count < 2 || count > 4 || (type != TIFF_SHORT && type != TIFF_LONG))
        return;
    for (unsigned i = 0; i < count; i++)
        value[i] = tiff_get(tiff, at + i * bytes, bytes);
    if (!turn_point(value, size, t))
        return;
    if (type == TIFF_SHORT && (value[0] > UINT16_MAX || value[1] > UINT16_MAX))
        return;
    if (count == 4 && xform_transposes(t)) {
        uint32_t width = value[2];
        value[2] = value[3];
        value[3] = width;
    }
    for (unsigned i = 0; i < count; i++)
        tiff_put(tiff, data, at + i * bytes, bytes, value[i]);
}

/* A tag is looked for in each directory, also where it does not belong: files
 * have them there, and no tag has two meanings. */
void exif_turn(uint8_t *data, size_t size, enum xform t, unsigned orientation,
               uint32_t width, uint32_t height)
{
    const uint32_t shape[2] = { width, height };
    struct tiff tiff;
    struct tiff_ifd ifd[EXIF_IFDS];
    exif_directories_open(&tiff, ifd, data, size);
    for (unsigned i = 0; i < EXIF_IFDS; i++) {
        size_t area = tiff_find(&tiff, &ifd[i], TAG_SUBJECT_AREA);
        size_t location = tiff_find(&tiff, &ifd[i], TAG_SUBJECT_LOCATION);
        turn_subject(&tiff, data, area, t, shape);
        turn_subject(&tiff, data, location, t, shape);
        if (orientation)
            set_orientation(&tiff, data, &ifd[i], orientation);
        if (xform_transposes(t))
            exif_directories_exchange(&tiff, data, &ifd[i]);
    }
}

void exif_retag(uint8_t *data, size_t size, unsigned orientation, enum xform t)
{
    struct tiff tiff;
    struct tiff_ifd ifd[EXIF_IFDS];
    exif_directories_open(&tiff, ifd, data, size);
    for (unsigned i = 0; i < EXIF_IFDS; i++) {
        unsigned own = exif_directories_orientation(&tiff, &ifd[i]);
        if (i != IFD1)
            set_orientation(&tiff, data, &ifd[i], orientation);
        else if (own)
            set_orientation(&tiff, data, &ifd[i], xform_retag(own, t));
    }
}

/* ---- A tag that was not there ---------------------------------------------*/

/* A block of nothing but an orientation, which is put at its byte 19. */
static const uint8_t smallest[] = {
    'M',        'M', 0, '*', 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0,
    TIFF_SHORT, 0,   0, 0,   1, 0, 1, 0, 0, 0, 0,    0,    0,
};

/* Copies the entries of an IFD, which are in the order of their tags, to `to`,
 * with an orientation among them. Returns how many there are then. */
static unsigned copy_entries(const struct tiff *tiff,
                             const struct tiff_ifd *ifd, uint8_t *data,
                             size_t to, unsigned orientation)
{
    unsigned count = 0;
    size_t at = ifd->start + 2, entry;
    for (bool put_in = false; at < ifd->end || !put_in; count++) {
        unsigned tag = at < ifd->end ? tiff_get(tiff, at, 2) : UINT16_MAX + 1;
        entry = to + count * TIFF_ENTRY;
        if (tag > TAG_ORIENTATION && !put_in) {
            memset(data + entry, 0, TIFF_ENTRY);
            tiff_put(tiff, data, entry, 2, TAG_ORIENTATION);
            tiff_put(tiff, data, entry + TIFF_ENTRY_TYPE, 2, TIFF_SHORT);
            tiff_put(tiff, data, entry + TIFF_ENTRY_COUNT, 4, 1);
            tiff_put(tiff, data, entry + TIFF_ENTRY_VALUE, 2, orientation);
            put_in = true;
            continue;
        }
        if (tag == TAG_ORIENTATION) /* one that cannot be read */
            count--;
        else
            memcpy(data + entry, data + at, TIFF_ENTRY);
        at += TIFF_ENTRY;
    }
    return count;
}

/* IFD0 is written anew behind all else, where it may grow. */
int exif_add_orientation(struct bytes *exif, unsigned orientation)
{
    struct tiff tiff;
    if (exif->size == 0) {
        if (!bytes_append(exif, smallest, sizeof smallest))
            return -1;
        exif->data[19] = (uint8_t)orientation;
        return 0;
    }
    if (!tiff_open(&tiff, exif->data, exif->size))
        return -1;
    struct tiff_ifd ifd0 = tiff_ifd_at(&tiff, tiff_get(&tiff, 4, 4));
    size_t to = exif->size + (exif->size & 1);
    if (!ifd0.start || to > UINT32_MAX ||
        !bytes_reserve(exif, to - exif->size + ifd0.end - ifd0.start +
                                 TIFF_ENTRY + 4))
        return -1;
    uint8_t *data = exif->data;
    tiff.data = data;
    uint32_t link = ifd0.link ? tiff_get(&tiff, ifd0.link, 4) : 0;
    data[exif->size] = 0;
    unsigned count = copy_entries(&tiff, &ifd0, data, to + 2, orientation);
    tiff_put(&tiff, data, to, 2, count);
    exif->size = to + 2 + count * TIFF_ENTRY + 4;
    tiff_put(&tiff, data, exif->size - 4, 4, link);
    tiff_put(&tiff, data, 4, 4, (uint32_t)to);
    return 0;
}

/* ---- Another size ---------------------------------------------------------*/

static void set_size(const struct tiff *tiff, uint8_t *data,
                     const struct tiff_ifd *ifd, unsigned tag, uint32_t size)
{
    uint32_t old;
    size_t entry = tiff_find(tiff, ifd, tag);
    if (tiff_number(tiff, entry, &old) && size <= old)
        tiff_put(tiff, data, entry + TIFF_ENTRY_VALUE,
                 tiff_type_size[tiff_type(tiff, entry)], size);
}

void exif_set_size(uint8_t *data, size_t size, uint32_t width, uint32_t height)
{
    struct tiff tiff;
    struct tiff_ifd ifd[EXIF_IFDS];
    exif_directories_open(&tiff, ifd, data, size);
    for (unsigned i = 0; i < EXIF_IFDS; i++) {
        if (i == IFD1) /* the thumbnail's */
            continue;
        set_size(&tiff, data, &ifd[i], TAG_IMAGE_WIDTH, width);
        set_size(&tiff, data, &ifd[i], TAG_IMAGE_LENGTH, height);
        set_size(&tiff, data, &ifd[i], TAG_PIXEL_X_DIMENSION, width);
        set_size(&tiff, data, &ifd[i], TAG_PIXEL_Y_DIMENSION, height);
    }
}
