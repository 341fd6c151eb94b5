/* Entropy-coded data to lists of blocks (T.81, F.2.2).
 *
 * Restart markers divide the data into intervals that can be decoded on their
 * own. Where there are none, each thread begins somewhere in the data with a
 * guess, that a block starts there. Huffman codes synchronize themselves: after
 * some wrong blocks it meets the start of a real one. The thread before it goes
 * on past its end until it stands at such a start, and what was decoded from
 * there on is right. (Weissenberger and Schmidt, "Massively Parallel Huffman
 * Decoding on GPUs", 2018.) */
#include "codecs/jpeg/entropy/entropy_decode.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/page_cache.h"
#include "codecs/jpeg/entropy/huffman_table.h"

enum {
    /* A block takes up to 27 bits for the DC coefficient, and 26 for each of 63
     * others: so many bytes may be read behind the end, and 8 more at once. */
    PADDING = 256,
    PART_BYTES = 1 << 17, /* fewer are not worth a thread of their own */
    STARTS = 1 << 14,     /* blocks among which a part is to meet the next one */
};

/* What the blocks of an MCU are coded by, one after the other. */
struct coding {
    unsigned blocks;
    uint8_t component[ENTROPY_MCU_BLOCKS];
    const struct huffman_decoder *dc[ENTROPY_MCU_BLOCKS];
    const struct huffman_decoder *ac[ENTROPY_MCU_BLOCKS];
    struct huffman_decoder dc_table[ENTROPY_TABLES], ac_table[ENTROPY_TABLES];
    bool transposes;
    bool alike; /* all blocks are coded by the same tables */
    uint8_t order[128]; /* where each position is, once transposed */
};

/* Bits of bytes without stuffing, of which the next one is the highest. */
struct bit_reader {
    uint64_t bits;
    unsigned count;    /* how many of them are there for certain */
    const uint8_t *at; /* the byte after them */
};

/* What one thread decodes. */
struct part {
    const struct coding *coding;
    struct bit_reader in;
    const uint8_t *base;  /* from where positions count */
    const uint8_t *limit; /* no block starts behind it */
    struct entropy_block *block;
    size_t count, room; /* of the blocks; room 0: they are not this part's */
    size_t first;       /* which of them is the first that is right */
    uint16_t *values;
    size_t nvalues, values_room;
    uint16_t index;
    uint64_t begin, end; /* positions, in bits */
    uint32_t *start;     /* of the first blocks, from `begin` on */
    size_t nstarts;
    int sum[ENTROPY_COMPONENTS]; /* of the differences of DC coefficients */
    bool dropped, failed, no_memory;
};

/* All that the threads share. */
struct decoding {
    const struct entropy_scan *scan;
    struct coding coding;
    struct entropy_blocks *blocks;
    uint8_t *data; /* without stuffing, and padded */
    size_t size;
    size_t *interval; /* where each begins, and where the last one ends */
    size_t intervals;
    struct part *part;
    size_t parts;
    size_t per; /* intervals of a part */
};

/* ---- Bits --------------------------------------------------------------- */

static inline void refill(struct bit_reader *in)
{
    in->bits |= read_be64(in->at) >> in->count;
    in->at += (63 - in->count) >> 3;
    in->count |= 56;
}

static inline uint32_t take(struct bit_reader *in, unsigned n)
{
    uint32_t bits = (uint32_t)(in->bits >> (64 - n));
    in->bits <<= n;
    in->count -= n;
    return bits;
}

static void seek(struct part *p, uint64_t position)
{
    p->in = (struct bit_reader){ .at = p->base + position / 8 };
    refill(&p->in);
    p->in.bits <<= position % 8;
    p->in.count -= position % 8;
}

static uint64_t position_of(const struct part *p)
{
    return (uint64_t)(p->in.at - p->base) * 8 - p->in.count;
}

/* ---- Blocks -------------------------------------------------------------- */

