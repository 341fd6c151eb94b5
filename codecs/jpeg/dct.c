/* The discrete cosine transform, eight rows or columns at a time. */
#include "codecs/jpeg/dct.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/entropy/huffman_table.h" /* ENTROPY_FOR_EACH_CPU */

/* Eight rows, or columns, side by side. Coefficients of a hostile file wrap
 * round, for which unsigned arithmetic is defined; shifts keep the sign. */
typedef uint32_t lanes __attribute__((vector_size(32)));
typedef int32_t signed_lanes __attribute__((vector_size(32)));
typedef float float_lanes __attribute__((vector_size(32)));
typedef int16_t short_lanes __attribute__((vector_size(16)));
typedef uint16_t step_lanes __attribute__((vector_size(16)));

/* Vectors stay in registers only where their numbers are constants. */
#define UNROLL _Pragma("GCC unroll 8")

/* Constants are multiplied by 2^13; between the two passes, values by 4. A
 * one-dimensional transform makes them sqrt(8) times as large as T.81, A.3.3
 * has them. */
enum {
    CONSTANT_BITS = 13,
    PASS_BITS = 2,
    FIRST_PASS = CONSTANT_BITS - PASS_BITS,
    INVERSE_LAST_PASS = CONSTANT_BITS + PASS_BITS + 3,
    FORWARD_LAST_PASS = CONSTANT_BITS + PASS_BITS,
    SCALE = 8,    /* of what the forward transform gives, and of `least` */
    MIDDLE = 128, /* the sample that is coded as 0 */
};

/* Of the paper's figure 1: cos is of k pi / 16, times sqrt(2). */
enum {
    F_0_298 = 2446,  /* -cos1 + cos3 + cos5 - cos7 */
    F_0_390 = 3196,  /* cos3 - cos5 */
    F_0_541 = 4433,  /* cos6 */
    F_0_765 = 6270,  /* cos2 - cos6 */
    F_0_899 = 7373,  /* cos3 - cos7 */
    F_1_175 = 9633,  /* cos3 */
    F_1_501 = 12299, /* cos1 + cos3 - cos5 - cos7 */
    F_1_847 = 15137, /* cos2 + cos6 */
    F_1_961 = 16069, /* cos3 + cos5 */
    F_2_053 = 16819, /* cos1 + cos3 - cos5 + cos7 */
    F_2_562 = 20995, /* cos1 + cos3 */
    F_3_072 = 25172, /* cos1 + cos3 + cos5 - cos7 */
};

ENTROPY_INLINE void descale(lanes *v, int bits)
{
    *v = (lanes)((signed_lanes)(*v + (1u << (bits - 1))) >> bits);
}

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (lanes){ __VA_ARGS__ })
#endif

/* Three perfect shuffles of 64 numbers rotate their 6-bit positions by 3 bits.
 */
ENTROPY_INLINE void transpose(lanes v[8])
{
    UNROLL
    for (int round = 0; round < 3; round++) {
        lanes from[8];
        memcpy(from, v, sizeof from);
        UNROLL
        for (int i = 0; i < 4; i++) {
            v[2 * i] = SHUFFLE(from[i], from[4 + i], 0, 8, 1, 9, 2, 10, 3, 11);
            v[2 * i + 1] =
                SHUFFLE(from[i], from[4 + i], 4, 12, 5, 13, 6, 14, 7, 15);
        }
    }
}

/* The odd half, which is its own transpose: both ways are alike. The order is
 * that of coefficients 7, 5, 3, 1. */
ENTROPY_INLINE void transform_odd(lanes v[4])
{
    lanes z1 = (v[0] + v[3]) * (uint32_t)-F_0_899;
    lanes z2 = (v[1] + v[2]) * (uint32_t)-F_2_562;
    lanes z3 = v[0] + v[2], z4 = v[1] + v[3];
    lanes z5 = (z3 + z4) * F_1_175;
    z3 = z5 - z3 * F_1_961;
    z4 = z5 - z4 * F_0_390;
    v[0] = v[0] * F_0_298 + z1 + z3;
    v[1] = v[1] * F_2_053 + z2 + z4;
    v[2] = v[2] * F_3_072 + z2 + z3;
    v[3] = v[3] * F_1_501 + z1 + z4;
}

ENTROPY_INLINE void inverse_pass(lanes v[8], int bits)
{
    lanes odd[4] = { v[7], v[5], v[3], v[1] };
    lanes z = (v[2] + v[6]) * F_0_541;
    lanes t2 = z - v[6] * F_1_847, t3 = z + v[2] * F_0_765;
    lanes t0 = (v[0] + v[4]) << CONSTANT_BITS;
    lanes t1 = (v[0] - v[4]) << CONSTANT_BITS;
    lanes even[4] = { t0 - t3, t1 - t2, t1 + t2, t0 + t3 };
    transform_odd(odd);
    UNROLL
    for (int i = 0; i < 4; i++) {
        v[3 - i] = even[i] + odd[i];
        v[4 + i] = even[i] - odd[i];
    }
    UNROLL
    for (int i = 0; i < 8; i++)
        descale(&v[i], bits);
}

