/* The stage on the CPU.
 *
 * A picture is cut into pieces, which the threads of a pool share. Where rows
 * stay rows a piece is some whole rows: they are read in the order of memory,
 * which the CPU prefetches. Where rows become columns a piece is one block of
 * dst wide: the blocks are read along the rows of src, so that the pages of one
 * block are still in the TLB for the next. A mirror is a stride below zero and,
 * where a row stays a row, a reversed row.
 *
 * Cells are moved in vectors of 16 bytes, which compilers know of on any
 * processor. Wider ones gain little: rotate90 of a PPM takes 1.06 times as long
 * without AVX-512. */
#include "cuda/cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "codecs/base/thread_pool.h"

/* Written once for cells of any size, and inlined where `size` is a constant.
 */
#define SIZED static inline __attribute__((always_inline))

enum {
    LINE = 64, /* bytes of a cache line */
    VECTOR = 16,
    DCT_SIDE = 8, /* coefficients along a side of a DCT block */
    DCT_BYTES = DCT_SIDE * DCT_SIDE * sizeof(int16_t),
    /* The sides of a block whose rows become columns, in bytes of a row of dst
     * and of a row of src: 4 and 2 cache lines. Runs of lines are what memory
     * likes (128 on both sides costs a sixth of the speed, 64 more), and a
     * block of bytes still fits into a first-level cache. Of coefficients it is
     * 8 by 8 cells. */
    BLOCK_TO = 256,
    BLOCK_FROM = 128,
    BLOCK_DCT = 8,
    /* Bytes from one row of the local block to the next. A row is a line longer
     * than it needs to be, so that rows do not all fall into one set of the
     * cache. */
    PITCH = BLOCK_TO + LINE,
    /* The CPU's own prefetcher follows rows that are read from beginning to
     * end, but stops at each page. */
    PAGE = 4096,
};

/* Some rows of dst, or a part of them. All rows lie in planes as
 * codecs/image/image.h has them: the bytes between the last cell of a row and
 * the next multiple of IMAGE_STRIDE may be read and written. */
struct block {
    uint8_t *to;         /* the first cell of the first row of dst */
    const uint8_t *from; /* the cell that goes there */
    /* Bytes from each row to the next; that of src is above zero if rows stay
     * rows. */
    ptrdiff_t to_stride, from_stride;
    size_t rows;  /* of dst; columns of src, if they become rows */
    size_t cells; /* in each of them */
    enum xform t;
    /* Whether stores bypass the cache: dst is too large to be in a cache when
     * it is next read, and must not push out what is. */
    bool stream;
};

/* ---- Vectors -------------------------------------------------------------*/

typedef uint8_t vector __attribute__((vector_size(VECTOR)));
typedef uint16_t vector16 __attribute__((vector_size(VECTOR)));
typedef uint32_t vector32 __attribute__((vector_size(VECTOR)));
typedef uint64_t vector64 __attribute__((vector_size(VECTOR)));
typedef vector any_vector __attribute__((aligned(1), may_alias));

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...)                                                     \
    __builtin_shuffle(a, b, (__typeof__(a)){ __VA_ARGS__ })
#endif

SIZED vector load(const uint8_t *from)
{
    return *(const any_vector *)from;
}

SIZED void store(uint8_t *to, vector v)
{
    *(any_vector *)to = v;
}

#ifdef __SSE2__
#include <emmintrin.h>

static const char vectors_name[] = "sse2";

SIZED void put(uint8_t *to, vector v, bool stream)
{
    if (stream)
        _mm_stream_si128((__m128i *)to, (__m128i)v);
    else
        _mm_store_si128((__m128i *)to, (__m128i)v);
}

/* Makes streamed stores visible to other threads. */
static void flush(void)
{
    _mm_sfence();
}
#else
static const char vectors_name[] = "portable";

SIZED void put(uint8_t *to, vector v, bool stream)
{
    (void)stream;
    store(to, v);
}

static void flush(void)
{
}
#endif

