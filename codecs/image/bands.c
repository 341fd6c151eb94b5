/* The samples of a picture in bands, in a mapped temporary file. */
#include "codecs/image/bands.h"

#include <string.h>

#include "codecs/base/memory.h"

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

/* Returns the rows of a band of the picture as stored. */
static uint32_t band_rows(const struct image *img, uint64_t memory)
{
    const uint64_t row = image_row_bytes(img, img->width);
    uint32_t most = rows_in(BAND_LEAST, row, UINT32_MAX);
    return rows_in(memory, row, most > BAND_MOST ? most : BAND_MOST);
}

int bands_open(struct image *img, enum xform t, const struct scratch *scratch,
               struct err *err)
{
    struct bands *bands = memory_alloc(sizeof *bands);
    if (!bands)
        return fail_memory(err, "no memory for a temporary file");
    *bands = (struct bands){
        .memory = scratch->memory,
        .t = t,
        .width = img->width,
        .height = img->height,
        .rows = band_rows(img, scratch->memory / 2),
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

bool bands_fit(const struct image *img)
{
    return image_row_bytes(img, img->width) <= img->pixels.bands->memory / 2;
}

uint32_t bands_window(const struct image *img)
{
    const struct bands *bands = img->pixels.bands;
    const struct image *kind = &bands->kind;
    const uint64_t pixel = img->nplanes * cell_size(img->cell),
                   more = bands->convert ? kind->nplanes * cell_size(kind->cell)
                                         : 0;
    return rows_in(bands->memory - bands->memory / 4,
                   (pixel + more) * img->width, img->height);
}

/* ---- Where things are ---------------------------------------------------- */

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

/* ---- Writing ------------------------------------------------------------- */

/* A band is turned in blocks: some columns of it, which become rows, or some
 * rows. Columns come in whole strides, so that blocks are aligned. */
static uint32_t block_of(const struct bands *bands, const struct band_place *at)
{
    const uint64_t row =
        image_row_bytes(&bands->kind, at->columns ? at->count : bands->width);
    uint32_t n = rows_in(BLOCK, row, UINT32_MAX);
    if (!at->columns)
        return n < at->count ? n : at->count;
    n = n > IMAGE_STRIDE ? n - n % IMAGE_STRIDE : IMAGE_STRIDE;
    return n < bands->width ? n : bands->width;
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

int bands_write(const struct bands *bands, uint32_t begin,
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
    uint32_t all = place.columns ? bands->width : place.count;
    uint32_t n = block_of(bands, &place);
    struct image block = image_kind(&bands->kind);
    block.width = place.columns ? place.count : bands->width;
    block.height = n;
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

/* ---- Reading ------------------------------------------------------------- */

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

void bands_read(const struct bands *bands, uint32_t y, const struct image *rows,
                struct thread_pool *pool)
{
    struct bands_reading r = { bands, rows, y };
    thread_pool_run(pool, read_band, &r, (bands->height - 1) / bands->rows + 1);
}
