/* The cells of a picture in a scratch file instead of in memory. */
#include "codecs/image/cell_store.h"

#include <pthread.h>
#include <string.h>

#include "codecs/base/memory.h"

/* Bytes that are turned and written, or read, at a time. */
enum { BLOCK = 4 << 20 };

/* A band has no more rows than this: half of what they take on their way is
 * still in a cache when they are turned. Short rows are more, so that a band is
 * worth a call of the system. */
enum { BAND_MOST = 256, BAND_LEAST = 1 << 20 };

/* Shorter rows of a turned block, in bytes, would be little beside what pads
 * them to a stride. */
enum { NARROW = 32 };

struct cell_store {
    const struct scratch *scratch;
    enum xform t;
    uint32_t width, height; /* of the picture as stored */
    uint32_t band;          /* rows */
};

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

static uint64_t size_of(const struct image *img)
{
    return img->nplanes * cell_size(img->cell) * (uint64_t)img->width *
           img->height;
}

static void close_store(void *context, void *cells)
{
    (void)cells;
    memory_free(context);
}

int cell_store_open(struct image *img, enum xform t,
                    const struct scratch *scratch, struct err *err)
{
    struct cell_store *store = memory_alloc(sizeof *store);
    if (!store)
        return fail_memory(err, "no memory for a scratch file");
    *store = (struct cell_store){
        .scratch = scratch,
        .t = t,
        .width = img->width,
        .height = img->height,
        .band = band_rows(img, scratch->memory / 2),
    };
    if (scratch->begin(scratch->context, size_of(img), err)) {
        memory_free(store);
        return -1;
    }
    if (xform_transposes(t)) {
        img->width = store->height;
        img->height = store->width;
    }
    img->turned = t;
    img->store = store;
    img->mem = (struct mem){ .free = close_store, .context = store };
    return 0;
}

struct scratch_part cell_store_behind(const struct image *img)
{
    return (struct scratch_part){ img->store->scratch, size_of(img) };
}

uint32_t cell_store_band(const struct cell_store *store)
{
    return store->band;
}

bool cell_store_fits(const struct image *img)
{
    return image_row_bytes(img, img->width) <= img->store->scratch->memory / 2;
}

uint32_t cell_store_window(const struct image *img)
{
    const uint64_t memory = img->store->scratch->memory,
                   pixel = img->nplanes * cell_size(img->cell),
                   more = img->view ? img->view->stored.nplanes *
                                          cell_size(img->view->stored.cell)
                                    : 0;
    return rows_in(memory - memory / 4, (pixel + more) * img->width,
                   img->height);
}

/* ---- Where things are ---------------------------------------------------- */

/* A band in the scratch file and in the turned picture. */
struct band_place {
    bool columns;   /* it is some columns of all rows, else some whole rows */
    uint32_t first; /* of these columns or rows */
    uint32_t count;
    uint64_t at;    /* of the band, in bytes */
    uint64_t plane; /* bytes of each */
    size_t row;     /* bytes in one of its planes */
};

static struct band_place place_of(const struct image *img, uint32_t begin)
{
    const struct cell_store *store = img->store;
    const size_t cell = cell_size(img->cell);
    struct band_place place = { .columns = xform_transposes(store->t) };
    uint32_t left = store->height - begin;
    enum xform mirror = place.columns ? XFORM_MIRROR_X : XFORM_MIRROR_Y;
    place.count = left < store->band ? left : store->band;
    place.first = store->t & mirror ? left - place.count : begin;
    place.at = (uint64_t)begin * store->width * img->nplanes * cell;
    place.plane = (uint64_t)place.count * store->width * cell;
    place.row = (place.columns ? place.count : store->width) * cell;
    return place;
}

/* ---- Writing ------------------------------------------------------------- */

static bool is_narrow(const struct band_place *at)
{
    return at->columns && at->row <= NARROW;
}

/* A band is turned in blocks: some columns of it, which become rows, or some
 * rows. Columns come in whole strides, so that blocks are aligned. */
static uint32_t block_of(const struct image *img, const struct band_place *at)
{
    const struct cell_store *store = img->store;
    uint64_t row =
        is_narrow(at)
            ? at->row * img->nplanes
            : image_row_bytes(img, at->columns ? at->count : store->width);
    uint32_t n = rows_in(BLOCK, row, UINT32_MAX);
    if (!at->columns)
        return n < at->count ? n : at->count;
    n = n > IMAGE_STRIDE ? n - n % IMAGE_STRIDE : IMAGE_STRIDE;
    return n < store->width ? n : store->width;
}

/* Returns n columns or rows of a band, from `first` on. */
static struct image part_of(const struct image *band, bool columns,
                            uint32_t first, uint32_t n)
{
    struct image part = *band;
    *(columns ? &part.width : &part.height) = n;
    for (unsigned i = 0; i < part.nplanes; i++) {
        struct plane *plane = &part.plane[i];
        plane->data += first * (columns ? cell_size(part.cell) : plane->stride);
        plane->width = part.width;
        plane->height = part.height;
    }
    return part;
}

