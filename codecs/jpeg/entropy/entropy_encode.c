/* Lists of blocks to the entropy-coded data of the turned picture (T.81,
 * F.1.2).
 *
 * Each thread codes a range of MCUs as bits without stuffing. The ranges are
 * joined by shifting, or, with restart markers, at whole bytes: a range is some
 * whole intervals then. */
#include "codecs/jpeg/entropy/entropy_encode.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/page_cache.h"
#include "codecs/jpeg/entropy/bit_join.h"
#include "codecs/jpeg/entropy/block_map.h"
#include "codecs/jpeg/entropy/huffman_table.h"

enum {
    ZERO_RUN = 0xf0, /* the symbol for 16 zeros (T.81, F.1.2.2.1) */
    /* The most bytes of a block: codes of 16 bits and 11 of the DC coefficient,
     * 10 of each other; and what a writer may store behind them. */
    BLOCK_BYTES = 64 * 27 / 8 + 8,
    RANGE_MCUS = 1 << 12, /* fewer are not worth a thread of their own */
    RANGES_PER_THREAD = 4,
};

/* A block of an MCU: where it stands in the part of the MCU that its component
 * has. */
struct mcu_block {
    unsigned component, across, down, x, y;
};

struct encoding {
    const struct entropy_scan *to;
    const struct entropy_source *from;
    struct block_map map[ENTROPY_COMPONENTS];
    struct mcu_block mcu[ENTROPY_MCU_BLOCKS];
    unsigned blocks; /* of an MCU */
    uint64_t signs;  /* positions whose sign changes */
    struct huffman_encoder dc[ENTROPY_TABLES], ac[ENTROPY_TABLES];
    struct range *range;
    size_t ranges, per; /* MCUs of a range */
    size_t room;        /* bytes for a range at first */
    size_t mcus;
};

/* Some MCUs, coded. */
struct range {
    uint8_t *data; /* bits without stuffing, of all MCUs or an interval */
    size_t room;
    uint64_t bits;
    struct bytes intervals; /* with restart markers: whole ones, stuffed */
    bool lacks;             /* there was no code for a symbol */
    bool failed;
    struct entropy_statistics *counts; /* or else they are only counted */
};

/* ---- Where blocks come from --------------------------------------------- */

static bool map_components(struct encoding *e)
{
    for (unsigned c = 0; c < e->to->components; c++) {
        const struct entropy_component *one = &e->to->component[c];
        if (!block_map_make(&e->map[c], e->from->scan, c, e->from->turn))
            return false;
        for (unsigned i = 0; i < (unsigned)one->across * one->down; i++)
            e->mcu[e->blocks++] = (struct mcu_block){
                c, one->across, one->down, i % one->across, i / one->across,
            };
    }
    return true;
}

/* Returns block j of an MCU of the turned picture; NULL beyond the edge. */
ENTROPY_INLINE const struct entropy_block *
find_block(const struct encoding *e, unsigned j, uint32_t mx, uint32_t my)
{
    const struct mcu_block *in = &e->mcu[j];
    const struct block_map *map = &e->map[in->component];
    uint32_t x = mx * in->across + in->x, y = my * in->down + in->y;
    if (x >= map->columns || y >= map->rows)
        return NULL;
    return &e->from->blocks->block[map->column[x] + map->row[y]];
}

ENTROPY_INLINE const uint16_t *values_of(const struct encoding *e,
                                         const struct entropy_block *b)
{
    return b ? e->from->blocks->values[b->part] + b->at : NULL;
}

/* ---- Bits --------------------------------------------------------------- */

struct code_writer {
    uint8_t *at;
    uint64_t bits;  /* the highest are the next ones */
    unsigned count; /* fewer than 8 between calls */
    uint64_t seen;  /* of all codes: HUFFMAN_NONE */
};

ENTROPY_INLINE void store(struct code_writer *out)
{
    write_be64(out->at, out->bits);
    out->at += out->count >> 3;
    out->bits <<= out->count & ~7u;
    out->count &= 7;
}

/* ---- Blocks ------------------------------------------------------------- */

ENTROPY_INLINE unsigned size_of(uint32_t value)
{
    return 31 - (unsigned)__builtin_clz(value);
}

ENTROPY_INLINE unsigned dc_size(int difference)
{
    return size_of((uint32_t)abs(difference) << 1 | 1);
}

