/* Thumbnails within metadata. */
#ifndef CODECS_METADATA_THUMBNAIL_H
#define CODECS_METADATA_THUMBNAIL_H

#include "codecs/codec.h"

/* Turns the thumbnail of an EXIF block, whose tags are true of img already, so
 * that it lies as img does. `tag` is the orientation that the thumbnail
 * had, 1..8, or 0. The block grows to no more than `room` bytes; a thumbnail
 * that cannot be turned, or no longer fits, is dropped with a warning, since
 * one that lies on its side is worse than none. Fails only without memory. */
int thumbnail_turn_exif(struct bytes *exif, size_t room, unsigned tag,
                        const struct image *img, const struct save_opts *opts,
                        struct err *err);

/* Makes `out`, which is empty, a JPEG file without its metadata, turned so that
 * it lies as img does. On failure it may hold a part. */
int thumbnail_turn_file(struct bytes *out, struct bytes file,
                        const struct image *img, const struct save_opts *opts,
                        struct err *err);

/* Turns *width x *height pixels of `bytes` each in place, and makes the size
 * what it is after. Fails only without memory. */
int thumbnail_turn_pixels(uint8_t *pixels, size_t bytes, uint8_t *width,
                          uint8_t *height, enum xform t, struct err *err);

#endif
