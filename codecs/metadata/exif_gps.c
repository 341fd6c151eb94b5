/* The GPS directory of an EXIF block, taken out. */
#include "codecs/metadata/exif_gps.h"

#include <string.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/exif_directories.h"
#include "codecs/metadata/exif_thumbnail.h"

/* EXIF 2.32 has 32 tags for GPS; one block leads to them. */
enum { GPS_ENTRIES = 64, GPS_LINKS = 8 };

/* Puts zeros there. Returns false if the bytes belong to something else as
 * well. */
static bool clear(const struct tiff *tiff, uint8_t *data, size_t at,
                  size_t length)
{
    if (at < TIFF_HEADER || !tiff_contains(tiff, at, length) ||
        exif_directories_use(tiff, at, at + length) ||
        exif_thumbnail_overlaps(tiff, at, at + length))
        return false;
    memset(data + at, 0, length);
    return true;
}

/* Clears the values, then the directory, which no entry leads to any more. */
static bool clear_gps(const struct tiff *tiff, uint8_t *data,
                      const struct tiff_ifd *gps)
{
    if ((gps->end - gps->start) / TIFF_ENTRY > GPS_ENTRIES)
        return false;
    for (size_t entry = gps->start + 2; entry < gps->end; entry += TIFF_ENTRY) {
        size_t at, length;
        if (tiff_type(tiff, entry) >= TIFF_TYPES)
            return false;
        if (tiff_values(tiff, entry, &at, &length) && length > 4 &&
            !clear(tiff, data, at, length))
            return false;
    }
    size_t end = gps->link ? gps->link + 4 : gps->end;
    return clear(tiff, data, gps->start, end - gps->start);
}

/* What follows the entry in its directory moves up. */
static void remove_entry(const struct tiff *tiff, uint8_t *data,
                         const struct tiff_ifd *ifd, size_t entry)
{
    size_t end = ifd->link ? ifd->link + 4 : ifd->end;
    memmove(data + entry, data + entry + TIFF_ENTRY, end - entry - TIFF_ENTRY);
    memset(data + end - TIFF_ENTRY, 0, TIFF_ENTRY);
    tiff_put(tiff, data, ifd->start, 2, tiff_get(tiff, ifd->start, 2) - 1);
}

static bool drop_all(uint8_t *data, size_t size)
{
    struct tiff tiff;
    struct tiff_ifd ifd[EXIF_IFDS];
    for (unsigned links = 0; links <= GPS_LINKS; links++) {
        size_t entry = 0;
        unsigned i;
        exif_directories_open(&tiff, ifd, data, size);
        for (i = 0; i < EXIF_IFDS && !entry; i++)
            entry = tiff_find(&tiff, &ifd[i], TAG_GPS_IFD);
        if (!entry)
            return true;
        uint32_t start;
        if (!tiff_number(&tiff, entry, &start))
            return false;
        remove_entry(&tiff, data, &ifd[i - 1], entry);
        struct tiff_ifd gps = tiff_ifd_at(&tiff, start);
        if (gps.start && !clear_gps(&tiff, data, &gps))
            return false;
    }
    return false;
}

/* What lies in another directory may go with a place that claims to be there. */
bool exif_gps_drop(uint8_t *data, size_t size)
{
    const unsigned orientation = exif_orientation(data, size);
    return drop_all(data, size) && exif_orientation(data, size) == orientation;
}