/* Puts the code of a symbol, whose entry that is, and the bits of its value. */
ENTROPY_INLINE void put_symbol(struct code_writer *out, uint64_t entry,
                               uint32_t value, unsigned size)
{
    out->seen |= entry;
    out->count += entry & 31;
    out->bits |= (entry >> 8 | (value & ((1u << size) - 1)))
                 << (64 - out->count);
}

ENTROPY_INLINE void put_dc(struct code_writer *out, const uint64_t *code,
                           int difference)
{
    unsigned size = dc_size(difference);
    put_symbol(out, code[size], (uint32_t)(difference - (difference < 0)),
               size);
    store(out);
}

/* Puts what comes `run` zeros behind the one before. */
ENTROPY_INLINE void put_coefficient(struct code_writer *out,
                                    const uint64_t *code, unsigned run,
                                    uint32_t value, bool changes)
{
    for (; __builtin_expect(run > 15, 0); run -= 16) {
        put_symbol(out, code[ZERO_RUN], 0, 0);
        store(out);
    }
    unsigned size = size_of(value);
    put_symbol(out, code[run << 4 | size], value ^ (0 - (uint32_t)changes),
               size);
}

/* The AC coefficients of a block; `values` are those that are not zero. */
ENTROPY_INLINE void put_ac(struct code_writer *out, const uint64_t *code,
                           uint64_t mask, const uint16_t *values,
                           uint64_t signs)
{
    unsigned k = 0;
    for (; mask; mask &= mask - 1) {
        unsigned before = k;
        k = (unsigned)__builtin_ctzll(mask);
        put_coefficient(out, code, k - before - 1, *values++, signs >> k & 1);
        store(out);
    }
    if (k < 63) {
        put_symbol(out, code[0], 0, 0);
        store(out);
    }
}

/* ---- Ranges ------------------------------------------------------------- */

/* A walk over MCUs. Their blocks are found some MCUs before they are coded: a
 * turn that exchanges the axes jumps through memory, and the processor can
 * fetch in the meantime what is needed soon. */
enum { AHEAD = 16 };
struct walk {
    size_t left;     /* MCUs that have not been looked for */
    uint32_t mx, my; /* the next one of these */
    const struct entropy_block *block[AHEAD][ENTROPY_MCU_BLOCKS];
};

ENTROPY_INLINE void find_mcu(const struct encoding *e, struct walk *walk,
                             const struct entropy_block **block)
{
    if (walk->left == 0)
        return;
    walk->left--;
    for (unsigned j = 0; j < e->blocks; j++) {
        block[j] = find_block(e, j, walk->mx, walk->my);
        __builtin_prefetch(block[j]);
    }
    if (++walk->mx == e->to->columns) {
        walk->mx = 0;
        walk->my++;
    }
}

ENTROPY_INLINE void fetch_values(const struct encoding *e,
                                 const struct entropy_block *const *block)
{
    for (unsigned j = 0; j < e->blocks; j++)
        __builtin_prefetch(values_of(e, block[j]));
}

/* Sets the DC coefficients from which those of an MCU are predicted: each the
 * last one of its component in the MCU before. */
static void predict(const struct encoding *e, size_t mcu,
                    int dc[ENTROPY_COMPONENTS])
{
    memset(dc, 0, ENTROPY_COMPONENTS * sizeof *dc);
    if (mcu == 0 || (e->to->restart && mcu % e->to->restart == 0))
        return;
    uint32_t mx = (uint32_t)((mcu - 1) % e->to->columns);
    uint32_t my = (uint32_t)((mcu - 1) / e->to->columns);
    for (unsigned j = 0; j < e->blocks; j++) {
        const struct entropy_block *b = find_block(e, j, mx, my);
        if (b)
            dc[e->mcu[j].component] = b->dc;
    }
}

/* Codes a block. Beyond the edge it is NULL: there the DC coefficient is that
 * of the block before, and all others are 0. */
ENTROPY_INLINE void put_block(const struct encoding *e, struct code_writer *out,
                              const struct entropy_component *in,
                              const struct entropy_block *b, int difference)
{
    put_dc(out, e->dc[in->dc].code, difference);
    put_ac(out, e->ac[in->ac].code, b ? b->mask : 0, values_of(e, b), e->signs);
}

/* Counts what would be coded. */
static void count_block(const struct encoding *e,
                        struct entropy_statistics *statistics,
                        const struct entropy_component *in,
                        const struct entropy_block *b, int difference)
{
    const uint16_t *value = values_of(e, b);
    uint64_t *counts = statistics->ac[in->ac];
    unsigned before = 0;
    statistics->dc[in->dc][dc_size(difference)]++;
    for (uint64_t mask = b ? b->mask : 0; mask; mask &= mask - 1) {
        unsigned k = (unsigned)__builtin_ctzll(mask), run = k - before - 1;
        counts[ZERO_RUN] += run >> 4;
        counts[(run & 15) << 4 | size_of(*value++)]++;
        before = k;
    }
    counts[0] += before < 63;
}

