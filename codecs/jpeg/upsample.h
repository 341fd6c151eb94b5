/* Components that have fewer samples than the picture has pixels: the
 * arithmetic of libjpeg-turbo, with which most files are shown, bit for bit.
 * What stands here is valid C and CUDA.
 *
 * Along an axis where a component has half as many samples as pixels, a pixel
 * is 3/4 of its sample and 1/4 of the neighbor that is closer to it ("fancy
 * upsampling"); at an edge the neighbor is the sample itself. With other
 * ratios, pixels repeat their sample. */
#ifndef CODECS_JPEG_UPSAMPLE_H
#define CODECS_JPEG_UPSAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define UPSAMPLE_INLINE static __host__ __device__ __forceinline__
#else
#define UPSAMPLE_INLINE static inline
#endif

enum { UPSAMPLE_NARROW = 2 }; /* so few columns are not smoothed */

/* How a component becomes pixels. */
struct upsampling {
    uint32_t width, height; /* samples of the component */
    uint8_t across, down;   /* pixels of each, both ways */
    bool smooth_x, smooth_y;
};

/* Sets how a component is upsampled that has `across` and `down` samples for
 * `most_across` and `most_down` pixels each, of so many in all. Returns false
 * if the ratio is none that libjpeg knows. */
UPSAMPLE_INLINE bool upsample_set(struct upsampling *u, uint32_t width,
                                  uint32_t height, unsigned across,
                                  unsigned down, unsigned most_across,
                                  unsigned most_down)
{
    u->width =
        (uint32_t)(((uint64_t)width * across + most_across - 1) / most_across);
    u->height =
        (uint32_t)(((uint64_t)height * down + most_down - 1) / most_down);
    u->across = (uint8_t)(most_across / across);
    u->down = (uint8_t)(most_down / down);
    bool narrow = u->across == 2 && u->width <= UPSAMPLE_NARROW;
    u->smooth_x = u->across == 2 && u->down <= 2 && !narrow;
    u->smooth_y = u->down == 2 && u->across <= 2 && !narrow;
    return most_across % across == 0 && most_down % down == 0;
}

UPSAMPLE_INLINE bool upsample_is_smooth(const struct upsampling *u)
{
    return u->smooth_x || u->smooth_y;
}

/* Returns which sample, of `count`, is the closer neighbor of that of a pixel
 * where there are two pixels for each. */
UPSAMPLE_INLINE uint32_t upsample_near(uint32_t pixel, uint32_t count)
{
    uint32_t at = pixel / 2;
    if (pixel % 2)
        return at + 1 < count ? at + 1 : at;
    return at ? at - 1 : 0;
}

/* Returns three times the first, and the second one. */
UPSAMPLE_INLINE uint32_t upsample_mix(uint32_t at, uint32_t near)
{
    return 3 * at + near;
}

/* Return the sample of pixel `x`, or `y`, by those near it; the last two by
 * what upsample_mix() has made of columns. */
UPSAMPLE_INLINE uint8_t upsample_across(uint32_t at, uint32_t near, uint32_t x)
{
    return (uint8_t)((upsample_mix(at, near) + 1 + x % 2) >> 2);
}

UPSAMPLE_INLINE uint8_t upsample_down(uint32_t column, uint32_t y)
{
    return (uint8_t)((column + 1 + y % 2) >> 2);
}

UPSAMPLE_INLINE uint8_t upsample_both(uint32_t column, uint32_t near,
                                      uint32_t x)
{
    return (uint8_t)((upsample_mix(column, near) + 8 - x % 2) >> 4);
}

/* Returns the sample of a pixel; rows of samples are `stride` bytes apart. */
UPSAMPLE_INLINE uint8_t upsample_at(const uint8_t *samples, size_t stride,
                                    const struct upsampling *u, uint32_t x,
                                    uint32_t y)
{
    const uint8_t *row = samples + stride * (y / u->down), *near = row;
    uint32_t at_x = x / u->across, near_x = at_x, at;
    if (u->smooth_x)
        near_x = upsample_near(x, u->width);
    if (!u->smooth_y)
        return u->smooth_x ? upsample_across(row[at_x], row[near_x], x)
                           : row[at_x];
    near = samples + stride * upsample_near(y, u->height);
    at = upsample_mix(row[at_x], near[at_x]);
    return u->smooth_x
               ? upsample_both(at, upsample_mix(row[near_x], near[near_x]), x)
               : upsample_down(at, y);
}

#endif
