/* Which cells each thread of a kernel moves: index arithmetic alone, the same
 * on the GPU and in the test on the host.
 *
 * All planes of a picture are cut into tiles, numbered from 0 across planes:
 * tile n is block n of one launch with a one-dimensional grid. (The y and z of
 * a grid end at 65535, x at 2^31-1.) Only a tile's number is 32 bits wide; all
 * that is counted in bytes of a plane is 64.
 *
 * A plane begins at a multiple of 16 bytes, and its stride is a multiple of
 * 128, so an aligned word or vector that holds one cell of a row lies within
 * the plane. It may be read and written whole. */
#ifndef CUDA_TILES_H
#define CUDA_TILES_H

#include "codecs/image.h"

#ifdef __CUDACC__
#define TILES_INLINE static __host__ __device__ __forceinline__
#else
#define TILES_INLINE static inline
#endif

enum {
    TILES_MAX = 0x7fffffff, /* blocks in a grid */
    TILES_THREADS = 256,
    TILES_LANES = 32, /* threads of a warp */
    TILES_WARPS = TILES_THREADS / TILES_LANES,
    TILES_WORD = 4,    /* bytes that a thread moves at once: columns */
    TILES_VECTOR = 16, /* and rows */
    /* Words from one row of the shared tile to the next. Coprime to 32, the
     * number of banks: neither a row nor a column meets a bank twice. */
    TILES_PITCH = TILES_LANES + 1,
};

struct tiles_plane {
    const uint8_t *src;
    uint8_t *dst;
    uint64_t src_stride, dst_stride;
    uint32_t width, height; /* of dst, in cells */
    uint32_t first;         /* its first tile */
    uint32_t across;        /* its tiles side by side, along a row of dst */
};

/* All that a kernel is told. */
struct tiles {
    unsigned t; /* enum xform */
    unsigned nplanes;
    struct tiles_plane plane[IMAGE_PLANES];
};

/* ---- The plan, on the host ------------------------------------------------*/

static inline uint64_t tiles_ceil(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit;
}

/* Cells along each side of a tile whose rows become columns. A row of it is a
 * word for each lane of a warp, 128 bytes, both in src and in dst. */
TILES_INLINE uint32_t columns_side(unsigned size)
{
    return TILES_LANES * (TILES_WORD / size);
}

/* How many tiles there are. More than TILES_MAX: they are too many for a
 * launch, and the plan is void. */
static inline uint64_t tiles_plan(struct tiles *tiles, const struct image *dst,
                                  const struct image *src, enum xform t)
{
    unsigned size = (unsigned)cell_size(src->cell);
    uint64_t wide = TILES_LANES * TILES_VECTOR / size, high = TILES_WARPS;
    if (xform_transposes(t))
        wide = high = columns_side(size);
    uint64_t n = 0;
    tiles->t = t;
    tiles->nplanes = src->nplanes;
    for (unsigned i = 0; i < src->nplanes; i++) {
        const struct plane *d = &dst->plane[i], *s = &src->plane[i];
        struct tiles_plane *p = &tiles->plane[i];
        p->src = s->data;
        p->dst = d->data;
        p->src_stride = s->stride;
        p->dst_stride = d->stride;
        p->width = d->width;
        p->height = d->height;
        p->first = (uint32_t)n;
        p->across = (uint32_t)tiles_ceil(d->width, wide);
        n += p->across * tiles_ceil(d->height, high);
    }
    return n;
}

/* ---- What both kernels ask ------------------------------------------------*/

/* The plane that a tile is of. */
TILES_INLINE const struct tiles_plane *tiles_find(const struct tiles *tiles,
                                                  uint32_t tile)
{
    unsigned i = 0;
    while (i + 1 < tiles->nplanes && tile >= tiles->plane[i + 1].first)
        i++;
    return &tiles->plane[i];
}

/* Where row i of n begins, in bytes. Mirrored, it is counted from the last one
 * on, with a stride below zero (modulo 2^64, as unsigned numbers have it). Both
 * choices are the same for all threads and are made once. */
TILES_INLINE uint64_t tiles_row(uint32_t i, uint32_t n, uint64_t stride,
                                unsigned mirror)
{
    uint64_t first = mirror ? (n - 1) * stride : 0;
    return first + i * (mirror ? 0 - stride : stride);
}

/* Exchanges the upper half of each piece of a with the lower half of b's, for
 * pieces whose lower halves are `low`, `bits` wide. */
TILES_INLINE void words_exchange(uint32_t *a, uint32_t *b, unsigned bits,
                                 uint32_t low)
{
    uint32_t lower = (*a & low) | (*b & low) << bits;
    uint32_t upper = (*a >> bits & low) | (*b & ~low);
    *a = lower;
    *b = upper;
}

/* ---- Rows stay rows -------------------------------------------------------*/

/* A tile is 32 vectors wide, 512 bytes of a row for a warp, and 8 rows high. A
 * thread makes one vector of dst. If the row is mirrored, that vector's cells
 * lie somewhere in two neighbouring vectors of src, `low` and `high`. */
struct rows_part {
    bool inside;    /* else there is nothing to do */
    uint64_t to;    /* where the vector is, in bytes from the start of dst */
    uint64_t from;  /* and from the start of src: the same vector, or high */
    unsigned shift; /* how many bytes of high are needed; from low, the rest */
    bool low;       /* there is a vector before high in the row */
};

