/* Words and their bits, by the instructions that the GPU has for them. */
#ifndef CUDA_JPEG_SCAN_WORD_H
#define CUDA_JPEG_SCAN_WORD_H

#include <stdint.h>

/* Four words that are loaded and stored at once. */
struct scan_vector {
    uint32_t word[4];
} __attribute__((aligned(16)));

#ifdef __CUDACC__
#define SCAN_INLINE static __device__ __forceinline__

/* What is packed into a word as it lies in memory, and back: bytes with the
 * first one highest; with the first one lowest; halves with the first one
 * lowest. A GPU has the lowest byte first, a host may have the highest. */
SCAN_INLINE uint32_t scan_be32(uint32_t word)
{
    return __byte_perm(word, 0, 0x0123);
}

SCAN_INLINE uint32_t scan_le32(uint32_t word)
{
    return word;
}

SCAN_INLINE uint64_t scan_le64(uint64_t word)
{
    return word;
}

SCAN_INLINE uint64_t scan_halves(uint64_t word)
{
    return word;
}

/* Returns byte i of the vector in memory. */
SCAN_INLINE unsigned scan_byte(const struct scan_vector *v, unsigned i)
{
    return v->word[i / 4] >> (8 * (i % 4)) & 255;
}

/* Returns the 32 bits from bit `at` % 32 of two words on, high ones first. */
SCAN_INLINE uint32_t scan_window(uint32_t a, uint32_t b, uint32_t at)
{
    return __funnelshift_l(b, a, at);
}

SCAN_INLINE unsigned scan_count(uint64_t word)
{
    return (unsigned)__popcll((long long)word);
}

/* Returns the number of the lowest bit that is set; there is one. */
SCAN_INLINE unsigned scan_lowest(uint64_t word)
{
    return (unsigned)__ffsll((long long)word) - 1;
}

/* Returns the number of the highest bit that is set; there is one. */
SCAN_INLINE unsigned scan_highest(uint32_t word)
{
    return 31 - (unsigned)__clz((int)word);
}

SCAN_INLINE uint64_t scan_reverse(uint64_t word)
{
    return __brevll(word);
}

/* Other threads do the same to this word at the same time. */
SCAN_INLINE void scan_or(uint32_t *word, uint32_t bits)
{
    atomicOr(word, bits);
}

SCAN_INLINE uint32_t scan_add(uint32_t *word, uint32_t n)
{
    return atomicAdd(word, n);
}

SCAN_INLINE uint64_t scan_add64(uint64_t *word, uint64_t n)
{
    return atomicAdd(reinterpret_cast<unsigned long long *>(word), n);
}
#else
#include <endian.h>
#include <string.h>

#define SCAN_INLINE static inline

SCAN_INLINE uint32_t scan_be32(uint32_t word)
{
    return htobe32(word);
}

SCAN_INLINE uint32_t scan_le32(uint32_t word)
{
    return htole32(word);
}

SCAN_INLINE uint64_t scan_le64(uint64_t word)
{
    return htole64(word);
}

SCAN_INLINE uint64_t scan_halves(uint64_t word)
{
    uint16_t half[4];
    for (unsigned i = 0; i < 4; i++)
        half[i] = (uint16_t)(word >> 16 * i);
    memcpy(&word, half, sizeof word);
    return word;
}

SCAN_INLINE unsigned scan_byte(const struct scan_vector *v, unsigned i)
{
    return ((const uint8_t *)v->word)[i];
}

SCAN_INLINE uint32_t scan_window(uint32_t a, uint32_t b, uint32_t at)
{
    return (uint32_t)(((uint64_t)a << 32 | b) << (at & 31) >> 32);
}

SCAN_INLINE unsigned scan_count(uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

SCAN_INLINE unsigned scan_lowest(uint64_t word)
{
    return (unsigned)__builtin_ctzll(word);
}

SCAN_INLINE unsigned scan_highest(uint32_t word)
{
    return 31 - (unsigned)__builtin_clz(word);
}

SCAN_INLINE uint64_t scan_reverse(uint64_t word)
{
    word = (word >> 1 & 0x5555555555555555) | (word & 0x5555555555555555) << 1;
    word = (word >> 2 & 0x3333333333333333) | (word & 0x3333333333333333) << 2;
    word = (word >> 4 & 0x0f0f0f0f0f0f0f0f) | (word & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(word);
}

SCAN_INLINE void scan_or(uint32_t *word, uint32_t bits)
{
    *word |= bits;
}

SCAN_INLINE uint32_t scan_add(uint32_t *word, uint32_t n)
{
    return (*word += n) - n;
}

SCAN_INLINE uint64_t scan_add64(uint64_t *word, uint64_t n)
{
    return (*word += n) - n;
}
#endif

#endif
