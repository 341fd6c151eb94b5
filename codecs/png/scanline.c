/* Rows of samples as PNG stores them. */
#include "codecs/png/scanline.h"

#include "codecs/image/interleave.h"

/* ---- Rows -----------------------------------------------------------------*/

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

/* ---- Passes of interlaced pictures ----------------------------------------*/

unsigned adam7_passes(struct adam7_pass pass[ADAM7_PASSES], uint32_t width,
                      uint32_t height)
{
    static const struct adam7_pass all[ADAM7_PASSES] = {
        { 0, 0, 8, 8, 0, 0 }, { 4, 0, 8, 8, 0, 0 }, { 0, 4, 4, 8, 0, 0 },
        { 2, 0, 4, 4, 0, 0 }, { 0, 2, 2, 4, 0, 0 }, { 1, 0, 2, 2, 0, 0 },
        { 0, 1, 1, 2, 0, 0 },
    };
    unsigned n = 0;
    for (unsigned i = 0; i < ADAM7_PASSES; i++) {
        struct adam7_pass p = all[i];
        if (width <= p.x || height <= p.y)
            continue;
        p.width = (width - p.x - 1) / p.dx + 1;
        p.height = (height - p.y - 1) / p.dy + 1;
        pass[n++] = p;
    }
    return n;
}

void adam7_spread(const struct image *img, uint32_t y,
                  const struct adam7_pass *pass, const struct image *line)
{
    const size_t n = pass->width, step = pass->dx;
    for (unsigned c = 0; c < img->nplanes; c++) {
        const uint8_t *from = line->plane[c].data;
        uint8_t *to = plane_row(&img->plane[c], y);
        if (img->cell == CELL_U8) {
            for (size_t i = 0; i < n; i++)
                to[pass->x + i * step] = from[i];
            continue;
        }
        const uint16_t *from16 = (const uint16_t *)from;
        uint16_t *to16 = (uint16_t *)to;
        for (size_t i = 0; i < n; i++)
            to16[pass->x + i * step] = from16[i];
    }
}

void adam7_join(void *row, const struct image *img, uint32_t y,
                const struct adam7_pass *pass)
{
    const size_t n = pass->width, step = pass->dx, cells = img->nplanes;
    if (step == 1) {
        interleave_join_row(img, y, row);
        return;
    }
    for (unsigned c = 0; c < cells; c++) {
        const uint8_t *from = plane_row(&img->plane[c], y);
        uint8_t *to = (uint8_t *)row + c;
        if (img->cell == CELL_U8) {
            for (size_t i = 0; i < n; i++)
                to[i * cells] = from[pass->x + i * step];
            continue;
        }
        const uint16_t *from16 = (const uint16_t *)from;
        uint16_t *to16 = (uint16_t *)row + c;
        for (size_t i = 0; i < n; i++)
            to16[i * cells] = from16[pass->x + i * step];
    }
}
