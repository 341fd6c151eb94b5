/* Prefix codes as deflate has them: a code is known by the lengths of its
 * symbols alone (RFC 1951, 3.2.2). */
#ifndef CODECS_DEFLATE_HUFFMAN_CODE_H
#define CODECS_DEFLATE_HUFFMAN_CODE_H

#include <stdint.h>

#include "codecs/deflate/bit_writer.h"

enum {
    HUFFMAN_SYMBOLS = 288,     /* the most that a code has */
    HUFFMAN_COUNT_MAX = 65535, /* the most often that one may occur */
};

/* Code lengths of at most `limit` bits, in `length`, for n symbols that occur
 * so often: at least two of them at all. Those that do not occur get 0. The
 * code is complete, and the best there is if the limit lets it be. */
void huffman_code_lengths(uint8_t *length, const uint32_t *count, unsigned n,
                          unsigned limit);

/* The codes of these lengths, of at most 15 bits, as they are written: the
 * bits, the first one lowest, above their number in the low byte. */
void huffman_code_assign(uint32_t *code, const uint8_t *length, unsigned n);

static inline void huffman_code_put(struct bit_writer *b, uint32_t code)
{
    bit_writer_put(b, code >> 8, code & 255);
}

#endif
