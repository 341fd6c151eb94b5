/* Words of scans as they lie in memory. */
#ifndef CUDA_JPEG_SCAN_WORD_H
#define CUDA_JPEG_SCAN_WORD_H

#include "cuda/gpu/phases.h"

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

#define scan_le32(word)   (word)
#define scan_le64(word)   (word)
#define scan_halves(word) (word)

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
#else
#include <endian.h>

#define SCAN_INLINE static inline

#define scan_be32(word) htobe32(word)
#define scan_le32(word) htole32(word)
#define scan_le64(word) htole64(word)

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
#endif

#endif
