/* Tiles: which part of a plane a block of a kernel turns.
 *
 * A plane is cut into tiles: tile n is block n of a one-dimensional grid. (The
 * y and z of a grid end at 65535, x at 2^31-1.) Only a tile's number is 32 bits
 * wide; whatever is counted in bytes of a plane is 64.
 *
 * Threads move vectors of 16 bytes, always aligned: planes and strides are
 * whole multiples of IMAGE_STRIDE, so the vector that holds any cell of a row
 * lies within that row and its padding, which may be read and written.
 *
 * What each thread of a kernel does is the same on the GPU and in tests on the
 * host. */
#ifndef CUDA_GPU_TILES_H
#define CUDA_GPU_TILES_H

#include "codecs/base/byte_order.h"
#include "codecs/image/image.h"
#include "cuda/gpu/phases.h"

enum {
    TILES_MAX = 0x7fffffff, /* blocks in a grid */
    TILES_WORD = 4,         /* bytes of a register of the GPU */
    TILES_VECTOR = 16,      /* bytes that a thread moves at once */
    TILES_BURST = 64,       /* bytes of the smallest write to memory */
};

/* The parameter of a kernel. */
struct tiles_plane {
    const uint8_t *src;
    uint8_t *dst;
    uint32_t src_stride, dst_stride; /* in units of IMAGE_STRIDE */
    uint32_t width, height;          /* of dst, in cells */
    uint32_t across;  /* its tiles side by side, along a row of dst */
    uint64_t inverse; /* of across: tiles_divide() */
    uint16_t t;       /* enum xform */
    uint16_t lanes;   /* log2 of the vectors in a row of its tiles, where rows
                         stay rows */
};

/* Returns n / across, by a multiplication with 2^64 / across, rounded up:
 * exact for numbers of 32 bits (Granlund and Montgomery 1994, "Division by
 * invariant integers using multiplication"). That takes 8 instructions; a
 * division takes 18, three of them slow, and a thread of `rows` has about
 * 100 in all. */
PHASE_FN uint32_t tiles_divide(uint32_t n, const struct tiles_plane *p)
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

PHASE_FN struct tiles_place tiles_place(const struct tiles_plane *p,
                                        uint32_t tile)
{
    uint32_t y = tiles_divide(tile, p);
    struct tiles_place place = { tile - y * p->across, y };
    return place;
}

/* Returns where row i of n begins, in bytes; mirrored, counted from the last
 * one on. */
PHASE_FN uint64_t tiles_row(uint32_t i, uint32_t n, uint32_t stride,
                            unsigned mirror)
{
    return (uint64_t)(mirror ? n - 1 - i : i) * stride * IMAGE_STRIDE;
}

/* ---- Cells in a word ----------------------------------------------------- */

/* A word of four bytes is a register of the GPU. */

/* Returns the word whose bytes the digits of `which` name, the last digit
 * the lowest byte: 0..3 are the bytes of a, 4..7 those of b. */
