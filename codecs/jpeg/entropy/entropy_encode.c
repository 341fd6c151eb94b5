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
#include "codecs/jpeg/entropy/huffman_table.h"

enum {
    DC_SIZE_MAX = 11,
    ZERO_RUN = 0xf0, /* the symbol for 16 zeros (T.81, F.1.2.2.1) */
    /* The most bytes of a block: codes of 16 bits and 11 of the DC coefficient,
     * 10 of each other; and what a writer may store behind them. */
    BLOCK_BYTES = 64 * 27 / 8 + 8,
    RANGE_MCUS = 1 << 12, /* fewer are not worth a thread of their own */
    RANGES_PER_THREAD = 4,
};

/* A component as it is written: where each of its blocks stands in the list is
 * column[x] + row[y]. */
struct component_map {
    uint32_t columns, rows; /* blocks that hold samples */
    size_t *column, *row;
    unsigned dc, ac;
};

struct encoding {
    const struct entropy_scan *to;
    const struct entropy_source *from;
    struct component_map component[ENTROPY_COMPONENTS];
    uint64_t signs; /* positions whose sign changes */
    struct huffman_encoder dc[ENTROPY_TABLES], ac[ENTROPY_TABLES];
    struct range *range;
    size_t ranges, per; /* MCUs of a range */
    size_t mcus;
};

/* Some MCUs, coded. */
struct range {
    uint8_t *data; /* bits without stuffing: of all of them, or of an interval */
    size_t room;
    uint64_t bits;
    struct bytes intervals; /* with restart markers: whole ones, stuffed */
    uint32_t flags; /* of all codes: HUFFMAN_NONE */
    bool failed;
    struct entropy_statistics *counts; /* or else they are only counted */
};

/* ---- Where blocks come from ------------------------------------------------ */

/* Fills `part` with what each of `n` columns, or rows, of blocks adds to the
 * index of a block: `across` of them stand in an MCU. */
static void fill_axis(size_t *part, uint32_t n, bool reversed, unsigned across,
                      size_t block, size_t mcu)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = reversed ? n - 1 - i : i;
        part[i] = x / across * mcu + x % across * block;
    }
}

static bool map_component(struct component_map *map,
                          const struct entropy_source *from, unsigned c,
                          size_t first)
{
    const struct entropy_scan *scan = from->scan;
    const struct entropy_component *one = &scan->component[c];
    const bool transposes = xform_transposes(from->turn);
    const size_t blocks = entropy_mcu_blocks(scan);
    map->columns = transposes ? one->rows : one->columns;
    map->rows = transposes ? one->columns : one->rows;
    map->column = malloc(map->columns * sizeof *map->column);
    map->row = malloc(map->rows * sizeof *map->row);
    if (!map->column || !map->row)
        return false;
    fill_axis(transposes ? map->row : map->column, one->columns,
              xform_reverses_x(from->turn), one->across, 1, blocks);
    fill_axis(transposes ? map->column : map->row, one->rows,
              xform_reverses_y(from->turn), one->down, one->across,
              blocks * scan->columns);
    for (uint32_t y = 0; y < map->rows; y++)
        map->row[y] += first;
    return true;
}

static bool map_components(struct encoding *e)
{
    size_t first = 0;
    for (unsigned c = 0; c < e->to->components; c++) {
        const struct entropy_component *one = &e->from->scan->component[c];
        if (!map_component(&e->component[c], e->from, c, first))
            return false;
        e->component[c].dc = e->to->component[c].dc;
        e->component[c].ac = e->to->component[c].ac;
        first += (size_t)one->across * one->down;
    }
    return true;
}

/* Returns a block of the turned picture; NULL beyond its edge. */
static inline const struct entropy_block *
block_at(const struct encoding *e, const struct component_map *map, uint32_t x,
         uint32_t y)
{
    if (x >= map->columns || y >= map->rows)
        return NULL;
    return &e->from->blocks->block[map->column[x] + map->row[y]];
}

/* ---- Bits -------------------------------------------------------------------- */

struct bit_writer {
    uint8_t *at;
    uint64_t bits;  /* the highest are the next ones */
    unsigned count; /* fewer than 8 between calls */
};

static inline void put(struct bit_writer *out, uint32_t bits, unsigned n)
{
    out->bits |= (uint64_t)bits << (64 - out->count - n);
    out->count += n;
}

