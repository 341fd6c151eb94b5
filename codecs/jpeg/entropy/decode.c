/* Entropy-coded data to lists of blocks (T.81, F.2.2).
 *
 * Restart markers divide the data into intervals that can be decoded on their
 * own. Where there are none, each thread begins somewhere in the data with a
 * guess, that a block starts there. Huffman codes synchronize themselves: after
 * some wrong blocks it meets the start of a real one. The thread before it goes
 * on past its end until it stands at such a start, and what was decoded from
 * there on is right. (Weissenberger and Schmidt, "Massively Parallel Huffman
 * Decoding on GPUs", 2018.) */
#include "codecs/jpeg/entropy/coder.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/clock.h"
#include "codecs/base/memory.h"
#include "codecs/base/page_cache.h"
#include "codecs/jpeg/entropy/huffman_table.h"

/* ---- Types --------------------------------------------------------------- */

/* A block takes up to 27 bits for the DC coefficient, and 26 for each of 63
 * others: so many bytes may be read behind the end, and 8 more at once. */
enum { PART_PADDING = 256 };

/* Where each position of the zigzag order goes, and the bit of that; those that
 * no block has go to 64, and have none. */
struct part_order {
    uint8_t at[256];
    uint64_t bit[256];
};

/* What the blocks of an MCU are coded by, one after the other. */
struct part_coding {
    unsigned blocks;
    uint8_t component[ENTROPY_MCU_BLOCKS];
    const struct huffman_decoder *dc[ENTROPY_MCU_BLOCKS];
    const struct huffman_decoder *ac[ENTROPY_MCU_BLOCKS];
    struct huffman_decoder dc_table[ENTROPY_TABLES], ac_table[ENTROPY_TABLES];
    bool alike; /* all blocks are coded by the same tables */
    struct part_order order;
};

/* Bits of bytes without stuffing, of which the next one is the highest. */
struct bit_reader {
    uint64_t bits;
    unsigned count;    /* how many of them are there for certain */
    const uint8_t *at; /* the byte after them */
};

/* What one thread decodes. */
struct part {
    const struct part_coding *coding;
    struct bit_reader in;
    unsigned next;        /* which block of an MCU comes next */
    const uint8_t *base;  /* from where positions count */
    const uint8_t *limit; /* no block starts behind it */
    struct entropy_block *block;
    size_t count, room; /* of the blocks; room 0: they are the picture's own */
    struct entropy_values values;
    uint16_t index;
    int64_t dc[ENTROPY_COMPONENTS]; /* the last ones */
    bool odd; /* one of them was out of range, which a guess may be */
    bool failed, no_memory;
    bool late;        /* the time was over, and so it has failed */
    size_t unchecked; /* blocks since the clock was looked at */

    /* Of a part that begins with a guess. */
    uint64_t begin, end; /* positions, in bits */
    uint32_t *start;     /* of the first blocks, from `begin` on */
    size_t nstarts;
    size_t first; /* which of the blocks is the first that is right, */
    size_t place; /* and where in the picture it belongs */
    int64_t offset[ENTROPY_COMPONENTS]; /* to the true DC coefficients */
};

/* Returns whether a DC coefficient is one of 8-bit samples. */
static inline bool part_dc_is_sound(int64_t dc)
{
    return dc >= -ENTROPY_DC_MAX && dc < ENTROPY_DC_MAX;
}

/* ---- A run of blocks ----------------------------------------------------- */

/* ---- Bits --------------------------------------------------------------- */

ENTROPY_INLINE void refill(struct bit_reader *in)
{
    in->bits |= read_be64(in->at) >> in->count;
    in->at += (63 - in->count) >> 3;
    in->count |= 56;
}

ENTROPY_INLINE uint64_t position_of(const struct part *p,
                                    const struct bit_reader *in)
{
    return (uint64_t)(in->at - p->base) * 8 - in->count;
}

/* ---- Blocks ------------------------------------------------------------- */

/* Returns the entry of the next code; 0 if it is none. */
ENTROPY_INLINE uint64_t next_entry(const struct bit_reader *in,
                                   const struct huffman_decoder *table)
{
    uint64_t entry = table->entry[in->bits >> (64 - HUFFMAN_LOOKUP)];
    if (__builtin_expect(entry == 0, 0))
        entry = huffman_decoder_find(table, (uint32_t)(in->bits >> 48));
    return entry;
}

