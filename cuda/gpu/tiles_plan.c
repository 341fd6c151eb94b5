/* The plan of a launch. */
#include "cuda/gpu/tiles_plan.h"

#include "cuda/gpu/tiles.h"

struct tiles_plan tiles_plan_begin(enum cell cell, enum xform t)
{
    struct tiles_plan plan = { cell, xform_transposes(t), COLUMNS_WIDE, 0, 0 };
    return plan;
}

void tiles_plan_add(struct tiles_plan *plan, struct tiles_plane *planes,
                    const struct plane *dst, const struct plane *src,
                    enum xform t)
{
    struct tiles_plane *p = &planes[plan->nplanes++];
    p->src = src->data;
    p->dst = dst->data;
    p->src_stride = (uint32_t)(src->stride / IMAGE_STRIDE);
    p->dst_stride = (uint32_t)(dst->stride / IMAGE_STRIDE);
    p->width = dst->width;
    p->height = dst->height;
    p->first = p->across = 0;
    p->inverse = 0;
    p->t = (uint16_t)t;
    p->lanes = 0;
}

static uint64_t ceil_div(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit;
}

uint16_t tiles_plan_row_lanes(uint64_t vectors)
{
    uint16_t lanes = 7; /* ROWS_THREADS */
    while (lanes > 0 &&
           (ceil_div(vectors, 1u << lanes) << lanes) - vectors > vectors / 3)
        lanes--;
    return lanes;
}

/* Cuts a plane into tiles, plan->vectors wide where there is a choice. Returns
 * how many tiles there are. */
static uint64_t cut_plane(const struct tiles_plan *plan, struct tiles_plane *p)
{
    uint64_t size = cell_size(plan->cell), length = p->width * size;
    uint64_t wide, high; /* a tile, in bytes and rows */
    if (!plan->columns) {
        p->lanes = tiles_plan_row_lanes(ceil_div(length, TILES_VECTOR));
        wide = (uint64_t)TILES_VECTOR << p->lanes;
        high = ROWS_THREADS >> p->lanes;
    } else if (plan->cell == CELL_DCT) {
        wide = DCT_ACROSS * size;
        high = DCT_DOWN;
    } else {
        wide = plan->vectors * TILES_VECTOR;
        high = wide / size;
    }
    p->across = (uint32_t)ceil_div(length, wide);
    p->inverse = UINT64_MAX / p->across + 1;
    return p->across * ceil_div(p->height, high);
}

void tiles_plan_cut(struct tiles_plan *plan, struct tiles_plane *planes,
                    unsigned vectors)
{
    plan->vectors = vectors;
    plan->ntiles = 0;
    for (uint32_t i = 0; i < plan->nplanes; i++) {
        planes[i].first = (uint32_t)plan->ntiles;
        plan->ntiles += cut_plane(plan, &planes[i]);
    }
}

/* Returns whether the wide tiles that the planes are cut into are better than
 * `narrow` narrow ones, of which four make a wide one. One tile is read while
 * another is written, so a multiprocessor must have room for two. No more than
 * an eighth of the wide tiles may lie beyond the ends of planes. */
static bool suit_wide(const struct tiles_plan *plan, uint64_t narrow,
                      const struct tiles_chip *chip)
{
    size_t bytes = COLUMNS_BYTES(cell_size(plan->cell), COLUMNS_WIDE);
    return bytes <= chip->shared_block && 2 * bytes <= chip->shared_all &&
           plan->ntiles >= (uint64_t)COLUMNS_ENOUGH * chip->multiprocessors &&
           narrow / 4 >= plan->ntiles - plan->ntiles / 8;
}

void tiles_plan_number(struct tiles_plan *plan, struct tiles_plane *planes,
                       const struct tiles_chip *chip)
{
    tiles_plan_cut(plan, planes, COLUMNS_NARROW);
    if (!plan->columns || plan->cell == CELL_DCT)
        return; /* one width only */
    uint64_t narrow = plan->ntiles;
    tiles_plan_cut(plan, planes, COLUMNS_WIDE);
    if (!suit_wide(plan, narrow, chip))
        tiles_plan_cut(plan, planes, COLUMNS_NARROW);
}
