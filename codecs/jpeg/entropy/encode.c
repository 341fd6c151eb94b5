/* Lists of blocks to the entropy-coded data of the turned picture (T.81,
 * F.1.2).
 *
 * A range of MCUs is coded as bits without stuffing, by any thread. Whoever
 * completes one joins, by shifting, all those that are next in the file, while
 * others code on. With restart markers a range is some whole intervals. */
#include "codecs/jpeg/entropy/sequential.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/jpeg/entropy/huffman_table.h"

enum {
    ZERO_RUN = 0xf0, /* the symbol for 16 zeros (T.81, F.1.2.2.1) */
    /* The most bytes of a block: codes of 16 bits and 11 of the DC coefficient,
     * 10 of each other; and what a writer may store behind them. */
    BLOCK_BYTES = 64 * 27 / 8 + 8,
#ifdef FUZZING
    RANGE_BLOCKS = 1 << 4, /* files are small then, and must have ranges */
#else
    RANGE_BLOCKS = 1 << 13, /* whose bits mostly stay in the second cache */
#endif
    HEAD = 8, /* bytes for the number of bits of an interval */
};

/* ---- Joined bits --------------------------------------------------------- */

/* What is written, and up to 63 bits that follow it. */
struct bit_join {
    uint8_t *to;
    uint64_t left; /* they, as the highest bits */
    unsigned count;
};

