/* Where blocks end, by the entropy of their symbols. */
#include "codecs/deflate/block_split.h"

#include <assert.h>

enum {
    HEADER = 500,          /* bits of a typical block header */
    BLOCK_SYMBOLS = 65535, /* of a block, at most */
};

/* ---- Blocks ------------------------------------------------------------- */

void block_split_begin(struct block_split *s, uint8_t *out, const uint8_t *data,
                       size_t size)
{
    s->bits = (struct bit_writer){ .out = out };
    s->block = s->segment = data;
    s->in_block = s->n = 0;
    s->counts = (struct deflate_counts){ 0 };
    s->entropy = 0;
    symbol_costs_guess(&s->costs, data, size < SEGMENT ? size : SEGMENT);
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
    if (!final)
        deflate_block_put_stored(&s->bits, NULL, 0, false);
    bit_writer_align(&s->bits);
    return s->bits.out;
}
