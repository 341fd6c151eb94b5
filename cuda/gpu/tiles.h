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
 * This is index arithmetic alone: which bytes each thread of a kernel moves,
 * the same on the GPU and in tests on the host. */
#ifndef CUDA_GPU_TILES_H
#define CUDA_GPU_TILES_H

#include "codecs/image/image.h"
#include "cuda/gpu/phases.h"

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
    uint32_t nplanes;
    struct tiles_plane plane[IMAGE_PLANES];
};

/* Returns the plane that a tile is of: the last one that does not begin
 * after it. */
PHASE_FN const struct tiles_plane *tiles_find(const struct tiles_plane *planes,
                                              uint32_t nplanes, uint32_t tile)
{
    return &planes[phase_find(&planes->first, sizeof *planes, nplanes, tile)];
}

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
    uint32_t n = tile - p->first, y = tiles_divide(n, p);
    struct tiles_place place = { n - y * p->across, y };
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

/* Negates the halves of a word that `marked` has bits of. -32768 stays what
 * it is. */
PHASE_FN uint32_t word_negate(uint32_t w, uint32_t marked)
{
    w ^= marked;
    uint32_t sum = (w & 0x7fff7fff) + (marked & 0x00010001);
    return sum ^ (w & 0x80008000);
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

/* Sets the source of a vector in a mirrored row of `length` bytes. DCT
 * blocks are whole vectors, which change places whole. */
PHASE_FN void rows_mirror_part(struct rows_part *part, uint64_t length,
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
    if (p->t & XFORM_MIRROR_X)
        rows_mirror_part(&part, length, at, size);
    else
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

/* ---- Rows become columns ------------------------------------------------- */

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

PHASE_FN struct columns_tile columns_find_tile(const struct tiles_plane *p,
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
PHASE_FN unsigned columns_place(unsigned g, unsigned h, unsigned size,
                                unsigned vectors)
{
    unsigned across = vectors * (TILES_WORD / size);
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

/* ---- DCT blocks ---------------------------------------------------------- */

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
PHASE_FN uint32_t dct_signs(unsigned t, unsigned row)
{
    uint32_t columns = t & XFORM_MIRROR_X ? 0xffff0000 : 0;
    uint32_t rows = (t & XFORM_MIRROR_Y) && row % 2 ? 0xffffffff : 0;
    return columns ^ rows;
}

/* A tile of blocks that are transposed is DCT_DOWN rows of DCT_ACROSS blocks of
 * dst. Eight threads, `lane` by `lane`, move the rows of a block. */
PHASE_FN struct columns_tile dct_find_tile(const struct tiles_plane *p,
                                           uint32_t tile)
{
    struct tiles_place place = tiles_place(p, tile);
    struct columns_tile at = { place.y * DCT_DOWN, place.x * DCT_ACROSS };
    return at;
}

/* Finds where row `lane` is of the block that becomes block (x, c) of dst,
 * and of that block itself, in bytes. Returns whether that block exists. */
PHASE_FN bool dct_find(const struct tiles_plane *p, uint32_t x, uint32_t c,
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
PHASE_FN void dct_give(const uint32_t w[4], unsigned lane, unsigned bit,
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

PHASE_FN void dct_take(uint32_t w[4], unsigned lane, unsigned bit,
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
