/* Tiles: which part of which plane a block of a kernel turns.
 *
 * All planes of a launch are cut into tiles, numbered from 0 across planes:
 * tile n is block n of a one-dimensional grid. (The y and z of a grid end at
 * 65535, x at 2^31-1.) Only a tile's number is 32 bits wide; whatever is
 * counted in bytes of a plane is 64.
 *
 * Threads move vectors of 16 bytes, always aligned: planes and strides are
 * whole multiples of IMAGE_STRIDE, so the vector that holds any cell of a row
 * lies within that row and its padding, which may be read and written.
 *
 * This header and those of the kernels (rows.h, columns.h, dct.h) hold index
 * arithmetic alone: the same on the GPU and in tests on the host. */
#ifndef CUDA_GPU_TILES_H
#define CUDA_GPU_TILES_H

#include "codecs/image/image.h"

#ifdef __CUDACC__
#define TILES_INLINE static __host__ __device__ __forceinline__
#else
#define TILES_INLINE static inline
#endif

enum {
    TILES_MAX = 0x7fffffff, /* blocks in a grid */
    TILES_WORD = 4,         /* bytes of a register of the GPU */
    TILES_VECTOR = 16,      /* bytes that a thread moves at once */
    TILES_BURST = 64,       /* bytes of the smallest write to memory */
};

struct tiles_plane {
    const uint8_t *src;
    uint8_t *dst;
    uint32_t src_stride, dst_stride; /* in units of IMAGE_STRIDE */
    uint32_t width, height;          /* of dst, in cells */
    uint32_t first;                  /* its first tile */
    uint32_t across;  /* its tiles side by side, along a row of dst */
    uint64_t inverse; /* of across: tiles_divide() */
    uint16_t t;       /* enum xform */
    uint16_t lanes;   /* log2 of the vectors in a row of its tiles, where rows
                         stay rows */
};

/* The parameter of a kernel. */
struct tiles {
    const struct tiles_plane
        *device_planes; /* in memory of the device; NULL: here */
    uint32_t nplanes;
    struct tiles_plane plane[IMAGE_PLANES];
};

/* Returns the plane that a tile is of: the last one that does not begin
 * after it. */
TILES_INLINE const struct tiles_plane *
tiles_find(const struct tiles_plane *planes, uint32_t nplanes, uint32_t tile)
{
    uint32_t low = 0, high = nplanes;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (planes[middle].first <= tile)
            low = middle;
        else
            high = middle;
    }
    return &planes[low];
}

/* Returns n / across, by a multiplication with 2^64 / across, rounded up:
 * exact for numbers of 32 bits (Granlund and Montgomery 1994, "Division by
 * invariant integers using multiplication"). That takes 8 instructions; a
 * division takes 18, three of them slow, and a thread of `rows` has about
 * 100 in all. */
TILES_INLINE uint32_t tiles_divide(uint32_t n, const struct tiles_plane *p)
{
    uint64_t low = (p->inverse & 0xffffffff) * n;
    uint64_t quotient = ((p->inverse >> 32) * n + (low >> 32)) >> 32;
    return p->across == 1 ? n : (uint32_t)quotient;
}

/* The place of a tile in its plane: how many tiles are before it along a
 * row, and above it. */
struct tiles_place {
    uint32_t x, y;
};

TILES_INLINE struct tiles_place tiles_place(const struct tiles_plane *p,
                                            uint32_t tile)
{
    uint32_t n = tile - p->first, y = tiles_divide(n, p);
    struct tiles_place place = { n - y * p->across, y };
    return place;
}

/* Returns where row i of n begins, in bytes; mirrored, counted from the last
 * one on. */
TILES_INLINE uint64_t tiles_row(uint32_t i, uint32_t n, uint32_t stride,
                                unsigned mirror)
{
    return (uint64_t)(mirror ? n - 1 - i : i) * stride * IMAGE_STRIDE;
}

#endif