SIZED vector reversed(vector v, size_t size)
{
    if (size == 4)
        return (vector)SHUFFLE((vector32)v, (vector32)v, 3, 2, 1, 0);
    vector16 w = (vector16)v;
    if (size == 1)
        w = w << 8 | w >> 8;
    w = SHUFFLE(w, w, 3, 2, 1, 0, 7, 6, 5, 4);
    return (vector)SHUFFLE((vector64)w, (vector64)w, 1, 0);
}

/* Interleaves the cells of the lower or the upper halves. */
SIZED vector unpack(vector a, vector b, size_t size, bool high)
{
    const vector16 a16 = (vector16)a, b16 = (vector16)b;
    const vector32 a32 = (vector32)a, b32 = (vector32)b;
    if (size == 1)
        return high ? SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                              29, 14, 30, 15, 31)
                    : SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                              22, 7, 23);
    if (size == 2)
        return (vector)(high ? SHUFFLE(a16, b16, 4, 12, 5, 13, 6, 14, 7, 15)
                             : SHUFFLE(a16, b16, 0, 8, 1, 9, 2, 10, 3, 11));
    return (vector)(high ? SHUFFLE(a32, b32, 2, 6, 3, 7)
                         : SHUFFLE(a32, b32, 0, 4, 1, 5));
}

/* Transposes a square whose sides are a vector; row i of it is r[i].
 *
 * A transpose of 2^k cells by 2^k is k perfect shuffles: row i is interleaved
 * with row i + n/2, which rotates the bits of a cell's index, row and column
 * written one after the other, by one place. After k rounds row and column
 * have changed places. */
SIZED void transpose(vector *r, size_t size)
{
    const size_t side = VECTOR / size;
    vector s[VECTOR];
#pragma GCC unroll 4
    for (size_t round = 1; round < side; round *= 2) {
#pragma GCC unroll 8
        for (size_t i = 0; i < side / 2; i++) {
            s[2 * i] = unpack(r[i], r[i + side / 2], size, false);
            s[2 * i + 1] = unpack(r[i], r[i + side / 2], size, true);
        }
#pragma GCC unroll 16
        for (size_t i = 0; i < side; i++)
            r[i] = s[i];
    }
}

/* Copies whole lines: up to 63 bytes more than asked for. All of a line is
 * loaded before it is stored: else the compiler sees a memcpy() and makes it a
 * string instruction, which takes longer to start than a few lines take to
 * copy. */
SIZED void copy_lines(uint8_t *to, const uint8_t *from, size_t n, bool stream)
{
    for (size_t i = 0; i < n; i += LINE) {
        vector v[LINE / VECTOR];
        __builtin_prefetch(from + i + PAGE);
#pragma GCC unroll 4
        for (size_t k = 0; k < LINE / VECTOR; k++)
            v[k] = load(from + i + k * VECTOR);
#pragma GCC unroll 4
        for (size_t k = 0; k < LINE / VECTOR; k++)
            put(to + i + k * VECTOR, v[k], stream);
    }
}

/* ---- Rows stay rows ------------------------------------------------------*/

/* Writes a row of n bytes from its end on, with aligned stores: first in steps
 * of a vector, then in steps of a line. The first vector may hold fewer cells
 * than fit into it. What would be loaded for the others lies before the row,
 * perhaps before all memory, so zeros take its place. */
SIZED void reverse_row(uint8_t *to, const uint8_t *from, size_t n, size_t size,
                       bool stream)
{
    uint8_t first[2 * VECTOR] = { 0 };
    size_t i = n % VECTOR;
    if (i) {
        store(first + VECTOR, load(from));
        put(to + n - i, reversed(load(first + i), size), stream);
    }
    for (; i < n % LINE; i += VECTOR)
        put(to + n - VECTOR - i, reversed(load(from + i), size), stream);
    for (; i < n; i += LINE) {
        __builtin_prefetch(from + i + PAGE);
        for (size_t k = i; k < i + LINE; k += VECTOR)
            put(to + n - VECTOR - k, reversed(load(from + k), size), stream);
    }
}

