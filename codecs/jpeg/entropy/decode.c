/* Entropy-coded data to lists of blocks (T.81, F.2.2).
 *
 * Restart markers divide the data into intervals that can be decoded on their
 * own. Where there are none, each thread begins somewhere in the data with a
 * guess, that a block starts there. Huffman codes synchronize themselves: after
 * some wrong blocks it meets the start of a real one. The thread before it goes
 * on past its end until it stands at such a start, and what was decoded from
 * there on is right. (Weissenberger and Schmidt, "Massively Parallel Huffman
 * Decoding on GPUs", 2018.) */
#include "codecs/jpeg/entropy/sequential.h"

#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/base/page_cache.h"
#include "codecs/jpeg/entropy/huffman_table.h"

enum {
    /* A block takes up to 27 bits for the DC coefficient, and 26 for each of 63
     * others: so many bytes may be read behind the end, and 8 more at once. */
    PADDING = 256,
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

/* ---- Lists of blocks ----------------------------------------------------- */

/* A block has the index of its first value in 32 bits. */
bool entropy_values_grow(struct entropy_values *list, size_t room)
{
    uint16_t *value = NULL;
    room += 1 << 12;
    if (room <= UINT32_MAX)
        value = page_cache_realloc(list->value, list->count * sizeof *value,
                                   room * sizeof *value);
    if (!value)
        return false;
    list->value = value;
    list->room = room;
    return true;
}

void entropy_blocks_free(struct entropy_blocks *blocks)
{
    for (unsigned i = 0; i < blocks->parts; i++)
        page_cache_free(blocks->values[i]);
    page_cache_free(blocks->block);
    *blocks = (struct entropy_blocks){ 0 };
}

/* ---- Runs of blocks ------------------------------------------------------ */

/* Where each position of the zigzag order goes, and the bit of that; those that
 * no block has go to 64, and have none. */
struct zigzag_order {
    uint8_t at[256];
    uint64_t bit[256];
};

/* All that the threads share. */
struct decoding {
    const struct entropy_scan *scan;
    struct entropy_blocks *blocks;
    uint8_t *data; /* without stuffing, and padded */
    size_t size;
    size_t *interval; /* where each begins, and where the last one ends */
    size_t intervals;
    struct part *part;
    size_t parts;
    size_t per; /* intervals of a part */

    /* What the blocks of an MCU are coded by, one after the other. */
    struct mcu_coding {
        unsigned blocks;
        uint8_t component[ENTROPY_MCU_BLOCKS];
        const struct huffman_decoder *dc[ENTROPY_MCU_BLOCKS];
        const struct huffman_decoder *ac[ENTROPY_MCU_BLOCKS];
        struct huffman_decoder dc_table[ENTROPY_TABLES],
            ac_table[ENTROPY_TABLES];
        struct zigzag_order order;
    } coding;
};

/* Bits of bytes without stuffing, of which the next one is the highest. */
struct bit_reader {
    uint64_t bits;
    unsigned count;    /* how many of them are there for certain */
    const uint8_t *at; /* the byte after them */
};

/* A part that begins with a guess. */
struct guess {
    uint64_t begin, end; /* positions, in bits */
    uint32_t *start;     /* of the first blocks, from `begin` on */
    size_t starts;
    size_t first; /* which of the blocks is the first that is right, */
    size_t place; /* and where in the picture it belongs */
    int64_t offset[ENTROPY_COMPONENTS]; /* to the true DC coefficients */
};

/* What one thread decodes. */
struct part {
    const struct decoding *all;
    struct bit_reader in;
    unsigned next; /* which block of an MCU comes next */
    struct entropy_block *block;
    size_t count, room; /* of the blocks; room 0: they are the picture's own */
    struct entropy_values values;
    uint16_t index;
    int64_t dc[ENTROPY_COMPONENTS]; /* the last ones */
    bool odd; /* one of them was out of range, which a guess may be */
    enum part_state {
        PART_SOUND,
        PART_DAMAGED,
        PART_LATE,
        PART_NO_MEMORY
    } state;
    struct guess guess;
};

ENTROPY_INLINE void refill(struct bit_reader *in)
{
    in->bits |= read_be64(in->at) >> in->count;
    in->at += (63 - in->count) >> 3;
    in->count |= 56;
}

ENTROPY_INLINE void skip(struct bit_reader *in, unsigned n)
{
    in->bits <<= n;
    in->count -= n;
}

/* Returns where the next block starts, in bits of the data. */
ENTROPY_INLINE uint64_t position_of(const struct part *p,
                                    const struct bit_reader *in)
{
    return (uint64_t)(in->at - p->all->data) * 8 - in->count;
}

/* Lets the next block, the first of an MCU, start at a position; the DC
 * coefficients before it are 0. */
static void seek(struct part *p, uint64_t position)
{
    p->in = (struct bit_reader){ .at = p->all->data + position / 8 };
    refill(&p->in);
    skip(&p->in, position % 8);
    p->next = 0;
    memset(p->dc, 0, sizeof p->dc);
}

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
                                const struct zigzag_order *order)
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

