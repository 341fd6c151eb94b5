/* Turns coded scans as a device does, on the host. */
#include "tests/support/host_turn.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/dct.h"
#include "codecs/jpeg/entropy/block_planes.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "tests/support/must.h"
#include "tests/support/samples_serial.h"

bool host_turn(struct bytes *made, struct entropy_scan *to,
               const struct entropy_scan *from, enum xform turn, bool optimize,
               struct bytes data)
{
    static const uint8_t eoi[] = { 0xff, MARKER_EOI };
    struct entropy_blocks blocks = { 0 };
    struct bytes coded = { 0 };
    struct err err;
    size_t used;
    bool turned = bytes_append(&coded, data.data, data.size) &&
                  bytes_append(&coded, eoi, sizeof eoi) &&
                  entropy_decode(&blocks, from, coded.data, coded.size, &used,
                                 xform_transposes(turn), NULL, &err) == 0 &&
                  used == data.size;
    const struct entropy_source source = { &blocks, from, turn };
    turned = turned && sequential_encode_scan(made, to, &source, optimize, NULL,
                                              &err) == 0;
    entropy_blocks_free(&blocks);
    bytes_free(&coded);
    return turned;
}

/* ---- Components that go through samples --------------------------------- */

/* A scan whose blocks and values lie in arrays, as on a device. */
struct device_scan {
    struct samples_plan plan;
    struct samples_params params;
    const struct scan_turn *scan;
    bool transposes; /* blocks are to be transposed */
};

/* Decodes the blocks as they stand in the file. */
static void decode_blocks(struct entropy_blocks *blocks,
                          const struct scan_turn *scan, bool transposes)
{
    static const uint8_t eoi[] = { 0xff, MARKER_EOI };
    struct bytes coded = { 0 };
    struct err err;
    size_t used;
    must(bytes_append(&coded, scan->coded.data, scan->coded.size) &&
         bytes_append(&coded, eoi, sizeof eoi) &&
         entropy_decode(blocks, scan->from, coded.data, coded.size, &used,
                        transposes, NULL, &err) == 0);
    bytes_free(&coded);
}

/* Copies all blocks, with one list of values, and room behind them. */
static void flatten(struct device_scan *d, const struct entropy_blocks *blocks)
{
    const uint64_t count = blocks->count, values = 64 * count;
    struct samples_params *p = &d->params;
    p->block = calloc(count + d->plan.blocks, sizeof *p->block);
    p->value = calloc(values + d->plan.values, sizeof *p->value);
    must(p->block && p->value);
    for (size_t i = 0; i < count; i++) {
        struct entropy_block b = blocks->block[i];
        const unsigned n = (unsigned)__builtin_popcountll(b.mask);
        memcpy(p->value + 64 * i, blocks->values[b.part] + b.at,
               n * sizeof *p->value);
        b.at = (uint32_t)(64 * i);
        b.part = 0;
        p->block[i] = b;
    }
    samples_plan_place(&d->plan, count, values);
}

static void run(struct device_scan *d)
{
    const struct samples_plan *plan = &d->plan;
    struct samples_params *p = &d->params;
    uint32_t *tiles = calloc(
        3 * (size_t)(plan->tiles + plan->to_tiles + plan->unit_tiles + 1),
        sizeof *tiles);
    uint32_t cap[ENTROPY_COMPONENTS], refused = 0;
    must(tiles);
    p->tile_component = tiles;
    p->to_tile_component = tiles + plan->tiles;
    p->unit_tile_component = tiles + plan->tiles + plan->to_tiles;
    samples_plan_tiles(plan, tiles, tiles + plan->tiles,
                       tiles + plan->tiles + plan->to_tiles);
    p->component = samples_plan_component(plan, 0);
    p->components = samples_plan_count(plan);
    p->samples = malloc(plan->samples);
    p->unit = malloc((plan->units + 1) * sizeof *p->unit);
    p->cap = cap;
    p->refused = &refused;
    must(p->samples && p->unit);
    samples_serial_run(p, plan);
    must(!refused);
    for (uint32_t i = 0, c = 0; c < d->scan->from->components; c++)
        if (d->scan->samples[c].wanted)
            d->scan->samples[c].cap = samples_cap(p, &p->component[i++]);
    free(tiles);
    free(p->samples);
    free(p->unit);
}

/* Writes what was made of a block. */
static void take_block(void *context, unsigned c, uint32_t x, uint32_t y,
                       int16_t block[64])
{
    const struct device_scan *d = context;
    uint32_t i = 0;
    for (unsigned k = 0; k < c; k++)
        i += d->scan->samples[k].wanted;
    const struct samples_component *one = &d->params.component[i];
    const struct entropy_block *b =
        &d->params.block[one->to_block + (uint64_t)y * one->to_columns + x];
    const uint16_t *value = d->params.value + one->to_value + b->at;
    memset(block, 0, 64 * sizeof *block);
    block[0] = b->dc;
    for (unsigned k = 1; k < 64; k++)
        if (b->mask >> k & 1)
            block[entropy_natural[k]] = (int16_t)entropy_value(*value++);
    if (d->transposes)
        dct_transpose(block);
}

bool host_turn_samples(struct bytes *made, struct scan_turn *scan)
{
    const bool anew = scan->samples[0].refines;
    struct entropy_blocks stored = { 0 }, blocks = { 0 };
    struct device_scan d = { .scan = scan,
                             .transposes =
                                 !anew && xform_transposes(scan->turn) };
    struct block_visitor visitor = { .visit = take_block, .context = &d };
    struct err err;
    const struct entropy_source source = { &blocks,
                                           anew ? scan->to : scan->from,
                                           anew ? XFORM_NONE : scan->turn };
    must(samples_plan_add(&d.plan, 0, 0, 0, scan->from, scan->to,
                          scan->samples));
    decode_blocks(&stored, scan, false);
    flatten(&d, &stored);
    run(&d);
    if (!anew)
        decode_blocks(&blocks, scan, d.transposes);
    for (unsigned c = 0; c < scan->from->components; c++)
        visitor.wants[c] = scan->samples[c].wanted;
    must(block_planes_replace(&blocks, source.scan, &visitor, NULL, &err) == 0);
    bool turned = sequential_encode_scan(made, scan->to, &source,
                                         scan->optimize, NULL, &err) == 0;
    entropy_blocks_free(&stored);
    entropy_blocks_free(&blocks);
    free(d.params.block);
    free(d.params.value);
    samples_plan_free(&d.plan);
    return turned;
}
