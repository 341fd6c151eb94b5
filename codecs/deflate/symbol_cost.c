/* Entropies by logarithms in integers. */
#include "codecs/deflate/symbol_cost.h"

/* Returns the logarithm of x > 0 to base 2 in units of 1/65536, off by at most
 * 1/120. The C library's is not the same on all machines. */
static inline uint32_t log_2(uint32_t x)
{
    uint32_t whole = 31 - (uint32_t)__builtin_clz(x);
    uint32_t part = (uint32_t)((uint64_t)x << 31 >> whole >> 15) & 65535;
    /* Between powers of 2: f + 0.344 f (1 - f). */
    return (whole << 16) + part + ((part * (65536 - part) >> 16) * 22545 >> 16);
}

uint32_t symbol_count_sum(const uint32_t *count, unsigned n)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += count[i];
    return sum;
}

void symbol_counts_add(struct deflate_counts *sum,
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

uint64_t symbol_entropy(const struct deflate_counts *counts)
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
