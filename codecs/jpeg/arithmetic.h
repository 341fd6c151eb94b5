/* The arithmetic of codecs/jpeg, in integers alone, so that every processor
 * gives the same results: valid C and C++, which GPU code shares.
 *
 * Where a picture is encoded again:
 * 1. The blocks of each component become samples: of coefficients times their
 *    steps, dct_inverse_pass() of each column with DCT_FIRST_PASS, then of each
 *    row with DCT_INVERSE_LAST_PASS, then dct_sample().
 * 2. A component gets full resolution along an axis that does not end with a
 *    whole sample of it, as samples_choose_full() says: first along rows, then
 *    along columns, every sample is upsample_across() of those at chroma_at()
 *    and chroma_next().
 * 3. The planes of samples are turned.
 * 4. They become blocks: of samples less DCT_MIDDLE, dct_forward_pass() of each
 *    row with DCT_FIRST_PASS, then of each column with DCT_FORWARD_LAST_PASS.
 *    Beyond its last column and row a plane repeats these, up to whole blocks.
 * 5. Coefficients are rounded to steps: dct_quantize(), requantize_step().
 *
 * Where a picture becomes pixels: step 1, then upsample_at() of each component,
 * then ycc_red(), ycc_green() and ycc_blue(). */
#ifndef CODECS_JPEG_ARITHMETIC_H
#define CODECS_JPEG_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/image/xform.h"

#ifdef __CUDACC__
#define JPEG_INLINE static __host__ __device__ __forceinline__
#else
#define JPEG_INLINE static inline __attribute__((always_inline))
#endif

/* ---- The discrete cosine transform --------------------------------------- */

/* One pass over eight rows or columns. The numbers are of type dct_lanes: one
 * row or column at a time, unless who includes this defines vectors of them,
 * and DCT_LANES. Coefficients of a hostile file wrap round, for which unsigned
 * arithmetic is defined; shifts keep the sign. */
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

JPEG_INLINE void dct_descale(dct_lanes *v, int bits)
{
    *v = (dct_lanes)((dct_signed)(*v + (1u << (bits - 1))) >> bits);
}

/* The odd half, which is its own transpose: both ways are alike. The order is
 * that of coefficients 7, 5, 3, 1. */
JPEG_INLINE void dct_transform_odd(dct_lanes v[4])
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

JPEG_INLINE void dct_inverse_pass(dct_lanes v[8], int bits)
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

JPEG_INLINE void dct_forward_pass(dct_lanes v[8], int bits)
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
JPEG_INLINE int16_t dct_quantize(int32_t value, uint16_t step, int32_t least)
{
    int32_t divisor = DCT_SCALE * step, size = value < 0 ? -value : value;
    int32_t rounded = size < least ? 0 : (size + divisor / 2) / divisor;
    return (int16_t)(value < 0 ? -rounded : rounded);
}

/* Has 0 in the lanes of which no number that the inverse passes give is beyond
 * DCT_LIMIT. */
JPEG_INLINE void dct_find_beyond(dct_lanes *beyond, const dct_lanes v[8])
{
    dct_lanes bits = v[0] + DCT_LIMIT;
    DCT_UNROLL
    for (int i = 1; i < 8; i++)
        bits |= v[i] + DCT_LIMIT;
    *beyond = bits / (2 * DCT_LIMIT);
}

