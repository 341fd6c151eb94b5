/* Verification of turns: cells of a source are made from their place, so a cell
 * of a result alone shows whether it is the right one, without a second
 * picture. The same on the GPU and on the host. */
#ifndef CUDA_BENCH_VERIFY_H
#define CUDA_BENCH_VERIFY_H

#include <string.h>

#include "codecs/image/image.h"

#ifdef __CUDACC__
#define VERIFY_INLINE static __host__ __device__ __forceinline__
#else
#define VERIFY_INLINE static inline
#endif

/* A plane that is verified, and the turn. */
struct verify_plane {
    struct plane plane;
    enum cell cell;
    unsigned t;    /* enum xform */
    uint32_t size; /* cell_size() */
};

/* The finalizer of MurmurHash3 (Appleby, 2011): each bit depends on every one.
 */
VERIFY_INLINE uint64_t verify_mix(uint64_t n)
{
    n = (n ^ n >> 33) * 0xff51afd7ed558ccdu;
    n = (n ^ n >> 33) * 0xc4ceb9fe1a85ec53u;
    return n ^ n >> 33;
}

/* Returns the bits of cell (x, y) of a source. A float is a whole number below
 * 2^24, which arithmetic leaves as it is. */
VERIFY_INLINE uint32_t verify_source(struct verify_plane what, uint32_t x,
                                     uint32_t y)
{
    uint64_t place = verify_mix((uint64_t)y << 32 | x);
    uint32_t bits = (uint32_t)verify_mix(place);
    if (what.cell == CELL_F32) {
        float number = (float)(bits >> 8);
        memcpy(&bits, &number, sizeof bits);
        return bits;
    }
    return what.cell == CELL_U8 ? bits & 255 : bits & 65535;
}

/* Returns where cell (x, y) is. */
VERIFY_INLINE uint8_t *verify_at(struct verify_plane what, uint32_t x,
                                 uint32_t y)
{
    return what.plane.data + y * what.plane.stride + (size_t)x * what.size;
}

/* Writes cell (x, y) of a source. */
VERIFY_INLINE void verify_put(struct verify_plane what, uint32_t x, uint32_t y)
{
    const uint32_t bits = verify_source(what, x, y);
    memcpy(verify_at(what, x, y), &bits, what.size);
}

/* Returns whether cell (x, y) of a result is the right one, by the definition
 * in codecs/image/xform.h. */
VERIFY_INLINE bool verify_right(struct verify_plane what, uint32_t x,
                                uint32_t y)
{
    uint32_t x1 = what.t & XFORM_MIRROR_X ? what.plane.width - 1 - x : x;
    uint32_t y1 = what.t & XFORM_MIRROR_Y ? what.plane.height - 1 - y : y;
    uint32_t bits = 0;
    memcpy(&bits, verify_at(what, x, y), what.size);
    return bits == (what.t & XFORM_TRANSPOSE ? verify_source(what, y1, x1)
                                             : verify_source(what, x1, y1));
}

/* Returns the plane of a picture that has one. */
static inline struct verify_plane verify_plane_of(const struct image *img,
                                                  enum xform t)
{
    const struct verify_plane what = { img->plane[0], img->cell, (unsigned)t,
                                       (uint32_t)cell_size(img->cell) };
    return what;
}

/* Writes all cells of a source, on the host. */
static inline void verify_fill_image(const struct image *img)
{
    const struct verify_plane what = verify_plane_of(img, XFORM_NONE);
    for (uint32_t y = 0; y < what.plane.height; y++)
        for (uint32_t x = 0; x < what.plane.width; x++)
            verify_put(what, x, y);
}

/* Returns how many cells of a result are wrong, on the host. */
static inline uint64_t verify_count_wrong(const struct image *img, enum xform t)
{
    const struct verify_plane what = verify_plane_of(img, t);
    uint64_t wrong = 0;
    for (uint32_t y = 0; y < what.plane.height; y++)
        for (uint32_t x = 0; x < what.plane.width; x++)
            wrong += !verify_right(what, x, y);
    return wrong;
}

#endif