ENTROPY_INLINE void forward_pass(lanes v[8], int bits)
{
    lanes odd[4] = { v[3] - v[4], v[2] - v[5], v[1] - v[6], v[0] - v[7] };
    lanes t0 = v[0] + v[7], t1 = v[1] + v[6], t2 = v[2] + v[5],
          t3 = v[3] + v[4];
    lanes t10 = t0 + t3, t11 = t1 + t2, t12 = t1 - t2, t13 = t0 - t3;
    lanes z = (t12 + t13) * F_0_541;
    transform_odd(odd);
    v[0] = (t10 + t11) << CONSTANT_BITS;
    v[4] = (t10 - t11) << CONSTANT_BITS;
    v[2] = z + t13 * F_0_765;
    v[6] = z - t12 * F_1_847;
    UNROLL
    for (int i = 0; i < 4; i++)
        v[7 - 2 * i] = odd[i];
    UNROLL
    for (int i = 0; i < 8; i++)
        descale(&v[i], bits);
}

ENTROPY_INLINE void load_row(lanes *v, const int16_t coefficient[8])
{
    short_lanes row;
    memcpy(&row, coefficient, sizeof row);
    *v = (lanes) __builtin_convertvector(row, signed_lanes);
}

ENTROPY_INLINE void store_row(int16_t coefficient[8], const lanes *v)
{
    short_lanes row = __builtin_convertvector((signed_lanes)*v, short_lanes);
    memcpy(coefficient, &row, sizeof row);
}

ENTROPY_INLINE void load_steps(lanes *v, const uint16_t step[8])
{
    step_lanes row;
    memcpy(&row, step, sizeof row);
    *v = __builtin_convertvector(row, lanes);
}

/* The samples of a column each, of which four make a number for each row. */
ENTROPY_INLINE void store_samples(uint8_t *samples, size_t stride,
                                  const lanes v[8])
{
    lanes half[2] = { { 0 } };
    uint32_t four[2][8];
    UNROLL
    for (int x = 0; x < 8; x++) {
        signed_lanes column = (signed_lanes)v[x] + MIDDLE;
        column &= ~(column >> 31);
        column = (column | (255 - column) >> 31) & 255;
        half[x / 4] |= (lanes)column << (x % 4 * 8);
    }
    memcpy(four, half, sizeof four);
    UNROLL
    for (int y = 0; y < 8; y++, samples += stride) {
        write_le32(samples, four[0][y]);
        write_le32(samples + 4, four[1][y]);
    }
}

ENTROPY_INLINE void load_samples(lanes v[8], const uint8_t *samples,
                                 size_t stride)
{
    lanes half[2];
    uint32_t four[2][8];
    UNROLL
    for (int y = 0; y < 8; y++, samples += stride) {
        four[0][y] = read_le32(samples);
        four[1][y] = read_le32(samples + 4);
    }
    memcpy(half, four, sizeof half);
    UNROLL
    for (int x = 0; x < 8; x++)
        v[x] = (half[x / 4] >> (x % 4 * 8) & 255) - MIDDLE;
}

ENTROPY_FOR_EACH_CPU void dct_inverse(uint8_t *samples, size_t stride,
                                      const int16_t coefficient[64],
                                      const uint16_t step[64])
{
    lanes v[8];
    UNROLL
    for (int y = 0; y < 8; y++) {
        lanes steps;
        load_row(&v[y], coefficient + 8 * y);
        load_steps(&steps, step + 8 * y);
        v[y] *= steps;
    }
    inverse_pass(v, FIRST_PASS);
    transpose(v);
    inverse_pass(v, INVERSE_LAST_PASS);
    store_samples(samples, stride, v);
}

/* Numbers below 2^24 are exact as float, and a correctly rounded quotient of
 * such does not reach an integer that the exact one is below. */
ENTROPY_INLINE void divide(lanes *v, const uint16_t step[8],
                           const int32_t least[8])
{
    signed_lanes value = (signed_lanes)*v, sign = value >> 31, kept;
    lanes steps;
    load_steps(&steps, step);
    const signed_lanes divisor = SCALE * (signed_lanes)steps;
    memcpy(&kept, least, sizeof kept);
    value = (value ^ sign) - sign;
    kept = value >= kept;
    value = (value & kept) + (divisor >> 1);
    float_lanes quotient = __builtin_convertvector(value, float_lanes) /
                           __builtin_convertvector(divisor, float_lanes);
    value = __builtin_convertvector(quotient, signed_lanes);
    *v = (lanes)((value ^ sign) - sign);
}

ENTROPY_FOR_EACH_CPU void dct_forward(int16_t coefficient[64],
                                      const uint8_t *samples, size_t stride,
                                      const struct dct_rounding *rounding)
{
    lanes v[8];
    load_samples(v, samples, stride);
    forward_pass(v, FIRST_PASS);
    transpose(v);
    forward_pass(v, FORWARD_LAST_PASS);
    UNROLL
    for (int y = 0; y < 8; y++) {
        divide(&v[y], rounding->step + 8 * y, rounding->least + 8 * y);
        store_row(coefficient + 8 * y, &v[y]);
    }
}

ENTROPY_FOR_EACH_CPU void dct_transpose(int16_t coefficient[64])
{
    lanes v[8];
    UNROLL
    for (int y = 0; y < 8; y++)
        load_row(&v[y], coefficient + 8 * y);
    transpose(v);
    UNROLL
    for (int y = 0; y < 8; y++)
        store_row(coefficient + 8 * y, &v[y]);
}
