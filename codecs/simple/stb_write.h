/* BMP, TGA and HDR files of pictures that come from other formats, written by
 * stb_image_write. A file that is turned within its own format is written by
 * our own code instead, which keeps its header, its depth and its runs.
 *
 * Each function appends a file with the pixels of img to `file`. On failure
 * `file` may hold a part. The library counts in int: a picture of 2^31 samples
 * and more is refused. */
#ifndef CODECS_SIMPLE_STB_WRITE_H
#define CODECS_SIMPLE_STB_WRITE_H

#include "codecs/base/bytes.h"
#include "codecs/image/image.h"
#include "codecs/simple/rgbe.h"

/* CELL_U8: 3 planes become 24 bits a pixel, 4 planes 32 bits with alpha. */
int stb_write_bmp(struct bytes *file, const struct image *img, struct err *err);

/* CELL_U8: 1 to 4 planes, run-length coded. The sides are at most 65535. */
int stb_write_tga(struct bytes *file, const struct image *img, struct err *err);

/* CELL_F32, 3 planes. Samples are rounded to what an HDR can hold; `lost`
 * counts those that were changed by it. */
int stb_write_hdr(struct bytes *file, const struct image *img,
                  struct rgbe_lost *lost, struct err *err);

#endif