/* Writes whole bytes, stuffed, and returns where they end. */
ENTROPY_INLINE uint8_t *stuff(uint8_t *to, uint64_t bytes, unsigned n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), inverse = ~bytes;
    if (n == 8 && ((inverse - ones) & bytes & ones << 7) == 0) { /* no 0xff */
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

/* Appends the first n bits of a word, all others of which are 0. */
ENTROPY_INLINE void join_word(struct bit_join *join, uint64_t word, unsigned n)
{
    join->left |= word >> join->count;
    join->count += n;
    if (join->count < 64)
        return;
    join->to = stuff(join->to, join->left, 8);
    join->count -= 64;
    join->left = join->count ? word << (n - join->count) : 0;
}

/* ---- Blocks of the turned picture ---------------------------------------- */

/* Where the blocks of a turned component stand in the list of a scan: that in
 * column x and row y after the turn is number column[x] + row[y]. */
struct block_map {
    uint32_t columns, rows; /* blocks that hold samples, after the turn */
    size_t *column, *row;
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
    size_t per;                        /* MCUs of a range */
    struct entropy_statistics *counts; /* NULL; or symbols are counted alone */
    struct joining {
        struct range *range;
        size_t ranges;
        atomic_bool lacking, failed, late; /* there was no code for a symbol; no
                                          memory; or no time, so that ranges are
                                          missing */
        atomic_flag busy; /* somebody does so, and alone uses the rest */
        struct bytes *file;
        struct bit_join bits; /* what is not yet in the file */
        uint64_t joined;      /* so many bits, without stuffing */
        size_t next;          /* the range that is to be joined next */
        unsigned number;      /* of the interval */
    } joining;
};

/* Some MCUs, coded: for each interval HEAD bytes, and bits without stuffing. */
struct range {
    uint8_t *data;
    size_t room, used;
    atomic_bool done;
};

/* Returns what each of `n` columns, or rows, of blocks adds to the number of a
 * block, from `first` on: `across` of them stand in an MCU. NULL without
 * memory. */
static size_t *make_axis(uint32_t n, bool reversed, size_t first,
                         unsigned across, size_t block, size_t mcu)
{
    size_t *part = memory_alloc(n * sizeof *part);
    for (uint32_t i = 0; part && i < n; i++) {
        uint32_t x = reversed ? n - 1 - i : i;
        part[i] = first + x / across * mcu + x % across * block;
    }
    return part;
}

/* Finds where the blocks of all components come from. Returns false without
 * memory. */
static bool map_components(struct encoding *e)
{
    const struct entropy_scan *scan = e->from->scan;
    const enum xform turn = e->from->turn;
    const size_t blocks = entropy_mcu_blocks(scan);
    size_t first = 0; /* of the component in an MCU */
    bool mapped = true;
    for (unsigned c = 0; c < e->to->components; c++) {
        const struct entropy_component *was = &scan->component[c],
                                       *is = &e->to->component[c];
        size_t *x = make_axis(was->columns, xform_reverses_x(turn), first,
                              was->across, 1, blocks);
        size_t *y = make_axis(was->rows, xform_reverses_y(turn), 0, was->down,
                              was->across, blocks * scan->columns);
        first += (size_t)was->across * was->down;
        e->map[c] = xform_transposes(turn)
                        ? (struct block_map){ was->rows, was->columns, y, x }
                        : (struct block_map){ was->columns, was->rows, x, y };
        mapped = mapped && x && y;
        for (unsigned i = 0; i < (unsigned)is->across * is->down; i++)
            e->mcu[e->blocks++] = (struct mcu_block){
                c, is->across, is->down, i % is->across, i / is->across,
            };
    }
    return mapped;
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

/* ---- Codes --------------------------------------------------------------- */

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

/* Codes a block. Beyond the edge it is NULL: there the DC coefficient is that
 * of the block before, and all others are 0. A DC coefficient and one other
 * take up to 27 and 26 bits, with 7 that were there before: they are stored
 * together, and so are two others. */
ENTROPY_INLINE void put_block(const struct encoding *e, struct code_writer *out,
                              const struct entropy_component *in,
                              const struct entropy_block *b, int difference)
{
    const uint64_t *code = e->ac[in->ac].code;
    const uint16_t *values = values_of(e, b);
    const uint64_t signs = e->signs; /* which what is stored may not change */
    const unsigned dc = dc_size(difference);
    unsigned k = 0;
    bool stores = true;
    put_symbol(out, e->dc[in->dc].code[dc],
               (uint32_t)(difference - (difference < 0)), dc);
    for (uint64_t mask = b ? b->mask : 0; mask;
         mask &= mask - 1, stores = !stores) {
        const unsigned before = k;
        k = (unsigned)__builtin_ctzll(mask);
        unsigned run = k - before - 1;
        for (; __builtin_expect(run > 15, 0); run -= 16) {
            put_symbol(out, code[ZERO_RUN], 0, 0);
            store(out);
        }
        const uint32_t value = *values++, changes = signs >> k & 1; /* sign */
        const unsigned size = size_of(value);
        put_symbol(out, code[run << 4 | size], value ^ (0 - changes), size);
        if (stores)
            store(out);
    }
    if (k < 63)
        put_symbol(out, code[0], 0, 0);
    store(out);
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

/* ---- Ranges -------------------------------------------------------------- */

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

/* Codes MCUs, between which there is no restart marker, or counts them. Once a
 * code is lacking it ends. Returns false without memory. */
ENTROPY_INLINE bool walk_mcus(const struct encoding *e, size_t first,
                              size_t end, struct range *range,
                              struct code_writer *out,
                              struct entropy_statistics *counts)
{
    struct walk walk = { .left = end - first,
                         .mx = (uint32_t)(first % e->to->columns),
                         .my = (uint32_t)(first / e->to->columns) };
    int dc[ENTROPY_COMPONENTS] = { 0 }; /* that the next ones differ from */
    if (first && !(e->to->restart && first % e->to->restart == 0)) {
        const size_t before = first - 1;
        for (unsigned j = 0; j < e->blocks; j++) {
            const struct entropy_block *b =
                find_block(e, j, (uint32_t)(before % e->to->columns),
                           (uint32_t)(before / e->to->columns));
            dc[e->mcu[j].component] = b ? b->dc : dc[e->mcu[j].component];
        }
    }
    for (unsigned i = 0; i < AHEAD; i++)
        find_mcu(e, &walk, walk.block[i]);
    for (size_t m = 0; m < end - first; m++) {
        const struct entropy_block **block = walk.block[m % AHEAD],
                                   **later =
                                       walk.block[(m + AHEAD / 2) % AHEAD];
        if (!counts && out->seen & HUFFMAN_NONE)
            return true;
        const size_t used = counts ? 0 : (size_t)(out->at - range->data);
        if (!counts && range->room - used < ENTROPY_MCU_BLOCKS * BLOCK_BYTES) {
            uint8_t *data = memory_realloc(range->data, range->room * 2);
            if (!data)
                return false;
            range->data = data;
            range->room *= 2;
            out->at = data + used;
        }
        for (unsigned j = 0; j < e->blocks; j++)
            __builtin_prefetch(values_of(e, later[j]));
        for (unsigned j = 0; j < e->blocks; j++) {
            const unsigned c = e->mcu[j].component;
            const struct entropy_component *in = &e->to->component[c];
            const int before = dc[c];
            dc[c] = block[j] ? block[j]->dc : before;
            if (counts)
                count_block(e, counts, in, block[j], dc[c] - before);
            else
                put_block(e, out, in, block[j], dc[c] - before);
        }
        find_mcu(e, &walk, block);
    }
    return true;
}

/* Appends a range to the file. Returns false without memory. */
static bool join_range(struct joining *j, const struct range *range,
                       uint32_t restart, bool last)
{
    struct bit_join *join = &j->bits;
    for (size_t at = 0; at < range->used; j->number++) {
        uint64_t bits;
        memcpy(&bits, range->data + at, HEAD);
        j->joined += bits;
        const uint8_t *from = range->data + at + HEAD;
        at += HEAD + (bits + 7) / 8;
        if (!bytes_reserve(j->file, bits / 4 + 64)) /* all bytes stuffed */
            return false;
        join->to = j->file->data + j->file->size;
        for (; bits >= 64; bits -= 64, from += 8)
            join_word(join, read_be64(from), 64);
        if (bits)
            join_word(join, read_be64(from) & UINT64_MAX << (64 - bits),
                      (unsigned)bits);
        const bool ends = last && at == range->used;
        if (restart || ends) { /* ones fill the last byte */
            join->to = stuff(join->to, join->left | UINT64_MAX >> join->count,
                             (join->count + 7) / 8);
            join->left = join->count = 0;
        }
        if (restart && !ends) {
            *join->to++ = 0xff;
            *join->to++ = (uint8_t)(0xd0 | (j->number & 7));
        }
        j->file->size = (size_t)(join->to - j->file->data);
    }
    return true;
}

/* Joins ranges, as far as those that are next are done, unless somebody does.
 */
ENTROPY_INLINE void join_done(struct encoding *e)
{
    struct joining *j = &e->joining;
    if (atomic_flag_test_and_set(&j->busy))
        return;
    for (; j->next < e->joining.ranges &&
           atomic_load(&e->joining.range[j->next].done);
         j->next++) {
        struct range *range = &e->joining.range[j->next];
        if (!atomic_load(&e->joining.failed) &&
            !atomic_load(&e->joining.lacking) &&
            !join_range(j, range, e->to->restart,
                        j->next + 1 == e->joining.ranges))
            atomic_store(&e->joining.failed, true);
        memory_free(range->data);
    }
    atomic_flag_clear(&j->busy);
}

/* Codes a range, interval by interval, or counts its symbols. */
FOR_EACH_CPU static void code_range(void *context, size_t i)
{
    struct encoding *e = context;
    struct range *range = &e->joining.range[i];
    struct entropy_statistics counts;
    const size_t all = (size_t)e->to->columns * e->to->rows;
    const size_t step = e->to->restart ? e->to->restart : e->per;
    size_t at = i * e->per, end = at + e->per < all ? at + e->per : all;
    if (account_is_over())
        atomic_store(&e->joining.late, true);
    if (atomic_load(&e->joining.late) || atomic_load(&e->joining.lacking)) {
        atomic_store(&range->done, true);
        return;
    }
    if (e->counts) {
        uint64_t *sum = (uint64_t *)e->counts, *own = (uint64_t *)&counts;
        memset(&counts, 0, sizeof counts);
        for (; at < end; at += step)
            walk_mcus(e, at, at + step < end ? at + step : end, NULL, NULL,
                      &counts);
        for (size_t k = 0; k < sizeof counts / sizeof *own; k++)
            if (own[k])
                __atomic_fetch_add(&sum[k], own[k], __ATOMIC_RELAXED);
        return;
    }
    range->room =
        e->from->blocks->size / e->joining.ranges * 5 / 4 + 64 * BLOCK_BYTES;
    range->data = memory_alloc(range->room);
    bool coded = range->data, lacking = false;
    for (; coded && at < end && !lacking; at += step) {
        const size_t begin = range->used + HEAD;
        struct code_writer out = { .at = range->data + begin };
        coded = walk_mcus(e, at, at + step < end ? at + step : end, range, &out,
                          NULL);
        if (!coded)
            break;
        uint64_t bits =
            (uint64_t)(out.at - range->data - begin) * 8 + out.count;
        store(&out);
        memcpy(range->data + range->used, &bits, HEAD);
        range->used = begin + (bits + 7) / 8;
        lacking = out.seen & HUFFMAN_NONE;
    }
    if (!coded)
        atomic_store(&e->joining.failed, true);
    if (lacking)
        atomic_store(&e->joining.lacking, true);
    atomic_store(&range->done, true);
    join_done(e);
}

/* ---- Scans --------------------------------------------------------------- */

/* Codes all ranges. */
static int code_all(struct encoding *e, struct thread_pool *pool,
                    struct err *err)
{
    const enum xform turn = e->from->turn;
    const struct entropy_scan *to = e->to;
    e->signs = (turn & XFORM_MIRROR_X ? ENTROPY_ODD_COLUMNS : 0) ^
               (turn & XFORM_MIRROR_Y ? ENTROPY_ODD_ROWS : 0);
    const bool mapped = map_components(e);
    e->per = RANGE_BLOCKS / entropy_mcu_blocks(to);
    if (to->restart) /* whole intervals */
        e->per = (e->per + to->restart - 1) / to->restart * to->restart;
    e->joining.ranges = ((size_t)to->columns * to->rows + e->per - 1) / e->per;
    e->joining.range =
        memory_alloc_zeroed(e->joining.ranges, sizeof *e->joining.range);
    if (mapped && e->joining.range) {
        thread_pool_run(pool, code_range, e, e->joining.ranges);
        join_done(e); /* those that were done while somebody else looked */
    } else {
        atomic_store(&e->joining.failed, true);
    }
    for (unsigned c = 0; c < to->components; c++) {
        memory_free(e->map[c].column);
        memory_free(e->map[c].row);
    }
    memory_free(e->joining.range);
    if (atomic_load(&e->joining.failed))
        return fail_memory(err, "no memory for the encoded picture");
    return atomic_load(&e->joining.late) ? fail(err, "the time is over") : 0;
}

int entropy_encode(struct bytes *file, const struct entropy_scan *to,
                   const struct entropy_source *from, uint64_t *bits,
                   struct thread_pool *pool, struct err *err)
{
    struct encoding e = { .to = to, .from = from, .joining.file = file };
    const size_t size = from->blocks->size;
    for (unsigned c = 0; c < to->components; c++) {
        const struct entropy_component *one = &to->component[c];
        huffman_encoder_make(&e.dc[one->dc], &to->dc[one->dc]);
        huffman_encoder_make(&e.ac[one->ac], &to->ac[one->ac]);
    }
    if (!bytes_reserve(file, size + size / 16))
        atomic_store(&e.joining.failed, true);
    int status = code_all(&e, pool, err);
    *bits = atomic_load(&e.joining.lacking) ? 0 : e.joining.joined;
    return status;
}

int entropy_count(struct entropy_statistics *counts,
                  const struct entropy_scan *to,
                  const struct entropy_source *from, struct thread_pool *pool,
                  struct err *err)
{
    struct encoding e = { .to = to, .from = from, .counts = counts };
    memset(counts, 0, sizeof *counts);
    return code_all(&e, pool, err);
}
