/* Cells within a word of four bytes, which is a register of the GPU. */
#ifndef CUDA_GPU_WORD_H
#define CUDA_GPU_WORD_H

#include "cuda/gpu/tiles.h"

/* Returns the word whose bytes the digits of `which` name, the last digit
 * the lowest byte: 0..3 are the bytes of a, 4..7 those of b. */
#ifdef __CUDA_ARCH__
TILES_INLINE uint32_t word_pick(uint32_t a, uint32_t b, unsigned which)
{
    return __byte_perm(a, b, which);
}
#else
TILES_INLINE uint32_t word_pick(uint32_t a, uint32_t b, unsigned which)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t word = 0;
    for (unsigned i = 0; i < 4; i++)
        word |= (uint32_t)(both >> (which >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return word;
}
#endif

/* Mirrors the cells of a word. */
TILES_INLINE uint32_t word_reverse(uint32_t w, unsigned size)
{
    return size == 1   ? word_pick(w, 0, 0x0123)
           : size == 2 ? word_pick(w, 0, 0x1032)
                       : w;
}

/* Negates the halves of a word that `marked` has bits of. -32768 stays what
 * it is. */
TILES_INLINE uint32_t word_negate(uint32_t w, uint32_t marked)
{
    w ^= marked;
    uint32_t sum = (w & 0x7fff7fff) + (marked & 0x00010001);
    return sum ^ (w & 0x80008000);
}

#endif
