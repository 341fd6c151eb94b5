/* The rows of a picture, where it is read and where it is written. */
#include "codecs/image/rows.h"

#include <string.h>

#include "codecs/base/memory.h"

/* ---- A temporary file -----------------------------------------------------
 */

/* Bytes that are turned and written at a time. */
enum { BLOCK = 4 << 20 };

/* A band has no more rows than this: half of what they take on their way is
 * still in a cache when they are turned. Short rows are more, so that a band is
 * worth a call of the system. */
enum { BAND_MOST = 256, BAND_LEAST = 1 << 20 };

/* Returns how many rows of so many bytes fit in, from 1 to `most`. */
static uint32_t rows_in(uint64_t memory, uint64_t row, uint32_t most)
{
    uint64_t n = memory / row;
    return n == 0 ? 1 : n < most ? (uint32_t)n : most;
}

/* Gives img, which has the shape of the picture as stored, bands for its
 * pixels, and the shape that it has when it is turned by t. */
static int bands_open(struct image *img, enum xform t,
                      const struct scratch *scratch, struct err *err)
{
    const uint64_t row = image_row_bytes(img, img->width);
    const uint32_t least = rows_in(BAND_LEAST, row, UINT32_MAX);
    struct bands *bands = memory_alloc(sizeof *bands);
    if (!bands)
        return fail_memory(err, "no memory for a temporary file");
    *bands = (struct bands){
        .memory = scratch->memory,
        .t = t,
        .width = img->width,
        .height = img->height,
        .rows = rows_in(scratch->memory / 2, row,
                        least > BAND_MOST ? least : BAND_MOST),
    };
    const uint64_t size = img->nplanes * cell_size(img->cell) *
                          (uint64_t)img->width * img->height;
    if (scratch->make(scratch->context, size, &bands->file, err)) {
        memory_free(bands);
        return -1;
    }
    if (xform_transposes(t)) {
        img->width = bands->height;
        img->height = bands->width;
    }
    img->turned = t;
    bands->kind = image_kind(img);
    img->pixels = (struct pixels){ .kind = PIXELS_BANDS, .bands = bands };
    return 0;
}

/* A band in the file and in the turned picture. */
struct band_place {
    bool columns;   /* it is some columns of all rows, else some whole rows */
    uint32_t first; /* of these columns or rows */
    uint32_t count;
    size_t at;    /* of the band, in bytes */
    size_t plane; /* bytes of each */
    size_t row;   /* bytes in one of its planes */
};

static struct band_place place_of(const struct bands *bands, uint32_t begin)
{
    const size_t cell = cell_size(bands->kind.cell);
    struct band_place place = { .columns = xform_transposes(bands->t) };
    uint32_t left = bands->height - begin;
    enum xform mirror = place.columns ? XFORM_MIRROR_X : XFORM_MIRROR_Y;
    place.count = left < bands->rows ? left : bands->rows;
    place.first = bands->t & mirror ? left - place.count : begin;
    place.at = (size_t)begin * bands->width * bands->kind.nplanes * cell;
    place.plane = (size_t)place.count * bands->width * cell;
    place.row = (place.columns ? place.count : bands->width) * cell;
    return place;
}

/* Returns row y of plane i of a band. */
static const uint8_t *place_row(const struct bands *bands,
                                const struct band_place *place, unsigned i,
                                uint32_t y)
{
    return bands->file.bytes.data + place->at + i * place->plane +
           y * place->row;
}

/* Writes all rows of a turned block, from row y of the band's on. */
static int write_rows(const struct bands *bands, const struct band_place *place,
                      const struct image *block, uint32_t y, struct err *err)
{
    int status = 0;
    for (unsigned i = 0; i < block->nplanes && status == 0; i++) {
        const struct plane *plane = &block->plane[i];
        for (uint32_t row = 1;
             row < block->height && plane->stride > place->row; row++)
            memmove(plane->data + row * place->row, plane_row(plane, row),
                    place->row);
        status = scratch_write(&bands->file,
                               place->at + i * place->plane + y * place->row,
                               plane->data, block->height * place->row, err);
    }
    return status;
}

/* Turns and writes a band: all rows of `band`, which are those from `begin` on
 * of the stored picture. Several threads may. It is turned in blocks: some
 * columns of it, which become rows, or some rows. Columns come in whole
 * strides, so that blocks are aligned. */
