/* Sequences of literals and matches on their way into blocks of deflate: where
 * a block ends, and what a match costs.
 *
 * Sequences come in segments. At the end of each its symbols are counted. If
 * they are so much unlike those of the block that a header of their own costs
 * less than to code them together, a block begins with them. */
#ifndef CODECS_DEFLATE_BLOCK_SPLIT_H
#define CODECS_DEFLATE_BLOCK_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/deflate/deflate_block.h"

enum {
    SEGMENT = 4096,               /* symbols of a segment, at least */
    SEGMENT_MOST = SEGMENT + 1,   /* sequences of it, at most */
    SEQUENCES = 6 * SEGMENT_MOST, /* of a block and a segment, at most */
    COST_OF_BIT = 16,             /* what a bit costs, in the costs below */
};

struct block_split {
    struct bit_writer bits;
    const uint8_t *block, *segment; /* where their data begins */
    size_t in_block, n;             /* sequences: of the block, and all */
    struct deflate_counts counts;   /* of the block */
    uint64_t entropy;               /* of these */
    /* What symbols cost, by what the block has been like: literals as if there
     * were no matches, so that no match looks cheap because there are many. */
    uint16_t symbol_cost[HUFFMAN_SYMBOLS];
    uint16_t distance_cost[DISTANCES];
    struct sequence sequence[SEQUENCES];
};

/* Begins a band: what is written goes to `out`. */
void block_split_begin(struct block_split *s, uint8_t *out, const uint8_t *data,
                       size_t size);

static inline void block_split_add(struct block_split *s, size_t literals,
                                   unsigned length, unsigned distance)
{
    s->sequence[s->n++] =
        (struct sequence){ (uint16_t)literals, (uint16_t)length,
                           (uint16_t)distance };
}

/* Ends a segment: its sequences stand for the data up to `end`. */
void block_split_end_segment(struct block_split *s, const uint8_t *end);

/* Ends the last segment, and the band, at a byte; returns where the output
 * ends. */
uint8_t *block_split_end(struct block_split *s, const uint8_t *end, bool final);

static inline unsigned block_split_match_cost(const struct block_split *s,
                                              unsigned length,
                                              unsigned distance)
{
    struct deflate_symbol l = deflate_block_length(length),
                          d = deflate_block_distance(distance);
    return s->symbol_cost[l.symbol] + s->distance_cost[d.symbol] +
           (l.bits + d.bits) * COST_OF_BIT;
}

static inline unsigned block_split_literals_cost(const struct block_split *s,
                                                 const uint8_t *data,
                                                 size_t size)
{
    unsigned cost = 0;
    for (size_t i = 0; i < size; i++)
        cost += s->symbol_cost[data[i]];
    return cost;
}

#endif