/* `stream` is a constant, so that no loop asks for it. */
SIZED void rows(const struct block *b, size_t size, bool stream)
{
    for (size_t y = 0; y < b->rows; y++) {
        uint8_t *to = b->to + (ptrdiff_t)y * b->to_stride;
        const uint8_t *from = b->from + (ptrdiff_t)y * b->from_stride;
        if (b->t & XFORM_MIRROR_X)
            reverse_row(to, from, b->cells * size, size, stream);
        else
            copy_lines(to, from, b->cells * size, stream);
    }
}

/* ---- Rows become columns -------------------------------------------------*/

/* `side` rows of src, which become as many columns of the local block. What the
 * next block reads of them is prefetched into the second-level cache: the first
 * would not keep it until then. */
SIZED void columns_of(uint8_t *local, const uint8_t *const *row, size_t size)
{
    const size_t side = VECTOR / size;
    for (size_t i = 0; i < side; i++)
        for (size_t k = BLOCK_FROM; k < 2 * BLOCK_FROM; k += LINE)
            __builtin_prefetch(row[i] + k, 0, 2);
    for (size_t k = 0; k < BLOCK_FROM; k += VECTOR) {
        vector r[VECTOR];
#pragma GCC unroll 16
        for (size_t i = 0; i < side; i++)
            r[i] = load(row[i] + k);
        transpose(r, size);
#pragma GCC unroll 16
        for (size_t i = 0; i < side; i++)
            store(local + (k / size + i) * PITCH, r[i]);
    }
}

/* No more than BLOCK_TO bytes of `cells` and BLOCK_FROM bytes of `rows`; `to`
 * is aligned to the one, `from` to the other. It goes through a local block, so
 * that every line of memory is read once and written once whatever the strides.
 * Past the last row of src the last is repeated: its cells go to padding. */
SIZED void columns(const struct block *b, size_t size, bool stream)
{
    _Alignas(LINE) uint8_t local[BLOCK_FROM * PITCH];
    const size_t side = VECTOR / size;
    for (size_t j = 0; j < b->cells; j += LINE / size)
        for (size_t n = j; n < j + LINE / size; n += side) {
            const uint8_t *row[VECTOR];
            for (size_t i = 0; i < side; i++)
                row[i] = b->from +
                         (ptrdiff_t)(n + i < b->cells ? n + i : b->cells - 1) *
                             b->from_stride;
            columns_of(local + n * size, row, size);
        }
    for (size_t i = 0; i < b->rows; i++)
        copy_lines(b->to + (ptrdiff_t)i * b->to_stride, local + i * PITCH,
                   b->cells * size, stream);
}

/* ---- Coefficients --------------------------------------------------------*/

/* Turns one DCT block. A mirror negates a cosine where the frequency is odd:
 * v ^ -1 - -1. */
SIZED void dct(uint8_t *to, const uint8_t *from, enum xform t, bool turned,
               bool stream)
{
    const vector16 none = { 0 }, all = ~none;
    const vector16 odd_columns = { 0, 0xffff, 0, 0xffff, 0, 0xffff, 0, 0xffff };
    const vector16 columns_x = t & XFORM_MIRROR_X ? odd_columns : none;
    const vector16 rows_y = t & XFORM_MIRROR_Y ? all : none;
    vector r[DCT_SIDE];
#pragma GCC unroll 8
    for (int i = 0; i < DCT_SIDE; i++)
        r[i] = load(from + i * VECTOR);
    if (turned)
        transpose(r, sizeof(int16_t));
#pragma GCC unroll 8
    for (int i = 0; i < DCT_SIDE; i++) {
        const vector16 odd = i % 2 ? columns_x ^ rows_y : columns_x;
        put(to + i * VECTOR, (vector)(((vector16)r[i] ^ odd) - odd), stream);
    }
}

/* Rows stay rows, or become columns; those of src are read from beginning to
 * end. `turned` is a constant, too. */
