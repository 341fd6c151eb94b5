/* Collects literals and matches into DEFLATE blocks: decides where a block
 * ends, and says what a match costs.
 *
 * Sequences come in segments. At the end of each segment its symbols are
 * counted. If they differ so much from those of the block that a header of
 * their own costs less than coding them together, a new block begins with them.
 */
#ifndef CODECS_DEFLATE_BLOCK_SPLIT_H
#define CODECS_DEFLATE_BLOCK_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/deflate/deflate_block.h"
#include "codecs/deflate/symbol_cost.h"

enum {
    SEGMENT = 4096,               /* least symbols of a segment */
    SEGMENT_MOST = SEGMENT + 1,   /* most sequences of a segment */
    SEQUENCES = 6 * SEGMENT_MOST, /* most of a block and a segment */
};

struct block_split {
    struct bit_writer bits;
    const uint8_t *block, *segment; /* where their data begin */
    size_t in_block, n;             /* sequences: of the block, and all */
    struct deflate_counts counts;   /* of the block */
    uint64_t entropy;               /* of these counts */
    struct symbol_costs costs;      /* by the block so far */
    struct sequence sequence[SEQUENCES];
};

/* Begins a band, whose blocks are written to `out`. */
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

/* Ends the last segment and the band, at a byte. Returns the end of the output.
 */
uint8_t *block_split_end(struct block_split *s, const uint8_t *end, bool final);

#endif
