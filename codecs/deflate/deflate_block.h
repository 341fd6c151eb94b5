/* Writes a DEFLATE block: literals and matches in Huffman codes made for them.
 *
 * RFC 1951, 3.2.3 to 3.2.7. */
#ifndef CODECS_DEFLATE_DEFLATE_BLOCK_H
#define CODECS_DEFLATE_DEFLATE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/deflate/huffman_code.h"

enum {
    BLOCK_STORED = 65535, /* bytes of a stored block, at most */
    MATCH_SHORTEST = 3,
    MATCH_LONGEST = 258,
    MATCH_FARTHEST = 32768,
    LITERALS = 257, /* the bytes, and the end of the block */
    END_OF_BLOCK = 256,
    DISTANCES = 30,
};

/* So many literals, then a match; length 0: no match. */
struct sequence {
    uint16_t literals, length, distance;
};

/* How often each symbol occurs. */
struct deflate_counts {
    uint32_t symbol[HUFFMAN_SYMBOLS]; /* literals, lengths, the end */
    uint32_t distance[DISTANCES];
};

/* A length or distance as it is written: a symbol, then extra bits. */
struct deflate_symbol {
    unsigned symbol, extra, bits;
};

/* Returns how a distance is written. By 3.2.5 the symbols stand for 1, 1, 1, 1,
 * 2, 2, 4, 4 distances and so on, from 1 upwards. */
static inline struct deflate_symbol deflate_block_distance(unsigned distance)
{
    unsigned d = distance - 1, bits = 30 - (unsigned)__builtin_clz(d | 2);
    return (struct deflate_symbol){ 2 * bits + (d >> bits),
                                    d & ((1u << bits) - 1), bits };
}

/* Returns how a length is written. The symbols stand for 1 (eight times), 2, 2,
 * 2, 2, 4, 4, 4, 4 lengths and so on, from 3 upwards; the longest has one of
 * its own. */
static inline struct deflate_symbol deflate_block_length(unsigned length)
{
    unsigned l = length - MATCH_SHORTEST;
    if (length == MATCH_LONGEST)
        return (struct deflate_symbol){ LITERALS + 28, 0, 0 };
    unsigned bits = 29 - (unsigned)__builtin_clz(l | 4);
    return (struct deflate_symbol){ LITERALS + 4 * bits + (l >> bits),
                                    l & ((1u << bits) - 1), bits };
}

/* Returns how many of `most` bytes are equal, of which the first `n` are known
 * to be. */
static inline __attribute__((always_inline)) unsigned
match_length(const uint8_t *a, const uint8_t *b, unsigned n, unsigned most)
{
    for (; n + 8 <= most; n += 8) {
        uint64_t differ = read_le64(a + n) ^ read_le64(b + n);
        if (differ)
            return n + (unsigned)__builtin_ctzll(differ) / 8;
    }
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* Adds the symbols of n sequences, which stand for the bytes at `data`. */
void deflate_block_count(struct deflate_counts *counts, const uint8_t *data,
                         const struct sequence *sequence, size_t n);

/* Returns the bits of a block of such symbols, the end among them, if it is
 * coded. */
size_t deflate_block_bits(const struct deflate_counts *counts);

/* The same of the symbols alone, without a header. */
size_t deflate_block_data_bits(const struct deflate_counts *counts);

/* Writes n sequences that stand for `size` bytes, either stored or coded,
 * whichever is shorter. `counts` has their symbols, and is changed. */
void deflate_block_put(struct bit_writer *b, struct deflate_counts *counts,
                       const uint8_t *data, size_t size,
                       const struct sequence *sequence, size_t n, bool final);

/* Writes a stored block of at most BLOCK_STORED bytes. */
void deflate_block_put_stored(struct bit_writer *b, const uint8_t *data,
                              size_t size, bool final);

/* ---- Blocks without matches -----------------------------------------------*/

/* Encodes DEFLATE without matches: bytes by Huffman codes alone, which is ten
 * times as fast as to look for matches. flate.h says why it stands beside
 * libraries. */

/* Deflates `size` bytes to `out`, which has flate_bound(size) bytes, to a band
 * that ends as those of struct flate do. Returns the number of bytes written.
 */
size_t literal_block_deflate(uint8_t *out, const uint8_t *data, size_t size,
                             bool final);

/* The same in half of the time: one code for all, by a share of the bytes.
 * `out` has literal_block_quick_room(size) bytes. */
size_t literal_block_deflate_quickly(uint8_t *out, const uint8_t *data,
                                     size_t size, bool final);

/* Returns how many bytes of room that needs: bytes that were not counted may
 * all have the longest codes. */
static inline size_t literal_block_quick_room(size_t size)
{
    return size / 8 * LITERAL_LIMIT + 4096;
}

/* Returns how many bits that would be, without the blocks' headers. */
size_t literal_block_estimate(const uint8_t *data, size_t size);

#endif
