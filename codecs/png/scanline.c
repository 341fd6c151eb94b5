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

void scanline_split(const struct image *img, uint32_t y, const uint8_t *row)
{
    unsigned bits = image_bits(img);
    if (bits < 8) { /* gray or palette indices, which have one plane */
        interleave_unpack(plane_row(img->plane, y), img->width, row, bits);
        return;
    }
    interleave_split_row(img, y, row);
    for (unsigned i = 0; i < img->nplanes; i++)
        interleave_set_order(img->cell, plane_row(&img->plane[i], y),
                             img->width, true);
}

void scanline_join(const struct image *img, uint32_t y, uint8_t *row)
{
    unsigned bits = image_bits(img);
    if (bits < 8) {
        interleave_pack(row, plane_row(img->plane, y), img->width, bits);
        return;
    }
    interleave_join_row(img, y, row);
    interleave_set_order(img->cell, row, (size_t)img->width * img->nplanes,
                         true);
}
