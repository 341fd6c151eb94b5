/* The components of a JPEG, made of the pixels of other formats. */
#ifndef CODECS_JPEG_COMPONENTS_H
#define CODECS_JPEG_COMPONENTS_H

#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

/* Makes `made`, which is {0}, what c is set to write of img: YCbCr of RGB, else
 * colors as they are. Components have the sampling of the first one, or half as
 * many columns and rows. */
int components_make(struct image *made, const struct image *img,
                    const struct jpeg_compress_struct *c,
                    struct thread_pool *pool, struct err *err);

#endif
