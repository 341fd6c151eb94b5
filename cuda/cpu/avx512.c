/* Moves blocks of cells with the 64-byte vectors of AVX-512: a cache line each,
 * read in one instruction, put in order in one, and written in one. */
#include "cuda/cpu/cpu_tiles.h"

#ifdef __x86_64__
#include <immintrin.h>

/* VBMI, which permutes bytes, also tells the CPUs whose clock does not fall for
 * such vectors. */
#define AVX512 __attribute__((target("avx2,avx512f,avx512bw,avx512vbmi")))
#define SIZED  AVX512 static inline __attribute__((always_inline))

enum { LINE = 64, LANE = 16, LANES = LINE / LANE };

static bool usable(void)
{
    return __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi");
}

static void flush(void)
{
    _mm_sfence();
}

SIZED __m512i load(const void *from)
{
    return _mm512_loadu_si512(from);
}

SIZED void put(uint8_t *to, __m512i v, bool stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)to, v);
    else
        _mm512_store_si512(to, v);
}

/* ---- Rows stay rows ------------------------------------------------------*/

/* src is read from its beginning to its end whatever the turn: that way the CPU
 * knows what is next. But it stops at each page of 4 KiB. */
SIZED void fetch_ahead(const uint8_t *from)
{
    enum { AHEAD = 4096 };
    _mm_prefetch(from + AHEAD, _MM_HINT_T0);
}

SIZED void copy_row(uint8_t *to, const uint8_t *from, size_t n, bool stream)
{
    for (size_t i = 0; i < n; i += LINE) {
        fetch_ahead(from + i);
        put(to + i, load(from + i), stream);
    }
}

/* Which byte goes to each place of a line whose cells are reversed. */
SIZED __m512i reversal(size_t size)
{
    uint8_t order[LINE];
    for (size_t i = 0; i < LINE; i++)
        order[i] = (uint8_t)(LINE - size - i / size * size + i % size);
    return load(order);
}

/* The last line of dst is the first of src. Where it holds less than a whole
 * one of cells, what would be loaded begins before the row, perhaps before all
 * memory: instead it is loaded from the row's beginning, and all is so many
 * places further on. */
SIZED void reverse_row(uint8_t *to, const uint8_t *from, size_t n,
                       __m512i order, bool stream)
{
    size_t whole = n / LINE * LINE, rest = n - whole;
    if (rest) {
        __m512i less = _mm512_set1_epi8((char)(LINE - rest));
        put(to + whole,
            _mm512_permutexvar_epi8(_mm512_sub_epi8(order, less), load(from)),
            stream);
    }
    for (size_t i = rest; i < n; i += LINE) {
        fetch_ahead(from + i);
        put(to + n - LINE - i, _mm512_permutexvar_epi8(order, load(from + i)),
            stream);
    }
}

SIZED void rows_as(const struct cpu_block *b, size_t size, bool stream)
{
    __m512i order = reversal(size);
    for (size_t y = 0; y < b->rows; y++) {
        uint8_t *to = b->to + (ptrdiff_t)y * b->to_stride;
        const uint8_t *from = b->from + (ptrdiff_t)y * b->from_stride;
        if (b->t & XFORM_MIRROR_X)
            reverse_row(to, from, b->cells * size, order, stream);
        else
            copy_row(to, from, b->cells * size, stream);
    }
}

SIZED void rows(const struct cpu_block *b, size_t size)
{
    if (b->stream)
        rows_as(b, size, true);
    else
        rows_as(b, size, false);
}

/* ---- Rows become columns -------------------------------------------------*/

/* In two steps. First, of as many rows as a lane has cells, each lane is
 * transposed by itself: a lane of theirs is then a lane of a row of dst.
 * Second, four rows of dst are put together of the lanes of four such groups.
 * In between they lie in a local block, which takes most of a first-level
 * cache. */
enum { GROUPS = BLOCK_TO / LANE, HALVES = BLOCK_FROM / LINE };
enum { MOST_LINES = BLOCK_TO / LINE };
struct local {
    __m512i line[HALVES][LANE][GROUPS]; /* of LANE, so many as cells in one */
};

SIZED __m512i unpack(__m512i a, __m512i b, size_t size, bool high)
{
    if (size == 1)
        return high ? _mm512_unpackhi_epi8(a, b) : _mm512_unpacklo_epi8(a, b);
    if (size == 2)
        return high ? _mm512_unpackhi_epi16(a, b) : _mm512_unpacklo_epi16(a, b);
    return high ? _mm512_unpackhi_epi32(a, b) : _mm512_unpacklo_epi32(a, b);
}

