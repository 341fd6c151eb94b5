/* Entropies by logarithms in integers, and where blocks end by them. */
#include "codecs/deflate/block_split.h"

#include <assert.h>
#include <string.h>

/* ---- Costs ----------------------------------------------------------------*/

/* Returns the logarithm of x > 0 to base 2 in units of 1/65536, off by at most
 * 1/120. The C library's is not the same on all machines. */
static inline uint32_t log_2(uint32_t x)
{
    uint32_t whole = 31 - (uint32_t)__builtin_clz(x);
    uint32_t part = (uint32_t)((uint64_t)x << 31 >> whole >> 15) & 65535;
    /* Between powers of 2: f + 0.344 f (1 - f). */
    return (whole << 16) + part + ((part * (65536 - part) >> 16) * 22545 >> 16);
}

static uint32_t symbol_count_sum(const uint32_t *count, unsigned n)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += count[i];
    return sum;
}

static void symbol_counts_add(struct deflate_counts *sum,
                              const struct deflate_counts *more)
{
    for (unsigned i = 0; i < HUFFMAN_SYMBOLS; i++)
        sum->symbol[i] += more->symbol[i];
    for (unsigned i = 0; i < DISTANCES; i++)
        sum->distance[i] += more->distance[i];
}

uint64_t symbol_count_entropy(const uint32_t *count, unsigned n)
{
    uint64_t entropy = 0;
    uint32_t all = symbol_count_sum(count, n);
    if (all == 0)
        return 0;
    entropy = (uint64_t)all * log_2(all);
    for (unsigned i = 0; i < n; i++)
        if (count[i])
            entropy -= (uint64_t)count[i] * log_2(count[i]);
    return entropy;
}

/* Returns the entropy of all symbols, without the extra bits of lengths and
 * distances. */
static uint64_t symbol_entropy(const struct deflate_counts *counts)
{
    return symbol_count_entropy(counts->symbol, HUFFMAN_SYMBOLS) +
           symbol_count_entropy(counts->distance, DISTANCES);
}

static void set_costs(uint16_t *cost, const uint32_t *count, unsigned n)
{
    uint32_t all = symbol_count_sum(count, n), log_all = all ? log_2(all) : 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t bits =
            count[i] ? log_all - log_2(count[i]) : log_all + 2 * ENTROPY_OF_BIT;
        uint32_t own = bits / (ENTROPY_OF_BIT / COST_OF_BIT);
        cost[i] = (uint16_t)(own > COST_OF_BIT ? own : COST_OF_BIT);
    }
}

void symbol_costs_of(struct symbol_costs *costs,
                     const struct deflate_counts *counts)
{
    set_costs(costs->symbol, counts->symbol, HUFFMAN_SYMBOLS);
    set_costs(costs->distance, counts->distance, DISTANCES);
}

void symbol_costs_guess(struct symbol_costs *costs, const uint8_t *data,
                        size_t size)
{
    struct deflate_counts counts = { 0 };
    struct sequence all = { .literals = (uint16_t)size };
    deflate_block_count(&counts, data, &all, 1);
    set_costs(costs->symbol, counts.symbol, END_OF_BLOCK);
    for (unsigned i = END_OF_BLOCK; i < HUFFMAN_SYMBOLS; i++)
        costs->symbol[i] = 6 * COST_OF_BIT;
    for (unsigned i = 0; i < DISTANCES; i++)
        costs->distance[i] = 4 * COST_OF_BIT;
}

/* ---- Blocks as sequences come ---------------------------------------------*/

enum {
    HEADER = 500,          /* bits of a typical block header */
    BLOCK_SYMBOLS = 65535, /* of a block, at most */
};

void block_split_begin(struct block_split *s, uint8_t *out, const uint8_t *data,
                       size_t size)
{
    s->bits = (struct bit_writer){ .out = out };
    s->block = s->segment = data;
    s->in_block = s->n = s->estimate = 0;
    s->counts = (struct deflate_counts){ 0 };
    s->entropy = 0;
    symbol_costs_guess(&s->costs, data, size < SEGMENT ? size : SEGMENT);
}

