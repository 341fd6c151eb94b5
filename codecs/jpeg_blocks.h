/* Planes of blocks as the memory in which libjpeg keeps the coefficients of a
 * picture, so that they are decoded into their planes and encoded from them
 * without being copied. */
#ifndef CODECS_JPEG_BLOCKS_H
#define CODECS_JPEG_BLOCKS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/image.h"

enum { BLOCKS_PLANES = 4 };

struct blocks {
    struct jvirt_barray_control {
        const struct plane *plane;
        uint32_t cleared; /* rows from the first on that have been zeroed */
        JBLOCKROW row[MAX_SAMP_FACTOR]; /* those that libjpeg looks at */
    } array[BLOCKS_PLANES];
    jvirt_barray_ptr list[BLOCKS_PLANES];
};

/* Lends the planes of img to one object of libjpeg, one a component, for as
 * long as both live. Rows are zeroed when they are first written to. */
void blocks_lend(struct blocks *blocks, const struct image *img,
                 j_common_ptr cinfo);

/* Zeroes what has not been written to. */
void blocks_finish(struct blocks *blocks);

/* Whether all coefficients are among those for which the Huffman tables of
 * T.81, Annex K have a code. */
bool blocks_are_standard(const struct image *img);

#endif