/* Squares of cells, a lane wide, side by side: perfect shuffles, as
 * cuda/cpu/x86.c has them. */
SIZED void transpose_lanes(__m512i *r, size_t size)
{
    const size_t side = LANE / size;
    __m512i s[LANE];
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

/* The row of src that is column j of the block; past the last it is the last
 * once more: what it holds goes to padding. */
SIZED const uint8_t *row_of(const struct cpu_block *b, size_t j)
{
    j = j < b->cells ? j : b->cells - 1;
    return b->from + (ptrdiff_t)j * b->from_stride;
}

/* The nth of `count` columns, in the order in which the rows that they are of
 * lie in memory. */
SIZED size_t nth(const struct cpu_block *b, size_t n, size_t count)
{
    return b->from_stride < 0 ? count - 1 - n : n;
}

/* What the next block reads of a row: into the second-level cache, for the
 * first would not keep it until then. */
SIZED void fetch(const uint8_t *row)
{
    for (size_t k = BLOCK_FROM; k < 2 * BLOCK_FROM; k += LINE)
        _mm_prefetch(row + k, _MM_HINT_T1);
}

SIZED void read_group(struct local *local, const struct cpu_block *b, size_t g,
                      size_t size)
{
    const size_t side = LANE / size;
    for (size_t h = 0; h < HALVES; h++) {
        __m512i r[LANE];
#pragma GCC unroll 16
        for (size_t i = 0; i < side; i++)
            r[i] = load(row_of(b, g * side + i) + h * LINE);
        transpose_lanes(r, size);
#pragma GCC unroll 16
        for (size_t i = 0; i < side; i++)
            local->line[h][i][g] = r[i];
    }
}

/* A line of each of four rows, of the lanes of four groups. */
SIZED void join(__m512i out[LANES], const __m512i in[LANES])
{
    __m512i a = _mm512_shuffle_i32x4(in[0], in[1], 0x88);
    __m512i b = _mm512_shuffle_i32x4(in[0], in[1], 0xdd);
    __m512i c = _mm512_shuffle_i32x4(in[2], in[3], 0x88);
    __m512i d = _mm512_shuffle_i32x4(in[2], in[3], 0xdd);
    out[0] = _mm512_shuffle_i32x4(a, c, 0x88);
    out[1] = _mm512_shuffle_i32x4(b, d, 0x88);
    out[2] = _mm512_shuffle_i32x4(a, c, 0xdd);
    out[3] = _mm512_shuffle_i32x4(b, d, 0xdd);
}

/* Writes the rows of dst whose lanes lie in `in`, the first of them and those
 * that follow it, `side` apart: each in one run of lines. */
SIZED void write_four(const struct cpu_block *b, const __m512i in[GROUPS],
                      size_t first, size_t side, size_t lines)
{
    __m512i out[MOST_LINES][LANES];
#pragma GCC unroll 4
    for (size_t q = 0; q < lines; q++)
        join(out[q], in + q * LANES);
#pragma GCC unroll 4
    for (size_t lane = 0; lane < LANES; lane++) {
        size_t i = first + lane * side;
        if (i >= b->rows)
            break;
        uint8_t *to = b->to + (ptrdiff_t)i * b->to_stride;
#pragma GCC unroll 4
        for (size_t q = 0; q < lines; q++)
            put(to + q * LINE, out[q][lane], b->stream);
    }
}

/* Half of the next block is fetched while this one is read, and half while it
 * is written. */
SIZED void columns_of(const struct cpu_block *b, size_t size)
{
    const size_t side = LANE / size;
    const size_t lines = (b->cells * size + LINE - 1) / LINE;
    const size_t groups = lines * LANES, count = groups * side;
    size_t fetched = 0;
    struct local local;
    for (size_t n = 0; n < groups; n++) {
        for (size_t i = 0; i < side / 2; i++)
            fetch(row_of(b, nth(b, fetched++, count)));
        read_group(&local, b, nth(b, n, groups), size);
    }
    for (size_t h = 0; h < HALVES; h++)
        for (size_t i = 0; i < side; i++) {
            for (size_t k = 0; k < lines; k++)
                fetch(row_of(b, nth(b, fetched++, count)));
            write_four(b, local.line[h][i], h * LINE / size + i, side, lines);
        }
}

/* Most blocks are whole ones: compiled for these, there is nothing to ask. */
SIZED void columns(const struct cpu_block *b, size_t size)
{
    struct cpu_block whole = *b;
    whole.cells = BLOCK_TO / size;
    whole.rows = BLOCK_FROM / size;
    whole.stream = true;
    if (b->cells < whole.cells || b->rows < whole.rows) {
        columns_of(b, size);
    } else if (b->stream) {
        columns_of(&whole, size);
    } else {
        whole.stream = false;
        columns_of(&whole, size);
    }
}

/* ---- Coefficients --------------------------------------------------------*/

enum { SIDE = 8, DCT_BYTES = 2 * LINE };

/* How a cell is turned: where each coefficient of either line comes from, and
 * those whose sign changes. */
struct recipe {
    __m512i from[2];
    __mmask32 odd;
};

/* What a mirror makes of a cosine is its negative where the frequency is odd;
 * as there are four rows to a line, those of both lines are the same. */
SIZED struct recipe recipe_of(enum xform t)
{
    uint16_t from[2 * LINE / sizeof(uint16_t)];
    struct recipe recipe;
    for (unsigned y = 0; y < SIDE; y++)
        for (unsigned x = 0; x < SIDE; x++)
            from[y * SIDE + x] =
                (uint16_t)(xform_transposes(t) ? x * SIDE + y : y * SIDE + x);
    recipe.from[0] = load(from);
    recipe.from[1] = load((uint8_t *)from + LINE);
    recipe.odd = (t & XFORM_MIRROR_X ? 0xaaaaaaaau : 0) ^
                 (t & XFORM_MIRROR_Y ? 0xff00ff00u : 0);
    return recipe;
}

SIZED void turn_dct(uint8_t *to, const uint8_t *from,
                    const struct recipe *recipe, bool stream)
{
    __m512i a = load(from), b = load(from + LINE);
    for (int i = 0; i < 2; i++) {
        __m512i v = _mm512_permutex2var_epi16(a, recipe->from[i], b);
        v = _mm512_mask_sub_epi16(v, recipe->odd, _mm512_setzero_si512(), v);
        put(to + i * LINE, v, stream);
    }
}

AVX512 static void rows_dct(const struct cpu_block *b)
{
    struct recipe recipe = recipe_of(b->t);
    for (size_t y = 0; y < b->rows; y++) {
        uint8_t *to = b->to + (ptrdiff_t)y * b->to_stride;
        const uint8_t *from = b->from + (ptrdiff_t)y * b->from_stride;
        for (size_t i = 0; i < b->cells; i++) {
            size_t at = b->t & XFORM_MIRROR_X ? b->cells - 1 - i : i;
            fetch_ahead(from + i * DCT_BYTES);
            fetch_ahead(from + i * DCT_BYTES + LINE);
            turn_dct(to + at * DCT_BYTES, from + i * DCT_BYTES, &recipe,
                     b->stream);
        }
    }
}

AVX512 static void columns_dct(const struct cpu_block *b)
{
    struct recipe recipe = recipe_of(b->t);
    for (size_t j = 0; j < b->cells; j++) {
        const uint8_t *from = b->from + (ptrdiff_t)j * b->from_stride;
        uint8_t *to = b->to + j * DCT_BYTES;
        for (size_t i = 0; i < b->rows; i++) {
            _mm_prefetch(from + BLOCK_DCT * DCT_BYTES, _MM_HINT_T1);
            _mm_prefetch(from + BLOCK_DCT * DCT_BYTES + LINE, _MM_HINT_T1);
            turn_dct(to, from, &recipe, b->stream);
            to += b->to_stride;
            from += DCT_BYTES;
        }
    }
}

/* ---- The table -----------------------------------------------------------*/

AVX512 static void rows_u8(const struct cpu_block *b)
{
    rows(b, 1);
}

AVX512 static void rows_u16(const struct cpu_block *b)
{
    rows(b, 2);
}

AVX512 static void rows_f32(const struct cpu_block *b)
{
    rows(b, 4);
}

AVX512 static void columns_u8(const struct cpu_block *b)
{
    columns(b, 1);
}

AVX512 static void columns_u16(const struct cpu_block *b)
{
    columns(b, 2);
}

AVX512 static void columns_f32(const struct cpu_block *b)
{
    columns(b, 4);
}

const struct cpu_tiles cpu_tiles_avx512 = {
    .name = "avx512",
    .usable = usable,
    .rows = { rows_u8, rows_u16, rows_f32, rows_dct },
    .columns = { columns_u8, columns_u16, columns_f32, columns_dct },
    .flush = flush,
};
#endif
