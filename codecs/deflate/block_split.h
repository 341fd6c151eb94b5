/* What symbols cost, and where blocks end by that: as sequences come, for
 * lz77.h, or by joining pieces of what is there, for optimal.h. */
#ifndef CODECS_DEFLATE_BLOCK_SPLIT_H
#define CODECS_DEFLATE_BLOCK_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/deflate/deflate_block.h"

/* ---- Costs ----------------------------------------------------------------*/

/* What symbols cost, by how often they occur: their entropy, in fractions of
 * bits, which is what Huffman codes come near to. Without floating point, which
 * is not the same on all machines. */

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

/* ---- Blocks as sequences come ---------------------------------------------*/

/* Collects literals and matches into DEFLATE blocks: decides where a block
 * ends, and says what a match costs.
 *
 * Sequences come in segments. At the end of each segment its symbols are
 * counted. If they differ so much from those of the block that a header of
 * their own costs less than coding them together, a new block begins with them.
 */

enum {
    SEGMENT = 4096,               /* least symbols of a segment */
    SEGMENT_MOST = SEGMENT + 1,   /* most sequences of a segment */
    SEQUENCES = 6 * SEGMENT_MOST, /* most of a block and a segment */
};

struct block_split {
    struct bit_writer bits;         /* to nowhere, if they are only estimated */
    size_t estimate;                /* see block_split_end() */
    const uint8_t *block, *segment; /* where their data begin */
    size_t in_block, n;             /* sequences: of the block, and all */
    struct deflate_counts counts;   /* of the block */
    uint64_t entropy;               /* of these counts */
    struct symbol_costs costs;      /* by the block so far */
    struct sequence sequence[SEQUENCES];
};

/* Begins a band, whose blocks are written to `out`, or only estimated if that
 * is NULL. */
void block_split_begin(struct block_split *s, uint8_t *out, const uint8_t *data,
                       size_t size);

/* Adds so many literals, then a match; length 0: no match. */
static inline void block_split_add(struct block_split *s, size_t literals,
                                   unsigned length, unsigned distance)
{
    s->sequence[s->n++] =
        (struct sequence){ (uint16_t)literals, (uint16_t)length,
                           (uint16_t)distance };
}

/* Ends a segment, whose sequences stand for the data up to `end`. */
void block_split_end_segment(struct block_split *s, const uint8_t *end);

/* Ends the last segment and the band, at a byte. Returns the end of the output;
 * or NULL, and s->estimate is the bits of all blocks without their headers. */
uint8_t *block_split_end(struct block_split *s, const uint8_t *end, bool final);

/* ---- Blocks of pieces -----------------------------------------------------*/

/* Divides sequences into blocks: pieces next to each other are joined as long
 * as one block of both is shorter than two, the pair that gains most first. */

enum { BLOCK_PIECES = 256 };

struct merged_block {
    size_t size;                  /* bytes that it stands for */
    struct deflate_counts counts; /* of its symbols */
    size_t bits;                  /* of the block */
    size_t bits_with_next;        /* if the next one is joined to it */
};

struct block_merge {
    size_t n;
    struct merged_block block[BLOCK_PIECES];
};

/* Divides n sequences, which stand for the bytes at `data`, into b->n blocks.
 */
void block_merge(struct block_merge *b, const uint8_t *data,
                 const struct sequence *sequence, size_t n);

#endif
