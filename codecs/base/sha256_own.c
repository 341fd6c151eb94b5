/* SHA-256 (FIPS 180-4), for a build without nettle. Names are the standard's.
 */
#include "codecs/base/sha256.h"

#include <string.h>

#include "codecs/base/byte_order.h"

const char *const sha256_nettle = NULL;

enum { BLOCK = 64 };

struct own_state {
    uint32_t state[8];
    uint64_t size;        /* bytes so far */
    uint8_t block[BLOCK]; /* the last of them, which fill no block */
};
_Static_assert(sizeof(struct own_state) <= sizeof(struct sha256), "room");

static struct own_state *state_of(struct sha256 *sum)
{
    return (struct own_state *)(void *)sum->state;
}

/* The first 32 bits of the fractional parts of the cube roots of the first 64
 * primes (4.2.2). */
static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* 6.2.2. */
static void add_block(uint32_t state[8], const uint8_t *m)
{
    uint32_t w[64], s[8];
    for (unsigned t = 0; t < 16; t++)
        w[t] = read_be32(m + 4 * t);
    for (unsigned t = 16; t < 64; t++) {
        const uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10) + w[t - 7] +
               (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[t - 16];
    }
    memcpy(s, state, sizeof s);
    for (unsigned t = 0; t < 64; t++) {
        const uint32_t a = s[0], e = s[4];
        const uint32_t t1 = s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
                            ((e & s[5]) ^ (~e & s[6])) + k[t] + w[t];
        const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
                            ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += s[i];
}

/* The same of the square roots of the first 8 primes (5.3.3). */
void sha256_begin(struct sha256 *sum)
{
    *state_of(sum) = (struct own_state){
        .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
    };
}

void sha256_add(struct sha256 *whole, const void *data, size_t size)
{
    struct own_state *sum = state_of(whole);
    const uint8_t *at = data;
    while (size > 0) {
        const size_t used = sum->size % BLOCK, room = BLOCK - used;
        const size_t n = size < room ? size : room;
        if (n == BLOCK)
            add_block(sum->state, at);
        else
            memcpy(sum->block + used, at, n);
        if (n == room && used)
            add_block(sum->state, sum->block);
        sum->size += n;
        at += n;
        size -= n;
    }
}

/* 5.1.1: a bit that is set, zeros, and the number of bits. */
void sha256_end(struct sha256 *whole, uint8_t digest[SHA256_SIZE])
{
    struct own_state *sum = state_of(whole);
    const uint64_t bits = 8 * sum->size;
    uint8_t end[BLOCK + 8] = { 0x80 };
    const size_t used = sum->size % BLOCK;
    const size_t n = (used < 56 ? 56 : 120) - used;
    write_be32(end + n, (uint32_t)(bits >> 32));
    write_be32(end + n + 4, (uint32_t)bits);
    sha256_add(whole, end, n + 8);
    for (unsigned i = 0; i < 8; i++)
        write_be32(digest + 4 * i, sum->state[i]);
}
