/* Moves blocks of cells with the vectors of x86-64.
 *
 * Everything is written once for the 16-byte vectors of SSE2, which any x86-64
 * has, and compiled a second time for AVX2, whose instructions have a third
 * operand and so need a quarter less of them. */
#include "cuda/cpu/cpu_tiles.h"

#ifdef __x86_64__
#include <immintrin.h>

#define SIZED static inline __attribute__((always_inline))
#define AVX2 __attribute__((target("avx2")))

enum { VECTOR = 16, LINE = 64 };

/* A local block of BLOCK_FROM bytes of columns. A row of it is a line longer
 * than it needs to be: so rows do not all meet in one set of the cache. */
enum { PITCH = BLOCK_TO + LINE };

static bool has_sse2(void)
{
    return true;
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
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

/* All of a line is loaded before it is stored: else the compiler sees a memcpy()
 * in the loop around it and makes it a string instruction, which takes longer to
 * start than a few lines take to copy. */
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

SIZED __m128i reversed(__m128i v, size_t size)
{
    if (size == 4)
        return _mm_shuffle_epi32(v, 0x1b);
    if (size == 1)
        v = _mm_or_si128(_mm_slli_epi16(v, 8), _mm_srli_epi16(v, 8));
    v = _mm_shufflehi_epi16(_mm_shufflelo_epi16(v, 0x1b), 0x1b);
    return _mm_shuffle_epi32(v, 0x4e);
}

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
        copy_line(to + i, from + i, stream);
    }
}

/* A row of n bytes, whose stores are aligned: from the end of dst's on in steps
 * of a vector, then in steps of a line. The first vector may hold less than a
 * whole one of cells: the bytes before them would lie before the row, perhaps
 * before all memory, so they are made up. */
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
        fetch_ahead(from + i);
        for (size_t k = i; k < i + LINE; k += VECTOR)
            put(to + n - VECTOR - k, reversed(load(from + k), size), stream);
    }
}