static inline void store(struct bit_writer *out)
{
    write_be64(out->at, out->bits);
    out->at += out->count >> 3;
    out->bits <<= out->count & ~7u;
    out->count &= 7;
}

/* ---- Blocks ------------------------------------------------------------------- */

static inline unsigned size_of(uint32_t value)
{
    return 31 - (unsigned)__builtin_clz(value);
}

static inline unsigned dc_size(int difference)
{
    return difference
               ? size_of((uint32_t)(difference < 0 ? -difference : difference)) + 1
               : 0;
}

static inline void put_dc(struct bit_writer *out, const uint32_t *code,
                          int difference, uint32_t *flags)
{
    unsigned size = dc_size(difference);
    uint32_t value = (uint32_t)(difference - (difference < 0));
    uint32_t entry = code[size];
    if (size > DC_SIZE_MAX) {
        *flags |= HUFFMAN_NONE;
        return;
    }
    *flags |= entry;
    put(out, entry >> 8 << size | (value & ((1u << size) - 1)),
        (entry & 31) + size);
}

/* The AC coefficients of a block; `values` are those that are not zero. */
static inline void put_ac(struct bit_writer *out, const uint32_t *code,
                          uint64_t mask, const uint16_t *values, uint64_t signs,
                          uint32_t *flags)
{
    unsigned before = 0;
    uint32_t seen = 0;
    for (; mask; mask &= mask - 1) {
        unsigned k = (unsigned)__builtin_ctzll(mask);
        unsigned run = k - before - 1;
        before = k;
        for (; __builtin_expect(run > 15, 0); run -= 16) {
            seen |= code[ZERO_RUN];
            put(out, code[ZERO_RUN] >> 8, code[ZERO_RUN] & 31);
            store(out);
        }
        uint32_t value = *values++;
        unsigned size = size_of(value);
        uint32_t ones = (1u << size) - 1;
        uint32_t entry = code[run << 4 | size];
        uint32_t flip = 0 - (uint32_t)(signs >> k & 1);
        seen |= entry;
        put(out, entry >> 8 << size | ((value ^ flip) & ones),
            (entry & 31) + size);
        store(out);
    }
    if (before < 63) {
        seen |= code[0];
        put(out, code[0] >> 8, code[0] & 31);
        store(out);
    }
    *flags |= seen;
}

/* ---- Joining --------------------------------------------------------------------- */

static bool has_ff(uint64_t bytes)
{
    uint64_t inverse = ~bytes;
    return ((inverse - UINT64_C(0x0101010101010101)) & bytes &
            UINT64_C(0x8080808080808080)) != 0;
}

/* Writes whole bytes, stuffed, and returns where they end. */
static uint8_t *stuff(uint8_t *to, uint64_t bytes, unsigned n)
{
    if (n == 8 && !has_ff(bytes)) {
        write_be64(to, bytes);
        return to + 8;
    }
    for (; n; n--, bytes <<= 8) {
        *to++ = (uint8_t)(bytes >> 56);
        if (to[-1] == 0xff)
            *to++ = 0;
    }
    return to;
}

/* What is written, of which the last bits fill no byte yet. */
struct joint {
    uint8_t *to;
    unsigned phase; /* how many these are */
    uint64_t left;  /* they, as the highest bits */
};

static void join_bits(struct joint *joint, const uint8_t *from, uint64_t bits)
{
    for (; bits >= 64; bits -= 64, from += 8) {
        uint64_t next = read_be64(from);
        joint->to = stuff(joint->to, joint->left | next >> joint->phase, 8);
        joint->left = joint->phase ? next << (64 - joint->phase) : 0;
    }
    uint64_t rest = bits ? read_be64(from) >> (64 - bits) << (64 - bits) : 0;
    unsigned all = joint->phase + (unsigned)bits;
    joint->left |= rest >> joint->phase;
    if (all >= 64) {
        joint->to = stuff(joint->to, joint->left, 8);
        joint->left = joint->phase ? rest << (64 - joint->phase) : 0;
        all -= 64;
    }
    joint->to = stuff(joint->to, joint->left, all / 8);
    joint->left = all / 8 ? joint->left << (all / 8 * 8 - 1) << 1 : joint->left;
    joint->phase = all % 8;
}

/* Fills the last byte with ones (T.81, F.1.2.3). */
static void fill_up(struct joint *joint)
{
    if (joint->phase)
        joint->to = stuff(joint->to, joint->left | UINT64_MAX >> joint->phase,
                          1);
    joint->phase = 0;
    joint->left = 0;
}