static inline uint32_t next_entry(const struct bit_reader *in,
                                  const struct huffman_decoder *table)
{
    uint32_t entry = table->entry[in->bits >> (64 - HUFFMAN_LOOKUP)];
    if (__builtin_expect(entry == 0, 0))
        entry = huffman_decoder_find(table, (uint32_t)(in->bits >> 48));
    return entry;
}

/* Returns the value of a symbol with its size: 1 << size | bits. */
static inline uint32_t value_of(const struct bit_reader *in, uint32_t entry)
{
    uint64_t bits = in->bits << (entry >> 8 & 63);
    return (uint32_t)((bits >> 1 | UINT64_C(1) << 63) >> (entry >> 16 & 63));
}

static inline void skip(struct bit_reader *in, uint32_t entry)
{
    in->bits <<= entry & 63;
    in->count -= entry & 63;
}

static inline bool decode_dc(struct bit_reader *in,
                             const struct huffman_decoder *table, int16_t *dc)
{
    uint32_t entry = next_entry(in, table);
    if (entry == 0)
        return false;
    uint32_t value = value_of(in, entry);
    unsigned size = 63 - (entry >> 16 & 63);
    int half = 1 << size >> 1;
    int bits = (int)value - (1 << size);
    *dc = (int16_t)(bits >= half ? bits : bits - 2 * half + 1);
    skip(in, entry);
    return true;
}

/* What the coefficients of a block are read to. */
struct ac_reader {
    struct bit_reader in;
    unsigned k; /* the position of the last one */
    int n;
    uint64_t mask;
    uint16_t *values;
    const uint8_t *order; /* or NULL */
};

/* Reads the next one. Returns false at the end of the block, or where it goes
 * on too far, or is damaged: k is HUFFMAN_END or more then. */
static inline __attribute__((always_inline)) bool
decode_one(struct ac_reader *r, const struct huffman_decoder *table)
{
    uint32_t entry = table->entry[r->in.bits >> (64 - HUFFMAN_LOOKUP)];
    if (__builtin_expect(entry == 0, 0)) {
        entry = huffman_decoder_find(table, (uint32_t)(r->in.bits >> 48));
        if (entry == 0)
            return r->k = 2 * HUFFMAN_END, false;
    }
    uint32_t value = value_of(&r->in, entry);
    skip(&r->in, entry);
    r->k += entry >> 24;
    if (__builtin_expect(entry & HUFFMAN_SPECIAL, 0))
        return r->k < 63;
    unsigned k = r->order ? r->order[r->k & 127] : r->k & 63;
    r->values[r->order ? k : (unsigned)r->n++] = (uint16_t)value;
    r->mask |= UINT64_C(1) << k;
    return r->k < 63;
}

/* Gives the coefficients that are not zero, in the order in which they stand in
 * the data, or transposed. Returns how many there are, or -1. */
static inline __attribute__((always_inline)) int
decode_ac(struct bit_reader *in, const struct huffman_decoder *table,
          const uint8_t *order, uint64_t *mask, uint16_t *values)
{
    uint16_t placed[64];
    struct ac_reader r = { .in = { in->bits, in->count, in->at },
                           .values = order ? placed : values,
                           .order = order };
    do /* two of them take fewer bits than there are for certain */
        refill(&r.in);
    while (decode_one(&r, table) && decode_one(&r, table));
    if (r.k > 63 && (r.k < HUFFMAN_END || r.k == 2 * HUFFMAN_END))
        return -1;
    for (uint64_t left = order ? r.mask : 0; left; left &= left - 1)
        values[r.n++] = placed[__builtin_ctzll(left)];
    *mask = r.mask;
    in->bits = r.in.bits;
    in->count = r.in.count;
    in->at = r.in.at;
    return r.n;
}

static bool reserve_values(struct part *p)
{
    if (p->nvalues + 80 <= p->values_room)
        return true;
    p->no_memory = true; /* until there is some */
    size_t room = p->values_room * 2 + (1 << 16);
    uint16_t *values =
        room > UINT32_MAX
            ? NULL
            : page_cache_realloc(p->values, p->nvalues * sizeof *values,
                                 room * sizeof *values);
    if (!values)
        return false;
    p->values = values;
    p->values_room = room;
    p->no_memory = false;
    return true;
}

