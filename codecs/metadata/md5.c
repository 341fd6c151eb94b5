/* The MD5 digest (RFC 1321).
 *
 * A page of code, and its definition has not changed since 1992: less to carry
 * than a library of ciphers. */
#include "codecs/metadata/md5.h"

#include <string.h>

#include "codecs/base/byte_order.h"

enum { BLOCK = 64 };

/* RFC 1321, 3.4: floor(2^32 * abs(sin(i + 1))). */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
    0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
    0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
    0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
    0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
    0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
    0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
    0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
    0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

/* By how much each round rotates, four steps by turns. */
static const unsigned turns[4][4] = {
    { 7, 12, 17, 22 },
    { 5, 9, 14, 20 },
    { 4, 11, 16, 23 },
    { 6, 10, 15, 21 },
};

static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
    switch (round) {
    case 0:
        return (b & c) | (~b & d);
    case 1:
        return (b & d) | (c & ~d);
    case 2:
        return b ^ c ^ d;
    default:
        return c ^ (b | ~d);
    }
}

static void add_block(uint32_t state[4], const uint8_t *block)
{
    /* Which word of the block a step takes: a line, modulo 16. */
    static const struct {
        unsigned factor, start;
    } order[4] = { { 1, 0 }, { 5, 1 }, { 3, 5 }, { 7, 0 } };
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned i = 0; i < 64; i++) {
        unsigned round = i / 16, turn = turns[round][i % 4];
        const uint8_t *p =
            block + 4 * ((order[round].factor * i + order[round].start) % 16);
        uint32_t sum = a + mix(round, b, c, d) + read_le32(p) + sines[i];
        a = d;
        d = c;
        c = b;
        b += sum << turn | sum >> (32 - turn);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void md5(uint8_t digest[MD5_SIZE], const uint8_t *data, size_t size)
{
    uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
    uint8_t tail[2 * BLOCK] = { 0 };
    size_t rest = size % BLOCK;
    for (size_t at = 0; at < size - rest; at += BLOCK)
        add_block(state, data + at);
    /* RFC 1321, 3.1 and 3.2: a bit, zeros, and the size in bits. */
    if (rest)
        memcpy(tail, data + size - rest, rest);
    tail[rest] = 0x80;
    size_t end = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    write_le64(tail + end - 8, (uint64_t)size * 8);
    for (size_t at = 0; at < end; at += BLOCK)
        add_block(state, tail + at);
    for (unsigned i = 0; i < 4; i++)
        write_le32(digest + 4 * i, state[i]);
}
