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

/* One loop for each number of channels, which is a constant wherever they are
 * called: only so are they vectorised. The rows of an image do not overlap. */
#define DEFINE_LOOPS(suffix, type)                                             \
    INLINE void split2_##suffix(type *restrict a, type *restrict b,            \
                                const type *restrict in, size_t n)             \
    {                                                                          \
        for (size_t i = 0; i < n; i++) {                                       \
            a[i] = in[2 * i];                                                  \
            b[i] = in[2 * i + 1];                                              \
        }                                                                      \
    }                                                                          \
    INLINE void split3_##suffix(type *restrict a, type *restrict b,            \
                                type *restrict c, const type *restrict in,     \
                                size_t n)                                      \
    {                                                                          \
        for (size_t i = 0; i < n; i++) {                                       \
            a[i] = in[3 * i];                                                  \
            b[i] = in[3 * i + 1];                                              \
            c[i] = in[3 * i + 2];                                              \
        }                                                                      \
    }                                                                          \
    INLINE void split4_##suffix(type *restrict a, type *restrict b,            \
                                type *restrict c, type *restrict d,            \
                                const type *restrict in, size_t n)             \
    {                                                                          \
        for (size_t i = 0; i < n; i++) {                                       \
            a[i] = in[4 * i];                                                  \
            b[i] = in[4 * i + 1];                                              \
            c[i] = in[4 * i + 2];                                              \
            d[i] = in[4 * i + 3];                                              \
        }                                                                      \
    }                                                                          \
    INLINE void join2_##suffix(type *restrict out, const type *restrict a,     \
                               const type *restrict b, size_t n)               \
    {                                                                          \
        for (size_t i = 0; i < n; i++) {                                       \
            out[2 * i] = a[i];                                                 \
            out[2 * i + 1] = b[i];                                             \
        }                                                                      \
    }                                                                          \
    INLINE void join3_##suffix(type *restrict out, const type *restrict a,     \
                               const type *restrict b, const type *restrict c, \
                               size_t n)                                       \
    {                                                                          \
        for (size_t i = 0; i < n; i++) {                                       \
            out[3 * i] = a[i];                                                 \
            out[3 * i + 1] = b[i];                                             \
            out[3 * i + 2] = c[i];                                             \
        }                                                                      \
    }                                                                          \
    INLINE void join4_##suffix(type *restrict out, const type *restrict a,     \
                               const type *restrict b, const type *restrict c, \
                               const type *restrict d, size_t n)               \
    {                                                                          \
        for (size_t i = 0; i < n; i++) {                                       \
            out[4 * i] = a[i];                                                 \
            out[4 * i + 1] = b[i];                                             \
            out[4 * i + 2] = c[i];                                             \
            out[4 * i + 3] = d[i];                                             \
        }                                                                      \
    }                                                                          \
    INLINE void split_##suffix(const struct image *img, uint32_t y,            \
                               const void *row)                                \
    {                                                                          \
        const struct plane *p = img->plane;                                    \
        const type *in = row;                                                  \
        size_t n = img->width, m = img->nplanes;                               \
        if (m == 1)                                                            \
            memcpy(plane_row(p, y), row, n * sizeof(type));                    \
        else if (m == 2)                                                       \
            split2_##suffix(plane_row(p, y), plane_row(p + 1, y), in, n);      \
        else if (m == 3)                                                       \
            split3_##suffix(plane_row(p, y), plane_row(p + 1, y),              \
                            plane_row(p + 2, y), in, n);                       \
        else if (m == 4)                                                       \
            split4_##suffix(plane_row(p, y), plane_row(p + 1, y),              \
                            plane_row(p + 2, y), plane_row(p + 3, y), in, n);  \
        else                                                                   \
            for (size_t c = 0; c < m; c++) {                                   \
                type *out = plane_row(p + c, y);                               \
                for (size_t i = 0; i < n; i++)                                 \
                    out[i] = in[m * i + c];                                    \
            }                                                                  \
    }                                                                          \
    INLINE void join_##suffix(const struct image *img, uint32_t y, void *row)  \
    {                                                                          \
        const struct plane *p = img->plane;                                    \
        type *out = row;                                                       \
        size_t n = img->width, m = img->nplanes;                               \
        if (m == 1)                                                            \
            memcpy(row, plane_row(p, y), n * sizeof(type));                    \
        else if (m == 2)                                                       \
            join2_##suffix(out, plane_row(p, y), plane_row(p + 1, y), n);      \
        else if (m == 3)                                                       \
            join3_##suffix(out, plane_row(p, y), plane_row(p + 1, y),          \
                           plane_row(p + 2, y), n);                            \
        else if (m == 4)                                                       \
            join4_##suffix(out, plane_row(p, y), plane_row(p + 1, y),          \
                           plane_row(p + 2, y), plane_row(p + 3, y), n);       \
        else                                                                   \
            for (size_t c = 0; c < m; c++) {                                   \
                const type *in = plane_row(p + c, y);                          \
                for (size_t i = 0; i < n; i++)                                 \
                    out[m * i + c] = in[i];                                    \
            }                                                                  \
    }

DEFINE_LOOPS(8, uint8_t)
DEFINE_LOOPS(16, loose16)
DEFINE_LOOPS(32, loose32)

FOR_EACH_CPU void interleave_split_row(const struct image *img, uint32_t y,
                                       const void *row)
{
    if (img->cell == CELL_U8)
        split_8(img, y, row);
    else if (img->cell == CELL_U16)
        split_16(img, y, row);
    else
        split_32(img, y, row);
}

FOR_EACH_CPU void interleave_join_row(const struct image *img, uint32_t y,
                                      void *row)
{
    if (img->cell == CELL_U8)
        join_8(img, y, row);
    else if (img->cell == CELL_U16)
        join_16(img, y, row);
    else
        join_32(img, y, row);
}

FOR_EACH_CPU void interleave_swap16(void *cells, size_t count)
{
    loose16 *cell = cells;
    for (size_t i = 0; i < count; i++)
        cell[i] = __builtin_bswap16(cell[i]);
}

FOR_EACH_CPU void interleave_swap32(void *cells, size_t count)
{
    loose32 *cell = cells;
    for (size_t i = 0; i < count; i++)
        cell[i] = __builtin_bswap32(cell[i]);
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