SIZED void dct_blocks(const struct block *b, bool turned, bool stream)
{
    const size_t rows = turned ? b->cells : b->rows,
                 cells = turned ? b->rows : b->cells;
    const bool back = !turned && b->t & XFORM_MIRROR_X;
    const ptrdiff_t size = DCT_BYTES, row = turned ? size : b->to_stride,
                    step = turned ? b->to_stride
                           : back ? -size
                                  : size;
    for (size_t y = 0; y < rows; y++) {
        const uint8_t *from = b->from + (ptrdiff_t)y * b->from_stride;
        uint8_t *to = b->to + (ptrdiff_t)y * row;
        if (back)
            to += (ptrdiff_t)(cells - 1) * size;
        for (size_t i = 0; i < cells; i++, from += size, to += step) {
            const uint8_t *next =
                from + (turned ? BLOCK_DCT * DCT_BYTES : PAGE);
            __builtin_prefetch(next, 0, 2);
            __builtin_prefetch(next + LINE, 0, 2);
            dct(to, from, b->t, turned, stream);
        }
    }
}

/* ---- Any cell ------------------------------------------------------------*/

SIZED void move_as(const struct block *b, size_t size, bool turned, bool stream)
{
    if (size == DCT_BYTES)
        dct_blocks(b, turned, stream);
    else if (turned)
        columns(b, size, stream);
    else
        rows(b, size, stream);
}

SIZED void move(const struct block *b, size_t size)
{
    const bool turned = xform_transposes(b->t);
    if (turned && b->stream)
        move_as(b, size, true, true);
    else if (turned)
        move_as(b, size, true, false);
    else if (b->stream)
        move_as(b, size, false, true);
    else
        move_as(b, size, false, false);
}

static void move_block(const struct block *b, enum cell cell)
{
    if (cell == CELL_DCT)
        move(b, DCT_BYTES);
    else if (cell == CELL_U8)
        move(b, sizeof(uint8_t));
    else if (cell == CELL_U16)
        move(b, sizeof(uint16_t));
    else
        move(b, sizeof(float));
}

/* ---- Pieces --------------------------------------------------------------*/

/* One turn of one picture. */
struct turn {
    const struct cpu_opts *opts;
    const struct image *dst, *src;
    enum xform t;
    bool stream;
    size_t first[IMAGE_PLANES + 1]; /* the number of each plane's first piece */
};

