/* DEFLATE without matches. */
#include "codecs/deflate/literal_block.h"

#include "codecs/deflate/deflate_block.h"

enum {
    SHARE = 8, /* one run of bytes of so many is counted */
    RUN = 1024,
    /* The bytes of a block for which a share is counted. In shorter ones, codes
     * of what is not there cost more; longer ones differ too much. */
    QUICK_LEAST = 1 << 17,
    QUICK_MOST = 1 << 20,
};

static void put_block(struct bit_writer *b, const uint8_t *data, size_t size,
                      bool final)
{
    struct deflate_counts counts = { 0 };
    struct sequence all = { .literals = (uint16_t)size };
    deflate_block_count(&counts, data, &all, 1);
    deflate_block_put(b, &counts, data, size, &all, 1, final);
}

/* Counts a share of the bytes. Each byte gets a code, whether it was seen or
 * not. */
static void count_share(struct deflate_counts *counts, const uint8_t *data,
                        size_t size)
{
    for (size_t i = 0; i < size; i += SHARE * RUN) {
        size_t left = size - i;
        struct sequence run = { .literals = left < RUN ? (uint16_t)left : RUN };
        deflate_block_count(counts, data + i, &run, 1);
    }
    for (unsigned i = 0; i < END_OF_BLOCK; i++)
        counts->symbol[i] = SHARE * counts->symbol[i] + 1;
}

size_t literal_block_deflate_quickly(uint8_t *out, const uint8_t *data,
                                     size_t size, bool final)
{
    struct bit_writer b = { .out = out };
    struct deflate_counts counts = { 0 };
    struct sequence all[QUICK_MOST / BLOCK_STORED + 1];
    size_t n = 0;
    if (size < QUICK_LEAST || size > QUICK_MOST)
        return literal_block_deflate(out, data, size, final);
    for (size_t left = size; left > 0; left -= all[n++].literals)
        all[n] =
            (struct sequence){ .literals = left < BLOCK_STORED ? (uint16_t)left
                                                               : BLOCK_STORED };
    count_share(&counts, data, size);
    deflate_block_put(&b, &counts, data, size, all, n, final);
    if (!final)
        deflate_block_put_stored(&b, NULL, 0, false);
    bit_writer_align(&b);
    size_t made = (size_t)(b.out - out);
    return made <= size ? made : literal_block_deflate(out, data, size, final);
}

size_t literal_block_deflate(uint8_t *out, const uint8_t *data, size_t size,
                             bool final)
{
    struct bit_writer b = { .out = out };
    size_t blocks = size ? (size + BLOCK_STORED - 1) / BLOCK_STORED : 1;
    for (; blocks > 0; blocks--) {
        size_t n = size / blocks; /* all of about the same size */
        put_block(&b, data, n, final && blocks == 1);
        data += n;
        size -= n;
    }
    if (!final)
        deflate_block_put_stored(&b, NULL, 0, false);
    bit_writer_align(&b);
    return (size_t)(b.out - out);
}

static size_t estimate_block(const uint8_t *data, size_t size)
{
    struct deflate_counts counts = { 0 };
    struct sequence all = { .literals = (uint16_t)size };
    uint8_t length[LITERALS];
    size_t bits = 0;
    deflate_block_count(&counts, data, &all, 1);
    counts.symbol[END_OF_BLOCK] = 1;
    huffman_code_lengths(length, counts.symbol, LITERALS, LITERAL_LIMIT);
    for (unsigned i = 0; i < LITERALS; i++)
        bits += (size_t)counts.symbol[i] * length[i];
    return bits;
}

size_t literal_block_estimate(const uint8_t *data, size_t size)
{
    size_t bits = 0;
    for (size_t n; size > 0; data += n, size -= n) {
        n = size < BLOCK_STORED ? size : BLOCK_STORED;
        bits += estimate_block(data, n);
    }
    return bits / 8;
}
