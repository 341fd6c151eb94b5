/* A run of blocks that one thread decodes (T.81, F.2.2). */
#include "codecs/jpeg/entropy/part_decode.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/page_cache.h"

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

ENTROPY_FOR_EACH_CPU void part_append(struct part *p, size_t n, uint64_t end)
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

uint64_t part_position(const struct part *p)
{
    return position_of(p, &p->in);
}

void part_seek(struct part *p, uint64_t position)
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

bool part_set_coding(struct part_coding *coding,
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
