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

#endif
