/* What the blocks of each kernel do that turns scans, in the order of the
 * kernels: phases of the threads of scan_stuff.h and its neighbours.
 *
 * A block works on one picture. Whether that is refused is asked once for a
 * block, as another one may refuse it at any time. */
#ifndef CUDA_JPEG_SCAN_KERNELS_H
#define CUDA_JPEG_SCAN_KERNELS_H

#include "cuda/jpeg/scan_encode.h"
#include "cuda/jpeg/scan_stuff.h"
#include "cuda/jpeg/scan_tile.h"

/* SCAN_SUM_ITEMS() replaces n items, each of which GET loads and PUT stores,
 * by the sums of all before each, and sets *sum to that of all. `i` is the
 * number of an item. */
#define SCAN_SUM_ITEMS(type, add, n, get, put, sum)                            \
    do {                                                                       \
        const uint32_t items = n;                                              \
        type own[PHASE_OWN(SCAN_THREADS)], more;                               \
        memset(sum, 0, sizeof *(sum));                                         \
        for (uint32_t first = 0; first < items; first += SCAN_THREADS) {       \
            PHASE(t, SCAN_THREADS)                                             \
            {                                                                  \
                const uint32_t i = first + t;                                  \
                memset(&own[PHASE_ITEM(t)], 0, sizeof *own);                   \
                if (i < items)                                                 \
                    own[PHASE_ITEM(t)] = get;                                  \
            }                                                                  \
            PHASE_SUM(type, add, own, &more);                                  \
            PHASE(t, SCAN_THREADS)                                             \
            {                                                                  \
                const uint32_t i = first + t;                                  \
                if (i < items)                                                 \
                    put = add(*(sum), own[PHASE_ITEM(t)]);                     \
            }                                                                  \
            *(sum) = add(*(sum), more);                                        \
        }                                                                      \
    } while (0)

/* ---- Bytes without stuffing ----------------------------------------------*/

SCAN_INLINE void scan_unstuff_count(const struct scan_params *p, uint32_t chunk,
                                    struct phase_nothing *s)
{
    const uint32_t picture = SCAN_FIND(p, chunk, chunk);
    struct scan_bytes own[PHASE_OWN(SCAN_THREADS)], sum;
    (void)s;
    PHASE(t, SCAN_THREADS)
    {
        const struct unstuff_bytes b =
            unstuff_read(p, &p->picture[picture], chunk, t);
        own[PHASE_ITEM(t)] = unstuff_count(&b);
    }
    PHASE_SUM(struct scan_bytes, unstuff_add, own, &sum);
    PHASE(t, SCAN_THREADS)
    if (t == 0)
        p->chunk[chunk] = sum;
}

SCAN_INLINE void scan_unstuff_sum(const struct scan_params *p, uint32_t picture,
                                  struct phase_nothing *s)
{
    const struct scan_picture *pic = &p->picture[picture];
    struct scan_bytes *chunk = p->chunk + pic->chunk, all;
    (void)s;
    SCAN_SUM_ITEMS(struct scan_bytes, unstuff_add, pic->chunks, chunk[i],
                   chunk[i], &all);
    /* Behind the bytes there are zeros. All restart markers must be there, and
     * two bits a block. */
    PHASE(t, SCAN_THREADS)
    for (unsigned i = t; i < SCAN_PADDING; i += SCAN_THREADS)
        p->data[pic->data + all.bytes + i] = 0;
    PHASE(t, SCAN_THREADS)
    if (t == 0) {
        p->status[picture].size = all.bytes;
        p->start[pic->start] = 0;
        p->start[pic->start + pic->intervals] = all.bytes;
        if (all.markers + 1 != pic->intervals ||
            pic->blocks > (uint64_t)all.bytes * 4)
            scan_refuse(p, picture);
    }
}

SCAN_INLINE void scan_unstuff(const struct scan_params *p, uint32_t chunk,
                              struct unstuff_shared *s)
{
    const uint32_t picture = SCAN_FIND(p, chunk, chunk);
    const struct scan_picture *pic = &p->picture[picture];
    struct unstuff_bytes b[PHASE_OWN(SCAN_THREADS)];
    struct scan_bytes own[PHASE_OWN(SCAN_THREADS)], sum;
    if (PHASE_ALL(scan_is_out(p, picture)))
        return;
    PHASE(t, SCAN_THREADS)
    {
        b[PHASE_ITEM(t)] = unstuff_read(p, pic, chunk, t);
        own[PHASE_ITEM(t)] = unstuff_count(&b[PHASE_ITEM(t)]);
    }
    PHASE_SUM(struct scan_bytes, unstuff_add, own, &sum);
    PHASE(t, SCAN_THREADS)
    unstuff_place(p, picture, chunk, &b[PHASE_ITEM(t)], own[PHASE_ITEM(t)],
                  s->byte);
    PHASE(t, SCAN_THREADS)
    scan_copy_bytes(p->data + pic->data, p->chunk[chunk].bytes, sum.bytes,
                    s->byte, t);
}