static size_t ceil_div(size_t n, size_t unit)
{
    return (n + unit - 1) / unit;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Moves the first row of a plane to its last one, from where all steps lead
 * backwards: so rows are mirrored. */
static void step_back(uint8_t **at, ptrdiff_t *stride, size_t rows)
{
    *at += (ptrdiff_t)(rows - 1) * *stride;
    *stride = -*stride;
}

/* Cells in a row of a block, and rows of a block and of a piece. Where rows
 * stay rows a block is a piece. */
struct sides {
    size_t across, down, piece;
};

static struct sides sides_of(const struct turn *turn, const struct plane *dst)
{
    const size_t size = cell_size(turn->src->cell), piece = turn->opts->piece;
    if (!xform_transposes(turn->t)) {
        const size_t n = dst->stride < piece ? piece / dst->stride : 1;
        return (struct sides){ dst->width, n, n };
    }
    struct sides sides = { BLOCK_TO / size, BLOCK_FROM / size, 0 };
    if (turn->src->cell == CELL_DCT)
        sides.across = sides.down = BLOCK_DCT;
    const size_t block = sides.across * sides.down * size;
    sides.piece = sides.down * (piece > block ? piece / block : 1);
    return sides;
}

/* A mirror exchanges rows, of src and of dst; where rows become columns never
 * cells within them: (x, y) of dst is (y, x) of src. */
static void turn_piece(void *context, size_t i)
{
    const struct turn *turn = context;
    const bool columns = xform_transposes(turn->t);
    const size_t size = cell_size(turn->src->cell);
    unsigned p = 0;
    while (i >= turn->first[p + 1])
        p++;
    const struct plane *dst = &turn->dst->plane[p], *src = &turn->src->plane[p];
    const struct sides sides = sides_of(turn, dst);
    const size_t piece = i - turn->first[p],
                 high = ceil_div(dst->height, sides.piece);
    const size_t x = piece / high * sides.across;
    size_t y = piece % high * sides.piece;
    const size_t end = least(y + sides.piece, dst->height);
    uint8_t *to = dst->data, *from = src->data;
    struct block block = {
        .to_stride = (ptrdiff_t)dst->stride,
        .from_stride = (ptrdiff_t)src->stride,
        .cells = least(sides.across, dst->width - x),
        .t = turn->t,
        .stream = turn->stream,
    };
    if (columns && turn->t & XFORM_MIRROR_X)
        step_back(&from, &block.from_stride, src->height);
    if (turn->t & XFORM_MIRROR_Y)
        step_back(&to, &block.to_stride, dst->height);
    for (; y < end; y += block.rows) {
        block.to = to + (ptrdiff_t)y * block.to_stride + x * size;
        block.from = columns
                         ? from + (ptrdiff_t)x * block.from_stride + y * size
                         : plane_row(src, y);
        block.rows = least(sides.down, end - y);
        move_block(&block, turn->src->cell);
    }
    flush();
}

/* ---- The backend ---------------------------------------------------------*/

static int cpu_probe(struct err *why_not)
{
    (void)why_not;
    return 0;
}

int cpu_open_with(struct lane **lane, const struct cpu_opts *opts,
                  struct err *err)
{
    struct cpu_opts *copy = malloc(sizeof *copy);
    *lane = (struct lane *)copy; /* it has no memory of its own */
    if (!copy)
        return fail(err, "no memory for a lane");
    *copy = *opts;
    return 0;
}

static int cpu_open(struct lane **lane, const struct lane_opts *opts,
                    struct err *err)
{
    static const struct cpu_opts how = {
        /* Small enough to share them evenly, large enough to hand out few. */
        .piece = 512 << 10,
        /* Waking a thread takes as long as turning so many bytes. */
        .alone_below = 1 << 20,
        /* Less may still be in a cache when it is encoded. From here on the
         * turn gains more than that costs: 4.0 for 5.8 ms of 18 MB. */
        .stream_from = 4 << 20,
    };
    (void)opts;
    return cpu_open_with(lane, &how, err);
}

static struct mem cpu_memory(struct lane *lane)
{
    (void)lane;
    return mem_plain;
}

static int cpu_apply(struct lane *lane, struct image *dst,
                     const struct image *src, enum xform t,
                     struct thread_pool *pool, struct err *err)
{
    const struct cpu_opts *opts = (const struct cpu_opts *)lane;
    struct turn turn = {
        .opts = opts,
        .dst = dst,
        .src = src,
        .t = t,
        .stream = dst->pixels.rows.size >= opts->stream_from,
    };
    size_t n = 0;
    (void)err;
    for (unsigned i = 0; i < src->nplanes; i++) {
        const struct plane *plane = &dst->plane[i];
        const struct sides sides = sides_of(&turn, plane);
        turn.first[i + 1] = n += ceil_div(plane->width, sides.across) *
                                 ceil_div(plane->height, sides.piece);
    }
    thread_pool_run(dst->pixels.rows.size < opts->alone_below ? NULL : pool,
                    turn_piece, &turn, n);
    return 0;
}

/* The CPU is one device. */
static bool cpu_describe(unsigned i, char *text, size_t room)
{
    if (i > 0)
        return false;
    snprintf(text, room, "%s", vectors_name);
    return true;
}

static void cpu_close(struct lane *lane)
{
    free(lane);
}

const struct backend backend_cpu = {
    .name = "cpu",
    .probe = cpu_probe,
    .describe = cpu_describe,
    .open = cpu_open,
    .memory = cpu_memory,
    .apply = cpu_apply,
    .close = cpu_close,
    .parts = true,
};