static bool make_room(const struct encoding *e, struct range *range,
                      struct code_writer *out)
{
    size_t used = range->data ? (size_t)(out->at - range->data) : 0;
    if (range->room - used >= ENTROPY_MCU_BLOCKS * BLOCK_BYTES)
        return true;
    /* At first as much as the data had that the blocks come from. */
    size_t room = range->room ? range->room / 2 * 3 : e->room;
    uint8_t *data = page_cache_realloc(range->data, used, room);
    if (!data)
        return false;
    range->data = data;
    range->room = room;
    out->at = data + used;
    return true;
}

/* Codes or counts MCUs, between which there is no restart marker. */
ENTROPY_INLINE void walk_mcus(const struct encoding *e, struct range *range,
                              size_t first, size_t end, bool counts)
{
    struct code_writer out = { .at = range->data };
    struct walk walk = { .left = end - first,
                         .mx = (uint32_t)(first % e->to->columns),
                         .my = (uint32_t)(first / e->to->columns) };
    int dc[ENTROPY_COMPONENTS];
    predict(e, first, dc);
    for (unsigned i = 0; i < AHEAD; i++)
        find_mcu(e, &walk, walk.block[i]);
    for (size_t m = 0; m < end - first; m++) {
        const struct entropy_block **block = walk.block[m % AHEAD];
        if (!counts && !make_room(e, range, &out)) {
            range->failed = true;
            return;
        }
        fetch_values(e, walk.block[(m + AHEAD / 2) % AHEAD]);
        for (unsigned j = 0; j < e->blocks; j++) {
            unsigned c = e->mcu[j].component;
            int before = dc[c];
            dc[c] = block[j] ? block[j]->dc : before;
            if (counts)
                count_block(e, range->counts, &e->to->component[c], block[j],
                            dc[c] - before);
            else
                put_block(e, &out, &e->to->component[c], block[j],
                          dc[c] - before);
        }
        find_mcu(e, &walk, block);
    }
    range->bits = (uint64_t)(out.at - range->data) * 8 + out.count;
    range->lacks = range->lacks || out.seen & HUFFMAN_NONE;
    if (!counts)
        store(&out);
}

/* Puts an interval, and the restart marker behind it, behind those before. */
static bool close_interval(struct range *range, size_t number, bool last)
{
    if (!bytes_reserve(&range->intervals, (range->bits / 8 + 2) * 2 + 2))
        return false;
    struct bit_join join = { .to = range->intervals.data +
                                   range->intervals.size };
    bit_join_append(&join, range->data, range->bits);
    bit_join_end(&join);
    if (!last) {
        *join.to++ = 0xff;
        *join.to++ = (uint8_t)(0xd0 | (number & 7));
    }
    range->intervals.size = (size_t)(join.to - range->intervals.data);
    return true;
}

static size_t end_of(const struct encoding *e, size_t first, size_t mcus)
{
    return first + mcus < e->mcus ? first + mcus : e->mcus;
}

ENTROPY_FOR_EACH_CPU static void put_range(void *context, size_t i)
{
    const struct encoding *e = context;
    struct range *range = &e->range[i];
    const size_t restart = e->to->restart;
    size_t at = i * e->per, end = end_of(e, at, e->per);
    if (!restart)
        walk_mcus(e, range, at, end, false);
    for (; restart && at < end && !range->failed; at += restart) {
        size_t next = end_of(e, at, restart);
        walk_mcus(e, range, at, next, false);
        range->failed = range->failed ||
                        !close_interval(range, at / restart, next == e->mcus);
    }
}

ENTROPY_FOR_EACH_CPU static void count_range(void *context, size_t i)
{
    const struct encoding *e = context;
    const size_t restart = e->to->restart ? e->to->restart : e->per;
    size_t at = i * e->per, end = end_of(e, at, e->per);
    for (; at < end; at += restart)
        walk_mcus(e, &e->range[i], at, end_of(e, at, restart), true);
}

