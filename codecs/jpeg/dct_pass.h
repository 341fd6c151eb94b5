/* The arithmetic of the discrete cosine transform (dct.h): one pass over eight
 * rows or columns. It is valid C and CUDA.
 *
 * The numbers are of type dct_lanes: one row or column at a time, unless who
 * includes this defines vectors of them, and DCT_LANES. Coefficients of a
 * hostile file wrap round, for which unsigned arithmetic is defined; shifts
 * keep the sign. */
#ifndef CODECS_JPEG_DCT_PASS_H
#define CODECS_JPEG_DCT_PASS_H

#include <stdint.h>

#ifndef DCT_LANES
typedef uint32_t dct_lanes;
typedef int32_t dct_signed;
#endif

/* Vectors stay in registers only where their numbers are constants. */
#if defined __CUDA_ARCH__
#define DCT_UNROLL _Pragma("unroll")
#elif defined __CUDACC__
#define DCT_UNROLL
#else
#define DCT_UNROLL _Pragma("GCC unroll 8")
#endif
#ifdef __CUDACC__
#define DCT_INLINE static __host__ __device__ __forceinline__
#else
#define DCT_INLINE static inline __attribute__((always_inline))
#endif

/* Constants are multiplied by 2^13; between the two passes, values by 4. A
 * one-dimensional transform makes them sqrt(8) times as large as T.81, A.3.3
 * has them. */
enum {
    DCT_CONSTANT_BITS = 13,
    DCT_PASS_BITS = 2,
    DCT_FIRST_PASS = DCT_CONSTANT_BITS - DCT_PASS_BITS,
    DCT_INVERSE_LAST_PASS = DCT_CONSTANT_BITS + DCT_PASS_BITS + 3,
    DCT_FORWARD_LAST_PASS = DCT_CONSTANT_BITS + DCT_PASS_BITS,
    DCT_SCALE = 8,    /* of what the forward transform gives, and of `least` */
    DCT_MIDDLE = 128, /* the sample that is coded as 0 */
    /* The most that the coefficients, times their steps, of two columns that a
     * pass adds (0 and 4, 1 and 5, 3 and 7) may sum up to: by the first pass
     * they become 4 sqrt(2) cos(pi / 16) times as large at most, and 16 bits
     * hold their sum. All blocks of samples are below, by Parseval's theorem,
     * unless steps are long. */
    DCT_EXACT = 5900,
    /* What the inverse passes give is a sample, less DCT_MIDDLE. Below -512 and
     * above 511 libjpeg's C code wraps round, where its vector code has 0 and
     * 255. */
    DCT_LIMIT = 512,
};

/* Of the paper's figure 1: cos is of k pi / 16, times sqrt(2). */
enum {
    DCT_F_0_298 = 2446,  /* -cos1 + cos3 + cos5 - cos7 */
    DCT_F_0_390 = 3196,  /* cos3 - cos5 */
    DCT_F_0_541 = 4433,  /* cos6 */
    DCT_F_0_765 = 6270,  /* cos2 - cos6 */
    DCT_F_0_899 = 7373,  /* cos3 - cos7 */
    DCT_F_1_175 = 9633,  /* cos3 */
    DCT_F_1_501 = 12299, /* cos1 + cos3 - cos5 - cos7 */
    DCT_F_1_847 = 15137, /* cos2 + cos6 */
    DCT_F_1_961 = 16069, /* cos3 + cos5 */
    DCT_F_2_053 = 16819, /* cos1 + cos3 - cos5 + cos7 */
    DCT_F_2_562 = 20995, /* cos1 + cos3 */
    DCT_F_3_072 = 25172, /* cos1 + cos3 + cos5 - cos7 */
};

DCT_INLINE void dct_descale(dct_lanes *v, int bits)
{
    *v = (dct_lanes)((dct_signed)(*v + (1u << (bits - 1))) >> bits);
}

/* The odd half, which is its own transpose: both ways are alike. The order is
 * that of coefficients 7, 5, 3, 1. */
