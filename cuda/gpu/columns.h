/* Rows become columns: which bytes each thread of that kernel moves. */
#ifndef CUDA_GPU_COLUMNS_H
#define CUDA_GPU_COLUMNS_H

#include "cuda/gpu/tiles.h"
#include "cuda/gpu/word.h"

enum {
    /* Vectors in a row of a tile; threads of a block that moves a wide tile,
     * and how many vectors a thread that moves a narrow one has. */
    COLUMNS_WIDE = 16,
    COLUMNS_WIDE_THREADS = 512,
    COLUMNS_NARROW = 8,
    COLUMNS_NARROW_EACH = 4,
    /* How many wide tiles a multiprocessor must get for them to be worth it. On
     * an H200 wide and narrow are equal at 8.5 (bytes, 24 megapixels by 3), and
     * from 1 to 24 megapixels the rule costs at most 2 %. */
    COLUMNS_ENOUGH = 8,
};

/* Threads of a block, bytes of shared memory, and vectors of a thread. They are
 * constants in a kernel. */
#define COLUMNS_THREADS(size, vectors, each)                                   \
    ((vectors) * (vectors)*TILES_VECTOR / (size) / (each))
#define COLUMNS_BYTES(size, vectors)                                           \
    ((vectors) * (vectors)*TILES_VECTOR * TILES_VECTOR / (size))
#define COLUMNS_WIDE_EACH(size)                                                \
    (COLUMNS_BYTES(size, COLUMNS_WIDE) / TILES_VECTOR / COLUMNS_WIDE_THREADS)

/* A tile is columns c and following of src and columns x and following of dst,
 * both `vectors` vectors wide. A mirror exchanges whole rows, of src and of
 * dst, and moves no cell within a tile, so vectors are always aligned on both
 * sides. Tiles are numbered along the rows of dst: the tiles that are under way
 * at a time write whole rows.
 *
 * If a word has `step` cells, a square of step x step cells is `step` words,
 * and is transposed in registers. Four squares side by side in src make
 * `step` pieces of four words. A piece has one word of each of four rows of
 * dst, so four pieces, one below the other in src, make four vectors of dst.
 * Shared memory keeps pieces: piece (g, h) comes from the g-th `step` rows
 * of src and goes to the h-th four rows of dst. A thread that moves only two
 * vectors gets half of each of its pieces. */
struct columns_tile {
    uint32_t c, x;
};

TILES_INLINE struct columns_tile columns_find_tile(const struct tiles_plane *p,
                                                   uint32_t tile, unsigned size,
                                                   unsigned vectors)
{
    struct tiles_place place = tiles_place(p, tile);
    uint32_t side = vectors * TILES_VECTOR / size;
    struct columns_tile at = { place.y * side, place.x * side };
    return at;
}

/* Finds where vector v is in the row of src that becomes column `column` of
 * the tile, in bytes. Returns whether any of its cells belong to the
 * picture. */
TILES_INLINE bool columns_read(const struct tiles_plane *p,
                               struct columns_tile tile, unsigned column,
                               unsigned v, unsigned size, uint64_t *at)
{
    uint32_t x = tile.x + column, c = tile.c + v * (TILES_VECTOR / size);
    *at = tiles_row(x, p->width, p->src_stride, p->t & XFORM_MIRROR_X) +
          (uint64_t)c * size;
    return x < p->width && c < p->height;
}

/* The same for vector v of row `row` of the tile in dst. A burst of memory
 * is written whole, as the rest of it would have to be read first. */
TILES_INLINE bool columns_write(const struct tiles_plane *p,
                                struct columns_tile tile, unsigned row,
                                unsigned v, unsigned size, uint64_t *at)
{
    uint32_t c = tile.c + row, x = tile.x + v * (TILES_VECTOR / size);
    *at = tiles_row(c, p->height, p->dst_stride, p->t & XFORM_MIRROR_Y) +
          (uint64_t)x * size;
    return c < p->height && x - x % (TILES_BURST / size) < p->width;
}

/* Returns where piece (g, h) is in shared memory, in vectors. Eight threads,
 * 128 bytes, are served at once if they meet each of the eight groups of
 * four banks once, that is, if their places differ in the last three bits.
 * Threads that write pieces have one g and every step-th h; threads that
 * read them have one h and every fourth g. So the bits of h above the last
 * three, and the bits of g above the last two, are folded into them: there
 * is no padding, and no conflict on either side. */
TILES_INLINE unsigned columns_place(unsigned g, unsigned h, unsigned size,
                                    unsigned vectors)
{
    unsigned across = vectors * (TILES_WORD / size);
    return g * across + (h ^ (h >> 3 & 7) ^ (g >> 2 & 7));
}

/* Transposes a square of cells: `step` words of `step` cells each. */
TILES_INLINE void columns_transpose_square(uint32_t *w, unsigned step)
{
    if (step == 2) {
        uint32_t a = w[0], b = w[1];
        w[0] = word_pick(a, b, 0x5410);
        w[1] = word_pick(a, b, 0x7632);
    } else if (step == 4) {
        uint32_t a = word_pick(w[0], w[1], 0x5140);
        uint32_t b = word_pick(w[2], w[3], 0x5140);
        uint32_t c = word_pick(w[0], w[1], 0x7362);
        uint32_t d = word_pick(w[2], w[3], 0x7362);
        w[0] = word_pick(a, b, 0x5410);
        w[1] = word_pick(a, b, 0x7632);
        w[2] = word_pick(c, d, 0x5410);
        w[3] = word_pick(c, d, 0x7632);
    }
}

#endif
