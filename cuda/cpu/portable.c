/* Moves blocks of cells in plain C, on any CPU. */
#include <string.h>

#include "cuda/cpu/cpu_tiles.h"

/* Marks what is written once for cells of any size. It is inlined where `size`
 * is a constant, so that each memcpy() of a cell is one load and one store. */
#define SIZED static inline __attribute__((always_inline))

static bool always(void)
{
    return true;
}

static void nothing_streamed(void)
{
}

/* ---- Samples -------------------------------------------------------------*/

SIZED void rows(const struct cpu_block *b, size_t size)
{
    for (size_t y = 0; y < b->rows; y++) {
        uint8_t *to = b->to + (ptrdiff_t)y * b->to_stride;
        const uint8_t *from = b->from + (ptrdiff_t)y * b->from_stride;
        if (b->t & XFORM_MIRROR_X)
            for (size_t i = 0; i < b->cells; i++)
                memcpy(to + i * size, from + (b->cells - 1 - i) * size, size);
        else
            memcpy(to, from, b->cells * size);
    }
}

/* Through a local block, so that every line of memory is read once and written
 * once whatever the strides: were cells moved one at a time, a stride that is a
 * power of two would throw a line out of its cache set before its next cell is
 * due. For the same reason a row of the local block is a line longer than it
 * needs to be. */
SIZED void columns(const struct cpu_block *b, size_t size)
{
    enum { LINE = 64 };
    uint8_t local[BLOCK_FROM][BLOCK_TO + LINE];
    for (size_t j = 0; j < b->cells; j++) {
        const uint8_t *from = b->from + (ptrdiff_t)j * b->from_stride;
        for (size_t k = BLOCK_FROM; k < 2 * BLOCK_FROM; k += LINE)
            __builtin_prefetch(from + k);
        for (size_t i = 0; i < b->rows; i++)
            memcpy(local[i] + j * size, from + i * size, size);
    }
    for (size_t i = 0; i < b->rows; i++)
        memcpy(b->to + (ptrdiff_t)i * b->to_stride, local[i], b->cells * size);
}

static void rows_u8(const struct cpu_block *b)
{
    rows(b, sizeof(uint8_t));
}

static void rows_u16(const struct cpu_block *b)
{
    rows(b, sizeof(uint16_t));
}

static void rows_f32(const struct cpu_block *b)
{
    rows(b, sizeof(float));
}

static void columns_u8(const struct cpu_block *b)
{
    columns(b, sizeof(uint8_t));
}

static void columns_u16(const struct cpu_block *b)
{
    columns(b, sizeof(uint16_t));
}

static void columns_f32(const struct cpu_block *b)
{
    columns(b, sizeof(float));
}

/* ---- Coefficients --------------------------------------------------------*/

enum { SIDE = 8, DCT_BYTES = SIDE * SIDE * sizeof(int16_t) };

/* Turns the coefficients of one cell: what a mirror makes of a cosine is its
 * negative where the frequency is odd. Unsigned, -32768 has a negative, too:
 * itself. */
static void turn_dct(uint8_t *to, const uint8_t *from, enum xform t)
{
    uint16_t in[SIDE][SIDE], out[SIDE][SIDE];
    memcpy(in, from, DCT_BYTES);
    for (unsigned y = 0; y < SIDE; y++)
        for (unsigned x = 0; x < SIDE; x++) {
            uint16_t v = xform_transposes(t) ? in[x][y] : in[y][x];
            bool odd_x = (t & XFORM_MIRROR_X) && x % 2;
            bool odd_y = (t & XFORM_MIRROR_Y) && y % 2;
            out[y][x] = odd_x != odd_y ? (uint16_t)-v : v;
        }
    memcpy(to, out, DCT_BYTES);
}

static void rows_dct(const struct cpu_block *b)
{
    for (size_t y = 0; y < b->rows; y++) {
        uint8_t *to = b->to + (ptrdiff_t)y * b->to_stride;
        const uint8_t *from = b->from + (ptrdiff_t)y * b->from_stride;
        for (size_t i = 0; i < b->cells; i++) {
            size_t at = b->t & XFORM_MIRROR_X ? b->cells - 1 - i : i;
            turn_dct(to + i * DCT_BYTES, from + at * DCT_BYTES, b->t);
        }
    }
}

static void columns_dct(const struct cpu_block *b)
{
    for (size_t j = 0; j < b->cells; j++)
        for (size_t i = 0; i < b->rows; i++)
            turn_dct(b->to + (ptrdiff_t)i * b->to_stride + j * DCT_BYTES,
                     b->from + (ptrdiff_t)j * b->from_stride + i * DCT_BYTES,
                     b->t);
}

const struct cpu_tiles cpu_tiles_portable = {
    .name = "portable",
    .usable = always,
    .rows = { rows_u8, rows_u16, rows_f32, rows_dct },
    .columns = { columns_u8, columns_u16, columns_f32, columns_dct },
    .flush = nothing_streamed,
};
