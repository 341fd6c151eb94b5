/* Moves blocks of cells in plain C, on any CPU. */
#include <string.h>

#include "cuda/cpu/cpu.h"

/* Written once for cells of any size, and inlined where `size` is a constant:
 * so each memcpy() of a cell is one load and one store. */
#define SIZED static inline __attribute__((always_inline))

static bool usable(void)
{
    return true;
}

static void flush(void)
{
    /* Nothing is streamed. */
}

/* ---- Rows stay rows ------------------------------------------------------*/

typedef size_t row_order; /* the size of a cell */

static row_order row_order_of(size_t size)
{
    return size;
}

SIZED void copy_row(uint8_t *to, const uint8_t *from, size_t n, bool stream)
{
    (void)stream;
    memcpy(to, from, n);
}

SIZED void reverse_row(uint8_t *to, const uint8_t *from, size_t n,
                       row_order size, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < n / size; i++)
        memcpy(to + i * size, from + n - (i + 1) * size, size);
}

/* ---- Rows become columns -------------------------------------------------*/

/* Goes through a local block, so that every line of memory is read once and
 * written once whatever the strides. If cells were moved one at a time, a
 * stride that is a power of two would evict a line from its cache set before
 * its next cell is needed. For the same reason a row of the local block is a
 * line longer than it needs to be. */
SIZED void columns(const struct cpu_block *b, size_t size)
{
    uint8_t local[CPU_BLOCK_FROM][CPU_BLOCK_TO + CPU_LINE];
    for (size_t j = 0; j < b->cells; j++) {
        const uint8_t *from = b->from + (ptrdiff_t)j * b->from_stride;
        cpu_tiles_fetch_next(from);
        for (size_t i = 0; i < b->rows; i++)
            memcpy(local[i] + j * size, from + i * size, size);
    }
    for (size_t i = 0; i < b->rows; i++)
        memcpy(b->to + (ptrdiff_t)i * b->to_stride, local[i], b->cells * size);
}

/* ---- Coefficients --------------------------------------------------------*/

typedef enum xform dct_turn;

static dct_turn dct_turn_of(enum xform t)
{
    return t;
}

/* A mirror negates a cosine where the frequency is odd. Unsigned, -32768 has a
 * negative, too: itself. */
static void turn_dct(uint8_t *to, const uint8_t *from, dct_turn t, bool stream)
{
    uint16_t in[CPU_DCT_SIDE][CPU_DCT_SIDE], out[CPU_DCT_SIDE][CPU_DCT_SIDE];
    (void)stream;
    memcpy(in, from, CPU_DCT_BYTES);
    for (unsigned y = 0; y < CPU_DCT_SIDE; y++)
        for (unsigned x = 0; x < CPU_DCT_SIDE; x++) {
            uint16_t v = xform_transposes(t) ? in[x][y] : in[y][x];
            bool odd_x = (t & XFORM_MIRROR_X) && x % 2;
            bool odd_y = (t & XFORM_MIRROR_Y) && y % 2;
            out[y][x] = odd_x != odd_y ? (uint16_t)-v : v;
        }
    memcpy(to, out, CPU_DCT_BYTES);
}

#define TARGET
#include "cuda/cpu/cpu_loops.inc"
const struct cpu_tiles cpu_tiles_portable = TILES_OF("portable");
