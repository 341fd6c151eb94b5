/* Cells of a row, side by side as files have them or a plane each as we do.
 *
 * The loops are plain, for the compiler to vectorise; the Makefile asks it to.
 * With SSE2 alone, bytes that stand 3 apart cost it 3 to 5 times what memcpy
 * costs: it needs a byte shuffle. So each entry is compiled for AVX2 as well.
 */
#include "codecs/image/interleave.h"

#include <string.h>

#include "codecs/base/each_cpu.h"

#define INLINE static inline __attribute__((always_inline))

/* Cells anywhere in memory, whatever else that memory is seen as. */
typedef uint16_t __attribute__((aligned(1), may_alias)) loose16;
typedef uint32_t __attribute__((aligned(1), may_alias)) loose32;

/* Moves a row of m channels from their planes to `row`, or the other way.
 * Wherever this is called, for up to 4 channels, m is a constant, and so is
 * `joins`: only so are the loops vectorised. What is written does not overlap
 * with anything else. */
#define DEFINE_MOVE(suffix, type)                                              \
    INLINE void move_few_##suffix(const struct image *img, uint32_t y,         \
                                  type *restrict row, size_t m, bool joins)    \
    {                                                                          \
        const struct plane *p = img->plane;                                    \
        type *restrict a = plane_row(p, y);                                    \
        type *restrict b = m > 1 ? plane_row(p + 1, y) : a;                    \
        type *restrict c = m > 2 ? plane_row(p + 2, y) : a;                    \
        type *restrict d = m > 3 ? plane_row(p + 3, y) : a;                    \
        for (size_t i = 0, n = img->width; i < n; i++) {                       \
            *(joins ? &row[m * i] : &a[i]) = joins ? a[i] : row[m * i];        \
            if (m > 1)                                                         \
                *(joins ? &row[m * i + 1] : &b[i]) =                           \
                    joins ? b[i] : row[m * i + 1];                             \
            if (m > 2)                                                         \
                *(joins ? &row[m * i + 2] : &c[i]) =                           \
                    joins ? c[i] : row[m * i + 2];                             \
            if (m > 3)                                                         \
                *(joins ? &row[m * i + 3] : &d[i]) =                           \
                    joins ? d[i] : row[m * i + 3];                             \
        }                                                                      \
    }                                                                          \
    INLINE void move_##suffix(const struct image *img, uint32_t y, type *row,  \
                              bool joins)                                      \
    {                                                                          \
        const size_t m = img->nplanes, n = img->width;                         \
        type *first = plane_row(img->plane, y);                                \
        if (m == 1)                                                            \
            memcpy(joins ? row : first, joins ? first : row, n * sizeof *row); \
        else if (m == 2)                                                       \
            move_few_##suffix(img, y, row, 2, joins);                          \
        else if (m == 3)                                                       \
            move_few_##suffix(img, y, row, 3, joins);                          \
        else if (m == 4)                                                       \
            move_few_##suffix(img, y, row, 4, joins);                          \
        else                                                                   \
            for (size_t c = 0; c < m; c++) {                                   \
                type *cell = plane_row(img->plane + c, y);                     \
                for (size_t i = 0; i < n; i++)                                 \
                    *(joins ? &row[m * i + c] : &cell[i]) =                    \
                        joins ? cell[i] : row[m * i + c];                      \
            }                                                                  \
    }

DEFINE_MOVE(8, uint8_t)
DEFINE_MOVE(16, loose16)
DEFINE_MOVE(32, loose32)

INLINE void move_row(const struct image *img, uint32_t y, void *row, bool joins)
{
    if (img->cell == CELL_U8)
        move_8(img, y, row, joins);
    else if (img->cell == CELL_U16)
        move_16(img, y, row, joins);
    else
        move_32(img, y, row, joins);
}

FOR_EACH_CPU void interleave_split_row(const struct image *img, uint32_t y,
                                       const void *row)
{
    move_row(img, y, (void *)(uintptr_t)row, false);
}

FOR_EACH_CPU void interleave_join_row(const struct image *img, uint32_t y,
                                      void *row)
{
    move_row(img, y, row, true);
}

FOR_EACH_CPU void interleave_set_order(enum cell cell, void *cells,
                                       size_t count, bool big_endian)
{
    loose16 *small = cells;
    loose32 *large = cells;
    if (big_endian == interleave_big_endian())
        return;
    for (size_t i = 0; cell == CELL_U16 && i < count; i++)
        small[i] = __builtin_bswap16(small[i]);
    for (size_t i = 0; cell == CELL_F32 && i < count; i++)
        large[i] = __builtin_bswap32(large[i]);
}

FOR_EACH_CPU unsigned interleave_max(enum cell cell, const void *cells,
                                     size_t count)
{
    const uint8_t *small = cells;
    const loose16 *large = cells;
    uint8_t max8 = 0;
    uint16_t max16 = 0;
    if (cell == CELL_U8)
        for (size_t i = 0; i < count; i++)
            max8 = small[i] > max8 ? small[i] : max8;
    else
        for (size_t i = 0; i < count; i++)
            max16 = large[i] > max16 ? large[i] : max16;
    return cell == CELL_U8 ? max8 : max16;
}

void interleave_unpack(uint8_t *cells, size_t n, const uint8_t *packed,
                       unsigned bits)
{
    unsigned mask = (1u << bits) - 1;
    for (size_t i = 0; i < n; packed++)
        for (unsigned shift = 8; shift > 0 && i < n; i++) {
            shift -= bits;
            cells[i] = (uint8_t)(*packed >> shift & mask);
        }
}

void interleave_pack(uint8_t *packed, const uint8_t *cells, size_t n,
                     unsigned bits)
{
    for (size_t i = 0; i < n; packed++) {
        unsigned byte = 0;
        for (unsigned shift = 8; shift > 0 && i < n; i++) {
            shift -= bits;
            byte |= (unsigned)cells[i] << shift;
        }
        *packed = (uint8_t)byte;
    }
}