/* ---- Decoding ------------------------------------------------------------*/

SCAN_INLINE void scan_seek_tile(const struct scan_params *p, uint32_t tile,
                                struct scan_tile *s)
{
    const uint32_t picture = SCAN_FIND(p, tile, tile);
    const struct scan_picture *pic = &p->picture[picture];
    const uint32_t first = scan_first(pic, tile);
    uint64_t entry[PHASE_OWN(SCAN_TILE)], found[PHASE_OWN(SCAN_TILE)];
    unsigned thread[PHASE_OWN(SCAN_TILE)];
    if (PHASE_ALL(scan_is_out(p, picture)))
        return;
    const uint32_t all = scan_subsequences(p->status[picture].size);
    PHASE(t, SCAN_TILE)
    scan_stage(p, picture, tile, t, s);
    const struct scan_text text = scan_staged(p, pic, tile, s);
    PHASE(t, SCAN_TILE)
    {
        entry[PHASE_ITEM(t)] = (uint64_t)(first + t) * SCAN_SUBSEQUENCE;
        if (first + t < all)
            scan_find(p, tile, &text, t, entry[PHASE_ITEM(t)], s);
    }
    for (unsigned round = 0; round < SCAN_ROUNDS; round++) {
        /* A subsequence is decoded again if the thread before has found another
         * place than its own took. */
        PHASE(t, SCAN_TILE)
        if (t && first + t && first + t < all &&
            s->exit[t - 1] != entry[PHASE_ITEM(t)]) {
            entry[PHASE_ITEM(t)] = s->exit[t - 1];
            s->corrected[word_add(&s->corrections, 1)] = (uint8_t)t;
        }
        /* The first threads do what all have found, so that no warp is kept
         * busy by one of its threads. */
        const unsigned n = s->corrections;
        if (n == 0)
            break;
        PHASE(t, SCAN_TILE)
        if (t < n) {
            thread[PHASE_ITEM(t)] = s->corrected[t];
            found[PHASE_ITEM(t)] = s->exit[s->corrected[t] - 1];
        }
        PHASE(t, SCAN_TILE)
        {
            if (t == 0)
                s->corrections = 0;
            if (t < n)
                scan_find(p, tile, &text, thread[PHASE_ITEM(t)],
                          found[PHASE_ITEM(t)], s);
        }
    }
}

SCAN_INLINE void scan_join_tiles(const struct scan_params *p, uint32_t block,
                                 struct phase_nothing *s)
{
    (void)s;
    PHASE(t, SCAN_JOIN_THREADS)
    if (block * SCAN_JOIN_THREADS + t < p->tiles)
        scan_join(p, block * SCAN_JOIN_THREADS + t);
}

SCAN_INLINE void scan_counts_sum(const struct scan_params *p, uint32_t picture,
                                 struct phase_nothing *s)
{
    struct scan_subsequence *of =
        p->subsequence + p->picture[picture].subsequence;
    struct scan_counts all;
    (void)s;
    if (PHASE_ALL(scan_is_out(p, picture)))
        return;
    SCAN_SUM_ITEMS(struct scan_counts, scan_counts_add,
                   scan_subsequences(p->status[picture].size),
                   scan_counts_get(p, picture, i), of[i].counts, &all);
}

SCAN_INLINE void scan_write_tile(const struct scan_params *p, uint32_t tile,
                                 struct scan_tile *s)
{
    const uint32_t picture = SCAN_FIND(p, tile, tile);
    if (PHASE_ALL(scan_is_out(p, picture)))
        return;
    PHASE(t, SCAN_TILE)
    scan_stage(p, picture, tile, t, s);
    const struct scan_text text = scan_staged(p, &p->picture[picture], tile, s);
    PHASE(t, SCAN_TILE)
    scan_write(p, picture, tile, t, &text);
}

/* ---- Components that go through samples ----------------------------------*/

/* Returns the component of a tile; `before` is the field of the first component
 * that tells how many are before it. */