static int bands_write(const struct bands *bands, uint32_t begin,
                       const struct image *band, const struct turner *turner,
                       struct err *err)
{
    struct band_place place = place_of(bands, begin);
    const bool backwards = bands->t & XFORM_MIRROR_Y;
    enum xform t = bands->t;
    if (place.columns && place.count == 1) {
        /* A column lies in the file as a row does. */
        place.columns = false;
        place.row = place.plane;
        t = backwards ? XFORM_MIRROR_X : XFORM_NONE;
    }
    const uint32_t all = place.columns ? bands->width : place.count;
    struct image block = image_kind(&bands->kind);
    block.width = place.columns ? place.count : bands->width;
    uint32_t n =
        rows_in(BLOCK, image_row_bytes(&block, block.width), UINT32_MAX);
    if (place.columns)
        n = n > IMAGE_STRIDE ? n - n % IMAGE_STRIDE : IMAGE_STRIDE;
    block.height = n = n < all ? n : all;
    int status = image_alloc(&block, mem_plain, err);
    for (uint32_t at = 0; at < all && status == 0; at += n) {
        n = n < all - at ? n : all - at;
        const struct image part = image_part(band, place.columns, at, n);
        struct image turned = image_part(&block, false, 0, n);
        status = turner->turn(turner->context, &turned, &part, t, err);
        if (status == 0)
            status = write_rows(bands, &place, &turned,
                                backwards ? all - at - n : at, err);
    }
    image_free(&block);
    return status;
}

struct bands_reading {
    const struct bands *bands;
    const struct image *rows;
    uint32_t y;
};

/* Reads what a band has of the rows. */
static void read_band(void *context, size_t i)
{
    const struct bands_reading *r = context;
    const struct bands *bands = r->bands;
    const struct band_place place = place_of(bands, (uint32_t)i * bands->rows);
    const size_t left =
        place.columns ? place.first * cell_size(bands->kind.cell) : 0;
    uint32_t from = r->y, end = r->y + r->rows->height;
    const uint32_t first = place.columns ? 0 : place.first;
    if (!place.columns) {
        from = from > first ? from : first;
        end = end < first + place.count ? end : first + place.count;
    }
    if (from >= end)
        return;
    for (unsigned k = 0; k < bands->kind.nplanes; k++) {
        const uint8_t *at = place_row(bands, &place, k, from - first);
        const struct plane *plane = &r->rows->plane[k];
        /* Where rows are as long in the file, they are copied together. */
        const uint32_t n = plane->stride == place.row ? end - from : 1;
        for (uint32_t y = from; y < end; y += n)
            memcpy((uint8_t *)plane_row(plane, y - r->y) + left,
                   at + (y - from) * place.row, n * place.row);
        /* All of the plane, as the system maps more pages than those it reads.
         */
        bytes_unload(place_row(bands, &place, k, 0), place.plane);
    }
}

/* ---- Where rows go ---------------------------------------------------------
 */

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

int row_sink_open(struct row_sink *rows, struct image *img,
                  const struct row_sink_opts *opts, struct err *err)
{
    *rows =
        (struct row_sink){ .img = img,
                           .turner = opts->turner,
                           .t = opts->t,
                           .height = img->height,
                           .step = BAND_ROWS,
                           .room = opts->in_passes ? img->height : BAND_ROWS };
    if (opts->limits &&
        image_choose_pixels(img, opts->limits) == PIXELS_BANDS) {
        rows->scratch = opts->limits->scratch;
        if (bands_open(img, rows->t, rows->scratch, err))
            return -1;
        rows->step = rows->room = img->pixels.bands->rows;
        rows->tight = image_row_bytes(img, stored_width(rows)) * rows->step >
                      rows->scratch->memory / 4;
    } else {
        if (opts->t == XFORM_NONE)
            rows->turner = NULL;
        if (rows->turner && xform_transposes(opts->t)) {
            img->height = img->width;
            img->width = rows->height;
        }
        if (rows->turner)
            img->turned = opts->t;
        if (image_alloc(img, opts->mem, err))
            return -1;
        if (!rows->turner)
            return 0;
    }
    if (rows->room > rows->height)
        rows->room = rows->height;
    rows->band.end = first_end(rows);
    return open_band(rows, &rows->band.img, err);
}

const struct image *row_sink_at(const struct row_sink *rows, uint32_t y,
                                uint32_t *row)
{
    *row = y - rows->band.first;
    return rows->turner ? &rows->band.img : rows->img;
}

/* Turns the rows of a band, which are complete. */
static int turn_band(const struct row_sink *rows, const struct row_band *band,
                     struct err *err)
{
    const struct turner *turner = rows->turner;
    const uint32_t n = band->end - band->begin;
    const struct image from =
        image_part(&band->img, false, band->begin - band->first, n);
    if (image_has_bands(rows->img))
        return bands_write(rows->img->pixels.bands, band->begin, &from, turner,
                           err);
    const bool columns = xform_transposes(rows->t);
    const enum xform mirror = columns ? XFORM_MIRROR_X : XFORM_MIRROR_Y;
    struct image to = image_part(
        rows->img, columns,
        rows->t & mirror ? rows->height - band->end : band->begin, n);
    return turner->turn(turner->context, &to, &from, rows->t, err);
}

