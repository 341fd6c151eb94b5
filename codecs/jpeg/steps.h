/* The steps that the coefficients of a JPEG are counted in, and the pixels that
 * a block stands for, for what compares or sums pictures of several formats. */
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

/* A part of an axis: from `first` on, and before `end`. */
struct span {
    uint32_t first, end;
};

/* Sets the columns and rows of pixels that block x, y of plane i stands for. */
void steps_pixels(const struct image *img, unsigned i, uint32_t x, uint32_t y,
                  struct span *columns, struct span *rows);

#endif