/* Gives the coefficients that are not zero. Returns false if they are
 * damaged. */
ENTROPY_INLINE bool decode_ac(struct bit_reader *in,
                              const struct huffman_decoder *table,
                              const struct zigzag_order *order,
                              struct entropy_block *b, uint16_t *values)
{
    uint16_t value[65];
    struct ac_reader r = { .in = *in, .value = value };
    value[63] = 0; /* which the loop below may read */
    /* Of 56 bits at least the DC coefficient takes 27, or two steps 52. */
    for (bool more = decode_some(&r, table, order); more;) {
        refill(&r.in);
        more = decode_some(&r, table, order) && decode_some(&r, table, order);
    }
    /* Four at a time: how many they are is hard to predict. */
    for (uint64_t mask = r.mask; mask;)
        for (unsigned i = 0; i < 4; i++, mask &= mask - 1)
            *values++ = value[__builtin_ctzll(mask | UINT64_C(1) << 63)];
    b->mask = r.mask;
    *in = r.in;
    return r.k <= 63 || r.k >= HUFFMAN_END;
}

/* Returns whether a DC coefficient is one of 8-bit samples. */
static inline bool dc_is_sound(int64_t dc)
{
    return dc >= -ENTROPY_DC_MAX && dc < ENTROPY_DC_MAX;
}

/* Doubles the room for blocks. Returns false without memory. */
static bool grow(struct part *p)
{
    void *more = page_cache_realloc(p->block, p->count * sizeof *p->block,
                                    2 * p->room * sizeof *p->block);
    if (!more)
        return false;
    p->block = more;
    p->room *= 2;
    return true;
}

/* Appends up to n blocks, as far as they start before position `end`. At damage
 * the part ends, and likewise without memory or time. */
FOR_EACH_CPU static void append(struct part *p, size_t n, uint64_t end)
{
    const struct mcu_coding *coding = &p->all->coding;
    const uint8_t *limit = p->all->data + p->all->size + 8;
    struct bit_reader in = p->in;
    enum part_state state = p->state;
    for (; n && state == PART_SOUND && position_of(p, &in) < end; n--) {
        if (in.at > limit)
            state = PART_DAMAGED;
        else if (p->count % CHECKED_BLOCKS == CHECKED_BLOCKS - 1 &&
                 account_is_over())
            state = PART_LATE;
        else if (!entropy_values_reserve(&p->values) ||
                 (p->room && p->count == p->room && !grow(p)))
            state = PART_NO_MEMORY;
        if (state != PART_SOUND)
            break;
        struct entropy_block *b = &p->block[p->count];
        int64_t *dc = &p->dc[coding->component[p->next]];
        uint16_t *values = p->values.value + p->values.count;
        refill(&in);
        const uint64_t entry = next_entry(&in, coding->dc[p->next]);
        const int difference = entry ? entropy_value(value_of(&in, entry)) : 0;
        skip(&in, entry & 63);
        if (entry == 0 ||
            !decode_ac(&in, coding->ac[p->next], &coding->order, b, values)) {
            state = PART_DAMAGED;
            break;
        }
        *dc += difference;
        p->odd = p->odd || !dc_is_sound(*dc);
        b->dc = (int16_t)*dc;
        b->at = (uint32_t)p->values.count;
        b->part = p->index;
        p->values.count += (size_t)__builtin_popcountll(b->mask);
        p->count++;
        p->next = p->next + 1 == coding->blocks ? 0 : p->next + 1;
    }
    p->in = in;
    p->state = state;
}

