/* A plane cut into rectangles that are turned one by one. */
#include "cuda/gpu/pieces.h"

size_t pieces_stride(uint32_t width, size_t cell_size)
{
    size_t mask = IMAGE_STRIDE - 1;
    return (width * cell_size + mask) & ~mask;
}

static uint32_t smaller(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static uint32_t ceil_of(uint32_t n, uint32_t unit)
{
    return (uint32_t)(((uint64_t)n + unit - 1) / unit);
}

/* A side is a multiple of `unit` cells, a whole stride, so that rows are as
 * dense before the turn as after it: then width x height cells take as many
 * bytes in src as in dst. Only the last piece of a row or column has a short
 * side, which is padded to a stride. */
struct pieces pieces_cut(uint32_t width, uint32_t height, size_t cell_size,
                         size_t most)
{
    uint32_t unit = (uint32_t)(IMAGE_STRIDE / cell_size);
    uint64_t cells = most / cell_size, full = ceil_of(width, unit);
    uint64_t across = cells / ((uint64_t)unit * unit);
    struct pieces p;
    across = across < 1 ? 1 : across < full ? across : full;
    p.wide = smaller(across * unit, width);
    uint64_t down = cells / (across * unit) / unit;
    p.high = smaller((down < 1 ? 1 : down) * unit, height);
    p.across = ceil_of(width, p.wide);
    p.down = ceil_of(height, p.high);
    p.count = (uint64_t)p.across * p.down;
    return p;
}

struct plane_piece pieces_get(const struct pieces *pieces, uint32_t width,
                              uint32_t height, uint64_t i, enum xform t)
{
    struct plane_piece p;
    p.x = (uint32_t)(i % pieces->across) * pieces->wide;
    p.y = (uint32_t)(i / pieces->across) * pieces->high;
    p.width = smaller(pieces->wide, width - p.x);
    p.height = smaller(pieces->high, height - p.y);
    bool transposes = xform_transposes(t);
    uint32_t w = transposes ? height : width, h = transposes ? width : height;
    p.to_width = transposes ? p.height : p.width;
    p.to_height = transposes ? p.width : p.height;
    p.to_x = transposes ? p.y : p.x;
    p.to_y = transposes ? p.x : p.y;
    if (t & XFORM_MIRROR_X)
        p.to_x = w - p.to_x - p.to_width;
    if (t & XFORM_MIRROR_Y)
        p.to_y = h - p.to_y - p.to_height;
    return p;
}
