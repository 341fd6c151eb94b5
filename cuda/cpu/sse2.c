/* Moves blocks of cells with the 16-byte vectors of SSE2, which any x86-64 has.
 * Compiled for AVX2, whose instructions have a third operand, no process gets
 * faster by it. */
#include "cuda/cpu/cpu.h"

#ifdef __x86_64__
#include <immintrin.h>

#define SIZED static inline __attribute__((always_inline))

enum { VECTOR = 16, LINE = CPU_LINE };

/* Bytes from one row of the local block to the next. A row is a line longer
 * than it needs to be, so that rows do not all fall into one set of the cache.
 */
enum { PITCH = CPU_BLOCK_TO + LINE };

static bool usable(void)
{
    return true;
}

static void flush(void)
{
    _mm_sfence();
}

SIZED __m128i load(const uint8_t *from)
{
    return _mm_loadu_si128((const __m128i *)from);
}

SIZED void store(uint8_t *to, __m128i v)
{
    _mm_storeu_si128((__m128i *)to, v);
}

SIZED void put(uint8_t *to, __m128i v, bool stream)
{
    if (stream)
        _mm_stream_si128((__m128i *)to, v);
    else
        _mm_store_si128((__m128i *)to, v);
}

/* All of a line is loaded before it is stored: else the compiler sees a
 * memcpy() in the loop around it and makes it a string instruction, which takes
 * longer to start than a few lines take to copy. */
SIZED void copy_line(uint8_t *to, const uint8_t *from, bool stream)
{
    __m128i v[LINE / VECTOR];
#pragma GCC unroll 4
    for (size_t k = 0; k < LINE / VECTOR; k++)
        v[k] = load(from + k * VECTOR);
#pragma GCC unroll 4
    for (size_t k = 0; k < LINE / VECTOR; k++)
        put(to + k * VECTOR, v[k], stream);
}

/* Copies whole lines: up to 63 bytes more than asked for. */
SIZED void copy_lines(uint8_t *to, const uint8_t *from, size_t n, bool stream)
{
    for (size_t i = 0; i < n; i += LINE)
        copy_line(to + i, from + i, stream);
}

/* ---- Rows stay rows ------------------------------------------------------*/

typedef size_t row_order; /* the size of a cell */

SIZED row_order row_order_of(size_t size)
{
    return size;
}

SIZED __m128i reversed(__m128i v, size_t size)
{
    if (size == 4)
        return _mm_shuffle_epi32(v, 0x1b);
    if (size == 1)
        v = _mm_or_si128(_mm_slli_epi16(v, 8), _mm_srli_epi16(v, 8));
    v = _mm_shufflehi_epi16(_mm_shufflelo_epi16(v, 0x1b), 0x1b);
    return _mm_shuffle_epi32(v, 0x4e);
}

SIZED void copy_row(uint8_t *to, const uint8_t *from, size_t n, bool stream)
{
    for (size_t i = 0; i < n; i += LINE) {
        cpu_tiles_fetch_ahead(from + i);
        copy_line(to + i, from + i, stream);
    }
}

/* Writes a row of n bytes from its end on, with aligned stores: first in steps
 * of a vector, then in steps of a line. The first vector may hold fewer cells
 * than fit into it. What would be loaded for the others lies before the row,
 * perhaps before all memory, so zeros take its place. */
SIZED void reverse_row(uint8_t *to, const uint8_t *from, size_t n,
                       row_order size, bool stream)
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
        cpu_tiles_fetch_ahead(from + i);
        for (size_t k = i; k < i + LINE; k += VECTOR)
            put(to + n - VECTOR - k, reversed(load(from + k), size), stream);
    }
}

/* ---- Rows become columns -------------------------------------------------*/