DCT_INLINE void dct_transform_odd(dct_lanes v[4])
{
    dct_lanes z1 = (v[0] + v[3]) * (uint32_t)-DCT_F_0_899;
    dct_lanes z2 = (v[1] + v[2]) * (uint32_t)-DCT_F_2_562;
    dct_lanes z3 = v[0] + v[2], z4 = v[1] + v[3];
    dct_lanes z5 = (z3 + z4) * DCT_F_1_175;
    z3 = z5 - z3 * DCT_F_1_961;
    z4 = z5 - z4 * DCT_F_0_390;
    v[0] = v[0] * DCT_F_0_298 + z1 + z3;
    v[1] = v[1] * DCT_F_2_053 + z2 + z4;
    v[2] = v[2] * DCT_F_3_072 + z2 + z3;
    v[3] = v[3] * DCT_F_1_501 + z1 + z4;
}

DCT_INLINE void dct_inverse_pass(dct_lanes v[8], int bits)
{
    dct_lanes odd[4] = { v[7], v[5], v[3], v[1] };
    dct_lanes z = (v[2] + v[6]) * DCT_F_0_541;
    dct_lanes t2 = z - v[6] * DCT_F_1_847, t3 = z + v[2] * DCT_F_0_765;
    dct_lanes t0 = (v[0] + v[4]) << DCT_CONSTANT_BITS;
    dct_lanes t1 = (v[0] - v[4]) << DCT_CONSTANT_BITS;
    dct_lanes even[4] = { t0 - t3, t1 - t2, t1 + t2, t0 + t3 };
    dct_transform_odd(odd);
    DCT_UNROLL
    for (int i = 0; i < 4; i++) {
        v[3 - i] = even[i] + odd[i];
        v[4 + i] = even[i] - odd[i];
    }
    DCT_UNROLL
    for (int i = 0; i < 8; i++)
        dct_descale(&v[i], bits);
}

DCT_INLINE void dct_forward_pass(dct_lanes v[8], int bits)
{
    dct_lanes odd[4] = { v[3] - v[4], v[2] - v[5], v[1] - v[6], v[0] - v[7] };
    dct_lanes t0 = v[0] + v[7], t1 = v[1] + v[6], t2 = v[2] + v[5],
              t3 = v[3] + v[4];
    dct_lanes t10 = t0 + t3, t11 = t1 + t2, t12 = t1 - t2, t13 = t0 - t3;
    dct_lanes z = (t12 + t13) * DCT_F_0_541;
    dct_transform_odd(odd);
    v[0] = (t10 + t11) << DCT_CONSTANT_BITS;
    v[4] = (t10 - t11) << DCT_CONSTANT_BITS;
    v[2] = z + t13 * DCT_F_0_765;
    v[6] = z - t12 * DCT_F_1_847;
    DCT_UNROLL
    for (int i = 0; i < 4; i++)
        v[7 - 2 * i] = odd[i];
    DCT_UNROLL
    for (int i = 0; i < 8; i++)
        dct_descale(&v[i], bits);
}

/* Returns the coefficient of a number that the forward passes give: rounded to
 * the nearest multiple of its step, or 0 if it is less than `least`. */
DCT_INLINE int16_t dct_quantize(int32_t value, uint16_t step, int32_t least)
{
    int32_t divisor = DCT_SCALE * step, size = value < 0 ? -value : value;
    int32_t rounded = size < least ? 0 : (size + divisor / 2) / divisor;
    return (int16_t)(value < 0 ? -rounded : rounded);
}

/* Has 0 in the lanes of which no number that the inverse passes give is beyond
 * DCT_LIMIT. */
DCT_INLINE void dct_find_beyond(dct_lanes *beyond, const dct_lanes v[8])
{
    dct_lanes bits = v[0] + DCT_LIMIT;
    DCT_UNROLL
    for (int i = 1; i < 8; i++)
        bits |= v[i] + DCT_LIMIT;
    *beyond = bits / (2 * DCT_LIMIT);
}

/* Returns the sample of a number that the inverse passes give. */
DCT_INLINE uint8_t dct_sample(int32_t value)
{
    value += DCT_MIDDLE;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

#endif
