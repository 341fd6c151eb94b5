/* YCbCr to RGB as JFIF has it, full range: the arithmetic of libjpeg-turbo, bit
 * for bit. What stands here is valid C and CUDA.
 *
 * Products with constants of 16 bits behind the point are rounded before Y is
 * added. So that compilers make vectors of it, no number has more than 16 bits:
 * what is above 1/2 in a constant is added as an integer, and products fall
 * into an upper and a lower half. */
#ifndef CODECS_JPEG_YCC_H
#define CODECS_JPEG_YCC_H

#include <stdint.h>

#ifdef __CUDACC__
#define YCC_INLINE static __host__ __device__ __forceinline__
#else
#define YCC_INLINE static inline __attribute__((always_inline))
#endif

enum {
    YCC_MIDDLE = 128,      /* of Cb and Cr: gray */
    YCC_CR_RED = 26345,    /* 1.40200 is 1 and this */
    YCC_CB_GREEN = -22554, /* -0.34414 */
    YCC_CR_GREEN = 18734,  /* -0.71414 is -1 and this */
    YCC_CB_BLUE = -14942,  /* 1.77200 is 2 and this */
};

YCC_INLINE int16_t ycc_high(int16_t a, int16_t b)
{
    return (int16_t)((a * b) >> 16);
}

/* Returns c * constant, rounded. */
YCC_INLINE int16_t ycc_product(int16_t c, int16_t constant)
{
    return (int16_t)((ycc_high((int16_t)(2 * c), constant) + 1) >> 1);
}

YCC_INLINE uint8_t ycc_clip(int16_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

YCC_INLINE uint8_t ycc_red(uint8_t y, uint8_t cr)
{
    const int16_t c = (int16_t)(cr - YCC_MIDDLE);
    return ycc_clip((int16_t)(y + c + ycc_product(c, YCC_CR_RED)));
}

/* Both products are even, and so are their lower halves. */
YCC_INLINE uint8_t ycc_green(uint8_t y, uint8_t cb, uint8_t cr)
{
    const int16_t b = (int16_t)(cb - YCC_MIDDLE),
                  r = (int16_t)(cr - YCC_MIDDLE);
    const uint16_t low_b = (uint16_t)(b * YCC_CB_GREEN),
                   low_r = (uint16_t)(r * YCC_CR_GREEN);
    const uint16_t half = (uint16_t)((low_b >> 1) + (low_r >> 1));
    return ycc_clip((int16_t)(y - r + ycc_high(b, YCC_CB_GREEN) +
                              ycc_high(r, YCC_CR_GREEN) +
                              (((half >> 14) + 1) >> 1)));
}

YCC_INLINE uint8_t ycc_blue(uint8_t y, uint8_t cb)
{
    const int16_t c = (int16_t)(cb - YCC_MIDDLE);
    return ycc_clip((int16_t)(y + 2 * c + ycc_product(c, YCC_CB_BLUE)));
}

#endif
