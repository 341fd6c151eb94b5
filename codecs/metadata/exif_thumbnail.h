/* The thumbnail in an EXIF block, from the TIFF header on. */
#ifndef CODECS_METADATA_EXIF_THUMBNAIL_H
#define CODECS_METADATA_EXIF_THUMBNAIL_H

#include "codecs/base/bytes.h"
#include "codecs/metadata/tiff.h"

/* Finds the thumbnail. Returns false if there is none that is a JPEG file and
 * lies within the block. */
bool exif_thumbnail_find(const uint8_t *exif, size_t size, size_t *offset,
                         size_t *length);

/* Returns whether there is a thumbnail of any kind. One that
 * exif_thumbnail_find() does not find cannot be turned, only dropped. */
bool exif_thumbnail_exists(const uint8_t *exif, size_t size);

/* Returns the orientation tag of the thumbnail, 1..8; 0 if it is missing or has
 * another value. */
unsigned exif_thumbnail_orientation(const uint8_t *exif, size_t size);

/* Returns whether the thumbnail lies in the bytes from `from` up to `to`. */
bool exif_thumbnail_overlaps(const struct tiff *tiff, size_t from, size_t to);

/* Exchanges the axes in the directory of the thumbnail alone, which was turned
 * another way than the picture. */
void exif_thumbnail_exchange(uint8_t *exif, size_t size);

/* Puts another JPEG file, from outside of the block, where
 * exif_thumbnail_find() finds one; does nothing if it finds none. The block,
 * which owns its memory, may grow. Returns 0; or -1 without memory, and then
 * nothing has changed. */
int exif_thumbnail_set(struct bytes *exif, const void *jpeg, size_t length);

/* Takes the thumbnail away, with its directory. The block may get shorter. */
void exif_thumbnail_drop(struct bytes *exif);

#endif
