/* Planes of blocks lent to libjpeg as the memory of its coefficients, so that
 * it decodes into planes and encodes from them without a copy. */
#ifndef CODECS_JPEG_COEFFICIENT_ARRAYS_H
#define CODECS_JPEG_COEFFICIENT_ARRAYS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/image/image.h"

enum { COEFFICIENT_ARRAYS = 4 };

struct coefficient_arrays {
    struct jvirt_barray_control {
        const struct plane *plane;
        /* Rows of the plane, of which those up to `cleared` have been zeroed,
         * or need not be. */
        uint32_t first, end, cleared;
        /* Rows that libjpeg sees around these: `lead` times the row `before`;
         * `below` for each row of the last MCUs below the plane; `behind` for
         * each row from `end` on. NULL: there are none, and below the plane is
         * the memory that it has there. */
        uint32_t lead;
        JBLOCKROW before, below, behind;
        JBLOCKROW row[MAX_SAMP_FACTOR]; /* that libjpeg has asked for */
    } array[COEFFICIENT_ARRAYS];
    jvirt_barray_ptr list[COEFFICIENT_ARRAYS];
    unsigned lent; /* arrays that libjpeg has asked for */
};

/* Lends the planes of img to an object of libjpeg, one for each component, for
 * as long as both live. Rows are zeroed when they are first written to. */
void coefficient_arrays_lend(struct coefficient_arrays *blocks,
                             const struct image *img, j_common_ptr cinfo);

/* The same for some rows of MCUs, each of which has `down` rows of blocks of
 * each component. */
void coefficient_arrays_lend_rows(struct coefficient_arrays *blocks,
                                  const struct image *img, j_common_ptr cinfo,
                                  const uint32_t down[COEFFICIENT_ARRAYS],
                                  uint32_t first, uint32_t end);

/* Makes an object of libjpeg use the lent arrays when it asks for some, one for
 * each component. Its client_data must begin with this struct. */
void coefficient_arrays_offer(j_common_ptr cinfo);

/* Zeroes the rows that have not been written to. */
void coefficient_arrays_finish(struct coefficient_arrays *blocks);

#endif
