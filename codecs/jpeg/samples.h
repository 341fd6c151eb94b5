/* The samples of components, of which blocks of coefficients are made, and
 * which are made of them (codecs/jpeg/arithmetic.h). */
#ifndef CODECS_JPEG_SAMPLES_H
#define CODECS_JPEG_SAMPLES_H

#include <stdbool.h>

#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/dct.h"
#include "codecs/jpeg/entropy/sequential.h"

/* Who holds the blocks of a picture: planes of CELL_DCT, or if there are none
 * with cells, the scans of `coded`. */
struct block_holder {
    const struct image *planes;
    struct sequential *coded;
};

/* The samples of a component. */
struct samples {
    bool wanted;        /* else the component is left alone */
    bool transposed;    /* each block by itself is transposed */
    struct plane plane; /* CELL_U8; block 0, 0 begins with its first sample */
    uint16_t step[64];
    struct dct_rounding rounding;
};

/* Returns how coefficients are rounded to these steps: with a dead zone, or to
 * the nearest multiples. A coefficient whose step is 0 is 0 whatever it is. */
struct dct_rounding samples_rounding(const uint16_t step[64], bool dead_zone);

/* Computes the samples, one array element for each component. A plane may end
 * within its last blocks, and has room for them in its rows. */
void samples_decode(const struct samples *samples,
                    const struct block_holder *from, struct thread_pool *pool);

/* Computes the coefficients. Beyond its end a plane is repeated up to whole
 * blocks. The scans of a holder get blocks if they have none, else they are
 * replaced, which can be done once. Returns -1 without memory, or if one
 * becomes too large. */
int samples_encode(const struct samples *samples, const struct block_holder *to,
                   struct thread_pool *pool, struct err *err);

/* Finds the cap of the steps of component `number`, as requantize.h says.
 * Returns 0 without memory. */
unsigned samples_find_cap(const struct plane *plane, const uint16_t step[64],
                          unsigned number);

#endif