static void set_height(struct image *img, uint32_t height)
{
    img->height = height;
    for (unsigned i = 0; i < img->nplanes; i++)
        img->plane[i].height = height;
}

/* Writes all rows of a turned block, from row y of the band's on. */
static int write_rows(const struct image *img, const struct band_place *place,
                      const struct image *block, uint32_t y, struct err *err)
{
    const struct scratch *scratch = img->store->scratch;
    int status = 0;
    for (unsigned i = 0; i < block->nplanes && status == 0; i++) {
        const struct plane *plane = &block->plane[i];
        for (uint32_t row = 1;
             row < block->height && plane->stride > place->row; row++)
            memmove(plane->data + row * place->row, plane_row(plane, row),
                    place->row);
        status = scratch->write(scratch->context,
                                place->at + i * place->plane + y * place->row,
                                plane->data, block->height * place->row, err);
    }
    return status;
}

int cell_store_write(const struct image *img, uint32_t begin,
                     const struct image *band, const struct turner *turner,
                     struct err *err)
{
    const struct cell_store *store = img->store;
    const struct band_place place = place_of(img, begin);
    const bool backwards = store->t & XFORM_MIRROR_Y;
    uint32_t all = place.columns ? store->width : place.count;
    uint32_t n = block_of(img, &place);
    struct image block = { .cell = img->cell,
                           .width = place.columns ? place.count : store->width,
                           .height = n,
                           .nplanes = img->nplanes };
    int status = is_narrow(&place) ? image_alloc_packed(&block, err)
                                   : image_alloc(&block, mem_plain, err);
    for (uint32_t at = 0; at < all && status == 0; at += n) {
        n = n < all - at ? n : all - at;
        const struct image part = part_of(band, place.columns, at, n);
        set_height(&block, n);
        status = turner->turn(turner->context, &block, &part, store->t, err);
        if (status == 0)
            status = write_rows(img, &place, &block,
                                backwards ? all - at - n : at, err);
    }
    image_free(&block);
    return status;
}

/* ---- Reading ------------------------------------------------------------- */

struct store_reader {
    const struct image *img, *rows;
    uint32_t y;
    pthread_mutex_t lock; /* of what follows */
    bool failed;
    struct err *err;
};

/* Reads n rows of a plane of a band, from row y of its own on, to its rows from
 * `row` on: through a buffer, unless they stand there as in the file. */
static int read_plane(const struct store_reader *r,
                      const struct band_place *place, unsigned i, uint32_t y,
                      uint32_t row, uint32_t n, uint8_t *buffer,
                      struct err *err)
{
    const struct scratch *scratch = r->img->store->scratch;
    const struct plane *plane = &r->rows->plane[i];
    const uint64_t from = place->at + i * place->plane + y * place->row;
    size_t at = place->columns ? place->first * cell_size(r->img->cell) : 0;
    uint8_t *to = (uint8_t *)plane_row(plane, row) + at;
    const bool packed = plane->stride == place->row;
    if (scratch->read(scratch->context, from, packed ? to : buffer,
                      n * place->row, err))
        return -1;
    for (uint32_t k = 0; k < n && !packed; k++)
        memcpy(to + k * plane->stride, buffer + k * place->row, place->row);
    return 0;
}

/* Reads what a band has of the rows. */
static int read_band(const struct store_reader *r, uint32_t begin,
                     struct err *err)
{
    const struct band_place place = place_of(r->img, begin);
    uint32_t from = r->y, end = r->y + r->rows->height;
    uint32_t first = place.columns ? 0 : place.first;
    if (!place.columns) {
        from = from > first ? from : first;
        end = end < first + place.count ? end : first + place.count;
    }
    if (from >= end)
        return 0;
    uint32_t step = place.row < BLOCK ? (uint32_t)(BLOCK / place.row) : 1;
    step = step < end - from ? step : end - from;
    uint8_t *buffer = memory_alloc(step * place.row);
    int status = buffer ? 0 : fail_memory(err, "no memory for some rows");
    for (uint32_t y = from; y < end && status == 0; y += step) {
        step = step < end - y ? step : end - y;
        for (unsigned i = 0; i < r->img->nplanes && status == 0; i++)
            status = read_plane(r, &place, i, y - first, y - r->y, step, buffer,
                                err);
    }
    memory_free(buffer);
    return status;
}

static void read_next(void *context, size_t i)
{
    struct store_reader *r = context;
    struct err err;
    if (read_band(r, (uint32_t)i * r->img->store->band, &err) == 0)
        return;
    pthread_mutex_lock(&r->lock);
    if (!r->failed)
        *r->err = err;
    r->failed = true;
    pthread_mutex_unlock(&r->lock);
}

int cell_store_read(const struct image *img, uint32_t y,
                    const struct image *rows, struct thread_pool *pool,
                    struct err *err)
{
    const struct cell_store *store = img->store;
    struct store_reader r = { .img = img,
                              .rows = rows,
                              .y = y,
                              .lock = PTHREAD_MUTEX_INITIALIZER,
                              .err = err };
    thread_pool_run(pool, read_next, &r, (store->height - 1) / store->band + 1);
    return r.failed ? -1 : 0;
}
