/* What symbols cost, by how often they occur: their entropy, in fractions of
 * bits, which is what Huffman codes come near to. Without floating point, which
 * is not the same on all machines. */
#ifndef CODECS_DEFLATE_SYMBOL_COST_H
#define CODECS_DEFLATE_SYMBOL_COST_H

#include <stdint.h>

#include "codecs/deflate/deflate_block.h"

enum {
    COST_OF_BIT = 16,       /* unit of costs */
    ENTROPY_OF_BIT = 65536, /* unit of entropies */
};

struct symbol_costs {
    uint16_t symbol[HUFFMAN_SYMBOLS];
    uint16_t distance[DISTANCES];
};

/* Returns n log n less the sum of c log c, for n symbols that occur c times. */
uint64_t symbol_count_entropy(const uint32_t *count, unsigned n);

/* Returns the entropy of all symbols, without the extra bits of lengths and
 * distances. */
uint64_t symbol_entropy(const struct deflate_counts *counts);

void symbol_counts_add(struct deflate_counts *sum,
                       const struct deflate_counts *more);
uint32_t symbol_count_sum(const uint32_t *count, unsigned n);

/* Sets the costs of symbols that occur so often. One that does not occur costs
 * 2 bits more than one that occurs once; none costs less than a bit. */
void symbol_costs_of(struct symbol_costs *costs,
                     const struct deflate_counts *counts);

/* Sets the costs of literals by those at `data`, and guesses those of matches.
 */
void symbol_costs_guess(struct symbol_costs *costs, const uint8_t *data,
                        size_t size);

/* Returns the cost of a match. */
static inline unsigned symbol_cost_of_match(const struct symbol_costs *c,
                                            unsigned length, unsigned distance)
{
    struct deflate_symbol l = deflate_block_length(length),
                          d = deflate_block_distance(distance);
    return c->symbol[l.symbol] + c->distance[d.symbol] +
           (l.bits + d.bits) * COST_OF_BIT;
}

#endif