/* ---- Intervals ----------------------------------------------------------- */

/* Removes the stuffing, and notes where intervals begin. Returns false where
 * the data has a marker that cannot be there. */
static bool unstuff(struct decoding *d, struct bytes data)
{
    const uint8_t *p = data.data, *end = data.data + data.size;
    uint8_t *to = d->data;
    size_t i = 0;
    for (;;) {
        const uint8_t *ff = memchr(p, 0xff, (size_t)(end - p));
        const size_t plain = (size_t)((ff ? ff : end) - p);
        memcpy(to, p, plain);
        to += plain;
        if (!ff)
            break;
        const uint8_t *marker = ff + 1; /* which fill bytes may precede */
        while (marker < end && *marker == 0xff)
            marker++;
        if (marker == end)
            return false;
        p = marker + 1;
        if (*marker == 0 && marker == ff + 1)
            *to++ = 0xff;
        else if (i + 1 < d->intervals && *marker == (0xd0 | (i & 7)))
            d->interval[++i] = (size_t)(to - d->data);
        else
            return false;
    }
    d->interval[++i] = d->size = d->blocks->size = (size_t)(to - d->data);
    memset(to, 0, PADDING);
    return i == d->intervals;
}

static bool ends_at(const struct part *p, uint64_t end)
{
    const uint64_t at = position_of(p, &p->in);
    return at <= end && end - at < 8;
}

static void decode_intervals(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    const size_t all = (size_t)d->scan->columns * d->scan->rows;
    const size_t step = d->scan->restart ? d->scan->restart : all;
    const size_t first = i * d->per, end = first + d->per;
    p->block = d->blocks->block + first * step * d->coding.blocks;
    for (size_t k = first;
         k < end && k < d->intervals && p->state == PART_SOUND; k++) {
        const size_t mcus = k + 1 < d->intervals ? step : all - k * step;
        seek(p, d->interval[k] * 8);
        append(p, mcus * d->coding.blocks, UINT64_MAX);
        if (p->state == PART_SOUND &&
            (p->odd || !ends_at(p, d->interval[k + 1] * 8)))
            p->state = PART_DAMAGED;
    }
}

/* ---- Guesses ------------------------------------------------------------- */

/* Decodes a part. The first one starts where the data does, and knows where it
 * is. Others guess that an MCU starts where they do, and note where their first
 * blocks start; if a guess proves wrong another one is made. */
static void decode_part(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    struct guess *guess = &p->guess;
    uint64_t at = guess->begin;
    seek(p, at);
    if (i == 0) {
        p->block = d->blocks->block;
        append(p, d->blocks->count, guess->end);
        return;
    }
    p->block = page_cache_alloc(p->room * sizeof *p->block);
    guess->start = memory_alloc(STARTS * sizeof *guess->start);
    if (!p->block || !guess->start)
        p->state = PART_NO_MEMORY;
    while (at < guess->end && p->state == PART_SOUND) {
        if (guess->starts < STARTS)
            guess->start[guess->starts++] = (uint32_t)(at - guess->begin);
        append(p, guess->starts < STARTS ? 1 : SIZE_MAX, guess->end);
        if (p->state == PART_DAMAGED) {
            p->count = guess->starts = p->values.count = 0;
            p->state = PART_SOUND;
            seek(p, position_of(p, &p->in) + 1);
        }
        at = position_of(p, &p->in);
    }
}

