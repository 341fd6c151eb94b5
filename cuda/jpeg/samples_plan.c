/* The plan of what of a batch goes through samples. */
#include "cuda/jpeg/samples_plan.h"

#include <string.h>

/* Sets where the blocks of component c come from, and what becomes of them. */
static void describe(struct samples_component *to,
                     const struct entropy_scan *scan, unsigned c,
                     const struct scan_samples *samples)
{
    const struct entropy_component *one = &scan->component[c];
    to->across = one->across;
    to->down = one->down;
    for (unsigned i = 0; i < c; i++)
        to->first = (uint8_t)(to->first + scan->component[i].across *
                                              scan->component[i].down);
    to->mcu_blocks = (uint8_t)entropy_mcu_blocks(scan);
    to->mcu_columns = scan->columns;
    to->columns = one->columns;
    to->rows = one->rows;
    to->number = samples->number;
    memcpy(to->step, samples->step, sizeof to->step);
    memcpy(to->to_step, samples->to_step, sizeof to->to_step);
    to->width = samples->width;
    to->height = samples->height;
    to->x = samples->x;
    to->y = samples->y;
    to->right = samples->right;
    to->lower = samples->down;
    to->turn = (uint8_t)samples->turn;
    to->refines = samples->refines;
    to->largest = 1;
    for (unsigned k = 0; k < SAMPLES_CELLS; k++)
        if (to->to_step[k] > to->largest)
            to->largest = to->to_step[k];
}

/* Which blocks stand for all: arithmetic.h, steps, 1. */
static void set_units(struct samples_component *to)
{
    uint32_t columns = to->to_columns, rows = to->to_rows;
    to->every = 1;
    while ((uint64_t)columns * rows > REQUANTIZE_SAMPLES) {
        to->every *= 2;
        columns = entropy_divide_up(to->to_columns, to->every);
        rows = entropy_divide_up(to->to_rows, to->every);
    }
    to->sampled_columns = columns;
    to->sampled = to->refines ? columns * rows : 0;
}

static uint32_t tiles_of(uint64_t blocks)
{
    return entropy_divide_up(blocks, SAMPLES_BLOCKS);
}

/* Gives a component its places. */
static void place(struct samples_plan *plan, struct samples_component *to)
{
    const uint64_t blocks = (uint64_t)to->columns * to->rows,
                   to_blocks = (uint64_t)to->to_columns * to->to_rows;
    to->samples = plan->samples;
    to->units = plan->units;
    to->tile = plan->tiles;
    to->to_tile = plan->to_tiles;
    to->unit_tile = plan->unit_tiles;
    to->to_block = plan->blocks;
    to->to_value = plan->values;
    plan->samples += blocks * SAMPLES_CELLS;
    plan->units += (uint64_t)to->sampled * SAMPLES_CELLS;
    plan->tiles += tiles_of(blocks);
    plan->to_tiles += tiles_of(to_blocks);
    plan->unit_tiles += tiles_of(to->sampled);
    plan->blocks += to_blocks;
    plan->values += to_blocks * SAMPLES_VALUES;
}

void samples_plan_add(struct samples_plan *plan, const struct scan_turn *of,
                      uint32_t picture, uint64_t block, uint64_t value)
{
    struct samples_component *first = plan->component + plan->components;
    const struct scan_samples *added[ENTROPY_COMPONENTS];
    unsigned count = 0;
    for (unsigned c = 0; c < of->from->components; c++) {
        const struct scan_samples *samples = &of->samples[c];
        struct samples_component *one = first + count;
        const struct entropy_scan *made =
            samples->turn || samples->refines ? of->to : of->from;
        if (!samples->wanted)
            continue;
        *one = (struct samples_component){
            .picture = picture,
            .block = block,
            .value = value,
            .exact = !of->to,
            .to_columns = of->to ? made->component[c].columns : 0,
            .to_rows = of->to ? made->component[c].rows : 0,
            .list = plan->components,
        };
        describe(one, of->from, c, samples);
        set_units(one);
        place(plan, one);
        added[count++] = samples;
    }
    /* Which of them share their tables. */
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < count; k++)
            if (first[i].refines && added[i]->table == added[k]->table)
                first[i].peers |= (uint8_t)(1u << k);
    plan->components += count;
}