SIZED __m128i unpack(__m128i a, __m128i b, size_t size, bool high)
{
    if (size == 1)
        return high ? _mm_unpackhi_epi8(a, b) : _mm_unpacklo_epi8(a, b);
    if (size == 2)
        return high ? _mm_unpackhi_epi16(a, b) : _mm_unpacklo_epi16(a, b);
    return high ? _mm_unpackhi_epi32(a, b) : _mm_unpacklo_epi32(a, b);
}

#define vector __m128i
#include "cuda/cpu/cpu_transpose.inc"

/* Finds the rows of src that are columns `first` and following of a block. Past
 * the last one the last is repeated: its cells go to padding. */
SIZED void find_rows(const uint8_t **row, size_t n, const struct cpu_block *b,
                     size_t first)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = first + i < b->cells ? first + i : b->cells - 1;
        row[i] = b->from + (ptrdiff_t)j * b->from_stride;
        cpu_tiles_fetch_next(row[i]);
    }
}

/* Writes out the local block. */
SIZED void write_rows(const struct cpu_block *b, const uint8_t *local,
                      size_t size)
{
    for (size_t i = 0; i < b->rows; i++) {
        uint8_t *to = b->to + (ptrdiff_t)i * b->to_stride;
        if (b->stream)
            copy_lines(to, local + i * PITCH, b->cells * size, true);
        else
            copy_lines(to, local + i * PITCH, b->cells * size, false);
    }
}

/* `side` rows of src, which become as many columns of the local block. */
SIZED void columns_of(uint8_t *local, const uint8_t *const *row, size_t size)
{
    enum { MOST = VECTOR };
    const size_t side = VECTOR / size;
    for (size_t k = 0; k < CPU_BLOCK_FROM; k += VECTOR) {
        __m128i r[MOST];
#pragma GCC unroll 16
        for (size_t i = 0; i < side; i++)
            r[i] = load(row[i] + k);
        transpose(r, size);
#pragma GCC unroll 16
        for (size_t i = 0; i < side; i++)
            store(local + (k / size + i) * PITCH, r[i]);
    }
}

SIZED void columns(const struct cpu_block *b, size_t size)
{
    _Alignas(LINE) uint8_t local[CPU_BLOCK_FROM * PITCH];
    const size_t side = VECTOR / size;
    for (size_t j = 0; j < b->cells; j += LINE / size)
        for (size_t i = j; i < j + LINE / size; i += side) {
            const uint8_t *row[VECTOR];
            find_rows(row, side, b, i);
            columns_of(local + i * size, row, size);
        }
    write_rows(b, local, size);
}

/* ---- Coefficients --------------------------------------------------------*/

typedef enum xform dct_turn;

SIZED dct_turn dct_turn_of(enum xform t)
{
    return t;
}

/* A mirror negates a cosine where the frequency is odd: v ^ -1 - -1. */
SIZED void turn_dct(uint8_t *to, const uint8_t *from, dct_turn t, bool stream)
{
    const __m128i none = _mm_setzero_si128(), all = _mm_set1_epi16(-1);
    const __m128i columns_x =
        t & XFORM_MIRROR_X ? _mm_set1_epi32((int)0xffff0000u) : none;
    const __m128i rows_y = t & XFORM_MIRROR_Y ? all : none;
    __m128i r[CPU_DCT_SIDE];
#pragma GCC unroll 8
    for (int i = 0; i < CPU_DCT_SIDE; i++)
        r[i] = load(from + i * VECTOR);
    if (xform_transposes(t))
        transpose(r, sizeof(int16_t));
#pragma GCC unroll 8
    for (int i = 0; i < CPU_DCT_SIDE; i++) {
        __m128i odd = i % 2 ? _mm_xor_si128(columns_x, rows_y) : columns_x;
        r[i] = _mm_sub_epi16(_mm_xor_si128(r[i], odd), odd);
        put(to + i * VECTOR, r[i], stream);
    }
}

#define TARGET
#include "cuda/cpu/cpu_loops.inc"
const struct cpu_tiles cpu_tiles_sse2 = TILES_OF("sse2");
#endif