/* Returns the value of its first symbol with its size: 1 << size | bits. */
ENTROPY_INLINE uint32_t value_of(const struct bit_reader *in, uint64_t entry)
{
    uint64_t bits = in->bits << (entry >> 8 & 63);
    return (uint32_t)((bits >> 1 | UINT64_C(1) << 63) >> (entry >> 16 & 63));
}

ENTROPY_INLINE void skip(struct bit_reader *in, unsigned n)
{
    in->bits <<= n;
    in->count -= n;
}

ENTROPY_INLINE bool decode_dc(struct bit_reader *in,
                              const struct huffman_decoder *table,
                              int *difference)
{
    uint64_t entry = next_entry(in, table);
    if (entry == 0)
        return false;
    *difference = entropy_value(value_of(in, entry));
    skip(in, entry & 63);
    return true;
}

/* What the coefficients of a block are read to. */
struct ac_reader {
    struct bit_reader in;
    unsigned k; /* the position of the last one */
    uint64_t mask;
    uint16_t *value; /* by position; the last of 65 is for what has none */
};

/* Reads the next one or two. Returns false at the end of the block, or where it
 * goes on too far, or is damaged. */
ENTROPY_INLINE bool decode_some(struct ac_reader *r,
                                const struct huffman_decoder *table,
                                const struct part_order *order)
{
    uint64_t entry = next_entry(&r->in, table);
    if (__builtin_expect(entry == 0, 0))
        return r->k = 64, false;
    uint32_t value = value_of(&r->in, entry);
    unsigned k = r->k + (entry >> 24 & 255);
    if (__builtin_expect(entry & HUFFMAN_SPECIAL, 0)) {
        skip(&r->in, entry & 63);
        r->k = k;
        return k < 63;
    }
    if (__builtin_expect(k >= 63, 0)) { /* a second one is the next block's */
        skip(&r->in, (entry >> 8 & 31) + 63 - (entry >> 16 & 63));
        r->value[order->at[k]] = (uint16_t)value;
        r->mask |= order->bit[k];
        r->k = k;
        return false;
    }
    skip(&r->in, entry & 63);
    r->k = k + (entry >> 32 & 255);
    r->value[order->at[r->k]] = (uint16_t)(entry >> 48);
    r->value[order->at[k]] = (uint16_t)value; /* the same place without one */
    r->mask |= order->bit[k] | order->bit[r->k];
    return r->k < 63;
}

/* Copies what stands at the positions of a mask, four at a time: how many they
 * are is hard to predict. */
ENTROPY_INLINE void gather(uint16_t *to, const uint16_t from[64], uint64_t mask)
{
    while (mask)
        for (unsigned i = 0; i < 4; i++, mask &= mask - 1)
            *to++ = from[__builtin_ctzll(mask | UINT64_C(1) << 63)];
}

/* Gives the coefficients that are not zero. Returns false if they are
 * damaged. */
ENTROPY_INLINE bool decode_ac(struct bit_reader *in,
                              const struct huffman_decoder *table,
                              const struct part_order *order, uint64_t *mask,
                              uint16_t *values)
{
    uint16_t value[65];
    struct ac_reader r = { .in = *in, .value = value };
    value[63] = 0; /* which gather() may read */
    /* Of 56 bits at least the DC coefficient takes 27, or two steps 52. */
    for (bool more = decode_some(&r, table, order); more;) {
        refill(&r.in);
        more = decode_some(&r, table, order) && decode_some(&r, table, order);
    }
    gather(values, value, r.mask);
    *mask = r.mask;
    *in = r.in;
    return r.k <= 63 || r.k >= HUFFMAN_END;
}

static bool reserve_block(struct part *p)
{
    if (p->room == 0 || p->count < p->room)
        return true;
    void *more = page_cache_realloc(p->block, p->count * sizeof *p->block,
                                    2 * p->room * sizeof *p->block);
    if (!more)
        return false;
    p->block = more;
    p->room *= 2;
    return true;
}

/* Appends up to n blocks, as far as they start before position `end`. At damage
 * the part fails, and appends no more; without memory likewise. */