/* Decodes block `j` of an MCU; its DC coefficient is the difference. */
ENTROPY_FOR_EACH_CPU static bool decode_block(struct part *p, unsigned j,
                                              struct entropy_block *b)
{
    const struct coding *coding = p->coding;
    if (p->in.at > p->limit || !reserve_values(p))
        return false;
    uint16_t *values = p->values + p->nvalues;
    struct bit_reader in = { p->in.bits, p->in.count, p->in.at };
    refill(&in);
    if (!decode_dc(&in, coding->dc[j], &b->dc))
        return false;
    int n = coding->transposes
                ? decode_ac(&in, coding->ac[j], coding->order, &b->mask, values)
                : decode_ac(&in, coding->ac[j], NULL, &b->mask, values);
    p->in.bits = in.bits;
    p->in.count = in.count;
    p->in.at = in.at;
    if (n < 0)
        return false;
    b->at = (uint32_t)p->nvalues;
    b->part = p->index;
    p->nvalues += (size_t)n;
    return true;
}

/* Returns whether this is a coefficient of 8-bit samples (T.81, A.3.4), whose
 * differences can be coded. */
static bool add_dc(int *sum, struct entropy_block *b)
{
    *sum += b->dc;
    b->dc = (int16_t)*sum;
    return *sum >= -1024 && *sum < 1024;
}

/* ---- Intervals ------------------------------------------------------------ */

/* Removes the stuffing, and notes where intervals begin. Returns false where
 * the data has a marker that cannot be there, or does not end with one. */
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
            memset(to, 0, PADDING);
            d->size = (size_t)(to - d->data);
            return i == d->intervals && *marker != 0;
        }
    }
}

static bool ends_at(const struct part *p, uint64_t end)
{
    uint64_t at = position_of(p);
    return at <= end && end - at < 8;
}

/* Decodes the blocks of some MCUs, whose DC coefficients become their own. */
static bool decode_mcus(struct part *p, size_t mcus)
{
    const struct coding *coding = p->coding;
    for (; mcus; mcus--)
        for (unsigned j = 0; j < coding->blocks; j++) {
            struct entropy_block *b = &p->block[p->count++];
            if (!decode_block(p, j, b) ||
                !add_dc(&p->sum[coding->component[j]], b))
                return false;
        }
    return true;
}

static size_t all_mcus(const struct entropy_scan *scan)
{
    return (size_t)scan->columns * scan->rows;
}

static void decode_intervals(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    const size_t all = all_mcus(d->scan);
    const size_t step = d->scan->restart ? d->scan->restart : all;
    size_t end = (i + 1) * d->per < d->intervals ? (i + 1) * d->per
                                                 : d->intervals;
    size_t first = i * d->per;
    p->block = d->blocks->block + first * step * d->coding.blocks;
    for (size_t k = first; k < end && !p->failed; k++) {
        memset(p->sum, 0, sizeof p->sum);
        seek(p, d->interval[k] * 8);
        p->failed = !decode_mcus(p, k * step + step < all ? step
                                                          : all - k * step) ||
                    !ends_at(p, d->interval[k + 1] * 8);
    }
}

/* ---- Guesses --------------------------------------------------------------- */

/* Appends the next block, as `j` of an MCU. */
static bool append_block(struct part *p, unsigned j)
{
    if (p->room && p->count == p->room) {
        size_t room = p->room * 2;
        void *more = realloc(p->block, room * sizeof *p->block);
        p->no_memory = !more;
        if (!more)
            return false;
        p->block = more;
        p->room = room;
    }
    return decode_block(p, j, &p->block[p->count]) && ++p->count;
}

/* Decodes from the guess that an MCU starts there. If it proves wrong another
 * one is made. */
