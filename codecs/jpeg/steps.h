/* The steps that the coefficients of a JPEG are counted in, for what compares
 * or sums pictures of several formats. */
#ifndef CODECS_JPEG_STEPS_H
#define CODECS_JPEG_STEPS_H

#include "codecs/image/image.h"

/* Returns those of plane i of a picture that was read from a JPEG: rows of 8,
 * as a block has them. */
const uint16_t *steps_of(const struct image *img, unsigned i);

/* How blocks of these steps are after a turn: coefficient i is coefficient
 * from[i] times factor[i], which has 32 bits at most. */
struct turned_block {
    uint8_t from[64];
    int32_t factor[64];
};

struct turned_block steps_turn(const uint16_t *steps, enum xform t);

#endif
