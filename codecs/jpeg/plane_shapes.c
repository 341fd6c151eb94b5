/* The shapes of the planes of a JPEG that is read. */
#include "codecs/jpeg/plane_shapes.h"

#include <string.h>

#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/parameters.h"

void plane_shapes_sample_fully(const struct image *img, bool across, bool down)
{
    struct jpeg_parameters *p = parameters_of(img->meta);
    if (across)
        memset(p->across, 1, sizeof p->across);
    if (down)
        memset(p->down, 1, sizeof p->down);
}

void plane_shapes_trim(struct image *img, uint32_t width, uint32_t height)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    if (!width || !height || (width == img->width && height == img->height))
        return;
    unsigned x, y;
    parameters_most(p, &x, &y);
    if (img->cell == CELL_DCT)
        x *= DCTSIZE, y *= DCTSIZE;
    for (unsigned i = 0; i < img->nplanes; i++) {
        img->plane[i].width =
            entropy_divide_up((uint64_t)width * p->across[i], x);
        img->plane[i].height =
            entropy_divide_up((uint64_t)height * p->down[i], y);
    }
    img->untrimmed_width = img->width;
    img->untrimmed_height = img->height;
    img->width = width;
    img->height = height;
    if (p->coded)
        sequential_trim(p->coded, width, height);
}

void plane_shapes_exchange(struct image *img)
{
    uint32_t width = img->width;
    img->width = img->height;
    img->height = width;
    for (unsigned i = 0; i < img->nplanes; i++) {
        uint32_t across = img->plane[i].width;
        img->plane[i].width = img->plane[i].height;
        img->plane[i].height = across;
    }
}