/* Returns the sample of a number that the inverse passes give. */
JPEG_INLINE uint8_t dct_sample(int32_t value)
{
    value += DCT_MIDDLE;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* ---- Chroma in full resolution ------------------------------------------- */

/* An axis of a component: `count` samples, `factor` of them for each `most`
 * pixels. `smooth`: libjpeg smooths it to show it; then factor is most or half
 * of it. */
struct chroma_axis {
    uint32_t count, factor, most;
    int smooth;
};

/* Returns the position of the sample that pixel `i` is made of. It is not above
 * `i`, so that a row can be filled in place from its end. */
JPEG_INLINE uint32_t chroma_at(const struct chroma_axis *axis, uint32_t i)
{
    const uint32_t at = (uint32_t)((uint64_t)i * axis->factor / axis->most);
    return at < axis->count ? at : axis->count - 1;
}

/* Returns which sample, of `count`, is the closer neighbor of that of a pixel
 * where there are two pixels for each. */
JPEG_INLINE uint32_t upsample_near(uint32_t pixel, uint32_t count)
{
    const uint32_t at = pixel / 2;
    if (pixel % 2)
        return at + 1 < count ? at + 1 : at;
    return at ? at - 1 : 0;
}

/* Returns that of its neighbor, to which it is nearer than to the other one. */
JPEG_INLINE uint32_t chroma_next(const struct chroma_axis *axis, uint32_t i)
{
    const uint32_t at = chroma_at(axis, i);
    if (!axis->smooth)
        return at;
    if (i % 2)
        return at + 1 < axis->count ? at + 1 : at;
    return at ? at - 1 : at;
}

/* ---- Steps --------------------------------------------------------------- */

/* How coefficients are rounded where a picture is encoded again, since its
 * blocks lie elsewhere after a turn.
 *
 * Many of the coefficients that are little above half a step hold the noise of
 * the last encoding. So they are rounded with a dead zone: what lies in it
 * becomes zero, which makes files smaller by more than finer steps need to make
 * good for it. DC coefficients have no dead zone. (Chroma that alone is encoded
 * again, by samples_realign(), has none either: with the steps of the file its
 * size stays, and eight turns leave it 1 to 2 dB better. Of coarse steps a
 * third is written, so that it loses a third of what it has lost already, 9 dB
 * less than with them. They are not coarse the next time.)
 *
 * Steps stay those of the file, unless a component would lose too much by that.
 * Then no step of its table is larger than a cap, which is found so:
 *   1. Of the blocks in every nth column and row, from the first on, where n is
 *      the smallest power of 2 with which they are up to REQUANTIZE_SAMPLES,
 *      the coefficients are computed. A cap is judged by the sum of
 *      requantize_error() over them, when they are rounded to capped steps.
 *   2. The largest step of the table is the cap if it is up to REQUANTIZE_FINE,
 *      or if the sum is up to 7/5 of requantize_error_limit(): noise of earlier
 *      turns does not make steps finer with every turn.
 *   3. Otherwise low = REQUANTIZE_FINE, high = that step; while high - low > 1,
 *      middle = (low + high) / 2 becomes low if its sum is up to the limit,
 *      else high. low is the cap.
 *   4. Of the caps of components that share a table, it gets the smallest.
 * So files of high quality keep their size, and those of low quality grow by
 * what 42 dB of luma cost. */

enum {
    REQUANTIZE_SAMPLES = 1024,
    REQUANTIZE_FINE = 5,
};

/* Returns the step that is written for one that a file has: T.81 knows no step
 * of 0. */
JPEG_INLINE uint16_t requantize_step(uint16_t step, unsigned cap)
{
    return (uint16_t)(step == 0 ? 1 : step < cap ? step : cap);
}

/* Returns by what coarse steps of a table are divided, 1 if they are not
 * coarse: those of quality 60 and less; of a small picture, whose bytes are
 * few, 80. Of the coarsest most coefficients are 0, and lose less than others
 * by being divided. */
JPEG_INLINE unsigned requantize_divisor(const uint16_t step[64],
                                        uint64_t pixels)
{
    const uint32_t small = 1 << 16, most = pixels < small ? 30 : 72;
    uint32_t sum = 0;
    for (int k = 0; k < 64; k++)
        sum += step[k];
    return sum <= 64 * most ? 1 : sum <= 64 * 150 ? 3 : 5;
}

/* Returns what is written for a step that is divided. */
JPEG_INLINE uint16_t requantize_finer(uint16_t step, unsigned divisor)
{
    const unsigned finer = (step + divisor / 2) / divisor;
    return (uint16_t)(finer > 1 ? finer : step > 1 ? 2 : 1);
}

/* Returns the least value of coefficient k, row by row, that does not become
 * zero. */
JPEG_INLINE int32_t requantize_least(unsigned k, uint16_t step)
{
    return k ? DCT_SCALE * 3 * (int32_t)step / 5 : 0;
}

/* Returns the square of what rounding changes. */
JPEG_INLINE uint32_t requantize_error(int32_t value, uint16_t step,
                                      int32_t least)
{
    const int32_t rounded = dct_quantize(value, step, least);
    const int32_t error = value - DCT_SCALE * (int32_t)step * rounded;
    return (uint32_t)error * (uint32_t)error;
}

/* Returns the most that these should be in so many blocks of a component: 42 dB
 * for the first component, which is luma, 45 for others, which weigh more where
 * they become colors. That is 4.1 and 2.1 as the square of a sample; there are
 * 64 samples in a block, and units are squared too. */
JPEG_INLINE uint64_t requantize_error_limit(unsigned component, uint64_t blocks)
{
    const uint64_t tenths = component ? 21 : 41;
    return blocks * 64 * DCT_SCALE * DCT_SCALE * tenths / 10;
}

/* ---- Components with fewer samples than pixels --------------------------- */

/* The arithmetic of libjpeg-turbo, with which most files are shown, bit for
 * bit. Along an axis where a component has half as many samples as pixels, a
 * pixel is 3/4 of its sample and 1/4 of the neighbor that is closer to it
 * ("fancy upsampling"); at an edge the neighbor is the sample itself. With
 * other ratios, pixels repeat their sample. */

enum { UPSAMPLE_NARROW = 2 }; /* so few columns are not smoothed */

/* How a component becomes pixels. */
struct upsampling {
    uint32_t width, height; /* samples of the component */
    uint8_t across, down;   /* pixels of each, both ways */
    bool smooth_x, smooth_y;
};

struct sampling {
    unsigned across, down;
};

/* Sets how a component is upsampled that has `own` samples for each `most`
 * pixels, of so many in all. Returns false if the ratio is none that libjpeg
 * knows. */
JPEG_INLINE bool upsample_set(struct upsampling *u, uint32_t width,
                              uint32_t height, struct sampling own,
                              struct sampling most)
{
    u->width = (uint32_t)(((uint64_t)width * own.across + most.across - 1) /
                          most.across);
    u->height =
        (uint32_t)(((uint64_t)height * own.down + most.down - 1) / most.down);
    u->across = (uint8_t)(most.across / own.across);
    u->down = (uint8_t)(most.down / own.down);
    bool narrow = u->across == 2 && u->width <= UPSAMPLE_NARROW;
    u->smooth_x = u->across == 2 && u->down <= 2 && !narrow;
    u->smooth_y = u->down == 2 && u->across <= 2 && !narrow;
    return most.across % own.across == 0 && most.down % own.down == 0;
}

JPEG_INLINE bool upsample_is_smooth(const struct upsampling *u)
{
    return u->smooth_x || u->smooth_y;
}

/* Returns the sample of pixel `x`, or `y`, by those near it along one axis. */
JPEG_INLINE uint8_t upsample_across(uint32_t at, uint32_t near, uint32_t x)
{
    return (uint8_t)((3 * at + near + 1 + x % 2) >> 2);
}

/* Returns the sample of a pixel; rows of samples are `stride` bytes apart. */
JPEG_INLINE uint8_t upsample_at(const uint8_t *samples, size_t stride,
                                const struct upsampling *u, uint32_t x,
                                uint32_t y)
{
    const uint32_t at = x / u->across,
                   near = u->smooth_x ? upsample_near(x, u->width) : at;
    const uint8_t *row = samples + stride * (y / u->down);
    if (!u->smooth_y)
        return u->smooth_x ? upsample_across(row[at], row[near], x) : row[at];
    const uint8_t *next = samples + stride * upsample_near(y, u->height);
    const uint32_t column = 3u * row[at] + next[at],
                   beside = 3u * row[near] + next[near];
    return (uint8_t)(u->smooth_x ? (3 * column + beside + 8 - x % 2) >> 4
                                 : (column + 1 + y % 2) >> 2);
}

/* ---- YCbCr to RGB -------------------------------------------------------- */

/* As JFIF has it, full range: the arithmetic of libjpeg-turbo, bit for bit.
 * Products with constants of 16 bits behind the point are rounded before Y is
 * added. */

enum {
    YCC_MIDDLE = 128, /* of Cb and Cr: gray */
    YCC_HALF = 1 << 15,
    YCC_CR_RED = 91881,    /* 1.40200 */
    YCC_CB_GREEN = -22554, /* -0.34414 */
    YCC_CR_GREEN = -46802, /* -0.71414 */
    YCC_CB_BLUE = 116130,  /* 1.77200 */
};

/* Returns Y and what is added to it, which has 16 bits behind the point. */
JPEG_INLINE uint8_t ycc_add(int32_t y, int32_t color)
{
    y += (color + YCC_HALF) >> 16;
    return (uint8_t)(y < 0 ? 0 : y > 255 ? 255 : y);
}

JPEG_INLINE uint8_t ycc_red(uint8_t y, uint8_t cr)
{
    return ycc_add(y, YCC_CR_RED * (cr - YCC_MIDDLE));
}

JPEG_INLINE uint8_t ycc_green(uint8_t y, uint8_t cb, uint8_t cr)
{
    return ycc_add(y, YCC_CB_GREEN * (cb - YCC_MIDDLE) +
                          YCC_CR_GREEN * (cr - YCC_MIDDLE));
}

JPEG_INLINE uint8_t ycc_blue(uint8_t y, uint8_t cb)
{
    return ycc_add(y, YCC_CB_BLUE * (cb - YCC_MIDDLE));
}

/* ---- Components that go through samples ---------------------------------- */

/* A component that does, for a device (codecs/image/scan_turner.h). */
struct scan_samples {
    bool wanted; /* else its blocks are turned as they are */
    uint8_t number,
        table; /* of the component in the picture, and of its steps */
    /* Rows of steps, up to SCAN_STEP_MAX: those of the file, and those of what
     * is made. */
    uint16_t step[64], to_step[64];
    bool refines; /* what is made may have finer steps, and is rounded with a
                     dead zone */
    /* The plane that is made of its samples: so many, before it is turned. */
    uint32_t width, height;
    struct chroma_axis x, y; /* its full resolution; factor 0: it has it */
    uint32_t right, down;    /* by how many samples it is moved; then the first
                                ones repeat the edge */
    enum xform turn; /* of the plane, or if it is none, of the blocks as of
                        others */

    uint32_t cap; /* set by the turner: no step of what is made is larger */
};
enum { SCAN_STEP_MAX = 4096 };

#endif