/* Writes the block, and leaves the segment's sequences. */
static void put_block(struct block_split *s, bool final)
{
    if (s->bits.out)
        deflate_block_put(&s->bits, &s->counts, s->block,
                          (size_t)(s->segment - s->block), s->sequence,
                          s->in_block, final);
    else
        s->estimate += deflate_block_data_bits(&s->counts);
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
           (symbol_count_sum(both->symbol, HUFFMAN_SYMBOLS) >= BLOCK_SYMBOLS ||
            s->n > SEQUENCES - SEGMENT_MOST ||
            s->entropy + of_segment + HEADER * ENTROPY_OF_BIT < of_both);
}

void block_split_end_segment(struct block_split *s, const uint8_t *end)
{
    struct deflate_counts segment = { 0 }, both = s->counts;
    assert(s->n - s->in_block <= SEGMENT_MOST);
    deflate_block_count(&segment, s->segment, s->sequence + s->in_block,
                        s->n - s->in_block);
    symbol_counts_add(&both, &segment);
    uint64_t of_segment = symbol_entropy(&segment);
    uint64_t of_both = symbol_entropy(&both);
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
    symbol_costs_of(&s->costs, &s->counts);
}

uint8_t *block_split_end(struct block_split *s, const uint8_t *end, bool final)
{
    if (s->n > s->in_block)
        block_split_end_segment(s, end);
    put_block(s, final);
    if (!s->bits.out)
        return NULL;
    if (!final)
        deflate_block_put_stored(&s->bits, NULL, 0, false);
    bit_writer_align(&s->bits);
    return s->bits.out;
}

/* ---- Blocks of pieces -----------------------------------------------------*/

/* Makes pieces of about the same number of bytes. */
static void cut(struct block_merge *b, const uint8_t *data,
                const struct sequence *sequence, size_t n)
{
    size_t all = 0, done = 0;
    for (size_t i = 0; i < n; i++)
        all += (size_t)sequence[i].literals + sequence[i].length;
    size_t least = all / BLOCK_PIECES + 1;
    if (least < 1024)
        least = 1024;
    b->n = 0;
    while (done < n) {
        struct merged_block *piece = &b->block[b->n++];
        size_t first = done;
        *piece = (struct merged_block){ 0 };
        while (done < n && piece->size < least) {
            piece->size +=
                (size_t)sequence[done].literals + sequence[done].length;
            done++;
        }
        deflate_block_count(&piece->counts, data, sequence + first,
                            done - first);
        piece->counts.symbol[END_OF_BLOCK] = 1;
        piece->bits = deflate_block_bits(&piece->counts);
        data += piece->size;
    }
}

static void add(struct deflate_counts *sum, const struct deflate_counts *more)
{
    symbol_counts_add(sum, more);
    sum->symbol[END_OF_BLOCK] = 1;
}

static void try_next(struct block_merge *b, size_t i)
{
    if (i + 1 >= b->n)
        return;
    struct deflate_counts both = b->block[i].counts;
    add(&both, &b->block[i + 1].counts);
    b->block[i].bits_with_next = deflate_block_bits(&both);
}

static void join_next(struct block_merge *b, size_t i)
{
    struct merged_block *block = &b->block[i];
    add(&block->counts, &block[1].counts);
    block->size += block[1].size;
    block->bits = block->bits_with_next;
    b->n--;
    memmove(block + 1, block + 2, (b->n - i - 1) * sizeof *block);
}

void block_merge(struct block_merge *b, const uint8_t *data,
                 const struct sequence *sequence, size_t n)
{
    cut(b, data, sequence, n);
    for (size_t i = 0; i < b->n; i++)
        try_next(b, i);
    for (;;) {
        size_t best = b->n, most = 0;
        for (size_t i = 0; i + 1 < b->n; i++) {
            size_t apart = b->block[i].bits + b->block[i + 1].bits;
            if (apart >= b->block[i].bits_with_next + most) {
                most = apart - b->block[i].bits_with_next;
                best = i;
            }
        }
        if (best == b->n)
            return;
        join_next(b, best);
        try_next(b, best);
        if (best > 0)
            try_next(b, best - 1);
    }
}
