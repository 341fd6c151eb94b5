/* The discrete cosine transform of blocks of 8 x 8 samples, both ways.
 *
 * It is the integer transform of Loeffler, Ligtenberg and Moschytz, "Practical
 * Fast 1-D DCT Algorithms with 11 Multiplications" (ICASSP 1989), with
 * constants of 13 bits (arithmetic.h). The results are those of libjpeg's
 * JDCT_ISLOW, with which most files are encoded and shown. Steps and
 * coefficients are rows of a block, as in CELL_DCT. */
#ifndef CODECS_JPEG_DCT_H
#define CODECS_JPEG_DCT_H

#include <stddef.h>
#include <stdint.h>

/* Computes 8 rows of 8 samples, each `stride` bytes behind the last one. */
void dct_inverse(uint8_t *samples, size_t stride, const int16_t coefficient[64],
                 const uint16_t step[64]);

/* How coefficients are rounded: to the nearest multiple of their steps, which
 * are not 0, where they are not less than `least`, in units of 1/8. */
struct dct_rounding {
    uint16_t step[64];
    int32_t least[64];
};

/* Computes the coefficients of such samples; `rounding` NULL: without rounding,
 * in units of 1 / DCT_SCALE. */
void dct_forward(int16_t coefficient[64], const uint8_t *samples, size_t stride,
                 const struct dct_rounding *rounding);

/* Returns the sum of requantize_error() of such coefficients. */
uint64_t dct_rounding_error(const int16_t coefficient[64],
                            const struct dct_rounding *rounding);

/* Transposes a block. */
void dct_transpose(int16_t coefficient[64]);

#endif
