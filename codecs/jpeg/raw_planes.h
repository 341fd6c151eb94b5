/* The samples that a JPEG file stores, each component in a plane of its own
 * size, without conversion of colors or resampling. */
#ifndef CODECS_JPEG_RAW_PLANES_H
#define CODECS_JPEG_RAW_PLANES_H

#include <stdio.h>

#include <jpeglib.h>

#include "codecs/image/image.h"

/* Reads all rows of d, which has been started for raw data, into img, whose
 * planes have the sizes of its components. d may be a part of the picture that
 * begins with row `first`, where a row of MCUs begins; rows from `end` on are
 * dropped. */
void raw_planes_read(j_decompress_ptr d, const struct image *img,
                     uint32_t first, uint32_t end);

/* Writes rows of img to c, which has been started for raw data, from row
 * `first` on, where a row of MCUs begins. The last column and row are repeated
 * up to the end of their blocks, in the padding of img. */
void raw_planes_write(j_compress_ptr c, const struct image *img,
                      uint32_t first);

#endif
