/* DCT blocks: what a turn does inside them, and which bytes each thread of the
 * kernel that transposes them moves. */
#ifndef CUDA_GPU_DCT_H
#define CUDA_GPU_DCT_H

#include "cuda/gpu/columns.h"
#include "cuda/gpu/word.h"

/* A tile of DCT blocks that are transposed: blocks along the rows of dst and of
 * src. A thread moves one row of as many blocks as are along src. */
enum {
    DCT_ROW = 8, /* coefficients, and rows: a vector is a row */
    DCT_ACROSS = 8,
    DCT_DOWN = 2,
    DCT_THREADS = DCT_ACROSS * DCT_ROW,
};

/* Returns what is negated in row `row` of a turned block, as a mask of its
 * words: odd columns, in the upper half of a word, if columns are mirrored;
 * and odd rows if rows are. */
TILES_INLINE uint32_t dct_signs(unsigned t, unsigned row)
{
    uint32_t columns = t & XFORM_MIRROR_X ? 0xffff0000 : 0;
    uint32_t rows = (t & XFORM_MIRROR_Y) && row % 2 ? 0xffffffff : 0;
    return columns ^ rows;
}

/* A tile of blocks that are transposed is DCT_DOWN rows of DCT_ACROSS blocks of
 * dst. Eight threads, `lane` by `lane`, move the rows of a block. */
TILES_INLINE struct columns_tile dct_find_tile(const struct tiles_plane *p,
                                               uint32_t tile)
{
    struct tiles_place place = tiles_place(p, tile);
    struct columns_tile at = { place.y * DCT_DOWN, place.x * DCT_ACROSS };
    return at;
}

/* Finds where row `lane` is of the block that becomes block (x, c) of dst,
 * and of that block itself, in bytes. Returns whether that block exists. */
TILES_INLINE bool dct_find(const struct tiles_plane *p, uint32_t x, uint32_t c,
                           unsigned lane, uint64_t *from, uint64_t *to)
{
    uint64_t block = DCT_ROW * TILES_VECTOR;
    *from = tiles_row(x, p->width, p->src_stride, p->t & XFORM_MIRROR_X) +
            c * block + lane * TILES_VECTOR;
    *to = tiles_row(c, p->height, p->dst_stride, p->t & XFORM_MIRROR_Y) +
          x * block + lane * TILES_VECTOR;
    return x < p->width && c < p->height;
}

/* A block is transposed in three steps, for bit = 1, 2, 4 of the numbers of
 * rows and columns. Cells whose row number has the bit and whose column
 * number does not have it change places with their mirror images: each lane
 * gives half of its row to the lane whose number differs in that bit, and
 * takes as much. */
TILES_INLINE void dct_give(const uint32_t w[4], unsigned lane, unsigned bit,
                           uint32_t give[2])
{
    bool has = (lane & bit) != 0;
    if (bit == 1) {
        give[0] = word_pick(w[0], w[1], has ? 0x5410 : 0x7632);
        give[1] = word_pick(w[2], w[3], has ? 0x5410 : 0x7632);
    } else {
        give[0] = has ? w[0] : w[bit / 2];
        give[1] = has ? w[3 - bit / 2] : w[3];
    }
}

TILES_INLINE void dct_take(uint32_t w[4], unsigned lane, unsigned bit,
                           const uint32_t got[2])
{
    bool has = (lane & bit) != 0;
    if (bit == 1) {
        for (unsigned i = 0; i < 2; i++) {
            uint32_t *a = &w[2 * i], *b = &w[2 * i + 1];
            *a = has ? word_pick(got[i], *a, 0x7610)
                     : word_pick(*a, got[i], 0x5410);
            *b = has ? word_pick(got[i], *b, 0x7632)
                     : word_pick(*b, got[i], 0x7610);
        }
    } else {
        w[0] = has ? got[0] : w[0];
        w[bit / 2] = has ? w[bit / 2] : got[0];
        w[3 - bit / 2] = has ? got[1] : w[3 - bit / 2];
        w[3] = has ? w[3] : got[1];
    }
}

#endif
