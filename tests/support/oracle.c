/* The oracle of turns; see oracle.h. */
#include "tests/support/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/must.h"

const struct turn oracle[XFORM_COUNT] = {
    [XFORM_NONE] = { "copy", 1, 0, 0, 0, 1, 0 },              /* x, y */
    [XFORM_MIRROR_X] = { "fliph", -1, 0, 1, 0, 1, 0 },        /* w-1-x, y */
    [XFORM_MIRROR_Y] = { "flipv", 1, 0, 0, 0, -1, 1 },        /* x, h-1-y */
    [XFORM_ROTATE_180] = { "rotate180", -1, 0, 1, 0, -1, 1 }, /* w-1-x, h-1-y */
    [XFORM_TRANSPOSE] = { "transpose", 0, 1, 0, 1, 0, 0 },    /* y, x */
    [XFORM_ROTATE_90] = { "rotate90", 0, 1, 0, -1, 0, 1 },    /* y, h-1-x */
    [XFORM_ROTATE_270] = { "rotate270", 0, -1, 1, 1, 0, 0 },  /* w-1-y, x */
    [XFORM_TRANSVERSE] = { "transverse", 0, -1, 1, -1, 0,
                           1 }, /* w-1-y, h-1-x */
};

enum xform turn_named(const char *name)
{
    for (int t = 0; t < XFORM_COUNT; t++)
        if (strcmp(oracle[t].name, name) == 0)
            return (enum xform)t;
    abort();
}

void turn_source(enum xform t, uint32_t w, uint32_t h, uint32_t x, uint32_t y,
                 uint32_t *sx, uint32_t *sy)
{
    const struct turn *turn = &oracle[t];
    int64_t column = x, row = y, x1 = (int64_t)w - 1, y1 = (int64_t)h - 1;
    *sx = (uint32_t)(turn->xx * column + turn->xy * row + turn->x1 * x1);
    *sy = (uint32_t)(turn->yx * column + turn->yy * row + turn->y1 * y1);
}

static void turn_block(enum xform t, int16_t to[8][8], const uint8_t *s)
{
    const struct turn *turn = &oracle[t];
    int16_t from[8][8];
    memcpy(from, s, sizeof from);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            int value = turn->xy ? from[x][y] : from[y][x];
            if (turn->xx + turn->yx < 0 && x % 2)
                value = -value;
            if (turn->xy + turn->yy < 0 && y % 2)
                value = -value;
            to[y][x] = (int16_t)value;
        }
}

bool is_turned_block(enum xform t, const uint8_t *d, const uint8_t *s)
{
    int16_t want[8][8];
    turn_block(t, want, s);
    return memcmp(d, want, sizeof want) == 0;
}

bool is_turned(enum xform t, const struct plane *d, const struct plane *s,
               enum cell cell)
{
    size_t size = cell_size(cell);
    uint32_t sx, sy;
    bool same = true;
    for (uint32_t y = 0; y < d->height; y++)
        for (uint32_t x = 0; x < d->width; x++) {
            turn_source(t, s->width, s->height, x, y, &sx, &sy);
            const uint8_t *to = (uint8_t *)plane_row(d, y) + x * size;
            const uint8_t *from = (uint8_t *)plane_row(s, sy) + sx * size;
            same &= cell == CELL_DCT ? is_turned_block(t, to, from)
                                     : !memcmp(to, from, size);
        }
    return same;
}

int turn_cells(void *context, struct image *dst, const struct image *src,
               enum xform t, struct err *err)
{
    const size_t size = cell_size(src->cell);
    int16_t block[8][8];
    uint32_t sx, sy;
    (void)context, (void)err;
    for (unsigned c = 0; c < dst->nplanes; c++) {
        const struct plane *to = &dst->plane[c], *from = &src->plane[c];
        for (uint32_t y = 0; y < to->height; y++)
            for (uint32_t x = 0; x < to->width; x++) {
                turn_source(t, from->width, from->height, x, y, &sx, &sy);
                const uint8_t *cell =
                    (uint8_t *)plane_row(from, sy) + sx * size;
                if (src->cell == CELL_DCT) {
                    turn_block(t, block, cell);
                    cell = (const uint8_t *)block;
                }
                memcpy((uint8_t *)plane_row(to, y) + x * size, cell, size);
            }
    }
    return 0;
}

const struct turner turner_of_cells = { .turn = turn_cells };

void turn_image(struct image *img, enum xform t)
{
    struct image dst = { 0 };
    struct err err;
    must(image_like(&dst, img, t, mem_plain, &err) == 0);
    turn_cells(NULL, &dst, img, t, &err);
    image_take_meta(&dst, img);
    image_free(img);
    *img = dst;
}