SCAN_INLINE const struct samples_component *
samples_of_tile(const struct scan_params *p, const uint32_t *before,
                uint32_t tile)
{
    const struct samples_params *s = &p->samples;
    return s->component +
           phase_find(before, sizeof *s->component, s->components, tile);
}

SCAN_INLINE void scan_decode_samples(const struct scan_params *p, uint32_t tile,
                                     struct samples_shared *s)
{
    const struct samples_component *c =
        samples_of_tile(p, &p->samples.component->tile, tile);
    struct samples_place at[PHASE_OWN(SAMPLES_THREADS)];
    if (PHASE_ALL(scan_is_out(p, c->picture)))
        return;
    PHASE(t, SAMPLES_THREADS)
    {
        at[PHASE_ITEM(t)] =
            samples_find(c, tile - c->tile, c->columns, c->rows, t);
        samples_load(&p->samples, &at[PHASE_ITEM(t)], s);
    }
    PHASE(t, SAMPLES_THREADS)
    samples_inverse_column(&at[PHASE_ITEM(t)], s);
    PHASE(t, SAMPLES_THREADS)
    {
        const bool agree = samples_store(&p->samples, &at[PHASE_ITEM(t)], s);
        if (!agree || !samples_agree(&at[PHASE_ITEM(t)], s))
            scan_refuse(p, c->picture);
    }
}

SCAN_INLINE void scan_make_units(const struct scan_params *p, uint32_t tile,
                                 struct samples_shared *s)
{
    const struct samples_component *c =
        samples_of_tile(p, &p->samples.component->unit_tile, tile);
    struct samples_place at[PHASE_OWN(SAMPLES_THREADS)];
    if (PHASE_ALL(scan_is_out(p, c->picture)))
        return;
    PHASE(t, SAMPLES_THREADS)
    {
        struct samples_place *own = &at[PHASE_ITEM(t)];
        *own = samples_find(c, tile - c->unit_tile, c->sampled_columns,
                            c->sampled / c->sampled_columns, t);
        own->x *= c->every;
        own->y *= c->every;
        samples_forward_row(&p->samples, own, s);
    }
    PHASE(t, SAMPLES_THREADS)
    samples_store_units(&p->samples, &at[PHASE_ITEM(t)], s);
}

/* Searches the cap of a component: of those whose error is small enough, the
 * highest one. */
SCAN_INLINE void scan_find_cap(const struct scan_params *p, uint32_t component,
                               struct phase_nothing *s)
{
    const struct samples_component *c = &p->samples.component[component];
    const uint64_t limit = requantize_error_limit(c->number, c->sampled);
    unsigned low = REQUANTIZE_FINE, high = c->largest, cap = high;
    bool first = true, done = high <= low || !c->refines;
    (void)s;
    if (PHASE_ALL(scan_is_out(p, c->picture)))
        return;
    while (!done) {
        uint64_t own[PHASE_OWN(SAMPLES_THREADS)], error;
        PHASE(t, SAMPLES_THREADS)
        own[PHASE_ITEM(t)] = samples_error(&p->samples, c, cap, t);
        PHASE_SUM(uint64_t, phase_plus64, own, &error);
        if (first && error <= limit * 7 / 5)
            break;
        if (!first && error <= limit)
            low = cap;
        else if (!first)
            high = cap;
        first = false;
        done = high - low <= 1;
        cap = done ? low : (low + high) / 2;
    }
    PHASE(t, SAMPLES_THREADS)
    if (t == 0)
        p->samples.cap[component] = cap;
}

SCAN_INLINE void scan_make_blocks(const struct scan_params *p, uint32_t tile,
                                  struct samples_shared *s)
{
    const struct samples_component *c =
        samples_of_tile(p, &p->samples.component->to_tile, tile);
    struct samples_place at[PHASE_OWN(SAMPLES_THREADS)];
    if (PHASE_ALL(scan_is_out(p, c->picture)))
        return;
    PHASE(t, SAMPLES_THREADS)
    {
        at[PHASE_ITEM(t)] =
            samples_find(c, tile - c->to_tile, c->to_columns, c->to_rows, t);
        samples_forward_row(&p->samples, &at[PHASE_ITEM(t)], s);
    }
    PHASE(t, SAMPLES_THREADS)
    samples_round(&p->samples, &at[PHASE_ITEM(t)], s);
    PHASE(t, SAMPLES_THREADS)
    samples_mark(&at[PHASE_ITEM(t)], s);
    PHASE(t, SAMPLES_THREADS)
    if (!samples_put(&p->samples, &at[PHASE_ITEM(t)], s))
        scan_refuse(p, c->picture);
}

