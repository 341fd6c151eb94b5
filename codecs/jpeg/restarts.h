/* A JPEG file with restart markers decoded side by side. */
#ifndef CODECS_JPEG_RESTARTS_H
#define CODECS_JPEG_RESTARTS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/bytes.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

/* Reads the blocks or the samples that the file stores into img, whose planes
 * have been allocated; d has read the headers. Sets *behind to the number of
 * bytes after the end of the picture. False: it is not worth while, or cannot
 * be done, or there is anything odd about the file; the planes mean nothing
 * then. */
bool restarts_read(struct image *img, const struct jpeg_decompress_struct *d,
                   struct bytes file, struct thread_pool *pool, size_t *behind);

#endif
