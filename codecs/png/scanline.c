/* Rows of samples as PNG stores them. */
#include "codecs/png/scanline.h"

#include "codecs/image/interleave.h"

size_t scanline_size(const struct image *img)
{
    size_t bits = (size_t)img->nplanes * image_bits(img);
    return img->width / 8 * bits + (img->width % 8 * bits + 7) / 8;
}

unsigned scanline_pixel(const struct image *img)
{
    unsigned bits = img->nplanes * image_bits(img);
    return bits < 8 ? 1 : bits / 8;
}

/* Only gray and palette indices, which have one plane, are smaller than a byte.
 */
static void unpack(uint8_t *cell, size_t n, const uint8_t *row, unsigned bits)
{
    unsigned mask = (1u << bits) - 1;
    for (size_t i = 0; i < n; row++)
        for (unsigned shift = 8; shift > 0 && i < n; i++) {
            shift -= bits;
            cell[i] = (uint8_t)(*row >> shift & mask);
        }
}

static void pack(uint8_t *row, const uint8_t *cell, size_t n, unsigned bits)
{
    for (size_t i = 0; i < n; row++) {
        unsigned byte = 0;
        for (unsigned shift = 8; shift > 0 && i < n; i++) {
            shift -= bits;
            byte |= (unsigned)cell[i] << shift;
        }
        *row = (uint8_t)byte;
    }
}

void scanline_split(const struct image *img, uint32_t y, const uint8_t *row)
{
    unsigned bits = image_bits(img);
    if (bits < 8) {
        unpack(plane_row(img->plane, y), img->width, row, bits);
        return;
    }
    interleave_split_row(img, y, row);
    if (bits == 16 && !cells_big_endian())
        for (unsigned i = 0; i < img->nplanes; i++)
            interleave_swap16(plane_row(&img->plane[i], y), img->width);
}

void scanline_join(const struct image *img, uint32_t y, uint8_t *row)
{
    unsigned bits = image_bits(img);
    if (bits < 8) {
        pack(row, plane_row(img->plane, y), img->width, bits);
        return;
    }
    interleave_join_row(img, y, row);
    if (bits == 16 && !cells_big_endian())
        interleave_swap16(row, (size_t)img->width * img->nplanes);
}
