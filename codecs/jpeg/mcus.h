/* How a picture is divided into MCUs, the least pieces that are coded (T.81,
 * A.2), and how rows of them are shared out among threads. */
#ifndef CODECS_JPEG_MCUS_H
#define CODECS_JPEG_MCUS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/image/image.h"
#include "codecs/jpeg/coefficient_arrays.h"

/* The greatest one. */
uint32_t mcus_common_divisor(uint32_t a, uint32_t b);

struct mcus {
    unsigned components;
    uint32_t columns, rows;
    uint32_t across[COEFFICIENT_ARRAYS]; /* blocks of each component in one */
    uint32_t down[COEFFICIENT_ARRAYS];
    uint32_t wide, high; /* of one, in pixels */
    unsigned restart; /* how many there are between restart markers; 0: all */
    uint32_t step;    /* with restart markers, each so many rows end at one */
};

/* The MCUs of one scan of all components. False: there are more of these than
 * it can have. */
bool mcus_of(struct mcus *m, const jpeg_component_info *info, int components,
             uint32_t width, uint32_t height, unsigned restart);

/* How many blocks an MCU has. */
uint32_t mcus_blocks(const struct mcus *m);

/* Sets the sizes of planes that hold the blocks of a picture of this size. */
void mcus_shape(const struct mcus *m, struct image *img);

/* Into how many strips the rows of a picture are divided, for all threads of a
 * pool to have something to do; *per is how many rows each has, the last one
 * maybe fewer. 1 if it is not worth while. */
size_t mcus_share(const struct mcus *m, const struct thread_pool *pool,
                  uint32_t *per);

/* The rows of strip `i`, from *first up to *end. */
void mcus_strip(const struct mcus *m, uint32_t per, size_t i, uint32_t *first,
                uint32_t *end);

/* The restart markers in the rows before this one, a multiple of `step`. */
uint64_t mcus_restarts(const struct mcus *m, uint32_t row);

/* What the first DC coefficients of a row, which is not the first, or of one
 * behind the last, are predicted from where no restart marker comes between. */
void mcus_predict(const struct mcus *m, const struct image *img, uint32_t row,
                  int dc[COEFFICIENT_ARRAYS]);

#endif
