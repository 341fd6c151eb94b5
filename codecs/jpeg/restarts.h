/* Decodes a JPEG file with restart markers on several threads. */
#ifndef CODECS_JPEG_RESTARTS_H
#define CODECS_JPEG_RESTARTS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/bytes.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

/* Reads the blocks or samples that the file stores into the planes of img,
 * which are allocated; d has read the headers. Sets *behind to the bytes after
 * the end of the picture. Returns false if it is not worthwhile or not
 * possible, or if anything about the file is odd; the planes are undefined
 * then. */
bool restarts_read(struct image *img, const struct jpeg_decompress_struct *d,
                   struct bytes file, struct thread_pool *pool, size_t *behind);

#endif