/* Lets p, which has decoded `count` blocks of the picture, go on until it meets
 * one of the blocks that `next` has: at the same place of an MCU, which the
 * tables of components that are coded alike do not tell. Returns false if that
 * does not happen. */
static bool meet(const struct decoding *d, struct part *p, struct part *next,
                 size_t *count)
{
    const size_t blocks = d->coding.blocks;
    struct guess *guess = &next->guess;
    size_t i = 0;
    while (i < guess->starts && p->state == PART_SOUND) {
        const uint64_t at = position_of(p, &p->in),
                       start = guess->begin + guess->start[i];
        if (start == at && i % blocks == *count % blocks) {
            bool found[ENTROPY_COMPONENTS] = { false };
            guess->first = i;
            guess->place = *count;
            *count += next->count - i;
            /* Its DC coefficients go on from those of p. */
            for (unsigned c = 0; c < ENTROPY_COMPONENTS; c++)
                guess->offset[c] = p->guess.offset[c] + p->dc[c];
            for (; i > 0 && i + blocks > guess->first; i--) {
                const unsigned c = d->coding.component[(i - 1) % blocks];
                if (!found[c])
                    guess->offset[c] -= next->block[i - 1].dc;
                found[c] = true;
            }
            return true;
        }
        if (start <= at) {
            i++;
        } else if (*count < d->blocks->count) {
            append(p, 1, UINT64_MAX);
            ++*count;
        } else {
            return false;
        }
    }
    return false;
}

/* Moves the blocks of a part to where they belong. */
static void place_part(void *context, size_t i)
{
    struct decoding *d = context;
    struct part *p = &d->part[i];
    struct entropy_block *to = d->blocks->block + p->guess.place;
    size_t phase = p->guess.place % d->coding.blocks;
    bool sound = true;
    for (size_t k = p->guess.first; i && k < p->count; k++, to++) {
        *to = p->block[k];
        to->dc =
            (int16_t)(to->dc + p->guess.offset[d->coding.component[phase]]);
        sound = sound && dc_is_sound(to->dc);
        phase = phase + 1 == d->coding.blocks ? 0 : phase + 1;
    }
    if (!sound)
        p->state = PART_DAMAGED;
}

/* Decodes all parts and joins them one after the other. A part that none meets
 * gives nothing. */
static void decode_by_guesses(struct decoding *d, struct thread_pool *pool)
{
    const size_t all = d->blocks->count;
    struct part *p = &d->part[0];
    for (size_t i = 0; i < d->parts; i++) {
        d->part[i].guess.begin = d->size * i / d->parts * 8;
        d->part[i].guess.end = d->size * (i + 1) / d->parts * 8;
        d->part[i].room = i ? all / d->parts + STARTS : 0;
    }
    /* Behind the last block are fewer than 8 bits, which make none. */
    d->part[d->parts - 1].guess.end -= 7;
    thread_pool_run(pool, decode_part, d, d->parts);
    size_t count = p->count;
    for (size_t i = 1; i < d->parts; i++) {
        if (meet(d, p, &d->part[i], &count))
            p = &d->part[i];
        else
            d->part[i].guess.first = d->part[i].count;
    }
    if (count < all)
        append(p, all - count, UINT64_MAX);
    if (p->state == PART_SOUND && !d->part[0].odd &&
        p->guess.place + p->count - p->guess.first == all &&
        ends_at(p, d->size * 8))
        thread_pool_run(pool, place_part, d, d->parts);
    else if (p->state == PART_SOUND)
        p->state = PART_DAMAGED;
}

/* ---- Scans --------------------------------------------------------------- */

/* Sets what the blocks of a scan are coded by. A transposed coefficient has its
 * row for its column. Returns false if a table is none, or has what no
 * sequential scan of 8 bits has. */
