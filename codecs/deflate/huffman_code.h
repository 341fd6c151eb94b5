/* Huffman codes as DEFLATE has them: the lengths of its codes define a whole
 * set of them (RFC 1951, 3.2.2). */
#ifndef CODECS_DEFLATE_HUFFMAN_CODE_H
#define CODECS_DEFLATE_HUFFMAN_CODE_H

#include <stdint.h>

#include "codecs/deflate/bit_writer.h"

enum {
    HUFFMAN_SYMBOLS = 288, /* symbols of the largest set */
};

/* Fills in `length` with the code lengths, of at most `limit` bits, of n
 * symbols that occur `count` times each; at least two of them must occur.
 * Symbols that do not occur get 0. The code is complete, and optimal unless the
 * limit prevents that. */
void huffman_code_lengths(uint8_t *length, const uint32_t *count, unsigned n,
                          unsigned limit);

/* Fills in `code` with the codes of these lengths, of at most 15 bits: the low
 * byte is the number of bits, and above it are the bits, the first one lowest.
 */
void huffman_code_assign(uint32_t *code, const uint8_t *length, unsigned n);

/* Joins two codes, of `count` bits together. Their bits do not depend on where
 * they are written, so the CPU need not wait for that. */
static inline uint64_t huffman_code_pair(uint32_t a, uint32_t b,
                                         unsigned *count)
{
    *count = (a & 255) + (b & 255);
    return (a >> 8) | (uint64_t)(b >> 8) << (a & 255);
}

static inline void huffman_code_put(struct bit_writer *b, uint32_t code)
{
    bit_writer_put(b, code >> 8, code & 255);
}

#endif
