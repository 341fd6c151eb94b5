/* The shapes of the planes of a JPEG that is read. */
#include "codecs/jpeg/plane_shapes.h"

#include <string.h>

#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/parameters.h"

static uint32_t most_of(const uint8_t factor[COMPONENTS])
{
    uint32_t most = 1;
    for (unsigned i = 0; i < COMPONENTS; i++)
        if (factor[i] > most)
            most = factor[i];
    return most;
}

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
    uint32_t x = most_of(p->across), y = most_of(p->down);
    if (img->cell == CELL_DCT)
        x *= DCTSIZE, y *= DCTSIZE;
    for (unsigned i = 0; i < img->nplanes; i++) {
        uint64_t across = (uint64_t)width * p->across[i];
        uint64_t down = (uint64_t)height * p->down[i];
        img->plane[i].width = (uint32_t)((across + x - 1) / x);
        img->plane[i].height = (uint32_t)((down + y - 1) / y);
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
