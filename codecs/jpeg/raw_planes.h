/* The samples that a JPEG file stores, each component in a plane of its own
 * size: without conversion of colors, and without resampling. */
#ifndef CODECS_JPEG_RAW_PLANES_H
#define CODECS_JPEG_RAW_PLANES_H

#include <stdio.h>

#include <jpeglib.h>

#include "codecs/image/image.h"

/* Reads all rows into img, whose planes have the sizes that d has computed for
 * its components. d has been started, for raw data. It may be a part of the
 * picture, which begins with row `first`, a row of MCUs; rows from `end` on are
 * read and lost. */
void raw_planes_read(j_decompress_ptr d, const struct image *img,
                     uint32_t first, uint32_t end);

/* Writes rows of img, whose planes have these sizes as well, from this one on,
 * with which a row of MCUs begins. c has been started, for raw data. What the
 * last blocks have beyond the picture becomes what its last column and row are;
 * the padding of img is used for that. */
void raw_planes_write(j_compress_ptr c, const struct image *img,
                      uint32_t first);

#endif
