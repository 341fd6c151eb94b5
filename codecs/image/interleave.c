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

/* `m` is a constant wherever the loops are called, for up to 4 channels: only
 * so are they vectorised. The rows of an image do not overlap. */
#define DEFINE_LOOPS(suffix, type)                                             \
    INLINE void split_n_##suffix(const struct image *img, uint32_t y,          \
                                 const type *in, size_t m)                     \
    {                                                                          \
        const struct plane *p = img->plane;                                    \
        type *restrict a = plane_row(p, y);                                    \
        type *restrict b = m > 1 ? plane_row(p + 1, y) : a;                    \
        type *restrict c = m > 2 ? plane_row(p + 2, y) : a;                    \
        type *restrict d = m > 3 ? plane_row(p + 3, y) : a;                    \
        for (size_t i = 0, n = img->width; i < n; i++) {                       \
            a[i] = in[m * i];                                                  \
            if (m > 1)                                                         \
                b[i] = in[m * i + 1];                                          \
            if (m > 2)                                                         \
                c[i] = in[m * i + 2];                                          \
            if (m > 3)                                                         \
                d[i] = in[m * i + 3];                                          \
        }                                                                      \
    }                                                                          \
    INLINE void join_n_##suffix(const struct image *img, uint32_t y,           \
                                type *restrict out, size_t m)                  \
    {                                                                          \
        const struct plane *p = img->plane;                                    \
        const type *a = plane_row(p, y);                                       \
        const type *b = m > 1 ? plane_row(p + 1, y) : a;                       \
        const type *c = m > 2 ? plane_row(p + 2, y) : a;                       \
        const type *d = m > 3 ? plane_row(p + 3, y) : a;                       \
        for (size_t i = 0, n = img->width; i < n; i++) {                       \
            out[m * i] = a[i];                                                 \
            if (m > 1)                                                         \
                out[m * i + 1] = b[i];                                         \
            if (m > 2)                                                         \
                out[m * i + 2] = c[i];                                         \
            if (m > 3)                                                         \
                out[m * i + 3] = d[i];                                         \
        }                                                                      \
    }                                                                          \
    INLINE void split_##suffix(const struct image *img, uint32_t y,            \
                               const void *row)                                \
    {                                                                          \
        const size_t m = img->nplanes, n = img->width;                         \
        const type *in = row;                                                  \
        if (m == 1)                                                            \
            memcpy(plane_row(img->plane, y), row, n * sizeof(type));           \
        else if (m == 2)                                                       \
            split_n_##suffix(img, y, in, 2);                                   \
        else if (m == 3)                                                       \
            split_n_##suffix(img, y, in, 3);                                   \
        else if (m == 4)                                                       \
            split_n_##suffix(img, y, in, 4);                                   \
        else                                                                   \
            for (size_t c = 0; c < m; c++) {                                   \
                type *out = plane_row(img->plane + c, y);                      \
                for (size_t i = 0; i < n; i++)                                 \
                    out[i] = in[m * i + c];                                    \
            }                                                                  \
    }                                                                          \
    INLINE void join_##suffix(const struct image *img, uint32_t y, void *row)  \
    {                                                                          \
        const size_t m = img->nplanes, n = img->width;                         \
        type *out = row;                                                       \
        if (m == 1)                                                            \
            memcpy(row, plane_row(img->plane, y), n * sizeof(type));           \
        else if (m == 2)                                                       \
            join_n_##suffix(img, y, out, 2);                                   \
        else if (m == 3)                                                       \
            join_n_##suffix(img, y, out, 3);                                   \
        else if (m == 4)                                                       \
            join_n_##suffix(img, y, out, 4);                                   \
        else                                                                   \
            for (size_t c = 0; c < m; c++) {                                   \
                const type *in = plane_row(img->plane + c, y);                 \
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
