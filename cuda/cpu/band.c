/* Some rows of a picture, turned to where they go in the whole turned one. */
#include "cuda/cpu/band.h"

/* Where rows y to y + n of `height` begin once they are mirrored, or not. */
static uint32_t begin_of(uint32_t y, uint32_t n, uint32_t height, bool mirrored)
{
    return mirrored ? height - n - y : y;
}

int band_turn(const struct backend *backend, struct lane *lane,
              struct image *dst, const struct image *band, uint32_t y,
              uint32_t height, enum xform t, struct err *err)
{
    bool columns = xform_transposes(t);
    enum xform mirror = columns ? XFORM_MIRROR_X : XFORM_MIRROR_Y;
    uint32_t at = begin_of(y, band->height, height, t & mirror);
    struct image part = *dst;
    part.width = columns ? band->height : dst->width;
    part.height = columns ? dst->height : band->height;
    for (unsigned i = 0; i < dst->nplanes; i++) {
        struct plane *plane = &part.plane[i];
        plane->data += columns ? at * cell_size(dst->cell) : at * plane->stride;
        plane->width = part.width;
        plane->height = part.height;
    }
    return backend->apply(lane, &part, band, t, err);
}