/* ---- Ranges -------------------------------------------------------------------- */

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
    for (unsigned c = 0; c < e->to->components; c++) {
        const struct component_map *map = &e->component[c];
        const struct entropy_component *one = &e->to->component[c];
        for (unsigned y = 0; y < one->down; y++)
            for (unsigned x = 0; x < one->across; x++) {
                const struct entropy_block *b = block_at(
                    e, map, mx * one->across + x, my * one->down + y);
                if (b)
                    dc[c] = b->dc;
            }
    }
}

/* What is done with each block of a range. Beyond the edge b is NULL: there the
 * DC coefficient is that of the block before, and all others are 0. */
typedef void (*on_block)(const struct encoding *e, struct range *range,
                         struct bit_writer *out,
                         const struct component_map *map,
                         const struct entropy_block *b, int difference);

static inline __attribute__((always_inline)) void
walk_mcu(const struct encoding *e, struct range *range, struct bit_writer *out,
         uint32_t mx, uint32_t my, int dc[ENTROPY_COMPONENTS], on_block each)
{
    for (unsigned c = 0; c < e->to->components; c++) {
        const struct component_map *map = &e->component[c];
        const struct entropy_component *one = &e->to->component[c];
        for (unsigned y = 0; y < one->down; y++)
            for (unsigned x = 0; x < one->across; x++) {
                const struct entropy_block *b = block_at(
                    e, map, mx * one->across + x, my * one->down + y);
                int difference = b ? b->dc - dc[c] : 0;
                if (b)
                    dc[c] = b->dc;
                each(e, range, out, map, b, difference);
            }
    }
}

static inline __attribute__((always_inline)) void
put_block(const struct encoding *e, struct range *range,
                             struct bit_writer *out,
                             const struct component_map *map,
                             const struct entropy_block *b, int difference)
{
    const struct entropy_blocks *blocks = e->from->blocks;
    put_dc(out, e->dc[map->dc].code, difference, &range->flags);
    put_ac(out, e->ac[map->ac].code, b ? b->mask : 0,
           b ? blocks->values[b->part] + b->at : NULL, e->signs,
           &range->flags);
}

static inline void count_block(const struct encoding *e, struct range *range,
                               struct bit_writer *out,
                               const struct component_map *map,
                               const struct entropy_block *b, int difference)
{
    const uint16_t *value = b ? e->from->blocks->values[b->part] + b->at : NULL;
    uint64_t *counts = range->counts->ac[map->ac];
    unsigned before = 0, size = dc_size(difference);
    (void)out;
    range->counts->dc[map->dc][size]++;
    for (uint64_t mask = b ? b->mask : 0; mask; mask &= mask - 1) {
        unsigned k = (unsigned)__builtin_ctzll(mask), run = k - before - 1;
        counts[ZERO_RUN] += run >> 4;
        counts[(run & 15) << 4 | size_of(*value++)]++;
        before = k;
    }
    counts[0] += before < 63;
}

static bool make_room(struct range *range, struct bit_writer *out)
{
    size_t used = (size_t)(out->at - range->data);
    if (range->room - used >= ENTROPY_MCU_BLOCKS * BLOCK_BYTES)
        return true;
    size_t room = range->room + range->room / 2 + 64 * BLOCK_BYTES;
    uint8_t *data = page_cache_realloc(range->data, used, room);
    if (!data)
        return false;
    range->data = data;
    range->room = room;
    out->at = data + used;
    return true;
}

/* Has the processor fetch what comes soon: a turn that exchanges the axes jumps
 * through the blocks. Those of an MCU stand together. */
static inline void prefetch(const struct encoding *e, uint32_t mx, uint32_t my)
{
    const struct component_map *map = &e->component[0];
    const struct entropy_component *one = &e->to->component[0];
    const struct entropy_block *b =
        block_at(e, map, (mx + 8) * one->across, my * one->down);
    if (b) {
        __builtin_prefetch(b);
        __builtin_prefetch(b + 4);
    }
    b = block_at(e, map, (mx + 4) * one->across, my * one->down);
    if (b) {
        const uint16_t *values = e->from->blocks->values[b->part] + b->at;
        __builtin_prefetch(values);
        __builtin_prefetch(values + 32);
    }
}

