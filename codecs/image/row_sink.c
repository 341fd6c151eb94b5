/* Where the rows of a picture go while it is read. */
#include "codecs/image/row_sink.h"

#include "codecs/image/cell_store.h"

/* In memory the first band may be lower: where dst's columns run backwards it
 * is the last of them, and the others begin at whole strides. */
static uint32_t first_end(const struct row_sink *rows)
{
    bool backwards = xform_transposes(rows->t) && rows->t & XFORM_MIRROR_X;
    uint32_t rest = rows->height % rows->step;
    uint32_t end = backwards && rest && !rows->img->store ? rest : rows->step;
    return end < rows->height ? end : rows->height;
}

static int open_band(const struct row_sink *rows, struct image *band,
                     struct err *err)
{
    const struct image *img = rows->img;
    *band = (struct image){
        .cell = img->cell,
        .color = img->color,
        .alpha = img->alpha,
        .width = row_sink_width(rows),
        .height = rows->room,
        .maxval = img->maxval,
        .nplanes = img->nplanes,
    };
    return image_alloc(band, mem_plain, err);
}

/* Opens a sink that turns bands, `room` rows of which may be filled at a time,
 * into img, which has got its memory or its store. */
static int open_bands(struct row_sink *rows, uint32_t room,
                      const struct turner *turner, struct err *err)
{
    rows->turner = turner;
    rows->room = room < rows->height ? room : rows->height;
    rows->end = first_end(rows);
    return open_band(rows, &rows->band, err);
}

static int open_sink(struct row_sink *rows, struct image *img, enum xform t,
                     uint32_t room, const struct turner *turner, struct mem mem,
                     struct err *err)
{
    *rows = (struct row_sink){
        .img = img, .t = t, .height = img->height, .step = BAND_ROWS
    };
    if (!turner || t == XFORM_NONE)
        return image_alloc(img, mem, err);
    if (xform_transposes(t)) {
        img->height = img->width;
        img->width = rows->height;
    }
    img->turned = t;
    return image_alloc(img, mem, err) || open_bands(rows, room, turner, err)
               ? -1
               : 0;
}

int row_sink_open(struct row_sink *rows, struct image *img, enum xform t,
                  const struct turner *turner, struct mem mem, struct err *err)
{
    return open_sink(rows, img, t, BAND_ROWS, turner, mem, err);
}

int row_sink_open_whole(struct row_sink *rows, struct image *img, enum xform t,
                        const struct turner *turner, struct mem mem,
                        struct err *err)
{
    return open_sink(rows, img, t, img->height, turner, mem, err);
}

int row_sink_open_stored(struct row_sink *rows, struct image *img, enum xform t,
                         const struct turner *turner,
                         const struct scratch *scratch, struct err *err)
{
    *rows = (struct row_sink){ .img = img, .t = t, .height = img->height };
    if (cell_store_open(img, t, scratch, err))
        return -1;
    rows->step = cell_store_band(img->store);
    rows->tight = image_row_bytes(img, row_sink_width(rows)) * rows->step >
                  scratch->memory / 4;
    return open_bands(rows, rows->step, turner, err);
}

const struct image *row_sink_at(const struct row_sink *rows, uint32_t y,
                                uint32_t *row)
{
    *row = y - rows->first;
    return rows->turner ? &rows->band : rows->img;
}

uint32_t row_sink_width(const struct row_sink *rows)
{
    const struct image *img = rows->img;
    return xform_transposes(img->turned) ? img->height : img->width;
}

/* Where rows of the file go in the turned picture. */
static struct image part_of(const struct row_sink *rows, uint32_t begin,
                            uint32_t end)
{
    bool columns = xform_transposes(rows->t);
    enum xform mirror = columns ? XFORM_MIRROR_X : XFORM_MIRROR_Y;
    uint32_t at = rows->t & mirror ? rows->height - end : begin;
    struct image part = *rows->img;
    *(columns ? &part.width : &part.height) = end - begin;
    for (unsigned i = 0; i < part.nplanes; i++) {
        struct plane *plane = &part.plane[i];
        plane->data += at * (columns ? cell_size(part.cell) : plane->stride);
        plane->width = part.width;
        plane->height = part.height;
    }
    return part;
}

/* Turns the rows from `begin` to `end`, which are complete and begin at row
 * `at` of the band. */
static int turn_band(const struct row_sink *rows, struct image band,
                     uint32_t at, uint32_t begin, uint32_t end, struct err *err)
{
    const struct turner *turner = rows->turner;
    band.height = end - begin;
    for (unsigned i = 0; i < band.nplanes; i++) {
        struct plane *plane = &band.plane[i];
        plane->data = plane_row(plane, at);
        plane->height = band.height;
    }
    if (rows->img->store)
        return cell_store_write(rows->img, begin, &band, turner, err);
    struct image part = part_of(rows, begin, end);
    return turner->turn(turner->context, &part, &band, rows->t, err);
}

/* Puts the band that is complete aside, and goes on with the other one. */
static void let_wait(struct row_sink *rows)
{
    struct image full = rows->band;
    rows->band = rows->second;
    rows->second = full;
    rows->second_begin = rows->begin;
    rows->second_end = rows->end;
    atomic_store(&rows->waiting, true);
}

int row_sink_done(struct row_sink *rows, uint32_t y, struct err *err)
{
    if (!rows->turner || y + 1 < rows->end)
        return 0;
    if (rows->second.cells && !row_sink_has_waiting(rows))
        let_wait(rows);
    else if (turn_band(rows, rows->band, rows->begin - rows->first, rows->begin,
                       rows->end, err))
        return -1;
    uint32_t left = rows->height - rows->end;
    rows->begin = rows->end;
    rows->first = rows->room < rows->height ? rows->begin : 0;
    rows->end += left < rows->step ? left : rows->step;
    return 0;
}

/* ---- A second band ------------------------------------------------------- */

void row_sink_open_second(struct row_sink *rows)
{
    struct err unheard;
    if (rows->turner && rows->room < rows->height && !rows->tight)
        (void)open_band(rows, &rows->second, &unheard);
}

bool row_sink_has_waiting(const struct row_sink *rows)
{
    return atomic_load(&rows->waiting);
}

int row_sink_turn_waiting(struct row_sink *rows, struct err *err)
{
    int status = turn_band(rows, rows->second, 0, rows->second_begin,
                           rows->second_end, err);
    atomic_store(&rows->waiting, false);
    return status;
}

/* ---- A band for each thread ---------------------------------------------- */

size_t row_sink_bands(const struct row_sink *rows)
{
    return 1 + (rows->height - first_end(rows) + rows->step - 1) / rows->step;
}

int row_sink_open_band(struct row_sink *band, const struct row_sink *rows,
                       size_t i, uint32_t *begin, uint32_t *end,
                       struct err *err)
{
    const uint32_t first = first_end(rows);
    *begin = i ? first + (uint32_t)(i - 1) * rows->step : 0;
    *end = i ? *begin + rows->step : first;
    *end = *end < rows->height ? *end : rows->height;
    *band = *rows;
    band->band = band->second = (struct image){ .cell = rows->img->cell };
    if (!rows->turner)
        return 0;
    band->begin = band->first = *begin;
    band->end = *end;
    return open_band(band, &band->band, err);
}

void row_sink_close(struct row_sink *rows)
{
    image_free(&rows->band);
    image_free(&rows->second);
}
