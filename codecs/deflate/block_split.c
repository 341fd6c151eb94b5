/* Where blocks end, by the entropy of their symbols. */
#include "codecs/deflate/block_split.h"

#include <assert.h>

enum { HEADER = 500 }; /* bits of a typical block header */

/* Returns the logarithm of x > 0 to base 2 in units of 1/65536, off by at most
 * 1/120. The C library's is not the same on all machines. */
static inline uint32_t log_2(uint32_t x)
{
    uint32_t whole = 31 - (uint32_t)__builtin_clz(x);
    uint32_t part = (uint32_t)((uint64_t)x << 31 >> whole >> 15) & 65535;
    /* Between powers of 2: f + 0.344 f (1 - f). */
    return (whole << 16) + part + ((part * (65536 - part) >> 16) * 22545 >> 16);
}

static uint32_t sum_of(const uint32_t *count, unsigned n)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += count[i];
    return sum;
}

/* ---- Entropy ------------------------------------------------------------ */

/* n log n - sum of c log c, in 1/65536 bits. */
static uint64_t entropy_of(const uint32_t *count, unsigned n)
{
    uint64_t entropy = 0;
    uint32_t all = sum_of(count, n);
    if (all == 0)
        return 0;
    entropy = (uint64_t)all * log_2(all);
    for (unsigned i = 0; i < n; i++)
        if (count[i])
            entropy -= (uint64_t)count[i] * log_2(count[i]);
    return entropy;
}

static uint64_t block_entropy(const struct deflate_counts *c)
{
    return entropy_of(c->symbol, HUFFMAN_SYMBOLS) +
           entropy_of(c->distance, DISTANCES);
}

static void add_counts(struct deflate_counts *sum,
                       const struct deflate_counts *c)
{
    for (unsigned i = 0; i < HUFFMAN_SYMBOLS; i++)
        sum->symbol[i] += c->symbol[i];
    for (unsigned i = 0; i < DISTANCES; i++)
        sum->distance[i] += c->distance[i];
}

/* ---- Costs -------------------------------------------------------------- */

/* Sets the cost of symbols by how often they occur. A symbol that does not
 * occur costs 2 bits more than one that occurs once. No code has less than a
 * bit. */
static void set_costs(uint16_t *cost, const uint32_t *count, unsigned n)
{
    uint32_t all = sum_of(count, n), log_all = all ? log_2(all) : 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t bits =
            count[i] ? log_all - log_2(count[i]) : log_all + (2 << 16);
        uint32_t own = bits / (65536 / COST_OF_BIT);
        cost[i] = (uint16_t)(own > COST_OF_BIT ? own : COST_OF_BIT);
    }
}

static void estimate_costs(struct block_split *s)
{
    const struct deflate_counts *c = &s->counts;
    set_costs(s->symbol_cost, c->symbol, HUFFMAN_SYMBOLS);
    set_costs(s->distance_cost, c->distance, DISTANCES);
}

/* Sets the costs of the first segment, before anything was counted. */
static void guess_costs(struct block_split *s, const uint8_t *data, size_t size)
{
    struct deflate_counts counts = { 0 };
    struct sequence first = { (uint16_t)(size < SEGMENT ? size : SEGMENT), 0,
                              0 };
    deflate_block_count(&counts, data, &first, 1);
    set_costs(s->symbol_cost, counts.symbol, END_OF_BLOCK);
    for (unsigned i = END_OF_BLOCK; i < HUFFMAN_SYMBOLS; i++)
        s->symbol_cost[i] = 6 * COST_OF_BIT;
    for (unsigned i = 0; i < DISTANCES; i++)
        s->distance_cost[i] = 4 * COST_OF_BIT;
}

/* ---- Blocks ------------------------------------------------------------- */

void block_split_begin(struct block_split *s, uint8_t *out, const uint8_t *data,
                       size_t size)
{
    s->bits = (struct bit_writer){ .out = out };
    s->block = s->segment = data;
    s->in_block = s->n = 0;
    s->counts = (struct deflate_counts){ 0 };
    s->entropy = 0;
    guess_costs(s, data, size);
}

/* Writes the block, and leaves the segment's sequences. */
static void put_block(struct block_split *s, bool final)
{
    deflate_block_put(&s->bits, &s->counts, s->block,
                      (size_t)(s->segment - s->block), s->sequence, s->in_block,
                      final);
    s->n -= s->in_block;
    memmove(s->sequence, s->sequence + s->in_block, s->n * sizeof *s->sequence);
    s->in_block = 0;
    s->block = s->segment;
}

/* Returns whether the segment must begin a new block. */
static bool starts_block(const struct block_split *s,
                         const struct deflate_counts *both, uint64_t of_segment,
                         uint64_t of_both)
{
    return s->in_block &&
           (sum_of(both->symbol, HUFFMAN_SYMBOLS) >= BLOCK_SYMBOLS ||
            s->n > SEQUENCES - SEGMENT_MOST ||
            s->entropy + of_segment + (HEADER << 16) < of_both);
}

void block_split_end_segment(struct block_split *s, const uint8_t *end)
{
    struct deflate_counts segment = { 0 }, both = s->counts;
    assert(s->n - s->in_block <= SEGMENT_MOST);
    deflate_block_count(&segment, s->segment, s->sequence + s->in_block,
                        s->n - s->in_block);
    add_counts(&both, &segment);
    uint64_t of_segment = block_entropy(&segment);
    uint64_t of_both = block_entropy(&both);
    if (starts_block(s, &both, of_segment, of_both)) {
        put_block(s, false);
        s->counts = segment;
        s->entropy = of_segment;
    } else {
        s->counts = both;
        s->entropy = of_both;
    }
    s->in_block = s->n;
    s->segment = end;
    estimate_costs(s);
}

uint8_t *block_split_end(struct block_split *s, const uint8_t *end, bool final)
{
    if (s->n > s->in_block)
        block_split_end_segment(s, end);
    put_block(s, final);
    if (!final)
        deflate_block_put_stored(&s->bits, NULL, 0, false);
    bit_writer_align(&s->bits);
    return s->bits.out;
}