/* Codes or counts MCUs, between which there is no restart marker. */
static inline __attribute__((always_inline)) void
walk_mcus(const struct encoding *e, struct range *range, size_t first,
          size_t end, on_block each)
{
    struct bit_writer out = { .at = range->data };
    int dc[ENTROPY_COMPONENTS];
    uint32_t mx = (uint32_t)(first % e->to->columns);
    uint32_t my = (uint32_t)(first / e->to->columns);
    predict(e, first, dc);
    for (size_t m = first; m < end; m++) {
        if (!range->counts && !make_room(range, &out)) {
            range->failed = true;
            return;
        }
        prefetch(e, mx, my);
        walk_mcu(e, range, &out, mx, my, dc, each);
        if (++mx == e->to->columns) {
            mx = 0;
            my++;
        }
    }
    range->bits = (uint64_t)(out.at - range->data) * 8 + out.count;
    if (!range->counts)
        store(&out);
}

/* Puts an interval, and the restart marker behind it, behind those before. */
static bool close_interval(struct range *range, size_t number, bool last)
{
    if (!bytes_reserve(&range->intervals, (range->bits / 8 + 2) * 2 + 2))
        return false;
    struct joint joint = { .to = range->intervals.data + range->intervals.size };
    join_bits(&joint, range->data, range->bits);
    fill_up(&joint);
    if (!last) {
        *joint.to++ = 0xff;
        *joint.to++ = (uint8_t)(0xd0 | (number & 7));
    }
    range->intervals.size = (size_t)(joint.to - range->intervals.data);
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
        walk_mcus(e, range, at, end, put_block);
    for (; restart && at < end && !range->failed; at += restart) {
        size_t next = end_of(e, at, restart);
        walk_mcus(e, range, at, next, put_block);
        range->failed = range->failed || !close_interval(range, at / restart,
                                                         next == e->mcus);
    }
}

static void count_range(void *context, size_t i)
{
    const struct encoding *e = context;
    const size_t restart = e->to->restart ? e->to->restart : e->per;
    size_t at = i * e->per, end = end_of(e, at, e->per);
    for (; at < end; at += restart)
        walk_mcus(e, &e->range[i], at, end_of(e, at, restart), count_block);
}

static bool join_ranges(struct bytes *file, const struct encoding *e)
{
    size_t room = 0;
    for (size_t i = 0; i < e->ranges; i++)
        room += (e->range[i].bits / 8 + 2) * 2 + e->range[i].intervals.size;
    if (!bytes_reserve(file, room))
        return false;
    struct joint joint = { .to = file->data + file->size };
    for (size_t i = 0; i < e->ranges; i++) {
        const struct range *range = &e->range[i];
        if (!e->to->restart) {
            join_bits(&joint, range->data, range->bits);
            continue;
        }
        memcpy(joint.to, range->intervals.data, range->intervals.size);
        joint.to += range->intervals.size;
    }
    fill_up(&joint);
    file->size = (size_t)(joint.to - file->data);
    return true;
}

/* ---- All -------------------------------------------------------------------------- */

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
    e->per = threads > 1 ? e->mcus / (threads * RANGES_PER_THREAD) + 1
                         : e->mcus;
    if (threads > 1 && e->per < RANGE_MCUS)
        e->per = RANGE_MCUS;
    if (to->restart) /* whole intervals */
        e->per = (e->per + to->restart - 1) / to->restart * to->restart;
    e->ranges = (e->mcus + e->per - 1) / e->per;
    e->range = calloc(e->ranges, sizeof *e->range);
    return e->range && map_components(e);
}

static void take_down(struct encoding *e)
{
    for (size_t i = 0; e->range && i < e->ranges; i++) {
        page_cache_free(e->range[i].data);
        bytes_free(&e->range[i].intervals);
        free(e->range[i].counts);
    }
    for (unsigned c = 0; c < e->to->components; c++) {
        free(e->component[c].column);
        free(e->component[c].row);
    }
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
    uint32_t flags = 0;
    bool done = set_up(&e, to, from, pool);
    for (unsigned c = 0; c < to->components; c++) {
        const struct entropy_component *one = &to->component[c];
        huffman_encoder_make(&e.dc[one->dc], &to->dc[one->dc]);
        huffman_encoder_make(&e.ac[one->ac], &to->ac[one->ac]);
    }
    if (done)
        thread_pool_run(pool, put_range, &e, e.ranges);
    for (size_t i = 0; done && i < e.ranges; i++)
        flags |= e.range[i].flags;
    *lacking = flags & HUFFMAN_NONE;
    done = done && !any_failed(&e) && (*lacking || join_ranges(file, &e));
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
