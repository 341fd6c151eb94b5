/* Whether pictures, and files, are the same; see compare.h. */
#include "tests/support/compare.h"

#include <string.h>

static bool same_plane(const struct plane *a, const struct plane *b,
                       size_t cell)
{
    if (a->width != b->width || a->height != b->height)
        return false;
    for (uint32_t y = 0; y < a->height; y++)
        if (memcmp(plane_row(a, y), plane_row(b, y), a->width * cell))
            return false;
    return true;
}

bool same_cells(const struct image *a, const struct image *b)
{
    bool same = a->cell == b->cell && a->nplanes == b->nplanes &&
                a->width == b->width && a->height == b->height &&
                a->maxval == b->maxval;
    for (unsigned i = 0; same && i < a->nplanes; i++)
        same = same_plane(&a->plane[i], &b->plane[i], cell_size(a->cell));
    return same;
}

bool same_bytes(struct bytes a, struct bytes b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}