SIZED void rows_as(const struct cpu_block *b, size_t size, bool stream)
{
    for (size_t y = 0; y < b->rows; y++) {
        uint8_t *to = b->to + (ptrdiff_t)y * b->to_stride;
        const uint8_t *from = b->from + (ptrdiff_t)y * b->from_stride;
        if (b->t & XFORM_MIRROR_X)
            reverse_row(to, from, b->cells * size, size, stream);
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

/* A transpose of 2^k cells by 2^k is k perfect shuffles: row i is interleaved
 * with row i + n/2, which rotates the bits of a cell's index, row and column
 * written one after the other, by one place. After k rounds row and column
 * have changed places. */

SIZED void shuffle_u8(__m128i r[16])
{
    __m128i s[16];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        s[2 * i] = _mm_unpacklo_epi8(r[i], r[i + 8]);
        s[2 * i + 1] = _mm_unpackhi_epi8(r[i], r[i + 8]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        r[i] = s[i];
}

SIZED void shuffle_u16(__m128i r[8])
{
    __m128i s[8];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        s[2 * i] = _mm_unpacklo_epi16(r[i], r[i + 4]);
        s[2 * i + 1] = _mm_unpackhi_epi16(r[i], r[i + 4]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        r[i] = s[i];
}

SIZED void shuffle_u32(__m128i r[4])
{
    __m128i s[4];
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        s[2 * i] = _mm_unpacklo_epi32(r[i], r[i + 2]);
        s[2 * i + 1] = _mm_unpackhi_epi32(r[i], r[i + 2]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        r[i] = s[i];
}

/* A square of cells, a vector wide. */
SIZED void transpose(__m128i *r, size_t size)
{
    if (size == 1) {
        shuffle_u8(r);
        shuffle_u8(r);
        shuffle_u8(r);
        shuffle_u8(r);
    } else if (size == 2) {
        shuffle_u16(r);
        shuffle_u16(r);
        shuffle_u16(r);
    } else {
        shuffle_u32(r);
        shuffle_u32(r);
    }
}

/* The rows of src that are columns `first` and following of a block. Those past
 * the last are the last once more: what they hold goes to padding. */
SIZED void find_rows(const uint8_t **row, size_t n, const struct cpu_block *b,
                     size_t first)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = first + i < b->cells ? first + i : b->cells - 1;
        row[i] = b->from + (ptrdiff_t)j * b->from_stride;
        /* The next block's; into the second-level cache, for the first would
         * not keep them until then. */
        for (size_t k = BLOCK_FROM; k < 2 * BLOCK_FROM; k += LINE)
            _mm_prefetch(row[i] + k, _MM_HINT_T1);
    }
}

/* Writes out the local block. */
SIZED void write_rows(const struct cpu_block *b, const uint8_t *local, size_t size)
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
    for (size_t k = 0; k < BLOCK_FROM; k += VECTOR) {
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
    _Alignas(LINE) uint8_t local[BLOCK_FROM * PITCH];
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

enum { SIDE = 8, DCT_BYTES = SIDE * VECTOR };

/* What a mirror makes of a cosine is its negative where the frequency is odd:
 * v ^ -1 - -1. */
SIZED void turn_dct(uint8_t *to, const uint8_t *from, enum xform t, bool stream)
{
    const __m128i none = _mm_setzero_si128(), all = _mm_set1_epi16(-1);
    const __m128i columns_x = t & XFORM_MIRROR_X
                                  ? _mm_set1_epi32((int)0xffff0000u)
                                  : none;
    const __m128i rows_y = t & XFORM_MIRROR_Y ? all : none;
    __m128i r[SIDE];
#pragma GCC unroll 8
    for (int i = 0; i < SIDE; i++)
        r[i] = load(from + i * VECTOR);
    if (xform_transposes(t))
        transpose(r, sizeof(int16_t));
#pragma GCC unroll 8
    for (int i = 0; i < SIDE; i++) {
        __m128i odd = i % 2 ? _mm_xor_si128(columns_x, rows_y) : columns_x;
        r[i] = _mm_sub_epi16(_mm_xor_si128(r[i], odd), odd);
        put(to + i * VECTOR, r[i], stream);
    }
}

SIZED void rows_dct_as(const struct cpu_block *b, enum xform t, bool stream)
{
    for (size_t y = 0; y < b->rows; y++) {
        uint8_t *to = b->to + (ptrdiff_t)y * b->to_stride;
        const uint8_t *from = b->from + (ptrdiff_t)y * b->from_stride;
        for (size_t i = 0; i < b->cells; i++) {
            size_t at = t & XFORM_MIRROR_X ? b->cells - 1 - i : i;
            turn_dct(to + at * DCT_BYTES, from + i * DCT_BYTES, t, stream);
        }
    }
}

SIZED void rows_dct(const struct cpu_block *b)
{
    if (b->stream)
        rows_dct_as(b, b->t & ~XFORM_TRANSPOSE, true);
    else
        rows_dct_as(b, b->t & ~XFORM_TRANSPOSE, false);
}

SIZED void columns_dct_as(const struct cpu_block *b, bool stream)
{
    for (size_t j = 0; j < b->cells; j++) {
        const uint8_t *from = b->from + (ptrdiff_t)j * b->from_stride;
        uint8_t *to = b->to + j * DCT_BYTES;
        for (size_t i = 0; i < b->rows; i++) {
            _mm_prefetch(from + BLOCK_DCT * DCT_BYTES, _MM_HINT_T1);
            _mm_prefetch(from + BLOCK_DCT * DCT_BYTES + LINE, _MM_HINT_T1);
            turn_dct(to, from, b->t | XFORM_TRANSPOSE, stream);
            to += b->to_stride;
            from += DCT_BYTES;
        }
    }
}

SIZED void columns_dct(const struct cpu_block *b)
{
    if (b->stream)
        columns_dct_as(b, true);
    else
        columns_dct_as(b, false);
}

/* ---- The tables ----------------------------------------------------------*/

static void rows_u8_sse2(const struct cpu_block *b)
{
    rows(b, 1);
}

static void rows_u16_sse2(const struct cpu_block *b)
{
    rows(b, 2);
}

static void rows_f32_sse2(const struct cpu_block *b)
{
    rows(b, 4);
}

static void rows_dct_sse2(const struct cpu_block *b)
{
    rows_dct(b);
}

static void columns_u8_sse2(const struct cpu_block *b)
{
    columns(b, 1);
}

static void columns_u16_sse2(const struct cpu_block *b)
{
    columns(b, 2);
}

static void columns_f32_sse2(const struct cpu_block *b)
{
    columns(b, 4);
}

static void columns_dct_sse2(const struct cpu_block *b)
{
    columns_dct(b);
}

AVX2 static void rows_u8_avx2(const struct cpu_block *b)
{
    rows(b, 1);
}

AVX2 static void rows_u16_avx2(const struct cpu_block *b)
{
    rows(b, 2);
}

AVX2 static void rows_f32_avx2(const struct cpu_block *b)
{
    rows(b, 4);
}

AVX2 static void rows_dct_avx2(const struct cpu_block *b)
{
    rows_dct(b);
}

AVX2 static void columns_u8_avx2(const struct cpu_block *b)
{
    columns(b, 1);
}

AVX2 static void columns_u16_avx2(const struct cpu_block *b)
{
    columns(b, 2);
}

AVX2 static void columns_f32_avx2(const struct cpu_block *b)
{
    columns(b, 4);
}

AVX2 static void columns_dct_avx2(const struct cpu_block *b)
{
    columns_dct(b);
}

const struct cpu_tiles cpu_tiles_sse2 = {
    .name = "sse2",
    .usable = has_sse2,
    .rows = { rows_u8_sse2, rows_u16_sse2, rows_f32_sse2, rows_dct_sse2 },
    .columns = { columns_u8_sse2, columns_u16_sse2, columns_f32_sse2,
                 columns_dct_sse2 },
    .flush = flush,
};

const struct cpu_tiles cpu_tiles_avx2 = {
    .name = "avx2",
    .usable = has_avx2,
    .rows = { rows_u8_avx2, rows_u16_avx2, rows_f32_avx2, rows_dct_avx2 },
    .columns = { columns_u8_avx2, columns_u16_avx2, columns_f32_avx2,
                 columns_dct_avx2 },
    .flush = flush,
};
#endif
