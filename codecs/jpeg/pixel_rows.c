/* Rows of pixels from rows of samples: loops that compilers make vectors of. */
#include "codecs/jpeg/pixel_rows.h"

#include <string.h>

#include "codecs/image/interleave.h"
#include "codecs/jpeg/entropy/huffman_table.h" /* ENTROPY_FOR_EACH_CPU */
#include "codecs/jpeg/ycc.h"

/* Two pixels beside each other as one number. */
ENTROPY_INLINE uint16_t pair(uint32_t even, uint32_t odd)
{
    return (uint16_t)(interleave_big_endian() ? even << 8 | odd
                                              : even | odd << 8);
}

static void repeat(uint8_t *row, uint32_t width, const uint8_t *samples,
                   unsigned across)
{
    for (uint32_t x = 0; x < width; x++)
        row[x] = samples[x / across];
}

ENTROPY_FOR_EACH_CPU static void repeat_twice(uint16_t *restrict pairs,
                                              const uint8_t *restrict samples,
                                              uint32_t count)
{
    for (uint32_t x = 0; x < count; x++)
        pairs[x] = pair(samples[x], samples[x]);
}

/* Make two pixels of each number of `at`, whose neighbors are `last` and
 * `next`. */
ENTROPY_FOR_EACH_CPU static void
smooth_both(uint16_t *restrict pairs, const uint16_t *last, const uint16_t *at,
            const uint16_t *next, uint32_t count)
{
    for (uint32_t x = 0; x < count; x++)
        pairs[x] = pair(upsample_both(at[x], last[x], 0),
                        upsample_both(at[x], next[x], 1));
}

ENTROPY_FOR_EACH_CPU static void
smooth_across(uint16_t *restrict pairs, const uint16_t *last,
              const uint16_t *at, const uint16_t *next, uint32_t count)
{
    for (uint32_t x = 0; x < count; x++)
        pairs[x] = pair(upsample_across(at[x], last[x], 0),
                        upsample_across(at[x], next[x], 1));
}

ENTROPY_FOR_EACH_CPU static void mix(uint16_t *restrict column,
                                     const uint8_t *at, const uint8_t *near,
                                     uint32_t count)
{
    for (uint32_t x = 0; x < count; x++)
        column[x] = (uint16_t)upsample_mix(at[x], near[x]);
}

ENTROPY_FOR_EACH_CPU static void widen(uint16_t *column, const uint8_t *at,
                                       uint32_t count)
{
    for (uint32_t x = 0; x < count; x++)
        column[x] = at[x];
}

ENTROPY_FOR_EACH_CPU static void smooth_down(uint8_t *row, const uint8_t *at,
                                             const uint8_t *near,
                                             uint32_t count, uint32_t y)
{
    for (uint32_t x = 0; x < count; x++)
        row[x] = upsample_down(upsample_mix(at[x], near[x]), y);
}

void pixel_rows_upsample(uint16_t *pairs, uint32_t width, uint32_t y,
                         const uint8_t *samples, size_t stride, uint32_t first,
                         const struct upsampling *u, uint16_t *scratch)
{
    const uint8_t *at = samples + stride * (y / u->down - first), *near = at;
    const uint32_t count = (width + 1) / 2;
    uint16_t *column = scratch + 1;
    if (u->smooth_y)
        near = samples + stride * (upsample_near(y, u->height) - first);
    if (!u->smooth_x && u->smooth_y)
        smooth_down((uint8_t *)pairs, at, near, width, y);
    else if (!u->smooth_x && u->across == 2)
        repeat_twice(pairs, at, count);
    else if (!u->smooth_x)
        repeat((uint8_t *)pairs, width, at, u->across);
    if (!u->smooth_x)
        return;
    if (u->smooth_y)
        mix(column, at, near, u->width);
    else
        widen(column, at, u->width);
    column[-1] = column[0];
    column[u->width] = column[u->width - 1];
    (u->smooth_y ? smooth_both : smooth_across)(pairs, column - 1, column,
                                                column + 1, count);
}

ENTROPY_FOR_EACH_CPU static void to_red(uint8_t *restrict red, const uint8_t *y,
                                        const uint8_t *cr, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        red[x] = ycc_red(y[x], cr[x]);
}

ENTROPY_FOR_EACH_CPU static void to_green(uint8_t *restrict green,
                                          const uint8_t *y, const uint8_t *cb,
                                          const uint8_t *cr, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        green[x] = ycc_green(y[x], cb[x], cr[x]);
}

ENTROPY_FOR_EACH_CPU static void to_blue(uint8_t *restrict blue,
                                         const uint8_t *y, const uint8_t *cb,
                                         uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        blue[x] = ycc_blue(y[x], cb[x]);
}

void pixel_rows_to_rgb(uint8_t *const rgb[3], const uint8_t *const ycc[3],
                       uint32_t width)
{
    to_red(rgb[0], ycc[0], ycc[2], width);
    to_green(rgb[1], ycc[0], ycc[1], ycc[2], width);
    to_blue(rgb[2], ycc[0], ycc[1], width);
}