static bool join_ranges(struct bytes *file, const struct encoding *e)
{
    size_t room = 0;
    for (size_t i = 0; i < e->ranges; i++)
        room += (e->range[i].bits / 8 + 2) * 2 + e->range[i].intervals.size;
    if (!bytes_reserve(file, room))
        return false;
    struct bit_join join = { .to = file->data + file->size };
    for (size_t i = 0; i < e->ranges; i++) {
        const struct range *range = &e->range[i];
        if (!e->to->restart) {
            bit_join_append(&join, range->data, range->bits);
            continue;
        }
        memcpy(join.to, range->intervals.data, range->intervals.size);
        join.to += range->intervals.size;
    }
    bit_join_end(&join);
    file->size = (size_t)(join.to - file->data);
    return true;
}

/* ---- All ---------------------------------------------------------------- */

static bool set_up(struct encoding *e, const struct entropy_scan *to,
                   const struct entropy_source *from, struct thread_pool *pool)
{
    size_t threads = thread_pool_threads(pool);
    *e = (struct encoding){ .to = to, .from = from };
    if (from->turn & XFORM_MIRROR_X)
        e->signs ^= ENTROPY_ODD_COLUMNS;
    if (from->turn & XFORM_MIRROR_Y)
        e->signs ^= ENTROPY_ODD_ROWS;
    e->mcus = (size_t)to->columns * to->rows;
    e->per =
        threads > 1 ? e->mcus / (threads * RANGES_PER_THREAD) + 1 : e->mcus;
    if (threads > 1 && e->per < RANGE_MCUS)
        e->per = RANGE_MCUS;
    if (to->restart) /* whole intervals */
        e->per = (e->per + to->restart - 1) / to->restart * to->restart;
    e->ranges = (e->mcus + e->per - 1) / e->per;
    e->range = calloc(e->ranges, sizeof *e->range);
    e->room = from->blocks->size / e->ranges * 9 / 8 + 64 * BLOCK_BYTES;
    return e->range && map_components(e);
}

static void take_down(struct encoding *e)
{
    for (size_t i = 0; e->range && i < e->ranges; i++) {
        page_cache_free(e->range[i].data);
        bytes_free(&e->range[i].intervals);
        free(e->range[i].counts);
    }
    for (unsigned c = 0; c < e->to->components; c++)
        block_map_free(&e->map[c]);
    free(e->range);
}

static bool any_failed(const struct encoding *e)
{
    bool failed = false;
    for (size_t i = 0; i < e->ranges; i++)
        failed = failed || e->range[i].failed;
    return failed;
}

int entropy_encode(struct bytes *file, const struct entropy_scan *to,
                   const struct entropy_source *from, bool *lacking,
                   struct thread_pool *pool, struct err *err)
{
    struct encoding e;
    bool done = set_up(&e, to, from, pool);
    const size_t before = file->size;
    *lacking = false;
    for (unsigned c = 0; c < to->components; c++) {
        const struct entropy_component *one = &to->component[c];
        huffman_encoder_make(&e.dc[one->dc], &to->dc[one->dc]);
        huffman_encoder_make(&e.ac[one->ac], &to->ac[one->ac]);
    }
    if (done)
        thread_pool_run(pool, put_range, &e, e.ranges);
    for (size_t i = 0; done && i < e.ranges; i++)
        *lacking = *lacking || e.range[i].lacks;
    done = done && !any_failed(&e) && (*lacking || join_ranges(file, &e));
    if (done && !*lacking && to->most && file->size - before > to->most) {
        *lacking = true;
        file->size = before;
    }
    take_down(&e);
    return done ? 0 : fail_memory(err, "no memory for the encoded picture");
}

static void add_counts(struct entropy_statistics *sum,
                       const struct entropy_statistics *more)
{
    for (unsigned t = 0; t < ENTROPY_TABLES; t++)
        for (unsigned i = 0; i < 256; i++) {
            sum->dc[t][i] += more->dc[t][i];
            sum->ac[t][i] += more->ac[t][i];
        }
}

int entropy_count(struct entropy_statistics *counts,
                  const struct entropy_scan *to,
                  const struct entropy_source *from, struct thread_pool *pool,
                  struct err *err)
{
    struct encoding e;
    bool done = set_up(&e, to, from, pool);
    memset(counts, 0, sizeof *counts);
    for (size_t i = 0; done && i < e.ranges; i++)
        done = (e.range[i].counts = calloc(1, sizeof *counts)) != NULL;
    if (done)
        thread_pool_run(pool, count_range, &e, e.ranges);
    for (size_t i = 0; done && i < e.ranges; i++)
        add_counts(counts, e.range[i].counts);
    take_down(&e);
    return done ? 0 : fail_memory(err, "no memory for the encoder");
}
