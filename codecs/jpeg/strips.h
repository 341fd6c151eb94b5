/* Codes strips of rows of MCUs on several threads, and joins them to what one
 * thread would have written, bit for bit. */
#ifndef CODECS_JPEG_STRIPS_H
#define CODECS_JPEG_STRIPS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/bytes.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/mcus.h"

/* Returns whether c, which has not been started, is set to write one scan with
 * Huffman codes. Then *m are its MCUs. */
bool strips_suit(struct mcus *m, const struct jpeg_compress_struct *c);

struct strips;

/* Codes the blocks of img with the settings and Huffman tables of c. Returns
 * NULL if that is not worthwhile or not possible. */
struct strips *strips_code(const struct jpeg_compress_struct *c,
                           const struct mcus *m, const struct image *img,
                           struct thread_pool *pool);

/* Appends the entropy-coded data of all strips. Returns false without memory.
 */
bool strips_join(struct strips *strips, struct bytes *file,
                 struct thread_pool *pool);

/* Fine on NULL. */
void strips_free(struct strips *strips);

#endif
