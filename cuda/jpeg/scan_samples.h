/* Components that go through samples: from blocks to samples, and from samples,
 * moved or turned, back to blocks, as codecs/jpeg/arithmetic.h says.
 *
 * Eight threads share a block; each has a column, or a row. Between two of the
 * functions below that take `shared` is a barrier. */
#ifndef CUDA_JPEG_SCAN_SAMPLES_H
#define CUDA_JPEG_SCAN_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/image/xform.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/entropy.h"
#include "cuda/jpeg/scan_word.h"

#ifdef __CUDACC__
#define SAMPLES_TABLE static __constant__ const
#else
#define SAMPLES_TABLE static const
#endif

enum {
    SAMPLES_SIDE = 8,
    SAMPLES_CELLS = 64,
    SAMPLES_THREADS = 256,
    SAMPLES_BLOCKS = SAMPLES_THREADS / SAMPLES_SIDE, /* of a tile */
    /* A block's values, of which it has up to 63, have so much room. */
    SAMPLES_VALUES = 64,
};

/* Which coefficient of a block, row by row, stands at each position of the
 * zigzag order (entropy_natural). */
SAMPLES_TABLE uint8_t samples_natural[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* A component on its way. */
struct samples_component {
    uint32_t picture;
    uint8_t number; /* in the picture: 0 is luma */

    /* Its blocks as they come. */
    uint64_t block, value; /* the first of the scan, and where values begin */
    uint8_t across, down, first, mcu_blocks;
    uint32_t mcu_columns;
    uint32_t columns, rows; /* of blocks that hold samples */
    uint32_t tile;          /* the first one of SAMPLES_BLOCKS of them */
    uint16_t step[SAMPLES_CELLS], to_step[SAMPLES_CELLS]; /* as they come, go */
    bool exact; /* samples are to be those of every decoder */

    uint64_t samples; /* where its plane is: rows of 8 * columns bytes */

    /* The plane that becomes blocks: of so many samples, before its turn. */
    uint32_t width, height;
    struct chroma_axis x, y; /* how it gets them; factor 0: it has them */
    uint32_t right, lower;   /* by how many samples it is moved */
    uint8_t turn;            /* enum xform */

    /* Its blocks as they go. */
    uint32_t to_columns, to_rows, to_tile;
    uint64_t to_block, to_value; /* as above; blocks are in rows */
    bool refines;                /* steps may become finer, and coefficients
                                    are rounded with a dead zone */
    uint32_t list;               /* the first component of its picture */
    uint8_t peers;               /* bit i: list + i has the same table */
    uint32_t largest;            /* step of the table */
    uint64_t units; /* the first coefficient of the blocks that are sampled, */
    uint32_t every; /* of every so many columns and rows, */
    uint32_t sampled, sampled_columns; /* so many, in rows of so many */
    uint32_t unit_tile;                /* the first tile of these */
};

struct samples_params {
    const struct samples_component *component;
    uint32_t components;
    struct entropy_block *block;
    uint16_t *value;
    uint8_t *samples;
    int16_t *unit; /* coefficients of sampled blocks, in units */
    uint32_t *cap; /* of each component */
};

/* ---- Blocks to samples --------------------------------------------------- */

/* What the threads of a tile share: of each block, rows of 8 numbers, and one
 * more so that columns lie in different banks. */
struct samples_shared {
    int32_t cell[SAMPLES_BLOCKS][SAMPLES_SIDE * (SAMPLES_SIDE + 1)];
    uint8_t mask[SAMPLES_BLOCKS][SAMPLES_SIDE]; /* of zigzag positions */
    uint32_t sum[SAMPLES_BLOCKS][SAMPLES_SIDE]; /* of magnitudes of a column */
};

SCAN_INLINE unsigned samples_cell(unsigned row, unsigned column)
{
    return row * (SAMPLES_SIDE + 1) + column;
}

/* Where a thread works. */
struct samples_place {
    const struct samples_component *c;
    uint32_t block; /* of the component, row by row */
    uint32_t x, y;  /* the same */
    unsigned in_tile, lane;
    bool there;
};

SCAN_INLINE struct samples_place samples_find(const struct samples_component *c,
                                              uint32_t tile, uint32_t columns,
                                              uint32_t rows, unsigned thread)
{
    struct samples_place at;
    at.c = c;
    at.in_tile = thread / SAMPLES_SIDE;
    at.lane = thread % SAMPLES_SIDE;
    at.block = tile * SAMPLES_BLOCKS + at.in_tile;
    at.there = at.block < columns * rows;
    at.x = at.there ? at.block % columns : 0;
    at.y = at.there ? at.block / columns : 0;
    return at;
}

SCAN_INLINE int32_t samples_value(uint32_t value)
{
    int32_t top = 1 << word_highest(value), bits = (int32_t)value - top;
    return bits >= top >> 1 ? bits : bits - top + 1;
}

/* Each thread puts eight coefficients, times their steps, in their places. */
SCAN_INLINE void samples_load(const struct samples_params *p,
                              const struct samples_place *at,
                              struct samples_shared *shared)
{
    const struct samples_component *c = at->c;
    int32_t *cell = shared->cell[at->in_tile];
    if (!at->there)
        return;
    const uint64_t mcu =
        (uint64_t)(at->y / c->down) * c->mcu_columns + at->x / c->across;
    const struct entropy_block *b =
        &p->block[c->block + mcu * c->mcu_blocks + c->first +
                  at->y % c->down * c->across + at->x % c->across];
    const unsigned begin = at->lane * SAMPLES_SIDE;
    const uint16_t *value = p->value + c->value + b->at +
                            word_count(b->mask & ((UINT64_C(1) << begin) - 1));
    for (unsigned k = begin; k < begin + SAMPLES_SIDE; k++) {
        const unsigned place = samples_natural[k];
        int32_t coefficient = k ? 0 : b->dc;
        if (b->mask >> k & 1)
            coefficient = samples_value(*value++);
        cell[samples_cell(place / SAMPLES_SIDE, place % SAMPLES_SIDE)] =
            coefficient * c->step[place];
    }
}

/* Each thread transforms a column. */
SCAN_INLINE void samples_inverse_column(const struct samples_place *at,
                                        struct samples_shared *shared)
{
    int32_t *cell = shared->cell[at->in_tile];
    dct_lanes v[SAMPLES_SIDE];
    uint32_t sum = 0;
    for (unsigned i = 0; i < SAMPLES_SIDE; i++) {
        const int32_t value = cell[samples_cell(i, at->lane)];
        v[i] = (dct_lanes)value;
        sum += (uint32_t)(value < 0 ? -value : value);
    }
    shared->sum[at->in_tile][at->lane] = sum;
    dct_inverse_pass(v, DCT_FIRST_PASS);
    for (unsigned i = 0; i < SAMPLES_SIDE; i++)
        cell[samples_cell(i, at->lane)] = (int32_t)v[i];
}

/* Returns whether decoders agree about a block as far as the thread can see:
 * what DCT_EXACT says of two columns. */
SCAN_INLINE bool samples_agree(const struct samples_place *at,
                               const struct samples_shared *shared)
{
    const uint32_t *sum = shared->sum[at->in_tile];
    return !at->there || !at->c->exact ||
           sum[at->lane] + sum[(at->lane + SAMPLES_SIDE / 2) % SAMPLES_SIDE] <=
               DCT_EXACT;
}

/* Each thread transforms a row, and stores its samples. Returns whether
 * decoders agree about these: what DCT_LIMIT says. */
SCAN_INLINE bool samples_store(const struct samples_params *p,
                               const struct samples_place *at,
                               const struct samples_shared *shared)
{
    const struct samples_component *c = at->c;
    const int32_t *cell = shared->cell[at->in_tile];
    dct_lanes v[SAMPLES_SIDE];
    uint64_t row = 0;
    for (unsigned i = 0; i < SAMPLES_SIDE; i++)
        v[i] = (dct_lanes)cell[samples_cell(at->lane, i)];
    dct_inverse_pass(v, DCT_INVERSE_LAST_PASS);
    for (unsigned i = 0; i < SAMPLES_SIDE; i++)
        row |= (uint64_t)dct_sample((int32_t)v[i]) << (8 * i);
    if (at->there)
        *(uint64_t *)(p->samples + c->samples +
                      (uint64_t)c->columns * SAMPLES_SIDE *
                          (at->y * SAMPLES_SIDE + at->lane) +
                      at->x * SAMPLES_SIDE) = scan_le64(row);
    dct_lanes beyond;
    dct_find_beyond(&beyond, v);
    return !at->there || !c->exact || beyond == 0;
}

/* ---- Samples as they are turned ------------------------------------------ */

/* Returns sample x, y of row y in full resolution along the row. */
SCAN_INLINE uint8_t samples_across(const struct samples_component *c,
                                   const uint8_t *plane, uint32_t x, uint32_t y)
{
    const uint8_t *row = plane + (uint64_t)c->columns * SAMPLES_SIDE * y;
    if (!c->x.factor)
        return row[x];
    return upsample_across(row[chroma_at(&c->x, x)], row[chroma_next(&c->x, x)],
                           x);
}

/* Returns sample x, y in full resolution. */
SCAN_INLINE uint8_t samples_full(const struct samples_component *c,
                                 const uint8_t *plane, uint32_t x, uint32_t y)
{
    if (!c->y.factor)
        return samples_across(c, plane, x, y);
    return upsample_across(samples_across(c, plane, x, chroma_at(&c->y, y)),
                           samples_across(c, plane, x, chroma_next(&c->y, y)),
                           y);
}

/* Returns sample x, y of the plane that becomes blocks: moved or turned, and
 * repeated beyond its edges. */
SCAN_INLINE uint8_t samples_turned(const struct samples_component *c,
                                   const uint8_t *plane, uint32_t x, uint32_t y)
{
    const bool transposes = (c->turn & XFORM_TRANSPOSE) != 0;
    const uint32_t width = transposes ? c->height : c->width,
                   height = transposes ? c->width : c->height;
    x = x > c->right ? x - c->right : 0;
    y = y > c->lower ? y - c->lower : 0;
    x = x < width ? x : width - 1;
    y = y < height ? y : height - 1;
    x = c->turn & XFORM_MIRROR_X ? width - 1 - x : x;
    y = c->turn & XFORM_MIRROR_Y ? height - 1 - y : y;
    return transposes ? samples_full(c, plane, y, x)
                      : samples_full(c, plane, x, y);
}

/* ---- Samples to blocks --------------------------------------------------- */

/* Each thread transforms a row of a block of the turned plane. */
SCAN_INLINE void samples_forward_row(const struct samples_params *p,
                                     const struct samples_place *at,
                                     struct samples_shared *shared)
{
    int32_t *cell = shared->cell[at->in_tile];
    dct_lanes v[SAMPLES_SIDE];
    if (!at->there)
        return;
    for (unsigned i = 0; i < SAMPLES_SIDE; i++)
        v[i] = (dct_lanes)samples_turned(at->c, p->samples + at->c->samples,
                                         at->x * SAMPLES_SIDE + i,
                                         at->y * SAMPLES_SIDE + at->lane) -
               (dct_lanes)DCT_MIDDLE;
    dct_forward_pass(v, DCT_FIRST_PASS);
    for (unsigned i = 0; i < SAMPLES_SIDE; i++)
        cell[samples_cell(at->lane, i)] = (int32_t)v[i];
}

SCAN_INLINE void samples_forward_column(const struct samples_place *at,
                                        const struct samples_shared *shared,
                                        dct_lanes v[SAMPLES_SIDE])
{
    const int32_t *cell = shared->cell[at->in_tile];
    for (unsigned i = 0; i < SAMPLES_SIDE; i++)
        v[i] = (dct_lanes)cell[samples_cell(i, at->lane)];
    dct_forward_pass(v, DCT_FORWARD_LAST_PASS);
}

/* ---- Finer steps --------------------------------------------------------- */

/* Each thread transforms a column of a sampled block and stores it. */
SCAN_INLINE void samples_store_units(const struct samples_params *p,
                                     const struct samples_place *at,
                                     const struct samples_shared *shared)
{
    dct_lanes v[SAMPLES_SIDE];
    if (!at->there)
        return;
    samples_forward_column(at, shared, v);
    int16_t *to = p->unit + at->c->units + (uint64_t)at->block * SAMPLES_CELLS;
    for (unsigned i = 0; i < SAMPLES_SIDE; i++)
        to[i * SAMPLES_SIDE + at->lane] = (int16_t)v[i];
}

/* Returns the error of the coefficients that a thread looks at, with capped
 * steps. */
SCAN_INLINE uint64_t samples_error(const struct samples_params *p,
                                   const struct samples_component *c,
                                   unsigned cap, unsigned thread)
{
    const int16_t *unit = p->unit + c->units;
    uint64_t error = 0;
    for (uint32_t i = thread; i < c->sampled * SAMPLES_CELLS;
         i += SAMPLES_THREADS) {
        const unsigned k = i % SAMPLES_CELLS;
        const uint16_t step = requantize_step(c->to_step[k], cap);
        error += requantize_error(unit[i], step, requantize_least(k, step));
    }
    return error;
}

/* Returns the cap of the steps of a component, whose table others may share. */
SCAN_INLINE uint32_t samples_cap(const struct samples_params *p,
                                 const struct samples_component *c)
{
    uint32_t cap = UINT16_MAX;
    for (unsigned i = 0; i < ENTROPY_COMPONENTS; i++)
        if (c->peers >> i & 1 && p->cap[c->list + i] < cap)
            cap = p->cap[c->list + i];
    return cap;
}

/* ---- Blocks -------------------------------------------------------------- */

/* Each thread transforms and rounds a column. */
SCAN_INLINE void samples_round(const struct samples_params *p,
                               const struct samples_place *at,
                               struct samples_shared *shared)
{
    int32_t *cell = shared->cell[at->in_tile];
    dct_lanes v[SAMPLES_SIDE];
    if (!at->there)
        return;
    const uint32_t cap = samples_cap(p, at->c);
    samples_forward_column(at, shared, v);
    for (unsigned i = 0; i < SAMPLES_SIDE; i++) {
        const unsigned k = i * SAMPLES_SIDE + at->lane;
        const uint16_t step = requantize_step(at->c->to_step[k], cap);
        const int32_t least = at->c->refines ? requantize_least(k, step) : 0;
        cell[samples_cell(i, at->lane)] =
            dct_quantize((int32_t)v[i], step, least);
    }
}

SCAN_INLINE int32_t samples_rounded(const struct samples_shared *shared,
                                    const struct samples_place *at, unsigned k)
{
    const unsigned place = samples_natural[k];
    return shared->cell[at->in_tile][samples_cell(place / SAMPLES_SIDE,
                                                  place % SAMPLES_SIDE)];
}

/* Each thread finds which of eight positions are not zero. */
SCAN_INLINE void samples_mark(const struct samples_place *at,
                              struct samples_shared *shared)
{
    const unsigned begin = at->lane * SAMPLES_SIDE;
    unsigned mask = 0;
    for (unsigned i = 0; at->there && i < SAMPLES_SIDE; i++)
        if (begin + i > 0 && samples_rounded(shared, at, begin + i))
            mask |= 1u << i;
    shared->mask[at->in_tile][at->lane] = (uint8_t)mask;
}

/* Each thread writes the values of its positions, the first one the block.
 * Returns false if one is too large. */
SCAN_INLINE bool samples_put(const struct samples_params *p,
                             const struct samples_place *at,
                             const struct samples_shared *shared)
{
    const struct samples_component *c = at->c;
    const unsigned begin = at->lane * SAMPLES_SIDE;
    uint64_t mask = 0;
    if (!at->there)
        return true;
    for (unsigned i = 0; i < SAMPLES_SIDE; i++)
        mask |= (uint64_t)shared->mask[at->in_tile][i] << (SAMPLES_SIDE * i);
    const uint32_t first = at->block * SAMPLES_VALUES;
    uint16_t *to = p->value + c->to_value + first +
                   word_count(mask & ((UINT64_C(1) << begin) - 1));
    bool fits = true;
    for (unsigned k = begin; k < begin + SAMPLES_SIDE; k++) {
        const int32_t value = samples_rounded(shared, at, k);
        const int32_t size = value < 0 ? -value : value;
        if (!(mask >> k & 1))
            continue;
        const unsigned bits = word_highest((uint32_t)size) + 1;
        fits = fits && size <= ENTROPY_AC_MAX;
        *to++ = (uint16_t)(1u << bits | ((uint32_t)(value - (value < 0)) &
                                         ((1u << bits) - 1)));
    }
    if (at->lane == 0) {
        const int32_t dc = samples_rounded(shared, at, 0);
        const struct entropy_block b = { mask, first, (int16_t)dc, 0 };
        fits = fits && dc >= -ENTROPY_DC_MAX && dc < ENTROPY_DC_MAX;
        p->block[c->to_block + at->block] = b;
    }
    return fits;
}

#endif
