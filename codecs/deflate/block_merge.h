/* Divides sequences into blocks: pieces next to each other are joined as long
 * as one block of both is shorter than two, the pair that gains most first. */
#ifndef CODECS_DEFLATE_BLOCK_MERGE_H
#define CODECS_DEFLATE_BLOCK_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/deflate/deflate_block.h"

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