static void guess_blocks(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    uint64_t at = p->begin;
    p->room = 1 << 12;
    p->block = malloc(p->room * sizeof *p->block);
    p->start = malloc(STARTS * sizeof *p->start);
    p->failed = p->no_memory = !p->block || !p->start;
    seek(p, at);
    while (!p->failed && at < p->end) {
        if (p->nstarts < STARTS && p->nstarts == p->count)
            p->start[p->nstarts++] = (uint32_t)(at - p->begin);
        if (append_block(p, (unsigned)(p->count % d->coding.blocks))) {
            at = position_of(p);
        } else {
            at = position_of(p) + 1;
            p->count = p->nstarts = p->nvalues = 0;
            p->failed = p->no_memory || at >= p->end;
            seek(p, at);
        }
    }
}

/* The first part starts where the data does, and knows where it is. */
static void decode_part(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    if (i) {
        guess_blocks(d, i);
        return;
    }
    p->block = d->blocks->block;
    seek(p, 0);
    while (!p->failed && position_of(p) < p->end)
        p->failed = p->count == d->blocks->count ||
                    !append_block(p, (unsigned)(p->count % d->coding.blocks));
}

/* Lets p, which has decoded `count` blocks of the picture, go on until it meets
 * one of the blocks that `next` has. Returns false if that does not happen. */
static bool meet(struct decoding *d, struct part *p, struct part *next,
                 size_t *count)
{
    const unsigned blocks = d->coding.alike ? 1 : d->coding.blocks;
    size_t i = 0;
    for (;;) {
        uint64_t at = position_of(p);
        while (i < next->nstarts && next->begin + next->start[i] < at)
            i++;
        if (i == next->nstarts || *count >= d->blocks->count)
            return false;
        if (next->begin + next->start[i] == at &&
            i % blocks == *count % blocks) {
            next->first = i;
            return true;
        }
        if (!append_block(p, (unsigned)(*count % d->coding.blocks)))
            return false;
        ++*count;
    }
}

/* Joins the parts one after the other. */
static bool join_parts(struct decoding *d)
{
    struct part *p = &d->part[0];
    size_t count = p->count;
    bool sound = !p->failed;
    for (size_t i = 1; sound && i < d->parts; i++) {
        struct part *next = &d->part[i];
        next->dropped = next->failed || !meet(d, p, next, &count);
        if (next->dropped)
            continue;
        p = next;
        count += p->count - p->first;
    }
    while (sound && count < d->blocks->count) {
        sound = append_block(p, (unsigned)(count % d->coding.blocks));
        count++;
    }
    return sound && count == d->blocks->count && ends_at(p, d->size * 8);
}

/* The first block of the picture that a part has. */
static size_t first_of(const struct decoding *d, size_t i)
{
    size_t first = 0;
    for (size_t k = 0; k < i; k++)
        first += d->part[k].dropped ? 0 : d->part[k].count - d->part[k].first;
    return first;
}

static void sum_part(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    size_t at = first_of(d, i);
    for (size_t k = p->first; !p->dropped && k < p->count; k++, at++)
        p->sum[d->coding.component[at % d->coding.blocks]] += p->block[k].dc;
}

/* Moves the blocks of a part to where they belong. */
static void place_part(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    struct entropy_block *to = d->blocks->block + first_of(d, i);
    int sum[ENTROPY_COMPONENTS] = { 0 };
    for (size_t k = 0; k < i; k++)
        for (unsigned c = 0; c < ENTROPY_COMPONENTS; c++)
            sum[c] += d->part[k].sum[c];
    size_t at = (size_t)(to - d->blocks->block);
    for (size_t k = p->first; !p->dropped && k < p->count; k++, at++, to++) {
        *to = p->block[k];
        if (!add_dc(&sum[d->coding.component[at % d->coding.blocks]], to))
            p->failed = true;
    }
}

static bool any_without_memory(const struct decoding *d)
{
    bool without = !d->part;
    for (size_t i = 0; i < d->parts; i++)
        without = without || d->part[i].no_memory;
    return without;
}