static bool set_coding(struct mcu_coding *coding,
                       const struct entropy_scan *scan, bool transposes)
{
    struct zigzag_order *order = &coding->order;
    uint8_t position[64];
    for (unsigned k = 0; k < 64; k++)
        position[entropy_natural[k]] = (uint8_t)k;
    memset(order->at, 64, sizeof order->at);
    for (unsigned k = 0; k < 64; k++) {
        unsigned i = entropy_natural[k];
        order->at[k] = transposes ? position[entropy_exchange(i)] : (uint8_t)k;
        order->bit[k] = UINT64_C(1) << order->at[k];
    }
    for (unsigned c = 0; c < scan->components; c++) {
        const struct entropy_component *one = &scan->component[c];
        struct huffman_decoder *dc = &coding->dc_table[one->dc];
        struct huffman_decoder *ac = &coding->ac_table[one->ac];
        if (!huffman_decoder_make(dc, &scan->dc[one->dc], false) ||
            !huffman_decoder_make(ac, &scan->ac[one->ac], true))
            return false;
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

static int decode(struct decoding *d, struct bytes data,
                  struct thread_pool *pool, struct err *err)
{
    static const char odd[] = "something is odd about the coded data";
    static const char full[] = "no memory for the coefficients";
    const size_t mcus = (size_t)d->scan->columns * d->scan->rows,
                 restart = d->scan->restart;
    size_t unsound = 0;
    d->blocks->count = mcus * d->coding.blocks;
    d->intervals = restart ? (mcus + restart - 1) / restart : 1;
    /* Whatever the header claims. */
    if (d->blocks->count > data.size * 8 / BLOCK_BITS_MIN)
        return fail(err, odd);
    d->data = page_cache_alloc(data.size + PADDING);
    d->interval = memory_alloc_zeroed(d->intervals + 1, sizeof *d->interval);
    d->blocks->block =
        page_cache_alloc(d->blocks->count * sizeof *d->blocks->block);
    if (!d->data || !d->interval || !d->blocks->block)
        return fail_memory(err, full);
    if (!unstuff(d, data))
        return fail(err, odd);
    /* By intervals where there are enough of them. */
    const size_t threads = thread_pool_threads(pool);
    const size_t most = d->size / PART_BYTES + 1;
    size_t parts = threads < most ? threads : most;
    if (parts > ENTROPY_PARTS)
        parts = ENTROPY_PARTS;
    d->per = (d->intervals + parts - 1) / parts;
    if (d->intervals > 1)
        parts = (d->intervals + d->per - 1) / d->per;
    d->part = memory_alloc_zeroed(parts, sizeof *d->part);
    for (size_t i = 0; d->part && i < parts; i++) {
        d->part[i].all = d;
        d->part[i].index = (uint16_t)i;
        (void)entropy_values_grow(&d->part[i].values, d->size / parts * 2);
    }
    d->parts = d->part ? parts : 0;
    if (!d->part)
        return fail_memory(err, full);
    if (d->intervals == 1 && d->parts > 1)
        decode_by_guesses(d, pool);
    else
        thread_pool_run(pool, decode_intervals, d, d->parts);
    for (size_t i = 0; i < d->parts; i++) {
        if (d->part[i].state == PART_NO_MEMORY)
            return fail_memory(err, full);
        unsound += d->part[i].state != PART_SOUND;
    }
    return unsound ? fail(err, odd) : 0;
}

int entropy_decode(struct entropy_blocks *blocks,
                   const struct entropy_scan *scan, struct bytes data,
                   bool transposes, struct thread_pool *pool, struct err *err)
{
    struct decoding *d = memory_alloc_zeroed(1, sizeof *d);
    *blocks = (struct entropy_blocks){ 0 };
    if (!d)
        return fail_memory(err, "no memory for the decoder");
    d->scan = scan;
    d->blocks = blocks;
    int status = set_coding(&d->coding, scan, transposes)
                     ? decode(d, data, pool, err)
                     : fail(err, "a Huffman table that no baseline scan has");
    for (size_t i = 0; i < d->parts; i++) {
        blocks->values[blocks->parts++] = d->part[i].values.value;
        if (d->part[i].room)
            page_cache_free(d->part[i].block);
        memory_free(d->part[i].guess.start);
    }
    memory_free(d->part);
    memory_free(d->interval);
    page_cache_free(d->data);
    memory_free(d);
    return status;
}
