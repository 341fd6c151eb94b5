/* From samples to coefficients, computed by libjpeg on several threads. */
#ifndef CODECS_JPEG_FORWARD_DCT_H
#define CODECS_JPEG_FORWARD_DCT_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/requantize.h"

/* Makes `coded`, which is {0}, the blocks that c is set to write of img.
 * `stored`: the planes of img have the sizes of c's components; else colors and
 * sampling are converted. Coefficients are rounded with this dead zone. */
int forward_dct_blocks(struct image *coded,
                       const struct jpeg_compress_struct *c,
                       const struct image *img, bool stored,
                       enum dead_zone zone, struct thread_pool *pool,
                       struct err *err);

#endif