SCAN_INLINE void scan_make_pixels(const struct scan_params *p, uint32_t tile,
                                  struct pixels_shared *s)
{
    const uint32_t picture = SCAN_FIND(p, pixels.array.tile, tile);
    const struct pixels_picture *of = &p->picture[picture].pixels;
    const struct array_place at = array_find(&of->array, tile);
    if (PHASE_ALL(scan_is_out(p, picture)))
        return;
    PHASE(t, ARRAY_THREADS)
    pixels_load(&p->samples, of, &at, t, s);
    PHASE(t, ARRAY_THREADS)
    array_store(p->pixels, &at, t, s->plane, false);
}

/* ---- Encoding ------------------------------------------------------------*/

SCAN_INLINE void scan_measure_tile(const struct scan_params *p, uint32_t tile,
                                   struct scan_coder *s)
{
    const uint32_t picture = SCAN_FIND(p, to_tile, tile);
    const struct scan_picture *pic = &p->picture[picture];
    struct scan_bits own[PHASE_OWN(SCAN_THREADS)], sum;
    if (PHASE_ALL(scan_is_not_coded(p, picture)))
        return;
    PHASE(t, SCAN_THREADS)
    scan_load_coder(p, picture, t, p->again, s);
    PHASE(t, SCAN_THREADS)
    {
        const struct scan_place at = scan_find_place(pic, tile, t);
        struct scan_sink out = { s->symbol, 0, 0, 0, 0, 0, false, 0 };
        if (at.there) {
            scan_put_turned(p, pic, &at, s->transposed, SCAN_MEASURE, &out);
            p->length[pic->length + at.block] = (uint16_t)out.bits;
        }
        if (out.seen & SCAN_NO_SYMBOL)
            word_or(&p->status[picture].flags,
                    p->again ? SCAN_LACKS_STILL : SCAN_LACKS);
        own[PHASE_ITEM(t)] = scan_bits_of(pic, &at, out.bits);
    }
    PHASE_SUM(struct scan_bits, scan_bits_add, own, &sum);
    PHASE(t, SCAN_THREADS)
    if (t == 0)
        p->to_tile[tile] = sum;
}

SCAN_INLINE void scan_bits_sum(const struct scan_params *p, uint32_t picture,
                               struct phase_nothing *s)
{
    const struct scan_picture *pic = &p->picture[picture];
    struct scan_bits *tile = p->to_tile + pic->to_tile, all;
    (void)s;
    if (PHASE_ALL(scan_is_not_coded(p, picture)))
        return;
    SCAN_SUM_ITEMS(struct scan_bits, scan_bits_add, pic->to_tiles, tile[i],
                   tile[i], &all);
    PHASE(t, SCAN_THREADS)
    if (t == 0) {
        p->status[picture].to_bits = scan_bits_end(all);
        if (scan_bits_end(all) >= SCAN_BITS_MOST)
            scan_refuse(p, picture);
    }
}

SCAN_INLINE void scan_count_tile(const struct scan_params *p, uint32_t tile,
                                 struct scan_counter *s)
{
    const uint32_t picture = SCAN_FIND(p, to_tile, tile);
    const struct scan_picture *pic = &p->picture[picture];
    uint32_t *counts = p->histogram + (uint64_t)picture * SCAN_SYMBOLS;
    if (PHASE_ALL(scan_is_not_coded(p, picture)))
        return;
    PHASE(t, SCAN_THREADS)
    {
        scan_load_coder(p, picture, t, false, &s->coder);
        for (unsigned i = t; i < SCAN_SYMBOLS; i += SCAN_THREADS)
            s->count[i] = 0;
    }
    PHASE(t, SCAN_THREADS)
    {
        const struct scan_place at = scan_find_place(pic, tile, t);
        struct scan_sink out = { 0, 0, 0, 0, 0, 0, false, s->count };
        if (at.there)
            scan_put_turned(p, pic, &at, s->coder.transposed, SCAN_COUNT, &out);
    }
    PHASE(t, SCAN_THREADS)
    for (unsigned i = t; i < SCAN_SYMBOLS; i += SCAN_THREADS)
        if (s->count[i])
            word_add(&counts[i], s->count[i]);
}

