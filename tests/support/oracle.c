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
    for (EACH_TURN(t))
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

/* The cells of a source that a row is made of: the first one, and how many
 * bytes the next one is away. */
struct source_cells {
    const uint8_t *first;
    ptrdiff_t step;
};

static struct source_cells source_of_row(enum xform t, const struct plane *s,
                                         size_t size, uint32_t y)
{
    const struct turn *turn = &oracle[t];
    uint32_t sx, sy;
    turn_source(t, s->width, s->height, 0, y, &sx, &sy);
    return (struct source_cells){
        .first = (uint8_t *)plane_row(s, sy) + sx * size,
        .step = turn->xx * (ptrdiff_t)size + turn->yx * (ptrdiff_t)s->stride,
    };
}

/* The compiler makes one loop for each size that is a constant. */
static inline void copy_row(uint8_t *to, struct source_cells from,
                            uint32_t width, size_t size)
{
    for (uint32_t x = 0; x < width; x++)
        memcpy(to + x * size, from.first + x * from.step, size);
}

static void turn_row(enum xform t, uint8_t *to, struct source_cells from,
                     uint32_t width, enum cell cell)
{
    switch (cell) {
    case CELL_U8:
        copy_row(to, from, width, 1);
        break;
    case CELL_U16:
        copy_row(to, from, width, 2);
        break;
    case CELL_F32:
        copy_row(to, from, width, 4);
        break;
    default:
        for (uint32_t x = 0; x < width; x++)
            turn_block(t, (int16_t(*)[8])(to + x * cell_size(cell)),
                       from.first + x * from.step);
    }
}

bool is_turned(enum xform t, const struct plane *d, const struct plane *s,
               enum cell cell)
{
    const size_t size = cell_size(cell);
    owned_memory uint8_t *row = malloc(d->width * size);
    bool same = true;
    must(row != NULL);
    for (uint32_t y = 0; y < d->height; y++) {
        turn_row(t, row, source_of_row(t, s, size, y), d->width, cell);
        same &= !memcmp(plane_row(d, y), row, d->width * size);
    }
    return same;
}

int turn_cells(void *context, struct image *dst, const struct image *src,
               enum xform t, struct err *err)
{
    (void)context, (void)err;
    for (unsigned c = 0; c < dst->nplanes; c++) {
        const struct plane *to = &dst->plane[c], *from = &src->plane[c];
        for (uint32_t y = 0; y < to->height; y++)
            turn_row(t, plane_row(to, y),
                     source_of_row(t, from, cell_size(src->cell), y), to->width,
                     src->cell);
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
