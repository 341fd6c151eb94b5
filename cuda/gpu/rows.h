/* Rows stay rows: which bytes each thread of that kernel moves. */
#ifndef CUDA_GPU_ROWS_H
#define CUDA_GPU_ROWS_H

#include "cuda/gpu/tiles.h"
#include "cuda/gpu/word.h"

enum { ROWS_THREADS = 128 }; /* of a block; each moves a vector */

/* A thread makes one vector of dst. In a mirrored row its cells come from
 * two neighbouring vectors of src, `low` and `high`. */
struct rows_part {
    bool inside;    /* else there is nothing to do */
    uint64_t to;    /* where the vector is, in bytes from the start of dst */
    uint64_t from;  /* and from the start of src: the same vector, or high */
    unsigned shift; /* how many bytes of high are needed; from low, the rest */
    bool low;       /* there is a vector before high in the row */
};

/* Sets the source of a vector in a mirrored row of `length` bytes. DCT
 * blocks are whole vectors, which change places whole. */
TILES_INLINE void rows_mirror_part(struct rows_part *part, uint64_t length,
                                   uint64_t at, unsigned size)
{
    uint64_t end = length - at; /* where the cells end in the row of src */
    if (size > TILES_VECTOR) {
        part->from += end - size + at % size * 2;
    } else {
        part->shift = (unsigned)(end % TILES_VECTOR);
        part->low = end >= TILES_VECTOR;
        part->from += end - part->shift;
    }
}

TILES_INLINE struct rows_part rows_find_part(const struct tiles_plane *p,
                                             uint32_t tile, unsigned thread,
                                             unsigned size)
{
    struct rows_part part = { false, 0, 0, 0, false };
    struct tiles_place place = tiles_place(p, tile);
    unsigned lane = thread & ((1u << p->lanes) - 1);
    uint64_t vector = ((uint64_t)place.x << p->lanes) + lane;
    uint64_t at = vector * TILES_VECTOR, length = (uint64_t)p->width * size;
    uint32_t y = place.y * (ROWS_THREADS >> p->lanes) + (thread >> p->lanes);
    if (at >= length || y >= p->height)
        return part;
    part.inside = true;
    part.to = tiles_row(y, p->height, p->dst_stride, 0) + at;
    part.from = tiles_row(y, p->height, p->src_stride, p->t & XFORM_MIRROR_Y);
    if (p->t & XFORM_MIRROR_X)
        rows_mirror_part(&part, length, at, size);
    else
        part.from += at;
    return part;
}

/* Takes the vectors low and high, words w[0..3] and w[4..7], and leaves the
 * 16 bytes that begin `shift` bytes into low in w[0..3], mirrored by cells.
 * The words move by constant numbers, so on the GPU they stay in registers. */
TILES_INLINE void rows_mirror(uint32_t w[8], unsigned shift, unsigned size)
{
    unsigned bits = shift % TILES_WORD * 8;
    for (unsigned i = 0; i < 6; i++)
        w[i] = shift & 8 ? w[i + 2] : w[i];
    for (unsigned i = 0; i < 5; i++)
        w[i] = shift & 4 ? w[i + 1] : w[i];
    for (unsigned i = 0; i < 4; i++)
        w[i] = (uint32_t)(((uint64_t)w[i + 1] << 32 | w[i]) >> bits);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t first = w[i];
        w[i] = word_reverse(w[3 - i], size);
        w[3 - i] = word_reverse(first, size);
    }
}

#endif