SCAN_INLINE void scan_emit_tile(const struct scan_params *p, uint32_t tile,
                                struct scan_coder *s)
{
    const uint32_t picture = SCAN_FIND(p, to_tile, tile);
    const struct scan_picture *pic = &p->picture[picture];
    const uint32_t flags = p->status[picture].flags;
    struct scan_bits own[PHASE_OWN(SCAN_THREADS)], sum;
    if (flags & SCAN_OUT)
        return;
    PHASE(t, SCAN_THREADS)
    {
        const struct scan_place at = scan_find_place(pic, tile, t);
        scan_load_coder(p, picture, t, flags & SCAN_LACKS, s);
        own[PHASE_ITEM(t)] = scan_bits_of(
            pic, &at, at.there ? p->length[pic->length + at.block] : 0);
    }
    PHASE_SUM(struct scan_bits, scan_bits_add, own, &sum);
    PHASE(t, SCAN_THREADS)
    scan_emit(p, picture, tile, t,
              scan_bits_add(p->to_tile[tile], own[PHASE_ITEM(t)]), s);
}

/* ---- Bytes with stuffing -------------------------------------------------*/

/* Returns the picture of a chunk, which bytes of it begin markers noted. */
SCAN_INLINE uint32_t stuff_mark(const struct scan_params *p, uint32_t chunk,
                                struct stuff_chunk *s)
{
    const uint32_t picture =
        phase_find(&p->to->chunk, sizeof *p->to, p->pictures, chunk);
    PHASE(t, SCAN_THREADS)
    if (t < SCAN_CHUNK / 32)
        s->marker[t] = 0;
    PHASE(t, SCAN_THREADS)
    stuff_find_markers(p, picture, chunk, t, s);
    return picture;
}

SCAN_INLINE void scan_stuff_count(const struct scan_params *p, uint32_t chunk,
                                  struct stuff_chunk *s)
{
    uint32_t own[PHASE_OWN(SCAN_THREADS)], sum;
    const uint32_t picture = stuff_mark(p, chunk, s);
    PHASE(t, SCAN_THREADS)
    {
        const struct stuff_bytes b =
            stuff_read(p, &p->to[picture], chunk, t, s);
        own[PHASE_ITEM(t)] = stuff_count(&b);
    }
    PHASE_SUM(uint32_t, phase_plus, own, &sum);
    PHASE(t, SCAN_THREADS)
    if (t == 0)
        p->to_chunk[chunk] = sum;
}

/* Once it is known how many bytes all chunks have, room is taken for them. */
SCAN_INLINE void scan_stuff_sum(const struct scan_params *p, uint32_t picture,
                                struct phase_nothing *s)
{
    uint32_t *chunk = p->to_chunk + p->to[picture].chunk, all;
    (void)s;
    if (PHASE_ALL(scan_is_out(p, picture)))
        return;
    SCAN_SUM_ITEMS(uint32_t, phase_plus, p->to[picture].chunks, chunk[i],
                   chunk[i], &all);
    PHASE(t, SCAN_THREADS)
    if (t == 0) {
        p->status[picture].out_size = all;
        p->status[picture].out =
            word_add64(p->cursor, ((uint64_t)all + 15) / 16 * 16);
    }
}

SCAN_INLINE void scan_stuff(const struct scan_params *p, uint32_t chunk,
                            struct stuff_chunk *s)
{
    struct stuff_bytes b[PHASE_OWN(SCAN_THREADS)];
    uint32_t own[PHASE_OWN(SCAN_THREADS)], sum;
    const uint32_t picture = stuff_mark(p, chunk, s);
    PHASE(t, SCAN_THREADS)
    {
        b[PHASE_ITEM(t)] = stuff_read(p, &p->to[picture], chunk, t, s);
        own[PHASE_ITEM(t)] = stuff_count(&b[PHASE_ITEM(t)]);
    }
    PHASE_SUM(uint32_t, phase_plus, own, &sum);
    PHASE(t, SCAN_THREADS)
    {
        const struct stuff_bytes *of = &b[PHASE_ITEM(t)];
        uint8_t *to = s->byte + own[PHASE_ITEM(t)];
        for (unsigned i = 0; i < SCAN_VECTOR; i++) {
            if (of->there >> i & 1)
                *to++ = (uint8_t)scan_byte(&of->v, i);
            if (of->stuffed >> i & 1)
                *to++ = 0;
        }
    }
    PHASE(t, SCAN_THREADS)
    scan_copy_bytes(p->output + p->status[picture].out, p->to_chunk[chunk], sum,
                    s->byte, t);
}

#endif
