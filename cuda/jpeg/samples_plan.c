/* The plan of what of a batch goes through samples. */
#include "cuda/jpeg/samples_plan.h"

#include <string.h>

uint32_t samples_plan_count(const struct samples_plan *plan)
{
    return (uint32_t)(plan->components.size / sizeof(struct samples_component));
}

struct samples_component *
samples_plan_component(const struct samples_plan *plan, uint32_t i)
{
    return (struct samples_component *)(void *)plan->components.data + i;
}

/* Where the blocks of component c come from. */
static void set_source(struct samples_component *to,
                       const struct entropy_scan *scan, unsigned c)
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
}

static void set_samples(struct samples_component *to,
                        const struct scan_samples *samples)
{
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

/* Finds which of the components, from `first` on, share their tables. */
static void set_peers(struct samples_plan *plan, uint32_t first,
                      const struct scan_samples *const *samples)
{
    const uint32_t count = samples_plan_count(plan) - first;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++) {
            struct samples_component *c =
                samples_plan_component(plan, first + i);
            c->list = first;
            if (c->refines && samples[i]->table == samples[k]->table)
                c->peers |= (uint8_t)(1u << k);
        }
}

bool samples_plan_add(struct samples_plan *plan, uint32_t picture,
                      uint64_t block, uint64_t value,
                      const struct entropy_scan *from,
                      const struct entropy_scan *to,
                      const struct scan_samples *samples)
{
    const uint32_t first = samples_plan_count(plan);
    const struct scan_samples *added[ENTROPY_COMPONENTS];
    for (unsigned c = 0; c < from->components; c++) {
        struct samples_component one = { .picture = picture,
                                         .block = block,
                                         .value = value };
        const struct entropy_scan *made = samples[c].turn ? to : from;
        if (!samples[c].wanted)
            continue;
        if (samples[c].refines)
            made = to;
        set_source(&one, from, c);
        set_samples(&one, &samples[c]);
        one.exact = !to;
        one.to_columns = to ? made->component[c].columns : 0;
        one.to_rows = to ? made->component[c].rows : 0;
        set_units(&one);
        place(plan, &one);
        added[samples_plan_count(plan) - first] = &samples[c];
        if (!bytes_append(&plan->components, &one, sizeof one))
            return false;
    }
    set_peers(plan, first, added);
    return true;
}

void samples_plan_place(struct samples_plan *plan, uint64_t block,
                        uint64_t value)
{
    for (uint32_t i = 0; i < samples_plan_count(plan); i++) {
        samples_plan_component(plan, i)->to_block += block;
        samples_plan_component(plan, i)->to_value += value;
    }
}

void samples_plan_free(struct samples_plan *plan)
{
    bytes_free(&plan->components);
    *plan = (struct samples_plan){ .tiles = 0 };
}
