/* The discrete cosine transform, eight rows or columns at a time. */
#include "codecs/jpeg/dct.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/each_cpu.h"

/* Eight rows, or columns, side by side. */
typedef uint32_t dct_lanes __attribute__((vector_size(32)));
typedef int32_t dct_signed __attribute__((vector_size(32)));
#define DCT_LANES
#include "codecs/jpeg/arithmetic.h"

typedef float float_lanes __attribute__((vector_size(32)));
typedef int16_t short_lanes __attribute__((vector_size(16)));
typedef uint16_t step_lanes __attribute__((vector_size(16)));

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (dct_lanes){ __VA_ARGS__ })
#endif

/* Three perfect shuffles of 64 numbers rotate their 6-bit positions by 3 bits.
 */
JPEG_INLINE void transpose(dct_lanes v[8])
{
    DCT_UNROLL
    for (int round = 0; round < 3; round++) {
        dct_lanes from[8];
        memcpy(from, v, sizeof from);
        DCT_UNROLL
        for (int i = 0; i < 4; i++) {
            v[2 * i] = SHUFFLE(from[i], from[4 + i], 0, 8, 1, 9, 2, 10, 3, 11);
            v[2 * i + 1] =
                SHUFFLE(from[i], from[4 + i], 4, 12, 5, 13, 6, 14, 7, 15);
        }
    }
}

JPEG_INLINE void load_row(dct_lanes *v, const int16_t coefficient[8])
{
    short_lanes row;
    memcpy(&row, coefficient, sizeof row);
    *v = (dct_lanes) __builtin_convertvector(row, dct_signed);
}

JPEG_INLINE void store_row(int16_t coefficient[8], const dct_lanes *v)
{
    short_lanes row = __builtin_convertvector((dct_signed)*v, short_lanes);
    memcpy(coefficient, &row, sizeof row);
}

JPEG_INLINE void load_steps(dct_lanes *v, const uint16_t step[8])
{
    step_lanes row;
    memcpy(&row, step, sizeof row);
    *v = __builtin_convertvector(row, dct_lanes);
}

/* The samples of a column each, of which four make a number for each row. */
JPEG_INLINE void store_samples(uint8_t *samples, size_t stride,
                               const dct_lanes v[8])
{
    dct_lanes half[2] = { { 0 } };
    uint32_t four[2][8];
    DCT_UNROLL
    for (int x = 0; x < 8; x++) {
        dct_signed column = (dct_signed)v[x] + DCT_MIDDLE;
        column &= ~(column >> 31);
        column = (column | (255 - column) >> 31) & 255;
        half[x / 4] |= (dct_lanes)column << (x % 4 * 8);
    }
    memcpy(four, half, sizeof four);
    DCT_UNROLL
    for (int y = 0; y < 8; y++, samples += stride) {
        write_le32(samples, four[0][y]);
        write_le32(samples + 4, four[1][y]);
    }
}

JPEG_INLINE void load_samples(dct_lanes v[8], const uint8_t *samples,
                              size_t stride)
{
    dct_lanes half[2];
    uint32_t four[2][8];
    DCT_UNROLL
    for (int y = 0; y < 8; y++, samples += stride) {
        four[0][y] = read_le32(samples);
        four[1][y] = read_le32(samples + 4);
    }
    memcpy(half, four, sizeof half);
    DCT_UNROLL
    for (int x = 0; x < 8; x++)
        v[x] = (half[x / 4] >> (x % 4 * 8) & 255) - DCT_MIDDLE;
}

FOR_EACH_CPU void dct_inverse(uint8_t *samples, size_t stride,
                              const int16_t coefficient[64],
                              const uint16_t step[64])
{
    dct_lanes v[8];
    DCT_UNROLL
    for (int y = 0; y < 8; y++) {
        dct_lanes steps;
        load_row(&v[y], coefficient + 8 * y);
        load_steps(&steps, step + 8 * y);
        v[y] *= steps;
    }
    dct_inverse_pass(v, DCT_FIRST_PASS);
    transpose(v);
    dct_inverse_pass(v, DCT_INVERSE_LAST_PASS);
    store_samples(samples, stride, v);
}

/* Numbers below 2^24 are exact as float, and a correctly rounded quotient of
 * such does not reach an integer that the exact one is below. */
JPEG_INLINE void divide(dct_lanes *v, const uint16_t step[8],
                        const int32_t least[8])
{
    dct_signed value = (dct_signed)*v, sign = value >> 31, kept;
    dct_lanes steps;
    load_steps(&steps, step);
    const dct_signed divisor = DCT_SCALE * (dct_signed)steps;
    memcpy(&kept, least, sizeof kept);
    value = (value ^ sign) - sign;
    kept = value >= kept;
    value = (value & kept) + (divisor >> 1);
    float_lanes quotient = __builtin_convertvector(value, float_lanes) /
                           __builtin_convertvector(divisor, float_lanes);
    value = __builtin_convertvector(quotient, dct_signed);
    *v = (dct_lanes)((value ^ sign) - sign);
}

FOR_EACH_CPU void dct_forward(int16_t coefficient[64], const uint8_t *samples,
                              size_t stride,
                              const struct dct_rounding *rounding)
{
    dct_lanes v[8];
    load_samples(v, samples, stride);
    dct_forward_pass(v, DCT_FIRST_PASS);
    transpose(v);
    dct_forward_pass(v, DCT_FORWARD_LAST_PASS);
    DCT_UNROLL
    for (int y = 0; y < 8; y++) {
        if (rounding)
            divide(&v[y], rounding->step + 8 * y, rounding->least + 8 * y);
        store_row(coefficient + 8 * y, &v[y]);
    }
}

FOR_EACH_CPU uint64_t dct_rounding_error(const int16_t coefficient[64],
                                         const struct dct_rounding *rounding)
{
    dct_lanes sum = { 0 };
    uint64_t error = 0;
    DCT_UNROLL
    for (int y = 0; y < 8; y++) {
        dct_lanes value, rounded, steps;
        load_row(&value, coefficient + 8 * y);
        load_steps(&steps, rounding->step + 8 * y);
        rounded = value;
        divide(&rounded, rounding->step + 8 * y, rounding->least + 8 * y);
        value -= DCT_SCALE * steps * rounded;
        sum += value * value;
    }
    for (int x = 0; x < 8; x++)
        error += sum[x];
    return error;
}

FOR_EACH_CPU void dct_transpose(int16_t coefficient[64])
{
    dct_lanes v[8];
    DCT_UNROLL
    for (int y = 0; y < 8; y++)
        load_row(&v[y], coefficient + 8 * y);
    transpose(v);
    DCT_UNROLL
    for (int y = 0; y < 8; y++)
        store_row(coefficient + 8 * y, &v[y]);
}
