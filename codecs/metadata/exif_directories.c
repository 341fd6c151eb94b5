/* The directories of an EXIF block. */
#include "codecs/metadata/exif_directories.h"

#include <string.h>

#include "codecs/image/budget.h"
#include "codecs/metadata/axes.h"

static struct tiff_ifd ifd_of(const struct tiff *tiff,
                              const struct tiff_ifd *parent, unsigned tag)
{
    uint32_t start = 0;
    tiff_number(tiff, tiff_find(tiff, parent, tag), &start);
    return tiff_ifd_at(tiff, start);
}

static void find_all(const struct tiff *tiff, struct tiff_ifd ifd[EXIF_IFDS])
{
    enum { EXIF = 2, GPS, INTEROP };
    ifd[IFD0] = tiff_ifd_at(tiff, tiff_get(tiff, 4, 4));
    ifd[IFD1] = tiff_ifd_at(tiff, ifd->link ? tiff_get(tiff, ifd->link, 4) : 0);
    ifd[EXIF] = ifd_of(tiff, &ifd[IFD0], TAG_EXIF_IFD);
    ifd[GPS] = ifd_of(tiff, &ifd[IFD0], TAG_GPS_IFD);
    ifd[INTEROP] = ifd_of(tiff, &ifd[EXIF], TAG_INTEROP_IFD);
    for (unsigned i = 1; i < EXIF_IFDS; i++)
        for (unsigned j = 0; j < i; j++)
            if (ifd[i].start == ifd[j].start)
                ifd[i] = (struct tiff_ifd){ 0 };
}

void exif_directories_open(struct tiff *tiff, struct tiff_ifd ifd[EXIF_IFDS],
                           const uint8_t *data, size_t size)
{
    memset(ifd, 0, EXIF_IFDS * sizeof *ifd);
    if (tiff_open(tiff, data, size))
        find_all(tiff, ifd);
}

unsigned exif_directories_orientation(const struct tiff *tiff,
                                      const struct tiff_ifd *ifd)
{
    uint32_t orientation = 0;
    tiff_number(tiff, tiff_find(tiff, ifd, TAG_ORIENTATION), &orientation);
    return orientation <= 8 ? orientation : 0;
}

/* Type and count go with the value, or with its offset: nothing has to move,
 * and the tags stay in their order. */
static void exchange(const struct tiff *tiff, uint8_t *data,
                     const struct tiff_ifd *ifd, unsigned tag_x, unsigned tag_y)
{
    size_t x = tiff_find(tiff, ifd, tag_x), y = tiff_find(tiff, ifd, tag_y);
    if (!x || !y)
        return;
    axes_exchange_bytes(data + x + TIFF_ENTRY_TYPE, data + y + TIFF_ENTRY_TYPE,
                        TIFF_ENTRY - TIFF_ENTRY_TYPE);
}

static const uint16_t exchanged[][2] = {
    { TAG_IMAGE_WIDTH, TAG_IMAGE_LENGTH },
    { TAG_X_RESOLUTION, TAG_Y_RESOLUTION },
    { TAG_RELATED_WIDTH, TAG_RELATED_LENGTH },
    { TAG_PIXEL_X_DIMENSION, TAG_PIXEL_Y_DIMENSION },
    { TAG_FOCAL_X_RESOLUTION, TAG_FOCAL_Y_RESOLUTION },
};

void exif_directories_exchange(const struct tiff *tiff, uint8_t *data,
                               const struct tiff_ifd *ifd)
{
    for (size_t i = 0; i < sizeof exchanged / sizeof *exchanged; i++)
        exchange(tiff, data, ifd, exchanged[i][0], exchanged[i][1]);
}

bool exif_directories_use(const struct tiff *tiff, size_t from, size_t to)
{
    struct tiff_ifd ifd[EXIF_IFDS];
    find_all(tiff, ifd);
    for (unsigned i = 0; i < EXIF_IFDS; i++) {
        size_t end = ifd[i].link ? ifd[i].link + 4 : ifd[i].end;
        if (exif_directories_overlap(from, to, ifd[i].start, end))
            return true;
        size_t entry = ifd[i].start + 2, at, length;
        if (!budget_look(end - ifd[i].start))
            return true;
        for (; entry < ifd[i].end; entry += TIFF_ENTRY)
            if (tiff_values(tiff, entry, &at, &length) &&
                exif_directories_overlap(from, to, at, at + length))
                return true;
    }
    return false;
}
