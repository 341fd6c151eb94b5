/* Pictures of the shapes of PNG files; see png_image.h. */
#include "tests/support/png_image.h"

#include <string.h>

#include "tests/support/must.h"

struct image shape_image(const struct shape *s)
{
    struct err err;
    struct image img = {
        .cell = s->depth == 16 ? CELL_U16 : CELL_U8,
        .width = s->width,
        .height = s->height,
        .nplanes = shape_channels(s),
    };
    must(image_alloc(&img, mem_plain, &err) == 0);
    img.maxval = (1u << s->depth) - 1;
    img.color = s->type == PALETTE ? COLOR_INDEXED
                : s->type & 2      ? COLOR_RGB
                                   : COLOR_GRAY;
    img.alpha = s->type & 4;
    memset(img.pixels.rows.cells, 0xa5, img.pixels.rows.size);
    return img;
}

static unsigned image_sample(const struct image *img, unsigned c, uint32_t x,
                             uint32_t y)
{
    const uint8_t *row = plane_row(&img->plane[c], y);
    return img->cell == CELL_U16 ? ((const uint16_t *)row)[x] : row[x];
}

void image_set_sample(struct image *img, unsigned c, uint32_t x, uint32_t y,
                      unsigned value)
{
    uint8_t *row = plane_row(&img->plane[c], y);
    if (img->cell == CELL_U16)
        ((uint16_t *)row)[x] = (uint16_t)value;
    else
        row[x] = (uint8_t)value;
}

bool image_holds(const struct image *img, const uint16_t *cells)
{
    for (uint32_t y = 0; y < img->height; y++)
        for (uint32_t x = 0; x < img->width; x++)
            for (unsigned c = 0; c < img->nplanes; c++)
                if (*cells++ != image_sample(img, c, x, y))
                    return false;
    return true;
}
