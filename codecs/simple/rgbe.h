/* The pixels of a Radiance HDR: three mantissas, red, green and blue, and the
 * exponent that they share, a byte each. */
#ifndef CODECS_SIMPLE_RGBE_H
#define CODECS_SIMPLE_RGBE_H

#include "codecs/simple/simple.h"

struct rgbe_row {
    uint8_t *channel[4]; /* red, green, blue, exponent */
    uint32_t width;
};

/* Reads a row at *at of `file`, however it is coded, and moves *at behind it.
 */
enum runs_end rgbe_read(struct rgbe_row row, struct bytes file, size_t *at);

/* Returns the most bytes that a row of this width takes. */
size_t rgbe_most(uint32_t width);

/* How many samples were changed, since no pixel of an HDR holds them. */
struct rgbe_lost {
    uint64_t clipped, rounded;
};

/* Writes a row to `to`, which has room for rgbe_most(), and returns its size.
 */
size_t rgbe_write(uint8_t *to, struct rgbe_row row, struct rgbe_lost *lost);

/* Makes the floats of row y of img, without loss. */
void rgbe_to_floats(struct rgbe_row row, const struct image *img, uint32_t y);

/* Makes a row of these floats: the pixels that are nearest to them. */
void rgbe_from_floats(struct rgbe_row row, const struct image *img, uint32_t y,
                      struct rgbe_lost *lost);

/* Rounds the floats of one pixel to the nearest ones that an HDR holds. */
void rgbe_round(float pixel[3], struct rgbe_lost *lost);

#endif
