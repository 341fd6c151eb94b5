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
        uint32_t cleared;               /* so many rows have been zeroed */
        JBLOCKROW row[MAX_SAMP_FACTOR]; /* that libjpeg has asked for */
    } array[COEFFICIENT_ARRAYS];
    jvirt_barray_ptr list[COEFFICIENT_ARRAYS];
    unsigned lent; /* arrays that libjpeg has asked for */
};

/* Lends the planes of img to an object of libjpeg, one for each component, for
 * as long as both live. Rows are zeroed when they are first written to. */
void coefficient_arrays_lend(struct coefficient_arrays *blocks,
                             const struct image *img, j_common_ptr cinfo);

/* Makes an object of libjpeg use the lent arrays when it asks for some, one for
 * each component. Its client_data must begin with this struct. */
void coefficient_arrays_offer(j_common_ptr cinfo);

/* Zeroes the rows that have not been written to. */
void coefficient_arrays_finish(struct coefficient_arrays *blocks);

#endif
