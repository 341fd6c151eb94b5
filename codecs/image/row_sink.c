/* Where the rows of a picture go while it is read. */
#include "codecs/image/row_sink.h"

/* The first band may be lower: where dst's columns run backwards it is the last
 * of them. */
static uint32_t first_end(uint32_t height, enum xform t)
{
    uint32_t rest = height % BAND_ROWS;
    bool backwards = xform_transposes(t) && t & XFORM_MIRROR_X;
    uint32_t end = backwards && rest ? rest : BAND_ROWS;
    return end < height ? end : height;
}

static int open_band(struct row_sink *rows, struct err *err)
{
    const struct image *img = rows->img;
    rows->band = (struct image){
        .cell = img->cell,
        .color = img->color,
        .alpha = img->alpha,
        .width = xform_transposes(img->turned) ? img->height : img->width,
        .height = rows->room,
        .maxval = img->maxval,
        .nplanes = img->nplanes,
    };
    return image_alloc(&rows->band, mem_plain, err);
}

static int open_sink(struct row_sink *rows, struct image *img, enum xform t,
                     uint32_t room, const struct turner *turner, struct mem mem,
                     struct err *err)
{
    *rows = (struct row_sink){
        .img = img, .t = t, .height = img->height, .room = room
    };
    if (!turner || t == XFORM_NONE)
        return image_alloc(img, mem, err);
    rows->turner = turner;
    rows->end = first_end(img->height, t);
    if (open_band(rows, err))
        return -1;
    if (xform_transposes(t)) {
        img->height = img->width;
        img->width = rows->height;
    }
    img->turned = t;
    return image_alloc(img, mem, err);
}

int row_sink_open(struct row_sink *rows, struct image *img, enum xform t,
                  const struct turner *turner, struct mem mem, struct err *err)
{
    uint32_t room = img->height < BAND_ROWS ? img->height : BAND_ROWS;
    return open_sink(rows, img, t, room, turner, mem, err);
}

int row_sink_open_whole(struct row_sink *rows, struct image *img, enum xform t,
                        const struct turner *turner, struct mem mem,
                        struct err *err)
{
    return open_sink(rows, img, t, img->height, turner, mem, err);
}

const struct image *row_sink_at(const struct row_sink *rows, uint32_t y,
                                uint32_t *row)
{
    *row = y - rows->first;
    return rows->turner ? &rows->band : rows->img;
}

/* Where the band goes in the turned picture. */
static struct image part_of(const struct row_sink *rows)
{
    bool columns = xform_transposes(rows->t);
    enum xform mirror = columns ? XFORM_MIRROR_X : XFORM_MIRROR_Y;
    uint32_t height = rows->end - rows->begin;
    uint32_t at = rows->t & mirror ? rows->height - rows->end : rows->begin;
    struct image part = *rows->img;
    *(columns ? &part.width : &part.height) = height;
    for (unsigned i = 0; i < part.nplanes; i++) {
        struct plane *plane = &part.plane[i];
        plane->data += at * (columns ? cell_size(part.cell) : plane->stride);
        plane->width = part.width;
        plane->height = part.height;
    }
    return part;
}

int row_sink_done(struct row_sink *rows, uint32_t y, struct err *err)
{
    const struct turner *turner = rows->turner;
    if (!turner || y + 1 < rows->end)
        return 0;
    struct image band = rows->band, part = part_of(rows);
    band.height = rows->end - rows->begin;
    for (unsigned i = 0; i < band.nplanes; i++) {
        struct plane *plane = &band.plane[i];
        plane->data = plane_row(plane, rows->begin - rows->first);
        plane->height = band.height;
    }
    if (turner->turn(turner->context, &part, &band, rows->t, err))
        return -1;
    uint32_t left = rows->height - rows->end;
    rows->begin = rows->end;
    rows->first = rows->room < rows->height ? rows->begin : 0;
    rows->end += left < BAND_ROWS ? left : BAND_ROWS;
    return 0;
}

size_t row_sink_bands(const struct row_sink *rows)
{
    const uint32_t first = first_end(rows->height, rows->t);
    return 1 + (rows->height - first + BAND_ROWS - 1) / BAND_ROWS;
}

int row_sink_open_band(struct row_sink *band, const struct row_sink *rows,
                       size_t i, uint32_t *begin, uint32_t *end,
                       struct err *err)
{
    const uint32_t first = first_end(rows->height, rows->t);
    *begin = i ? first + (uint32_t)(i - 1) * BAND_ROWS : 0;
    *end = i ? *begin + BAND_ROWS : first;
    *end = *end < rows->height ? *end : rows->height;
    *band = *rows;
    band->band = (struct image){ .cell = rows->img->cell };
    if (!rows->turner)
        return 0;
    band->begin = band->first = *begin;
    band->end = *end;
    return open_band(band, err);
}

void row_sink_close(struct row_sink *rows)
{
    image_free(&rows->band);
}
