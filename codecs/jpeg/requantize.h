/* How coefficients are rounded where a picture is encoded again, since its
 * blocks lie elsewhere after a turn: step 5 of arithmetic.h.
 *
 * Many of the coefficients that are little above half a step hold the noise of
 * the last encoding. So they are rounded with a dead zone: what lies in it
 * becomes zero, which makes files smaller by more than finer steps need to make
 * good for it. DC coefficients have no dead zone. (Chroma that alone is encoded
 * again, realign.h, has none either: with the steps of the file its size stays,
 * and eight turns leave it 1 to 2 dB better.)
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
 * else high. low is the cap.
 *   4. Of the caps of components that share a table, it gets the smallest.
 * So files of high quality keep their size, and those of low quality grow by
 * what 42 dB of luma cost. */
#ifndef CODECS_JPEG_REQUANTIZE_H
#define CODECS_JPEG_REQUANTIZE_H

#include "codecs/jpeg/arithmetic.h"

enum {
    REQUANTIZE_SAMPLES = 1024,
    REQUANTIZE_FINE = 5,
};

/* Returns the step that is written for one that a file has: T.81 knows no step
 * of 0. */
DCT_INLINE uint16_t requantize_step(uint16_t step, unsigned cap)
{
    return (uint16_t)(step == 0 ? 1 : step < cap ? step : cap);
}

/* Returns the least value of coefficient k, row by row, that does not become
 * zero. */
DCT_INLINE int32_t requantize_least(unsigned k, uint16_t step)
{
    return k ? DCT_SCALE * 3 * (int32_t)step / 5 : 0;
}

/* Returns the square of what rounding changes. */
DCT_INLINE uint32_t requantize_error(int32_t value, uint16_t step,
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
DCT_INLINE uint64_t requantize_error_limit(unsigned component, uint64_t blocks)
{
    const uint64_t tenths = component ? 21 : 41;
    return blocks * 64 * DCT_SCALE * DCT_SCALE * tenths / 10;
}

#endif
