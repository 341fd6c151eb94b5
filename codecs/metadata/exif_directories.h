/* The directories of an EXIF block (EXIF 2.3, 4.5), for those who read and
 * rewrite it.
 *
 * IFD0 is the picture's; its link leads to IFD1, the thumbnail's; entries lead
 * to the Exif, GPS and Interoperability directories. These five are all we
 * follow, each by one known step, so that no chain of links can keep us going.
 */
#ifndef CODECS_METADATA_EXIF_DIRECTORIES_H
#define CODECS_METADATA_EXIF_DIRECTORIES_H

#include "codecs/metadata/tiff.h"

enum {
    TAG_IMAGE_WIDTH = 0x0100,
    TAG_IMAGE_LENGTH = 0x0101,
    TAG_COMPRESSION = 0x0103,
    TAG_STRIP_OFFSETS = 0x0111,
    TAG_ORIENTATION = 0x0112,
    TAG_STRIP_BYTE_COUNTS = 0x0117,
    TAG_X_RESOLUTION = 0x011a,
    TAG_Y_RESOLUTION = 0x011b,
    TAG_JPEG_OFFSET = 0x0201,
    TAG_JPEG_LENGTH = 0x0202,
    TAG_RELATED_WIDTH = 0x1001,
    TAG_RELATED_LENGTH = 0x1002,
    TAG_EXIF_IFD = 0x8769,
    TAG_GPS_IFD = 0x8825,
    TAG_SUBJECT_AREA = 0x9214,
    TAG_PIXEL_X_DIMENSION = 0xa002,
    TAG_PIXEL_Y_DIMENSION = 0xa003,
    TAG_INTEROP_IFD = 0xa005,
    TAG_FOCAL_X_RESOLUTION = 0xa20e,
    TAG_FOCAL_Y_RESOLUTION = 0xa20f,
    TAG_SUBJECT_LOCATION = 0xa214,
};

enum { IFD0, IFD1, EXIF_IFDS = 5 };

/* Finds the directories of a block. Those that are not there are empty, and so
 * are those that are there twice: a change must be made once. What is not an
 * EXIF block has none. */
void exif_directories_open(struct tiff *tiff, struct tiff_ifd ifd[EXIF_IFDS],
                           const uint8_t *data, size_t size);

/* Returns the orientation in a directory, 1..8; 0 if it is missing or has
 * another value. */
unsigned exif_directories_orientation(const struct tiff *tiff,
                                      const struct tiff_ifd *ifd);

/* Exchanges sizes and densities for x and for y in a directory. */
void exif_directories_exchange(const struct tiff *tiff, uint8_t *data,
                               const struct tiff_ifd *ifd);

/* Returns whether a directory or a value lies in the bytes from `from` up to
 * `to`. A thumbnail that says it lies there has no right to them. */
bool exif_directories_use(const struct tiff *tiff, size_t from, size_t to);

static inline bool exif_directories_overlap(size_t a, size_t a_end, size_t b,
                                            size_t b_end)
{
    return a < b_end && b < a_end;
}

#endif
