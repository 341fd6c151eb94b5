/* Planes of blocks as the memory in which libjpeg keeps the coefficients of a
 * picture, or of some rows of it, so that they are decoded into their planes
 * and encoded from them without being copied. */
#ifndef CODECS_JPEG_COEFFICIENT_ARRAYS_H
#define CODECS_JPEG_COEFFICIENT_ARRAYS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

enum { COEFFICIENT_ARRAYS = 4 };

struct coefficient_arrays {
    struct jvirt_barray_control {
        const struct plane *plane;
        /* Rows of the plane from `first` up to `end`, of which those up to
         * `cleared` have been zeroed, or need not be. */
        uint32_t first, end, cleared;
        /* libjpeg may see more rows than these, all of them alike: `lead` rows
         * before, rows of the picture's last MCUs below the plane, rows after
         * `end`. NULL: there are none, and below the plane is what it has room
         * for. */
        uint32_t lead;
        JBLOCKROW before, below, behind;
        JBLOCKROW row[MAX_SAMP_FACTOR]; /* those that libjpeg looks at */
    } array[COEFFICIENT_ARRAYS];
    jvirt_barray_ptr list[COEFFICIENT_ARRAYS];
    unsigned lent; /* how many of them libjpeg has asked for */
};

/* Lends the planes of img to one object of libjpeg, one a component, for as
 * long as both live. Rows are zeroed when they are first written to. */
void coefficient_arrays_lend(struct coefficient_arrays *blocks,
                             const struct image *img, j_common_ptr cinfo);

/* The same for some rows of MCUs, `down` rows of blocks of each component in
 * one of these. */
void coefficient_arrays_lend_rows(struct coefficient_arrays *blocks,
                                  const struct image *img, j_common_ptr cinfo,
                                  const uint32_t down[COEFFICIENT_ARRAYS],
                                  uint32_t first, uint32_t end);

/* Gives them to an object of libjpeg that asks for arrays, one a component. Its
 * client_data begins with the blocks. */
void coefficient_arrays_offer(j_common_ptr cinfo);

/* Zeroes what has not been written to. */
void coefficient_arrays_finish(struct coefficient_arrays *blocks);

/* Whether all coefficients are among those for which the Huffman tables of
 * T.81, Annex K have a code. */
bool coefficient_arrays_are_standard(const struct image *img,
                                     struct thread_pool *pool);

#endif
