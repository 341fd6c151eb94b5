/* Lists of blocks to the entropy-coded data of the turned picture (T.81,
 * F.1.2).
 *
 * A range of MCUs is coded as bits without stuffing, by any thread. Whoever
 * completes one joins, by shifting, all those that are next in the file, while
 * others code on. With restart markers a range is some whole intervals. */
#include "codecs/jpeg/entropy/coder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/clock.h"
#include "codecs/base/memory.h"
#include "codecs/jpeg/entropy/huffman_table.h"

/* ---- Joining bits -------------------------------------------------------- */

/* What is written, and up to 63 bits that follow it. */
struct bit_join {
    uint8_t *to;
    uint64_t left; /* they, as the highest bits */
    unsigned count;
};

static bool has_ff(uint64_t bytes)
{
    uint64_t inverse = ~bytes;
    return ((inverse - UINT64_C(0x0101010101010101)) & bytes &
            UINT64_C(0x8080808080808080)) != 0;
}

/* Writes whole bytes, stuffed, and returns where they end. */
ENTROPY_INLINE uint8_t *stuff(uint8_t *to, uint64_t bytes, unsigned n)
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

/* Appends bits, whose bytes can be read 8 at a time, and stuffs the bytes that
 * become whole (T.81, F.1.2.3): they are up to twice as many. */
static void bit_join_append(struct bit_join *join, const uint8_t *from,
                            uint64_t bits)
{
    for (; bits >= 64; bits -= 64, from += 8)
        join_word(join, read_be64(from), 64);
    if (bits)
        join_word(join, read_be64(from) & UINT64_MAX << (64 - bits),
                  (unsigned)bits);
}

/* Fills the last byte with ones. */
static void bit_join_end(struct bit_join *join)
{
    join->to = stuff(join->to, join->left | UINT64_MAX >> join->count,
                     (join->count + 7) / 8);
    join->left = join->count = 0;
}

/* ---- Where blocks stand -------------------------------------------------- */

/* The block in column x and row y after the turn is number column[x] + row[y]
 * of the list. */
struct block_map {
    uint32_t columns, rows; /* blocks that hold samples, after the turn */
    size_t *column, *row;
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

/* Makes the map of component c of a scan that is turned. Returns false without
 * memory. It is to be freed in any case. */
static bool block_map_make(struct block_map *map,
                           const struct entropy_scan *scan, unsigned c,
                           enum xform turn)
{
    const struct entropy_component *one = &scan->component[c];
    const size_t blocks = entropy_mcu_blocks(scan);
    size_t first = 0; /* of the component in an MCU */
    for (unsigned i = 0; i < c; i++)
        first += (size_t)scan->component[i].across * scan->component[i].down;
    size_t *x = make_axis(one->columns, xform_reverses_x(turn), first,
                          one->across, 1, blocks);
    size_t *y = make_axis(one->rows, xform_reverses_y(turn), 0, one->down,
                          one->across, blocks * scan->columns);
    if (xform_transposes(turn))
        *map = (struct block_map){ one->rows, one->columns, y, x };
    else
        *map = (struct block_map){ one->columns, one->rows, x, y };
    return x && y;
}

static void block_map_free(struct block_map *map)
{
    memory_free(map->column);
    memory_free(map->row);
}

/* ---- Scans --------------------------------------------------------------- */

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

    pthread_mutex_t lock; /* of what follows */
    bool joining;         /* somebody does so, and alone uses the next two */
    struct bytes *file;
    struct bit_join join; /* what is not yet in the file */
    uint64_t bits;        /* so many have been joined, without stuffing */
    size_t next;          /* the range that is to be joined next */
    bool lacking;         /* there was no code for a symbol */
    bool failed;
    bool late; /* the time is over, so that ranges are missing */
    struct entropy_statistics *counts; /* or else symbols are only counted */
};

