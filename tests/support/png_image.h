/* Pictures of the shapes that PNG files have, and the samples in them. */
#ifndef TESTS_PNG_IMAGE_H
#define TESTS_PNG_IMAGE_H

#include "codecs/image/image.h"
#include "tests/support/png_file.h"

/* A picture of this shape, of garbage; to be freed by image_free(). */
static inline struct image shape_image(const struct shape *s)
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
    memset(img.cells, 0xa5, img.size);
    return img;
}

static inline unsigned image_sample(const struct image *img, unsigned c,
                                    uint32_t x, uint32_t y)
{
    const uint8_t *row = plane_row(&img->plane[c], y);
    return img->cell == CELL_U16 ? ((const uint16_t *)row)[x] : row[x];
}

static inline void image_set_sample(struct image *img, unsigned c, uint32_t x,
                                    uint32_t y, unsigned value)
{
    uint8_t *row = plane_row(&img->plane[c], y);
    if (img->cell == CELL_U16)
        ((uint16_t *)row)[x] = (uint16_t)value;
    else
        row[x] = (uint8_t)value;
}

/* Whether the samples are these, side by side. */
static inline bool image_holds(const struct image *img, const uint16_t *cells)
{
    for (uint32_t y = 0; y < img->height; y++)
        for (uint32_t x = 0; x < img->width; x++)
            for (unsigned c = 0; c < img->nplanes; c++)
                if (*cells++ != image_sample(img, c, x, y))
                    return false;
    return true;
}

#endif