ENTROPY_FOR_EACH_CPU static void part_append(struct part *p, size_t n,
                                             uint64_t end)
{
    const struct part_coding *coding = p->coding;
    struct bit_reader in = p->in;
    for (; n && !p->failed && position_of(p, &in) < end; n--) {
        p->no_memory = !entropy_values_reserve(&p->values) || !reserve_block(p);
        p->failed = p->no_memory || in.at > p->limit;
        if (p->failed)
            break;
        struct entropy_block *b = &p->block[p->count];
        int64_t *dc = &p->dc[coding->component[p->next]];
        int difference = 0;
        uint16_t *values = p->values.value + p->values.count;
        const struct huffman_decoder *ac = coding->ac[p->next];
        refill(&in);
        p->failed = !decode_dc(&in, coding->dc[p->next], &difference) ||
                    !decode_ac(&in, ac, &coding->order, &b->mask, values);
        *dc += difference;
        p->odd = p->odd || !part_dc_is_sound(*dc);
        b->dc = (int16_t)*dc;
        b->at = (uint32_t)p->values.count;
        b->part = p->index;
        p->values.count += (size_t)__builtin_popcountll(b->mask);
        p->count += !p->failed;
        p->next = p->next + 1 == coding->blocks ? 0 : p->next + 1;
    }
    p->in = in;
}

/* Returns where the next block starts, in bits from `base`. */
static uint64_t part_position(const struct part *p)
{
    return position_of(p, &p->in);
}

/* Lets the next block, the first of an MCU, start at a position; the DC
 * coefficients before it are 0. */
static void part_seek(struct part *p, uint64_t position)
{
    p->in = (struct bit_reader){ .at = p->base + position / 8 };
    refill(&p->in);
    p->in.bits <<= position % 8;
    p->in.count -= position % 8;
    p->next = 0;
    memset(p->dc, 0, sizeof p->dc);
}

/* ---- What they are coded by --------------------------------------------- */

/* A transposed coefficient has its row for its column. */
static void set_order(struct part_order *order, bool transposes)
{
    uint8_t position[64];
    for (unsigned k = 0; k < 64; k++)
        position[entropy_natural[k]] = (uint8_t)k;
    memset(order->at, 64, sizeof order->at);
    for (unsigned k = 0; k < 64; k++) {
        unsigned i = entropy_natural[k];
        order->at[k] = transposes ? position[entropy_exchange(i)] : (uint8_t)k;
        order->bit[k] = UINT64_C(1) << order->at[k];
    }
}

/* Sets what the blocks of a scan are coded by. Returns false if a table is
 * none, or has what no sequential scan of 8 bits has. `coding` is {0} before.
 */
static bool part_set_coding(struct part_coding *coding,
                            const struct entropy_scan *scan, bool transposes)
{
    coding->blocks = 0;
    coding->alike = true;
    set_order(&coding->order, transposes);
    for (unsigned c = 0; c < scan->components; c++) {
        const struct entropy_component *one = &scan->component[c];
        struct huffman_decoder *dc = &coding->dc_table[one->dc];
        struct huffman_decoder *ac = &coding->ac_table[one->ac];
        if (!huffman_decoder_make(dc, &scan->dc[one->dc], false) ||
            !huffman_decoder_make(ac, &scan->ac[one->ac], true))
            return false;
        coding->alike = coding->alike && one->dc == scan->component->dc &&
                        one->ac == scan->component->ac;
        for (int i = one->across * one->down; i > 0; i--) {
            if (coding->blocks == ENTROPY_MCU_BLOCKS)
                return false;
            coding->component[coding->blocks] = (uint8_t)c;
            coding->dc[coding->blocks] = dc;
            coding->ac[coding->blocks++] = ac;
        }
    }
    return true;
}

/* ---- Scans --------------------------------------------------------------- */

enum {
    BLOCK_BITS_MIN = 2, /* a DC and an AC code of a bit each */
#ifdef FUZZING
    PART_BYTES = 1 << 6, /* files are small then, and must have parts */
    STARTS = 1 << 4,
#else
    PART_BYTES = 1 << 17, /* fewer are not worth a thread of their own */
    STARTS = 1 << 14,     /* blocks among which a part is to meet the next one */
#endif
    CHECKED_BLOCKS = 1 << 13, /* between two looks at the clock */
};

/* All that the threads share. */
struct decoding {
    const struct entropy_scan *scan;
    struct part_coding coding;
    struct entropy_blocks *blocks;
    uint8_t *data; /* without stuffing, and padded */
    size_t size;
    size_t *interval; /* where each begins, and where the last one ends */
    size_t intervals;
    struct part *part;
    size_t parts;
    size_t per; /* intervals of a part */
};

