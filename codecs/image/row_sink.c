/* Where the rows of a picture go while it is read. */
#include "codecs/image/row_sink.h"

#include "codecs/image/bands.h"

/* In memory the first band may be lower: where dst's columns run backwards it
 * is the last of them, and the others begin at whole strides. */
static uint32_t first_end(const struct row_sink *rows)
{
    bool backwards = xform_transposes(rows->t) && rows->t & XFORM_MIRROR_X;
    uint32_t rest = rows->height % rows->step;
    uint32_t end =
        backwards && rest && !image_has_bands(rows->img) ? rest : rows->step;
    return end < rows->height ? end : rows->height;
}

/* Returns how wide the picture is as stored. */
static uint32_t stored_width(const struct row_sink *rows)
{
    const struct image *img = rows->img;
    return xform_transposes(img->turned) ? img->height : img->width;
}

static int open_band(const struct row_sink *rows, struct image *band,
                     struct err *err)
{
    *band = image_kind(rows->img);
    band->width = stored_width(rows);
    band->height = rows->room;
    return image_alloc(band, mem_plain, err);
}

/* Sets the rows of a band, and how many may be filled at a time. */
static int open_bands(struct row_sink *rows, uint32_t step, uint32_t room,
                      struct err *err)
{
    rows->step = step;
    rows->room = room < rows->height ? room : rows->height;
    rows->end = first_end(rows);
    return open_band(rows, &rows->band, err);
}

static int open_file(struct row_sink *rows, const struct scratch *scratch,
                     struct err *err)
{
    struct image *img = rows->img;
    rows->scratch = scratch;
    if (bands_open(img, rows->t, scratch, err))
        return -1;
    const uint32_t step = img->pixels.bands->rows;
    rows->tight =
        image_row_bytes(img, stored_width(rows)) * step > scratch->memory / 4;
    return open_bands(rows, step, step, err);
}

int row_sink_open(struct row_sink *rows, struct image *img,
                  const struct row_sink_opts *opts, struct err *err)
{
    *rows = (struct row_sink){ .img = img,
                               .turner = opts->turner,
                               .t = opts->t,
                               .height = img->height,
                               .step = BAND_ROWS };
    if (opts->limits && image_choose_pixels(img, opts->limits) == PIXELS_BANDS)
        return open_file(rows, opts->limits->scratch, err);
    if (opts->t == XFORM_NONE)
        rows->turner = NULL;
    if (!rows->turner)
        return image_alloc(img, opts->mem, err);
    if (xform_transposes(opts->t)) {
        img->height = img->width;
        img->width = rows->height;
    }
    img->turned = opts->t;
    return image_alloc(img, opts->mem, err) ||
                   open_bands(rows, BAND_ROWS,
                              opts->in_passes ? rows->height : BAND_ROWS, err)
               ? -1
               : 0;
}

const struct image *row_sink_at(const struct row_sink *rows, uint32_t y,
                                uint32_t *row)
{
    *row = y - rows->first;
    return rows->turner ? &rows->band : rows->img;
}

/* Returns where rows of the file go in the turned picture. */
static struct image place_of(const struct row_sink *rows, uint32_t begin,
                             uint32_t end)
{
    bool columns = xform_transposes(rows->t);
    enum xform mirror = columns ? XFORM_MIRROR_X : XFORM_MIRROR_Y;
    return image_part(rows->img, columns,
                      rows->t & mirror ? rows->height - end : begin,
                      end - begin);
}

/* Turns the rows from `begin` to `end`, which are complete and begin at row
 * `at` of the band. */
static int turn_band(const struct row_sink *rows, const struct image *all,
                     uint32_t at, uint32_t begin, uint32_t end, struct err *err)
{
    const struct turner *turner = rows->turner;
    const struct image band = image_part(all, false, at, end - begin);
    if (image_has_bands(rows->img))
        return bands_write(rows->img->pixels.bands, begin, &band, turner, err);
    struct image place = place_of(rows, begin, end);
    return turner->turn(turner->context, &place, &band, rows->t, err);
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
    if (rows->second.pixels.kind && !row_sink_has_waiting(rows))
        let_wait(rows);
    else if (turn_band(rows, &rows->band, rows->begin - rows->first,
                       rows->begin, rows->end, err))
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
    int status = turn_band(rows, &rows->second, 0, rows->second_begin,
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
    band->band = band->second = (struct image){ 0 };
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
