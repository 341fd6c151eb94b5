/* Strips of rows of MCUs coded side by side, and joined to what would have been
 * written in one go, bit for bit. */
#ifndef CODECS_JPEG_STRIPS_H
#define CODECS_JPEG_STRIPS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/bytes.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/mcus.h"

/* Whether c, which has not been started, is set to write one scan with Huffman
 * codes; then m are its MCUs. */
bool strips_suit(struct mcus *m, const struct jpeg_compress_struct *c);

struct strips;

/* Codes the blocks of img as c is set to code them, whose Huffman tables are
 * set. NULL: it is not worth while, or cannot be done. */
struct strips *strips_code(const struct jpeg_compress_struct *c,
                           const struct mcus *m, const struct image *img,
                           struct thread_pool *pool);

/* Appends the entropy-coded data of all of them. False: no memory. */
bool strips_join(struct strips *strips, struct bytes *file,
                 struct thread_pool *pool);

/* Fine on NULL. */
void strips_free(struct strips *strips);

#endif