/* ---- Intervals ---------------------------------------------------------- */

/* Removes the stuffing, and notes where intervals begin. Returns false where
 * the data has a marker that cannot be there, or does not end with one; that of
 * a restart would be followed by data that belongs to no block. */
static bool unstuff(struct decoding *d, const uint8_t *data, size_t size,
                    size_t *used)
{
    const uint8_t *p = data, *end = data + size;
    uint8_t *to = d->data;
    size_t i = 0;
    for (;;) {
        const uint8_t *ff = memchr(p, 0xff, (size_t)(end - p));
        if (!ff || end - ff < 2)
            return false;
        memcpy(to, p, (size_t)(ff - p));
        to += ff - p;
        const uint8_t *marker = ff + 1; /* which fill bytes may precede */
        while (end - marker > 1 && *marker == 0xff)
            marker++;
        p = marker + 1;
        if (*marker == 0 && marker == ff + 1) {
            *to++ = 0xff;
        } else if (i + 1 < d->intervals && *marker == (0xd0 | (i & 7))) {
            d->interval[++i] = (size_t)(to - d->data);
        } else {
            d->interval[++i] = (size_t)(to - d->data);
            *used = (size_t)(marker - 1 - data);
            memset(to, 0, PART_PADDING);
            d->size = d->blocks->size = (size_t)(to - d->data);
            return i == d->intervals && *marker != 0 &&
                   *marker >> 3 != 0xd0 >> 3;
        }
    }
}

static bool ends_at(const struct part *p, uint64_t end)
{
    uint64_t at = part_position(p);
    return at <= end && end - at < 8;
}

static size_t all_mcus(const struct entropy_scan *scan)
{
    return (size_t)scan->columns * scan->rows;
}

/* Does as part_append() until the time is over. */
static void append_in_time(struct part *p, size_t n, uint64_t end)
{
    while (n && !p->failed && part_position(p) < end) {
        const size_t left = CHECKED_BLOCKS - p->unchecked;
        const size_t some = n < left ? n : left;
        part_append(p, some, end);
        n -= some;
        p->unchecked = (p->unchecked + some) % CHECKED_BLOCKS;
        if (p->unchecked == 0 && clock_is_over())
            p->late = p->failed = true;
    }
}

static void decode_interval(struct part *p, size_t mcus, const size_t range[2])
{
    part_seek(p, range[0] * 8);
    append_in_time(p, mcus * p->coding->blocks, UINT64_MAX);
    p->failed = p->failed || p->odd || !ends_at(p, range[1] * 8);
}

static void decode_intervals(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    const size_t all = all_mcus(d->scan);
    const size_t step = d->scan->restart ? d->scan->restart : all;
    const size_t first = i * d->per, end = first + d->per;
    p->block = d->blocks->block + first * step * d->coding.blocks;
    for (size_t k = first; k < end && k < d->intervals && !p->failed; k++)
        decode_interval(p, k + 1 < d->intervals ? step : all - k * step,
                        d->interval + k);
}

/* ---- Guesses ------------------------------------------------------------ */

/* Decodes from the guess that an MCU starts there, and notes where the first
 * blocks start. If it proves wrong another guess is made. */
static void decode_guess(struct part *p)
{
    p->block = page_cache_alloc(p->room * sizeof *p->block);
    p->start = memory_alloc(STARTS * sizeof *p->start);
    p->no_memory = !p->block || !p->start;
    uint64_t at = p->begin;
    part_seek(p, at);
    while (at < p->end && !p->no_memory && !p->late) {
        if (p->nstarts < STARTS)
            p->start[p->nstarts++] = (uint32_t)(at - p->begin);
        append_in_time(p, p->nstarts < STARTS ? 1 : SIZE_MAX, p->end);
        at = part_position(p);
        if (p->failed && !p->no_memory && !p->late) {
            p->count = p->nstarts = p->values.count = 0;
            p->failed = false;
            part_seek(p, ++at);
        }
    }
}

/* The first part starts where the data does, and knows where it is. */
static void decode_part(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    if (i) {
        decode_guess(p);
        return;
    }
    p->block = d->blocks->block;
    part_seek(p, 0);
    append_in_time(p, d->blocks->count, p->end);
}

