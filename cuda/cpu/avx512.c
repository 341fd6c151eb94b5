/* Moves blocks of cells with the 64-byte vectors of AVX-512. A vector is a
 * cache line: one instruction reads it, one reorders it, one writes it. */
#include "cuda/cpu/cpu.h"

#ifdef __x86_64__
#include <immintrin.h>

/* VBMI permutes bytes. CPUs that have it also do not lower their clock for such
 * vectors. */
#define TARGET __attribute__((target("avx2,avx512f,avx512bw,avx512vbmi")))
#define SIZED  TARGET static inline __attribute__((always_inline))

enum { LINE = CPU_LINE, LANE = 16, LANES = LINE / LANE };

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

SIZED void copy_row(uint8_t *to, const uint8_t *from, size_t n, bool stream)
{
    for (size_t i = 0; i < n; i += LINE) {
        cpu_tiles_fetch_ahead(from + i);
        put(to + i, load(from + i), stream);
    }
}

/* Which byte goes to each place of a line whose cells are reversed. */
typedef __m512i row_order;

SIZED row_order row_order_of(size_t size)
{
    uint8_t order[LINE];
    for (size_t i = 0; i < LINE; i++)
        order[i] = (uint8_t)(LINE - size - i / size * size + i % size);
    return load(order);
}

/* The last line of dst is the first of src. Where it holds fewer cells than fit
 * into a line, a load would begin before the row, perhaps before all memory. So
 * the load begins with the row, and the order is moved by the difference. */
SIZED void reverse_row(uint8_t *to, const uint8_t *from, size_t n,
                       row_order order, bool stream)
{
    size_t whole = n / LINE * LINE, rest = n - whole;
    if (rest) {
        __m512i less = _mm512_set1_epi8((char)(LINE - rest));
        put(to + whole,
            _mm512_permutexvar_epi8(_mm512_sub_epi8(order, less), load(from)),
            stream);
    }
    for (size_t i = rest; i < n; i += LINE) {
        cpu_tiles_fetch_ahead(from + i);
        put(to + n - LINE - i, _mm512_permutexvar_epi8(order, load(from + i)),
            stream);
    }
}

/* ---- Rows become columns -------------------------------------------------*/

/* A block is transposed in two steps. First, a group of as many rows as a lane
 * has cells is read, and each lane is transposed by itself: it is then a lane
 * of a row of dst. Second, the lanes of four groups are joined to lines of four
 * rows of dst. In between they lie in a local block, which takes most of a
 * first-level cache. */
enum { GROUPS = CPU_BLOCK_TO / LANE, HALVES = CPU_BLOCK_FROM / LINE };
enum { MOST_LINES = CPU_BLOCK_TO / LINE };
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

#define vector __m512i
#include "cuda/cpu/cpu_transpose.inc"

/* Returns the row of src that is column j of the block. Past the last one it is
 * the last again: its cells go to padding. */
SIZED const uint8_t *row_of(const struct cpu_block *b, size_t j)
{
    j = j < b->cells ? j : b->cells - 1;
    return b->from + (ptrdiff_t)j * b->from_stride;
}

/* Returns the nth of `count` columns, counted in the order in which their rows
 * of src lie in memory. */
SIZED size_t nth(const struct cpu_block *b, size_t n, size_t count)
{
    return b->from_stride < 0 ? count - 1 - n : n;
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
        transpose(r, size);
#pragma GCC unroll 16
        for (size_t i = 0; i < side; i++)
            local->line[h][i][g] = r[i];
    }
}

/* Makes a line of each of four rows from the lanes of four groups. */
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

/* Writes the four rows of dst whose lanes lie in `in`: row `first`, and the
 * others `side` apart. Each is one run of lines. */
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
            cpu_tiles_fetch_next(row_of(b, nth(b, fetched++, count)));
        read_group(&local, b, nth(b, n, groups), size);
    }
    for (size_t h = 0; h < HALVES; h++)
        for (size_t i = 0; i < side; i++) {
            for (size_t k = 0; k < lines; k++)
                cpu_tiles_fetch_next(row_of(b, nth(b, fetched++, count)));
            write_four(b, local.line[h][i], h * LINE / size + i, side, lines);
        }
}

/* Most blocks are whole: compiled for their sides, the loops have no tests. */
SIZED void columns(const struct cpu_block *b, size_t size)
{
    struct cpu_block whole = *b;
    whole.cells = CPU_BLOCK_TO / size;
    whole.rows = CPU_BLOCK_FROM / size;
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

/* How a cell is turned: where each coefficient of either line comes from, and
 * those whose sign changes. */
typedef struct {
    __m512i from[2];
    __mmask32 odd;
} dct_turn;

/* A mirror negates a cosine where the frequency is odd; as there are four rows
 * to a line, the coefficients of both lines change alike. */
SIZED dct_turn dct_turn_of(enum xform t)
{
    uint16_t from[CPU_DCT_SIDE * CPU_DCT_SIDE];
    dct_turn turn;
    for (unsigned y = 0; y < CPU_DCT_SIDE; y++)
        for (unsigned x = 0; x < CPU_DCT_SIDE; x++)
            from[y * CPU_DCT_SIDE + x] =
                (uint16_t)(xform_transposes(t) ? x * CPU_DCT_SIDE + y
                                               : y * CPU_DCT_SIDE + x);
    turn.from[0] = load(from);
    turn.from[1] = load((uint8_t *)from + LINE);
    turn.odd = (t & XFORM_MIRROR_X ? 0xaaaaaaaau : 0) ^
               (t & XFORM_MIRROR_Y ? 0xff00ff00u : 0);
    return turn;
}

SIZED void turn_dct(uint8_t *to, const uint8_t *from, dct_turn turn,
                    bool stream)
{
    __m512i a = load(from), b = load(from + LINE);
    for (int i = 0; i < 2; i++) {
        __m512i v = _mm512_permutex2var_epi16(a, turn.from[i], b);
        v = _mm512_mask_sub_epi16(v, turn.odd, _mm512_setzero_si512(), v);
        put(to + i * LINE, v, stream);
    }
}

#include "cuda/cpu/cpu_loops.inc"
const struct cpu_tiles cpu_tiles_avx512 = TILES_OF("avx512");
#endif
