/* The pixels of a Radiance HDR: three mantissas, red, green and blue, and the
 * exponent that they share. A row has them as four runs of bytes. */
#ifndef CODECS_SIMPLE_RGBE_H
#define CODECS_SIMPLE_RGBE_H

#include "codecs/base/bytes.h"

struct rgbe_row {
    uint8_t *part[4]; /* red, green, blue, exponent */
    uint32_t width;
};

enum rgbe_end { RGBE_WHOLE, RGBE_CUT, RGBE_WRONG };

/* Reads a row at *at of `file`, however it is coded, and moves *at past it. */
enum rgbe_end rgbe_read(struct rgbe_row row, struct bytes file, size_t *at);

/* Moves *at past a row as rgbe_write() has it. False: it is not whole. */
bool rgbe_pass(uint32_t width, struct bytes file, size_t *at);

/* The most bytes that a row takes. */
size_t rgbe_most(uint32_t width);

/* Samples that are no pixels of an HDR: too large, too small, too exact. */
struct rgbe_lost {
    uint64_t clipped, rounded;
};

/* Writes a row, for which there is room, and gives its bytes. */
size_t rgbe_write(uint8_t *to, struct rgbe_row row, struct rgbe_lost *lost);

/* What they say, as floats: exact. */
void rgbe_to_floats(struct rgbe_row row, float *const floats[3]);

/* The nearest to these floats. */
void rgbe_from_floats(struct rgbe_row row, float *const floats[3],
                      struct rgbe_lost *lost);

/* Makes the floats of one pixel the nearest ones that an HDR can hold. */
void rgbe_round(float pixel[3], struct rgbe_lost *lost);

#endif