/* Some MCUs, coded: for each interval HEAD bytes, and bits without stuffing. */
struct range {
    uint8_t *data;
    size_t room, used;
    bool done;
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

/* The AC coefficients of a block; `values` are those that are not zero. A DC
 * coefficient and one other take up to 27 and 26 bits, with 7 that were there
 * before: they are stored together, and so are two others. */
ENTROPY_INLINE void put_ac(struct code_writer *out, const uint64_t *code,
                           uint64_t mask, const uint16_t *values,
                           uint64_t signs)
{
    unsigned k = 0;
    for (bool stores = true; mask; mask &= mask - 1, stores = !stores) {
        unsigned before = k;
        k = (unsigned)__builtin_ctzll(mask);
        put_coefficient(out, code, k - before - 1, *values++, signs >> k & 1);
        if (stores)
            store(out);
    }
    if (k < 63)
        put_symbol(out, code[0], 0, 0);
    store(out);
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

/* Makes room for the blocks of an MCU. Returns false without memory. */
static bool make_room(struct range *range, struct code_writer *out)
{
    const size_t used = (size_t)(out->at - range->data);
    if (range->room - used >= ENTROPY_MCU_BLOCKS * BLOCK_BYTES)
        return true;
    uint8_t *data = memory_realloc(range->data, range->room * 2);
    if (!data)
        return false;
    range->data = data;
    range->room *= 2;
    out->at = data + used;
    return true;
}

/* Codes MCUs, between which there is no restart marker, or counts them. Once a
 * code is lacking it ends. Returns false without memory. */
ENTROPY_INLINE bool walk_mcus(const struct encoding *e, struct range *range,
                              struct code_writer *out, size_t first, size_t end,
                              struct entropy_statistics *counts)
{
    struct walk walk = { .left = end - first,
                         .mx = (uint32_t)(first % e->to->columns),
                         .my = (uint32_t)(first / e->to->columns) };
    int dc[ENTROPY_COMPONENTS];
    predict(e, first, dc);
    for (unsigned i = 0; i < AHEAD; i++)
        find_mcu(e, &walk, walk.block[i]);
    for (size_t m = 0; m < end - first; m++) {
        const struct entropy_block **block = walk.block[m % AHEAD];
        if (!counts && out->seen & HUFFMAN_NONE)
            return true;
        if (!counts && !make_room(range, out))
            return false;
        fetch_values(e, walk.block[(m + AHEAD / 2) % AHEAD]);
        for (unsigned j = 0; j < e->blocks; j++) {
            unsigned c = e->mcu[j].component;
            int before = dc[c];
            dc[c] = block[j] ? block[j]->dc : before;
            if (counts)
                count_block(e, counts, &e->to->component[c], block[j],
                            dc[c] - before);
            else
                put_block(e, out, &e->to->component[c], block[j],
                          dc[c] - before);
        }
        find_mcu(e, &walk, block);
    }
    return true;
}

/* Codes an interval. Returns false without memory. */
ENTROPY_INLINE bool put_interval(const struct encoding *e, struct range *range,
                                 size_t first, size_t end, uint64_t *seen)
{
    const size_t begin = range->used + HEAD;
    struct code_writer out = { .at = range->data + begin };
    if (!walk_mcus(e, range, &out, first, end, NULL))
        return false;
    uint64_t bits = (uint64_t)(out.at - range->data - begin) * 8 + out.count;
    store(&out);
    memcpy(range->data + range->used, &bits, HEAD);
    range->used = begin + (bits + 7) / 8;
    *seen |= out.seen;
    return true;
}

static bool join_range(struct encoding *e, const struct range *range)
{
    size_t number = e->to->restart ? e->next * e->per / e->to->restart : 0;
    for (size_t at = 0; at < range->used; number++) {
        uint64_t bits;
        memcpy(&bits, range->data + at, HEAD);
        e->bits += bits;
        if (!bytes_reserve(e->file, bits / 4 + 64)) /* all bytes stuffed */
            return false;
        e->join.to = e->file->data + e->file->size;
        bit_join_append(&e->join, range->data + at + HEAD, bits);
        at += HEAD + (bits + 7) / 8;
        bool last = e->next + 1 == e->ranges && at == range->used;
        if (e->to->restart || last)
            bit_join_end(&e->join);
        if (e->to->restart && !last) {
            *e->join.to++ = 0xff;
            *e->join.to++ = (uint8_t)(0xd0 | (number & 7));
        }
        e->file->size = (size_t)(e->join.to - e->file->data);
    }
    return true;
}

/* Joins ranges, as far as those that are next are done. */
static void join_ranges(struct encoding *e)
{
    while (!e->joining && e->next < e->ranges && e->range[e->next].done) {
        struct range *range = &e->range[e->next];
        bool wanted = !e->failed && !e->lacking;
        e->joining = true;
        pthread_mutex_unlock(&e->lock);
        bool failed = wanted && !join_range(e, range);
        memory_free(range->data);
        pthread_mutex_lock(&e->lock);
        e->joining = false;
        e->failed = e->failed || failed;
        e->next++;
    }
}

/* Returns whether nothing more is to be coded: a code is lacking, or the time
 * is over. */
static bool is_over(struct encoding *e)
{
    const bool late = clock_is_over();
    pthread_mutex_lock(&e->lock);
    e->late = e->late || late;
    bool over = e->lacking || e->late;
    pthread_mutex_unlock(&e->lock);
    return over;
}

static size_t end_of(const struct encoding *e, size_t first, size_t mcus)
{
    return first + mcus < e->mcus ? first + mcus : e->mcus;
}

ENTROPY_FOR_EACH_CPU static void put_range(void *context, size_t i)
{
    struct encoding *e = context;
    struct range *range = &e->range[i];
    const size_t step = e->to->restart ? e->to->restart : e->per;
    size_t at = i * e->per, end = end_of(e, at, e->per);
    uint64_t seen = is_over(e) ? HUFFMAN_NONE : 0;
    range->room = e->room;
    range->data = memory_alloc(range->room);
    bool done = range->data != NULL;
    for (; done && at < end && !(seen & HUFFMAN_NONE); at += step)
        done = put_interval(e, range, at, end_of(e, at, step), &seen);
    pthread_mutex_lock(&e->lock);
    range->done = true;
    e->failed = e->failed || !done;
    e->lacking = e->lacking || seen & HUFFMAN_NONE;
    join_ranges(e);
    pthread_mutex_unlock(&e->lock);
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

ENTROPY_FOR_EACH_CPU static void count_range(void *context, size_t i)
{
    struct encoding *e = context;
    struct entropy_statistics counts = { 0 };
    const size_t step = e->to->restart ? e->to->restart : e->per;
    size_t at = i * e->per, end = end_of(e, at, e->per);
    if (is_over(e))
        return;
    for (; at < end; at += step)
        walk_mcus(e, NULL, NULL, at, end_of(e, at, step), &counts);
    pthread_mutex_lock(&e->lock);
    add_counts(e->counts, &counts);
    pthread_mutex_unlock(&e->lock);
}

/* ---- All ---------------------------------------------------------------- */

/* Runs `work` for each range. */
static int run(struct encoding *e, void (*work)(void *context, size_t i),
               struct thread_pool *pool, struct err *err)
{
    const enum xform turn = e->from->turn;
    const struct entropy_scan *to = e->to;
    e->signs = (turn & XFORM_MIRROR_X ? ENTROPY_ODD_COLUMNS : 0) ^
               (turn & XFORM_MIRROR_Y ? ENTROPY_ODD_ROWS : 0);
    bool mapped = map_components(e);
    e->mcus = (size_t)to->columns * to->rows;
    e->per = RANGE_BLOCKS / entropy_mcu_blocks(to);
    if (to->restart) /* whole intervals */
        e->per = (e->per + to->restart - 1) / to->restart * to->restart;
    e->ranges = (e->mcus + e->per - 1) / e->per;
    e->room = e->from->blocks->size / e->ranges * 5 / 4 + 64 * BLOCK_BYTES;
    e->range = memory_alloc_zeroed(e->ranges, sizeof *e->range);
    pthread_mutex_init(&e->lock, NULL);
    if (mapped && e->range)
        thread_pool_run(pool, work, e, e->ranges);
    else
        e->failed = true;
    pthread_mutex_destroy(&e->lock);
    for (unsigned c = 0; c < to->components; c++)
        block_map_free(&e->map[c]);
    memory_free(e->range);
    if (e->failed)
        return fail_memory(err, "no memory for the encoded picture");
    return e->late ? fail(err, "the time is over") : 0;
}

int entropy_encode(struct bytes *file, const struct entropy_scan *to,
                   const struct entropy_source *from, uint64_t *bits,
                   struct thread_pool *pool, struct err *err)
{
    struct encoding e = { .to = to, .from = from, .file = file };
    const size_t size = from->blocks->size;
    for (unsigned c = 0; c < to->components; c++) {
        const struct entropy_component *one = &to->component[c];
        huffman_encoder_make(&e.dc[one->dc], &to->dc[one->dc]);
        huffman_encoder_make(&e.ac[one->ac], &to->ac[one->ac]);
    }
    e.failed = !bytes_reserve(file, size + size / 16);
    int status = run(&e, put_range, pool, err);
    *bits = e.lacking ? 0 : e.bits;
    return status;
}

int entropy_count(struct entropy_statistics *counts,
                  const struct entropy_scan *to,
                  const struct entropy_source *from, struct thread_pool *pool,
                  struct err *err)
{
    struct encoding e = { .to = to, .from = from, .counts = counts };
    memset(counts, 0, sizeof *counts);
    return run(&e, count_range, pool, err);
}