#ifdef __CUDA_ARCH__
PHASE_FN uint32_t word_pick(uint32_t a, uint32_t b, unsigned which)
{
    return __byte_perm(a, b, which);
}
#else
PHASE_FN uint32_t word_pick(uint32_t a, uint32_t b, unsigned which)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t word = 0;
    for (unsigned i = 0; i < 4; i++)
        word |= (uint32_t)(both >> (which >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return word;
}
#endif

/* Mirrors the cells of a word. */
PHASE_FN uint32_t word_reverse(uint32_t w, unsigned size)
{
    return size == 1   ? word_pick(w, 0, 0x0123)
           : size == 2 ? word_pick(w, 0, 0x1032)
                       : w;
}

/* A vector is four words. */
PHASE_FN void tiles_load(uint32_t w[4], const uint8_t *at)
{
#ifdef __CUDA_ARCH__
    const uint4 v = *reinterpret_cast<const uint4 *>(at);
    w[0] = v.x;
    w[1] = v.y;
    w[2] = v.z;
    w[3] = v.w;
#else
    for (unsigned i = 0; i < 4; i++)
        w[i] = read_le32(at + i * TILES_WORD);
#endif
}

PHASE_FN void tiles_load_if(bool there, uint32_t w[4], const uint8_t *at)
{
    w[0] = w[1] = w[2] = w[3] = 0;
    if (there)
        tiles_load(w, at);
}

PHASE_FN void tiles_store(uint8_t *at, const uint32_t w[4])
{
#ifdef __CUDA_ARCH__
    *reinterpret_cast<uint4 *>(at) = make_uint4(w[0], w[1], w[2], w[3]);
#else
    for (unsigned i = 0; i < 4; i++)
        write_le32(at + i * TILES_WORD, w[i]);
#endif
}

/* ---- Rows stay rows ------------------------------------------------------ */

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

PHASE_FN struct rows_part rows_find_part(const struct tiles_plane *p,
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
    if (p->t & XFORM_MIRROR_X) {
        const uint64_t end = length - at; /* of the cells in the row of src */
        part.shift = (unsigned)(end % TILES_VECTOR);
        part.low = end >= TILES_VECTOR;
        at = end - part.shift;
    }
    part.from += at;
    return part;
}

/* Takes the vectors low and high, words w[0..3] and w[4..7], and leaves the
 * 16 bytes that begin `shift` bytes into low in w[0..3], mirrored by cells.
 * The words move by constant numbers, so on the GPU they stay in registers. */
PHASE_FN void rows_mirror(uint32_t w[8], unsigned shift, unsigned size)
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

/* What a thread of the kernel does. */
PHASE_FN void rows_turn(const struct tiles_plane *p, uint32_t tile,
                        unsigned thread, unsigned size)
{
    struct rows_part part = rows_find_part(p, tile, thread, size);
    const uint8_t *from = p->src + part.from;
    uint32_t w[8];
    if (!part.inside)
        return;
    if (p->t & XFORM_MIRROR_X) {
        tiles_load_if(part.low, w, from - TILES_VECTOR);
        tiles_load_if(part.shift != 0, w + 4, from);
        rows_mirror(w, part.shift, size);
    } else {
        tiles_load(w, from);
    }
    tiles_store(p->dst + part.to, w);
}

/* ---- Rows become columns ------------------------------------------------- */

enum { COLUMNS_VECTORS = 16 }; /* in a row of a tile, of src and of dst */

/* Bytes of a tile, vectors of a thread, and threads of a block. They are
 * constants in a kernel. */
#define COLUMNS_BYTES(size)                                                    \
    (COLUMNS_VECTORS * COLUMNS_VECTORS * TILES_VECTOR * TILES_VECTOR / (size))
#define COLUMNS_EACH(size) ((size) == 1 ? 8u : 4u)
#define COLUMNS_THREADS(size)                                                  \
    (COLUMNS_BYTES(size) / TILES_VECTOR / COLUMNS_EACH(size))

/* A tile is columns c and following of src and columns x and following of dst,
 * both COLUMNS_VECTORS wide. A mirror exchanges whole rows, of src and of
 * dst, and moves no cell within a tile, so vectors are always aligned on both
 * sides. Tiles are numbered along the rows of dst: the tiles that are under way
 * at a time write whole rows.
 *
 * If a word has `step` cells, a square of step x step cells is `step` words,
 * and is transposed in registers. Four squares side by side in src make
 * `step` pieces of four words. A piece has one word of each of four rows of
 * dst, so four pieces, one below the other in src, make four vectors of dst.
 * Shared memory keeps pieces: piece (g, h) comes from the g-th `step` rows
 * of src and goes to the h-th four rows of dst. */
struct columns_tile {
    uint32_t c, x;
};

PHASE_FN struct columns_tile columns_find_tile(const struct tiles_plane *p,
                                               uint32_t tile, unsigned size)
{
    struct tiles_place place = tiles_place(p, tile);
    uint32_t side = COLUMNS_VECTORS * TILES_VECTOR / size;
    struct columns_tile at = { place.y * side, place.x * side };
    return at;
}

/* Finds where vector v is in the row of src that becomes column `column` of
 * the tile, in bytes. Returns whether any of its cells belong to the
 * picture. */
PHASE_FN bool columns_read(const struct tiles_plane *p,
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
PHASE_FN bool columns_write(const struct tiles_plane *p,
                            struct columns_tile tile, unsigned row, unsigned v,
                            unsigned size, uint64_t *at)
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
PHASE_FN unsigned columns_place(unsigned g, unsigned h, unsigned size)
{
    unsigned across = COLUMNS_VECTORS * (TILES_WORD / size);
    return g * across + (h ^ (h >> 3 & 7) ^ (g >> 2 & 7));
}

/* Transposes a square of cells: `step` words of `step` cells each. */
PHASE_FN void columns_transpose_square(uint32_t *w, unsigned step)
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

/* What a thread of the kernel does before all wait, and afterwards, with the
 * bytes of a tile. It reads column v of the tile in src, in every `abreast`-th
 * group of `step` rows, and writes column v of the tile in dst, in every
 * `abreast`-th group of four rows. All reads are under way before the first is
 * waited for. */
PHASE_FN void columns_put(const struct tiles_plane *p, uint32_t block,
                          unsigned thread, uint8_t *shared, unsigned size)
{
    const struct columns_tile tile = columns_find_tile(p, block, size);
    const unsigned step = TILES_WORD / size, each = COLUMNS_EACH(size),
                   abreast = COLUMNS_THREADS(size) / COLUMNS_VECTORS,
                   v = thread % COLUMNS_VECTORS,
                   first = thread / COLUMNS_VECTORS;
    uint32_t w[8][4], columns[16];
    uint64_t at;
    PHASE_UNROLL
    for (unsigned n = 0; n < each; n++) {
        const unsigned g = first + n / step * abreast;
        bool live = columns_read(p, tile, g * step + n % step, v, size, &at);
        tiles_load_if(live, w[n], p->src + at);
    }
    PHASE_UNROLL
    for (unsigned n = 0; n < each; n += step) {
        const unsigned g = first + n / step * abreast;
        PHASE_UNROLL
        for (unsigned j = 0; j < 4; j++) {
            PHASE_UNROLL
            for (unsigned i = 0; i < step; i++)
                columns[j * step + i] = w[n + i][j];
            columns_transpose_square(columns + j * step, step);
        }
        PHASE_UNROLL
        for (unsigned i = 0; i < step; i++)
            tiles_store(shared +
                            TILES_VECTOR * columns_place(g, v * step + i, size),
                        columns + 4 * i);
    }
}

PHASE_FN void columns_get(const struct tiles_plane *p, uint32_t block,
                          unsigned thread, const uint8_t *shared, unsigned size)
{
    const struct columns_tile tile = columns_find_tile(p, block, size);
    const unsigned abreast = COLUMNS_THREADS(size) / COLUMNS_VECTORS,
                   v = thread % COLUMNS_VECTORS,
                   first = thread / COLUMNS_VECTORS;
    uint32_t w[4][4], piece[4];
    uint64_t at;
    PHASE_UNROLL
    for (unsigned n = 0; n < COLUMNS_EACH(size) / 4; n++) {
        const unsigned h = first + n * abreast;
        PHASE_UNROLL
        for (unsigned j = 0; j < 4; j++) {
            tiles_load(piece, shared + TILES_VECTOR *
                                           columns_place(4 * v + j, h, size));
            PHASE_UNROLL
            for (unsigned i = 0; i < 4; i++)
                w[i][j] = piece[i];
        }
        PHASE_UNROLL
        for (unsigned i = 0; i < 4; i++)
            if (columns_write(p, tile, 4 * h + i, v, size, &at))
                tiles_store(p->dst + at, w[i]);
    }
}

/* ---- The plan of a launch, made on the host ------------------------------ */

/* Returns the log2 of the vectors side by side in a tile of rows that stay
 * rows: as many as a block has threads, or fewer if a third of the threads had
 * no work. */
static inline uint16_t tiles_lanes(uint64_t vectors)
{
    uint16_t lanes = 7; /* ROWS_THREADS */
    for (; lanes > 0; lanes--) {
        const uint64_t idle =
            (uint64_t) - (int64_t)vectors & ((1u << lanes) - 1);
        if (idle <= vectors / 3)
            break;
    }
    return lanes;
}

/* Cuts a plane into tiles. Returns how many there are; more than TILES_MAX are
 * too many for a launch. */
static inline uint64_t tiles_cut(struct tiles_plane *p, const struct plane *dst,
                                 const struct plane *src, unsigned size,
                                 enum xform t)
{
    const uint64_t length = dst->width * (uint64_t)size;
    uint64_t wide = COLUMNS_VECTORS * TILES_VECTOR, high = wide / size;
    p->src = src->data;
    p->dst = dst->data;
    p->src_stride = (uint32_t)(src->stride / IMAGE_STRIDE);
    p->dst_stride = (uint32_t)(dst->stride / IMAGE_STRIDE);
    p->width = dst->width;
    p->height = dst->height;
    p->t = (uint16_t)t;
    p->lanes = tiles_lanes((length + TILES_VECTOR - 1) / TILES_VECTOR);
    if (!xform_transposes(t)) {
        wide = (uint64_t)TILES_VECTOR << p->lanes;
        high = ROWS_THREADS >> p->lanes;
    }
    p->across = (uint32_t)((length + wide - 1) / wide);
    p->inverse = UINT64_MAX / p->across + 1;
    return p->across * ((p->height + high - 1) / high);
}

#endif
