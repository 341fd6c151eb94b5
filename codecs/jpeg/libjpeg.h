/* What libjpeg is lent: planes of blocks as its arrays; and what it says of
 * errors.
 *
 * Its own memory is not counted (codecs/base/memory.h): it is some rows, or of
 * several scans the coefficients, which read.c checks by the size of the
 * picture. */
#ifndef CODECS_JPEG_LIBJPEG_H
#define CODECS_JPEG_LIBJPEG_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/image.h"

/* ---- Arrays of blocks ---------------------------------------------------- */

enum { LIBJPEG_ARRAYS = 4 };

struct libjpeg_arrays {
    struct jvirt_barray_control {
        const struct plane *plane;
        JBLOCKROW row[MAX_SAMP_FACTOR]; /* that libjpeg has asked for */
    } array[LIBJPEG_ARRAYS];
    jvirt_barray_ptr list[LIBJPEG_ARRAYS];
    unsigned lent; /* arrays that libjpeg has asked for */
};

/* Lends the planes of img to an object of libjpeg, one for each component, for
 * as long as both live. */
void libjpeg_arrays_lend(struct libjpeg_arrays *blocks, const struct image *img,
                         j_common_ptr cinfo);

/* Makes an object of libjpeg use the lent arrays when it asks for some, one for
 * each component. Its client_data must begin with this struct. */
void libjpeg_arrays_offer(j_common_ptr cinfo);

/* ---- Errors ---------------------------------------------------- */

/* Sets err to the message of libjpeg's error, which may be that memory has run
 * out. */
void libjpeg_describe_error(j_common_ptr cinfo, struct err *err);

#endif