TILES_INLINE struct rows_part rows_find_part(const struct tiles_plane *p,
                                             unsigned t, uint32_t tile,
                                             unsigned thread, unsigned size)
{
    struct rows_part part = { false, 0, 0, 0, false };
    uint32_t n = tile - p->first;
    uint64_t at =
        (uint64_t)(n % p->across * TILES_LANES + thread % TILES_LANES) *
        TILES_VECTOR;
    uint32_t y = n / p->across * TILES_WARPS + thread / TILES_LANES;
    uint64_t length = (uint64_t)p->width * size;
    if (at >= length || y >= p->height)
        return part;
    part.inside = true;
    part.to = y * p->dst_stride + at;
    part.from = tiles_row(y, p->height, p->src_stride, t & XFORM_MIRROR_Y);
    if (t & XFORM_MIRROR_X) {
        uint64_t end = length - at; /* where the cells end in the row of src */
        part.shift = (unsigned)(end % TILES_VECTOR);
        part.low = end >= TILES_VECTOR;
        part.from += end - part.shift;
    } else {
        part.from += at;
    }
    return part;
}

/* Mirrors the cells of a word. */
TILES_INLINE uint32_t word_reverse(uint32_t w, unsigned size)
{
    if (size <= 2)
        w = w << 16 | w >> 16;
    if (size == 1)
        w = (w & 0x00ff00ff) << 8 | (w >> 8 & 0x00ff00ff);
    return w;
}

/* Of the vectors low and high, the words w[0..3] and w[4..7], leaves the 16
 * bytes that begin `shift` bytes into low in w[0..3], mirrored by cells. The
 * words move by constant numbers, so on the GPU they stay in registers. */
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

/* ---- Rows become columns --------------------------------------------------*/

/* A tile is columns c.. of src and columns x.. of dst. Mirroring exchanges
 * whole rows, of src and of dst, and moves no cell within a tile: so words are
 * aligned on both sides, always.
 *
 * A warp reads a band of `step` rows of src, one word of each a lane: a square
 * of step x step cells, which the lane transposes in its registers. (`step` is
 * the cells of a word, TILES_WORD / size.) */
struct columns_tile {
    uint32_t c, x;
    unsigned step;
};

TILES_INLINE struct columns_tile columns_find_tile(const struct tiles_plane *p,
                                                   uint32_t tile, unsigned size)
{
    uint32_t n = tile - p->first, side = columns_side(size);
    struct columns_tile at = { n / p->across * side, n % p->across * side,
                               TILES_WORD / size };
    return at;
}

/* Whether lane `lane` has a word to read from the row of src that becomes
 * column `column` of the tile, and where in src it is, in bytes. */
TILES_INLINE bool columns_read(const struct tiles_plane *p, unsigned t,
                               struct columns_tile tile, unsigned column,
                               unsigned lane, uint64_t *at)
{
    uint32_t x = tile.x + column, c = tile.c + lane * tile.step;
    *at = tiles_row(x, p->width, p->src_stride, t & XFORM_MIRROR_X) +
          (uint64_t)c * TILES_WORD / tile.step;
    return x < p->width && c < p->height;
}

/* The row of dst, within the tile, that row `row` of the shared tile becomes:
 * word i of every square is kept in the same 32 rows, so that the lanes of a
 * warp, which hold the squares of one band, write to rows that are neighbours.
 */
TILES_INLINE unsigned columns_row(unsigned row, unsigned step)
{
    return row % TILES_LANES * step + row / TILES_LANES;
}

/* Whether lane `lane` has a word of row `row` of the shared tile to write, and
 * where in dst it belongs, in bytes. */
TILES_INLINE bool columns_write(const struct tiles_plane *p, unsigned t,
                                struct columns_tile tile, unsigned row,
                                unsigned lane, uint64_t *at)
{
    uint32_t c = tile.c + columns_row(row, tile.step);
    uint32_t x = tile.x + lane * tile.step;
    *at = tiles_row(c, p->height, p->dst_stride, t & XFORM_MIRROR_Y) +
          (uint64_t)x * TILES_WORD / tile.step;
    return c < p->height && x < p->width;
}

/* Where lane `lane` puts word i of its transposed square of band `band`, and
 * where it gets its word of a row: indices of words of the shared tile. */
TILES_INLINE unsigned columns_put(unsigned i, unsigned lane, unsigned band)
{
    return (i * TILES_LANES + lane) * TILES_PITCH + band;
}

TILES_INLINE unsigned columns_get(unsigned row, unsigned lane)
{
    return row * TILES_PITCH + lane;
}

/* Transposes a square of cells: `step` words of `step` cells each. */
TILES_INLINE void square_transpose(uint32_t *w, unsigned step)
{
    if (step == 2) {
        words_exchange(&w[0], &w[1], 16, 0x0000ffff);
    } else if (step == 4) {
        words_exchange(&w[0], &w[1], 8, 0x00ff00ff);
        words_exchange(&w[2], &w[3], 8, 0x00ff00ff);
        words_exchange(&w[0], &w[2], 16, 0x0000ffff);
        words_exchange(&w[1], &w[3], 16, 0x0000ffff);
    }
}

#endif
