/* Huffman codes as DEFLATE has them (RFC 1951, 3.2.2): bits are written, codes
 * are made, and runs of literals are written in them. */
#ifndef CODECS_DEFLATE_HUFFMAN_CODE_H
#define CODECS_DEFLATE_HUFFMAN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/base/byte_order.h"

/* ---- Bits -----------------------------------------------------------------*/

/* They are written from the lowest bit of the first byte on (RFC 1951, 3.1.1).
 */

struct bit_writer {
    uint8_t *out;   /* next byte to write; 8 bytes are stored at a time */
    uint64_t held;  /* bits that are not stored yet, the first one lowest */
    unsigned count; /* number of held bits; at most 7 between calls */
};

/* Writes the low `count` bits of `bits`, at most 56; those above must be 0. */
static inline void bit_writer_put(struct bit_writer *b, uint64_t bits,
                                  unsigned count)
{
    b->held |= bits << b->count;
    b->count += count;
    write_le64(b->out, b->held);
    b->out += b->count / 8;
    b->held >>= b->count & ~7u;
    b->count &= 7;
}

/* Fills up the current byte with zeros. */
static inline void bit_writer_align(struct bit_writer *b)
{
    if (b->count)
        bit_writer_put(b, 0, 8 - b->count);
}

/* ---- Codes ----------------------------------------------------------------*/

/* The lengths of its codes define a whole set of them. */

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

/* ---- Runs of literals -----------------------------------------------------*/

enum {
    LITERAL_LIMIT = 14, /* bits of a code: four of them are written at a time */
    LITERAL_RUN = 256,  /* bytes: shorter runs take longer to prepare for */
};

/* Writes `size` bytes, of which each has a code in `code`. */
static inline __attribute__((always_inline)) void
literal_run_put(struct bit_writer *b, const uint32_t *code, const uint8_t *data,
                size_t size)
{
    size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        unsigned m, n;
        uint64_t low = huffman_code_pair(code[data[i]], code[data[i + 1]], &m);
        uint64_t high =
            huffman_code_pair(code[data[i + 2]], code[data[i + 3]], &n);
        bit_writer_put(b, low | high << m, m + n);
    }
    for (; i < size; i++)
        huffman_code_put(b, code[data[i]]);
}

/* Does the same, in less time if there are many bytes. */
void literal_run_put_long(struct bit_writer *b, const uint32_t *code,
                          const uint8_t *data, size_t size);

/* ---- The same for several kinds of CPU -----------------------------------*/

struct literal_runs {
    const char *name;
    bool (*usable)(void); /* on this machine */
    void (*put)(struct bit_writer *b, const uint32_t *code, const uint8_t *data,
                size_t size);
};

/* The best first; the last is portable. Ended by NULL. Tests take each of them
 * from here, whichever this machine would choose. */
extern const struct literal_runs *const literal_runs[];

#endif
