/* Joins pieces to blocks. */
#include "codecs/deflate/block_merge.h"

#include <string.h>

#include "codecs/deflate/symbol_cost.h"

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