static bool any_failed(const struct decoding *d)
{
    bool failed = false;
    for (size_t i = 0; i < d->parts; i++)
        failed = failed || (d->part[i].failed && !d->part[i].dropped);
    return failed;
}

static bool decode_by_guesses(struct decoding *d, struct thread_pool *pool)
{
    for (size_t i = 0; i < d->parts; i++) {
        d->part[i].begin = d->size * i / d->parts * 8;
        d->part[i].end = d->size * (i + 1) / d->parts * 8;
    }
    /* Behind the last block are fewer than 8 bits, which make none. */
    d->part[d->parts - 1].end -= 7;
    thread_pool_run(pool, decode_part, d, d->parts);
    if (!join_parts(d))
        return false;
    for (size_t i = 1; i < d->parts; i++)
        d->part[i].failed = false;
    thread_pool_run(pool, sum_part, d, d->parts);
    thread_pool_run(pool, place_part, d, d->parts);
    return !any_failed(d);
}

/* ---- All -------------------------------------------------------------------- */

static bool set_coding(struct coding *coding, const struct entropy_scan *scan,
                       bool transposes)
{
    coding->blocks = 0;
    coding->transposes = transposes;
    coding->alike = true;
    for (unsigned k = 0; k < 128; k++)
        coding->order[k] = (uint8_t)(k < 64 ? entropy_transposed(k) : 0);
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

static bool allocate(struct decoding *d, size_t size,
                     struct entropy_blocks *blocks)
{
    const size_t mcus = all_mcus(d->scan);
    d->intervals = d->scan->restart
                       ? (mcus + d->scan->restart - 1) / d->scan->restart
                       : 1;
    blocks->count = mcus * d->coding.blocks;
    d->data = page_cache_alloc(size + PADDING);
    d->interval = calloc(d->intervals + 1, sizeof *d->interval);
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
    d->part = calloc(d->parts, sizeof *d->part);
    if (!d->part)
        return false;
    for (size_t i = 0; i < d->parts; i++) {
        d->part[i].coding = &d->coding;
        d->part[i].base = d->data;
        d->part[i].limit = d->data + d->size + 8;
        d->part[i].index = (uint16_t)i;
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

/* Returns 0 or -1; without memory *no_memory is true. */
static int decode_all(struct decoding *d, const uint8_t *data, size_t size,
                      size_t *used, struct thread_pool *pool, bool *no_memory)
{
    *no_memory = !allocate(d, size, d->blocks);
    if (*no_memory || !unstuff(d, data, size, used))
        return -1;
    bool sound = divide(d, pool) && decode(d, pool);
    *no_memory = any_without_memory(d);
    return sound && !*no_memory ? 0 : -1;
}

int entropy_decode(struct entropy_blocks *blocks,
                   const struct entropy_scan *scan, const uint8_t *data,
                   size_t size, size_t *used, bool transposes,
                   struct thread_pool *pool, struct err *err)
{
    struct decoding *d = calloc(1, sizeof *d);
    bool no_memory = !d;
    int status = -1;
    *blocks = (struct entropy_blocks){ 0 };
    if (!d)
        return fail_memory(err, "no memory for the coefficients");
    d->scan = scan;
    d->blocks = blocks;
    if (set_coding(&d->coding, scan, transposes))
        status = decode_all(d, data, size, used, pool, &no_memory);
    if (no_memory)
        fail_memory(err, "no memory for the coefficients");
    else if (status)
        fail(err, "something is odd about the coded data");
    for (size_t i = 0; d->part && i < d->parts; i++) {
        blocks->values[blocks->parts++] = d->part[i].values;
        if (d->part[i].room)
            free(d->part[i].block);
        free(d->part[i].start);
    }
    free(d->part);
    free(d->interval);
    page_cache_free(d->data);
    free(d);
    return status;
}

void entropy_blocks_free(struct entropy_blocks *blocks)
{
    for (unsigned i = 0; i < blocks->parts; i++)
        page_cache_free(blocks->values[i]);
    page_cache_free(blocks->block);
    *blocks = (struct entropy_blocks){ 0 };
}
