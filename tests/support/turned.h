/* The definitions of the eight turns, and the oracle: whether a plane is what
 * one of them makes of another. */
#ifndef TESTS_TURNED_H
#define TESTS_TURNED_H

#include <string.h>

#include "codecs/image/image.h"

/* dst(x, y) = src(sx, sy), where, of a source of w x h,
 * sx = xx * x + xy * y + x1 * (w-1) and sy = yx * x + yy * y + y1 * (h-1). */
static const struct op {
    const char *name;
    int xx, xy, x1, yx, yy, y1;
} ops[] = {
    { "copy", 1, 0, 0, 0, 1, 0 },         /* x, y */
    { "fliph", -1, 0, 1, 0, 1, 0 },       /* w-1-x, y */
    { "rotate180", -1, 0, 1, 0, -1, 1 },  /* w-1-x, h-1-y */
    { "flipv", 1, 0, 0, 0, -1, 1 },       /* x, h-1-y */
    { "transpose", 0, 1, 0, 1, 0, 0 },    /* y, x */
    { "rotate90", 0, 1, 0, -1, 0, 1 },    /* y, h-1-x */
    { "transverse", 0, -1, 1, -1, 0, 1 }, /* w-1-y, h-1-x */
    { "rotate270", 0, -1, 1, 1, 0, 0 },   /* w-1-y, x */
};
enum { OPS = sizeof ops / sizeof ops[0] };

/* The same of the coefficients of a block: a column that runs backwards is a
 * change of sign of the odd ones. */
static inline bool is_turned_block(const struct op *op, const uint8_t *d,
                                   const uint8_t *s)
{
    int16_t to[8][8], from[8][8];
    bool same = true;
    memcpy(to, d, sizeof to);
    memcpy(from, s, sizeof from);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            int value = op->xy ? from[x][y] : from[y][x];
            if (op->xx + op->yx < 0 && x % 2)
                value = -value;
            if (op->xy + op->yy < 0 && y % 2)
                value = -value;
            same &= (uint16_t)to[y][x] == (uint16_t)value;
        }
    return same;
}

static inline bool is_turned(const struct op *op, const struct plane *d,
                             const struct plane *s, enum cell cell)
{
    int64_t w = s->width, h = s->height, size = (int64_t)cell_size(cell);
    bool same = true;
    for (int64_t y = 0; y < d->height; y++)
        for (int64_t x = 0; x < d->width; x++) {
            int64_t sx = op->xx * x + op->xy * y + op->x1 * (w - 1);
            int64_t sy = op->yx * x + op->yy * y + op->y1 * (h - 1);
            const uint8_t *to = (uint8_t *)plane_row(d, y) + x * size;
            const uint8_t *from = (uint8_t *)plane_row(s, sy) + sx * size;
            same &= cell == CELL_DCT ? is_turned_block(op, to, from)
                                     : !memcmp(to, from, size);
        }
    return same;
}

#endif