int row_sink_done(struct row_sink *rows, uint32_t y, struct err *err)
{
    struct row_band *band = &rows->band;
    const uint32_t end = band->end, left = rows->height - end;
    if (!rows->turner || y + 1 < end)
        return 0;
    if (rows->second.img.pixels.kind && !row_sink_has_waiting(rows)) {
        /* It is put aside, and the other one is filled. */
        const struct row_band full = *band;
        *band = rows->second;
        rows->second = full;
        atomic_store(&rows->waiting, true);
    } else if (turn_band(rows, band, err)) {
        return -1;
    }
    band->begin = end;
    band->first = rows->room < rows->height ? end : 0;
    band->end = end + (left < rows->step ? left : rows->step);
    return 0;
}

void row_sink_open_second(struct row_sink *rows)
{
    struct err unheard;
    if (rows->turner && rows->room < rows->height && !rows->tight)
        (void)open_band(rows, &rows->second.img, &unheard);
}

bool row_sink_has_waiting(const struct row_sink *rows)
{
    return atomic_load(&rows->waiting);
}

int row_sink_turn_waiting(struct row_sink *rows, struct err *err)
{
    int status = turn_band(rows, &rows->second, err);
    atomic_store(&rows->waiting, false);
    return status;
}

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
    band->band = band->second = (struct row_band){ .first = 0 };
    if (!rows->turner)
        return 0;
    band->band.begin = band->band.first = *begin;
    band->band.end = *end;
    return open_band(band, &band->band.img, err);
}

void row_sink_close(struct row_sink *rows)
{
    image_free(&rows->band.img);
    image_free(&rows->second.img);
}

/* ---- Where rows come from --------------------------------------------------
 */

struct row_source row_source_open(const struct image *img,
                                  struct thread_pool *pool)
{
    return (struct row_source){ .img = img,
                                .pool = pool,
                                .end = image_has_bands(img) ? 0 : img->height };
}

uint32_t row_source_most(const struct row_source *rows)
{
    const struct image *img = rows->img;
    const struct bands *bands = img->pixels.bands;
    if (!image_has_bands(img))
        return img->height;
    const struct image *kind = &bands->kind;
    const uint64_t pixel = img->nplanes * cell_size(img->cell),
                   more = bands->convert ? kind->nplanes * cell_size(kind->cell)
                                         : 0;
    return rows_in(bands->memory - bands->memory / 4,
                   (pixel + more) * img->width, img->height);
}

bool row_source_fits(const struct image *img)
{
    return image_row_bytes(img, img->width) <= img->pixels.bands->memory / 2;
}

/* Makes rows of the kind of `img` so many. */
static int make_rows(struct image *rows, const struct image *img,
                     uint32_t height, struct err *err)
{
    if (rows->height == height)
        return 0;
    image_free(rows);
    *rows = image_kind(img);
    rows->height = height;
    return image_alloc_packed(rows, err);
}

int row_source_hold(struct row_source *rows, uint32_t begin, uint32_t end,
                    struct err *err)
{
    if (begin >= rows->begin && end <= rows->end)
        return 0;
    const struct bands *bands = rows->img->pixels.bands;
    rows->begin = rows->end = 0;
    if (make_rows(&rows->window, rows->img, end - begin, err) ||
        (bands->convert &&
         make_rows(&rows->stored, &bands->kind, end - begin, err)))
        return -1;
    struct bands_reading r = { bands,
                               bands->convert ? &rows->stored : &rows->window,
                               begin };
    thread_pool_run(rows->pool, read_band, &r,
                    (bands->height - 1) / bands->rows + 1);
    if (bands->convert)
        bands->convert(bands->converter, &rows->window, &rows->stored);
    rows->begin = begin;
    rows->end = end;
    return 0;
}

int row_source_reach(struct row_source *rows, uint32_t y, struct err *err)
{
    if (y >= rows->begin && y < rows->end)
        return 0;
    uint32_t most = row_source_most(rows), left = rows->img->height - y;
    if (y + 1 == rows->begin || left == 1)
        return row_source_hold(rows, y + 1 > most ? y + 1 - most : 0, y + 1,
                               err);
    return row_source_hold(rows, y, y + (left < most ? left : most), err);
}

void row_source_close(struct row_source *rows)
{
    image_free(&rows->window);
    image_free(&rows->stored);
}
