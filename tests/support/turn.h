/* Pictures in the tests of codecs: decoded, looked at, turned, encoded. */
#ifndef TESTS_TURN_H
#define TESTS_TURN_H

#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"

/* A megapixel, and memory for it. */
static const struct limits small_limits = { .pixels = 1 << 20,
                                            .bytes = 64 << 20 };

static inline struct load_opts small_load(struct warnings *warnings)
{
    return (struct load_opts){ .limits = small_limits,
                               .mem = mem_plain,
                               .warnings = warnings };
}

static inline struct save_opts plain_save(struct warnings *warnings)
{
    return (struct save_opts){ .suffix = "", .warnings = warnings };
}

/* Whether one of the warnings that were kept has these words. */
static inline bool is_warned(const struct warnings *warnings, const char *words)
{
    for (unsigned i = 0; i < warnings->count && i < WARNINGS_MAX; i++)
        if (strstr(warnings->list[i].text, words))
            return true;
    return false;
}

static inline unsigned cell_at(const struct image *img, unsigned c, uint32_t x,
                               uint32_t y)
{
    const uint8_t *row = plane_row(&img->plane[c], y);
    uint16_t wide;
    if (img->cell == CELL_U8)
        return row[x];
    memcpy(&wide, row + 2 * (size_t)x, 2);
    return wide;
}

/* Where the pixel at x, y of a turned picture comes from, in one of w x h:
 * mirrored along each axis, or exchanged, as the names of the turns say. */
static inline void turn_source(enum xform t, uint32_t w, uint32_t h, uint32_t x,
                               uint32_t y, uint32_t *sx, uint32_t *sy)
{
    const uint32_t mx = w - 1, my = h - 1;
    const uint32_t from[XFORM_COUNT][2] = {
        [XFORM_NONE] = { x, y },
        [XFORM_MIRROR_X] = { mx - x, y },
        [XFORM_MIRROR_Y] = { x, my - y },
        [XFORM_ROTATE_180] = { mx - x, my - y },
        [XFORM_TRANSPOSE] = { y, x },
        [XFORM_ROTATE_90] = { y, my - x },
        [XFORM_ROTATE_270] = { mx - y, x },
        [XFORM_TRANSVERSE] = { mx - y, my - x },
    };
    *sx = from[t][0];
    *sy = from[t][1];
}

/* Turns img in place, with all that it holds. Ends the test without memory. */
static inline void turn_image(struct image *img, enum xform t)
{
    struct image dst = { 0 };
    struct err err;
    size_t size = cell_size(img->cell);
    uint32_t sx, sy;
    if (image_like(&dst, img, t, mem_plain, &err))
        abort();
    for (unsigned c = 0; c < dst.nplanes; c++)
        for (uint32_t y = 0; y < dst.height; y++)
            for (uint32_t x = 0; x < dst.width; x++) {
                turn_source(t, img->width, img->height, x, y, &sx, &sy);
                memcpy((uint8_t *)plane_row(&dst.plane[c], y) + x * size,
                       (uint8_t *)plane_row(&img->plane[c], sy) + sx * size,
                       size);
            }
    image_take_meta(&dst, img);
    image_free(img);
    *img = dst;
}

#endif