/* Lets the blocks of `next`, all components of which are coded alike, belong to
 * those components that they have where it meets the part before it. */
static void shift_components(struct part *next)
{
    const struct part_coding *coding = next->coding;
    int64_t was[ENTROPY_COMPONENTS] = { 0 }, is[ENTROPY_COMPONENTS] = { 0 };
    const size_t shift = next->place % coding->blocks + coding->blocks -
                         next->first % coding->blocks;
    for (size_t k = 0; k < next->count; k++) {
        int16_t *dc = &next->block[k].dc;
        int64_t *before = &was[coding->component[k % coding->blocks]];
        int64_t *sum = &is[coding->component[(k + shift) % coding->blocks]];
        *sum += *dc - *before;
        *before = *dc;
        *dc = (int16_t)*sum;
    }
    next->next = (unsigned)((next->next + shift) % coding->blocks);
    memcpy(next->dc, is, sizeof is);
}

/* Continues with `next` the DC coefficients of p, which meets it. */
static void chain(const struct part *p, struct part *next)
{
    const struct part_coding *coding = next->coding;
    const size_t blocks = coding->blocks;
    bool found[ENTROPY_COMPONENTS] = { false };
    if (next->first % blocks != next->place % blocks)
        shift_components(next);
    for (unsigned c = 0; c < ENTROPY_COMPONENTS; c++)
        next->offset[c] = p->offset[c] + p->dc[c];
    for (size_t k = next->first, at = next->place + blocks;
         k > 0 && k + blocks > next->first; k--, at--) {
        unsigned c = coding->component[(at - 1) % blocks];
        if (!found[c])
            next->offset[c] -= next->block[k - 1].dc;
        found[c] = true;
    }
}

/* Lets p, which has decoded `count` blocks of the picture, go on until it meets
 * one of the blocks that `next` has. Returns false if that does not happen. */
static bool meet(const struct decoding *d, struct part *p, struct part *next,
                 size_t *count)
{
    const size_t phases = d->coding.alike ? 1 : d->coding.blocks;
    size_t i = 0;
    while (i < next->nstarts && !p->failed) {
        uint64_t at = part_position(p), start = next->begin + next->start[i];
        if (start == at && i % phases == *count % phases) {
            next->first = i;
            next->place = *count;
            chain(p, next);
            *count += next->count - i;
            return true;
        }
        if (start <= at) {
            i++;
        } else if (*count < d->blocks->count) {
            part_append(p, 1, UINT64_MAX);
            ++*count;
        } else {
            return false;
        }
    }
    return false;
}

/* Joins the parts one after the other. A part that none meets gives nothing. */
static bool join_parts(const struct decoding *d)
{
    const size_t all = d->blocks->count;
    struct part *p = &d->part[0];
    size_t count = p->count;
    for (size_t i = 1; i < d->parts; i++) {
        if (meet(d, p, &d->part[i], &count))
            p = &d->part[i];
        else
            d->part[i].first = d->part[i].count;
    }
    if (count < all)
        append_in_time(p, all - count, UINT64_MAX);
    return !p->failed && !d->part[0].odd &&
           p->place + p->count - p->first == all && ends_at(p, d->size * 8);
}

/* Moves the blocks of a part to where they belong. */
static void place_part(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    struct entropy_block *to = d->blocks->block + p->place;
    size_t phase = p->place % d->coding.blocks;
    bool sound = true;
    for (size_t k = p->first; i && k < p->count; k++, to++) {
        *to = p->block[k];
        to->dc = (int16_t)(to->dc + p->offset[d->coding.component[phase]]);
        sound = sound && part_dc_is_sound(to->dc);
        phase = phase + 1 == d->coding.blocks ? 0 : phase + 1;
    }
    p->failed = !sound;
}

static bool any_failed(const struct decoding *d)
{
    bool failed = false;
    for (size_t i = 0; i < d->parts; i++)
        failed = failed || d->part[i].failed;
    return failed;
}

static bool decode_by_guesses(struct decoding *d, struct thread_pool *pool)
{
    for (size_t i = 0; i < d->parts; i++) {
        d->part[i].begin = d->size * i / d->parts * 8;
        d->part[i].end = d->size * (i + 1) / d->parts * 8;
        d->part[i].room = i ? d->blocks->count / d->parts + STARTS : 0;
    }
    /* Behind the last block are fewer than 8 bits, which make none. */
    d->part[d->parts - 1].end -= 7;
    thread_pool_run(pool, decode_part, d, d->parts);
    if (!join_parts(d))
        return false;
    thread_pool_run(pool, place_part, d, d->parts);
    return !any_failed(d);
}

