/* How a picture is divided into MCUs, the smallest units that are coded (T.81,
 * A.2), and rows of them among threads. */
#ifndef CODECS_JPEG_MCUS_H
#define CODECS_JPEG_MCUS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/coefficient_arrays.h"

/* Returns the greatest common divisor. */
uint32_t mcus_common_divisor(uint32_t a, uint32_t b);

struct mcus {
    unsigned components;
    uint32_t columns, rows;
    uint32_t across[COEFFICIENT_ARRAYS]; /* blocks of each component in one */
    uint32_t down[COEFFICIENT_ARRAYS];
    uint32_t wide, high; /* of one, in pixels */
};

/* Sets *m to the MCUs of one scan of all components. Returns false if one scan
 * cannot have so many components. */
bool mcus_of(struct mcus *m, const jpeg_component_info *info, int components,
             uint32_t width, uint32_t height);

/* Returns the blocks of an MCU. */
uint32_t mcus_blocks(const struct mcus *m);

/* Sets the sizes of planes that hold the blocks of a picture of this size. */
void mcus_shape(const struct mcus *m, struct image *img);

/* Returns into how many strips a picture is divided for the threads of a pool;
 * 1 if more are not worthwhile. *per becomes the rows of each; the last one may
 * have fewer. */
size_t mcus_share(const struct mcus *m, const struct thread_pool *pool,
                  uint32_t *per);

/* Finds the rows of strip `i`, from *first up to *end. */
void mcus_strip(const struct mcus *m, uint32_t per, size_t i, uint32_t *first,
                uint32_t *end);

#endif