/* ---- All ---------------------------------------------------------------- */

static bool allocate(struct decoding *d, size_t size,
                     struct entropy_blocks *blocks)
{
    const size_t mcus = all_mcus(d->scan);
    d->intervals =
        d->scan->restart ? (mcus + d->scan->restart - 1) / d->scan->restart : 1;
    blocks->count = mcus * d->coding.blocks;
    d->data = page_cache_alloc(size + PART_PADDING);
    d->interval = memory_alloc_zeroed(d->intervals + 1, sizeof *d->interval);
    blocks->block = page_cache_alloc(blocks->count * sizeof *blocks->block);
    return d->data && d->interval && blocks->block;
}

/* Shares out the work: by intervals where there are enough of them. */
static bool divide(struct decoding *d, struct thread_pool *pool)
{
    size_t threads = thread_pool_threads(pool);
    size_t most = d->size / PART_BYTES + 1;
    size_t parts = threads < most ? threads : most;
    if (parts > ENTROPY_PARTS)
        parts = ENTROPY_PARTS;
    d->per = (d->intervals + parts - 1) / parts;
    d->parts = d->intervals > 1 ? (d->intervals + d->per - 1) / d->per : parts;
    d->part = memory_alloc_zeroed(d->parts, sizeof *d->part);
    if (!d->part) {
        d->parts = 0;
        return false;
    }
    for (size_t i = 0; i < d->parts; i++) {
        d->part[i].coding = &d->coding;
        d->part[i].base = d->data;
        d->part[i].limit = d->data + d->size + 8;
        d->part[i].index = (uint16_t)i;
        (void)entropy_values_grow(&d->part[i].values, d->size / d->parts * 2);
    }
    return true;
}

static bool decode(struct decoding *d, struct thread_pool *pool)
{
    if (d->intervals == 1 && d->parts > 1)
        return decode_by_guesses(d, pool);
    thread_pool_run(pool, decode_intervals, d, d->parts);
    return !any_failed(d);
}

static int decode_all(struct decoding *d, const uint8_t *data, size_t size,
                      size_t *used, struct thread_pool *pool, struct err *err)
{
    static const char odd[] = "something is odd about the coded data";
    static const char full[] = "no memory for the coefficients";
    const size_t blocks = all_mcus(d->scan) * d->coding.blocks;
    if (blocks > size * 8 / BLOCK_BITS_MIN) /* whatever the header claims */
        return fail(err, odd);
    if (!allocate(d, size, d->blocks))
        return fail_memory(err, full);
    if (!unstuff(d, data, size, used))
        return fail(err, odd);
    if (!divide(d, pool))
        return fail_memory(err, full);
    bool sound = decode(d, pool);
    for (size_t i = 0; i < d->parts; i++)
        if (d->part[i].no_memory)
            return fail_memory(err, full);
    return sound ? 0 : fail(err, odd);
}

/* Frees all but what the blocks take over. */
static void free_all(struct decoding *d)
{
    for (size_t i = 0; i < d->parts; i++) {
        d->blocks->values[d->blocks->parts++] = d->part[i].values.value;
        if (d->part[i].room)
            page_cache_free(d->part[i].block);
        memory_free(d->part[i].start);
    }
    memory_free(d->part);
    memory_free(d->interval);
    page_cache_free(d->data);
    memory_free(d);
}

int entropy_decode(struct entropy_blocks *blocks,
                   const struct entropy_scan *scan, const uint8_t *data,
                   size_t size, size_t *used, bool transposes,
                   struct thread_pool *pool, struct err *err)
{
    struct decoding *d = memory_alloc_zeroed(1, sizeof *d);
    *blocks = (struct entropy_blocks){ 0 };
    if (!d)
        return fail_memory(err, "no memory for the decoder");
    d->scan = scan;
    d->blocks = blocks;
    int status = part_set_coding(&d->coding, scan, transposes)
                     ? decode_all(d, data, size, used, pool, err)
                     : fail(err, "a Huffman table that no baseline scan has");
    free_all(d);
    return status;
}
