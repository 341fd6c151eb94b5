/* Turns every picture of an array, whatever its cells are.
 *
 * Backends turn planes of cells of 1, 2 or 4 bytes. A pixel of an array is a
 * run of bytes, which becomes few cells of that kind: 4 channels of a byte are
 * one cell of 4 bytes, 3 channels of a byte are three cells in a plane each,
 * and 8 or 16 bytes are two or four cells of 4. Longer pixels are copied one by
 * one, which is as fast as memory.
 *
 * A picture is cut into tiles, each of which is split into planes, turned and
 * joined while it is in a cache; several small pictures make one tile. The
 * memory that this takes does not depend on the array. No library turns arrays
 * of any cell so: numpy itself copies them cell by cell. */
#include "codecs/base/memory.h"
#include "codecs/npy/npy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "codecs/image/interleave.h"
#include "codecs/image/limit.h"

/* ---- The shape of the grid ------------------------------------------------*/

/* The product of the axes from `begin` up to `end`, counted in the order of
 * memory; UINT64_MAX if it is larger. */
static uint64_t product(const struct npy_header *header, unsigned begin,
                        unsigned end)
{
    uint64_t all = 1;
    for (unsigned i = begin; i < end; i++) {
        unsigned axis = header->fortran ? header->naxes - 1 - i : i;
        if (__builtin_mul_overflow(all, header->shape[axis], &all))
            return UINT64_MAX;
    }
    return all;
}

/* Returns which axis, in the order of memory, is the rows. Columns are the
 * next. */
static unsigned find_rows(const struct npy_header *header, enum layout layout)
{
    const char *name = layout_name(layout);
    unsigned h = (unsigned)(strchr(name, 'h') - name);
    return header->fortran ? header->naxes - 2 - h : h;
}

static int too_large(const struct npy_header *header, uint64_t bytes,
                     const struct limits *limits, struct err *err)
{
    char text[256], what[288];
    layout_print_shape(text, sizeof text, header->shape, header->naxes);
    snprintf(what, sizeof what, "shape %s needs", text);
    return limit_refuse_memory(what, bytes, limits, err);
}

int npy_grid_of(struct npy_grid *grid, const struct npy_header *header,
                enum layout layout, size_t cell, const struct limits *limits,
                struct err *err)
{
    unsigned at = find_rows(header, layout);
    uint64_t rows = product(header, at, at + 1);
    uint64_t columns = product(header, at + 1, at + 2);
    uint64_t pixel = product(header, at + 2, header->naxes), all;
    grid->pictures = product(header, 0, at);
    if (rows > IMAGE_DIMENSION || columns > IMAGE_DIMENSION ||
        rows * columns > limits->pixels)
        return limit_refuse_pixels(header->fortran ? rows : columns,
                                   header->fortran ? columns : rows, limits,
                                   err);
    if (__builtin_mul_overflow(pixel, cell, &pixel) ||
        __builtin_mul_overflow(rows * columns, pixel, &all) ||
        __builtin_mul_overflow(all, grid->pictures, &all) || all > SIZE_MAX / 4)
        return too_large(header, UINT64_MAX, limits, err);
    grid->rows = (uint32_t)rows;
    grid->columns = (uint32_t)columns;
    grid->pixel = (size_t)pixel;
    return npy_is_beyond(grid, limits) && !limits->scratch
               ? npy_refuse(grid, header, limits, err)
               : 0;
}

bool npy_is_beyond(const struct npy_grid *grid, const struct limits *limits)
{
    const uint64_t all = npy_grid_size(grid);
    return 2 * all > limit_bytes(limits, all);
}

int npy_refuse(const struct npy_grid *grid, const struct npy_header *header,
               const struct limits *limits, struct err *err)
{
    const uint64_t all = npy_grid_size(grid);
    struct limits told = *limits;
    told.bytes = limit_bytes(limits, all);
    return too_large(header, 2 * all, &told, err);
}

/* ---- An array that is being turned ----------------------------------------*/

/* Pixels of more cells are copied one by one. */
enum { CELLS_OF_PIXEL = 4 };

/* The planes of a tile before and after the turn, which one thread uses at a
 * time. */
struct tile_planes {
    struct tile_planes *next;
    struct image from, to;
};

struct grid_turn {
    const struct npy_grid *grid;
    enum xform t;
    const uint8_t *from;
    uint8_t *to;
    const struct load_opts *opts;
    enum cell cell;
    unsigned cells; /* of a pixel; 0: pixels are copied one by one */
    uint32_t rows, columns, pictures; /* of a tile */
    uint32_t down, across;            /* tiles of a picture */
    pthread_mutex_t lock;
    struct tile_planes *idle; /* under the lock, as err is */
    struct err *err;
    atomic_bool failed;
};

/* Some pixels of some pictures, at their position in the source. */
struct tile {
    uint64_t picture;
    uint32_t pictures, x, y, width, height;
};

static uint32_t least(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

/* Chooses the largest cells that make up a pixel, if few of them do. */
static void choose_cells(struct grid_turn *w)
{
    size_t pixel = w->grid->pixel;
    w->cell = pixel % 4 == 0 ? CELL_F32 : pixel % 2 == 0 ? CELL_U16 : CELL_U8;
    size_t cells = pixel / cell_size(w->cell);
    w->cells = cells > CELLS_OF_PIXEL ? 0 : (unsigned)cells;
}

/* A tile has about the number of bytes that suits the turner. It is square
 * where rows become columns, else as wide as the picture. */
static void choose_tile(struct grid_turn *w)
{
    const struct npy_grid *grid = w->grid;
    uint64_t pixels = w->opts->turner->tile / grid->pixel + 1;
    uint32_t side = 64;
    while (xform_transposes(w->t) && (uint64_t)side * side * 4 <= pixels)
        side *= 2;
    w->rows = xform_transposes(w->t) ? least(side, grid->rows) : 1;
    w->columns = least(pixels / w->rows + 1, grid->columns);
    w->rows = least(pixels / w->columns + 1, grid->rows);
    w->pictures = 1;
    if (w->rows == grid->rows && w->columns == grid->columns && w->cells)
        w->pictures =
            least(pixels / w->rows / w->columns + 1, IMAGE_PLANES / w->cells);
    w->pictures = least(grid->pictures, w->pictures);
    w->down = (grid->rows - 1) / w->rows + 1;
    w->across = (grid->columns - 1) / w->columns + 1;
}

static struct tile tile_at(const struct grid_turn *w, size_t i)
{
    const struct npy_grid *grid = w->grid;
    struct tile tile = {
        .x = (uint32_t)(i % w->across) * w->columns,
        .y = (uint32_t)(i / w->across % w->down) * w->rows,
        .picture = (uint64_t)(i / w->across / w->down) * w->pictures,
    };
    tile.width = least(grid->columns - tile.x, w->columns);
    tile.height = least(grid->rows - tile.y, w->rows);
    tile.pictures = least(grid->pictures - tile.picture, w->pictures);
    return tile;
}

/* Returns where the p-th picture of a tile begins in the source. */
static const uint8_t *tile_source(const struct grid_turn *w,
                                  const struct tile *tile, uint32_t p)
{
    const struct npy_grid *grid = w->grid;
    size_t row = (size_t)(tile->picture + p) * grid->rows + tile->y;
    return w->from + (row * grid->columns + tile->x) * grid->pixel;
}

/* Returns where it begins in the result. */
static uint8_t *tile_target(const struct grid_turn *w, const struct tile *tile,
                            uint32_t p)
{
    const struct npy_grid *grid = w->grid;
    bool columns = xform_transposes(w->t);
    uint32_t x = xform_reverses_x(w->t) ? grid->columns - tile->x - tile->width
                                        : tile->x;
    uint32_t y =
        xform_reverses_y(w->t) ? grid->rows - tile->y - tile->height : tile->y;
    size_t width = columns ? grid->rows : grid->columns;
    size_t height = columns ? grid->columns : grid->rows;
    size_t row = (size_t)(tile->picture + p) * height + (columns ? x : y);
    return w->to + (row * width + (columns ? y : x)) * grid->pixel;
}

/* ---- A tile whose pixels are copied ---------------------------------------*/

/* Copies pixels in the order in which they are written. A step to the right in
 * the result is `right` bytes in the source, a step down is `below`. */
static void copy_pixels(const struct grid_turn *w, const struct tile *tile)
{
    bool columns = xform_transposes(w->t);
    uint32_t width = columns ? tile->height : tile->width;
    uint32_t height = columns ? tile->width : tile->height, sx, sy;
    ptrdiff_t pixel = (ptrdiff_t)w->grid->pixel;
    ptrdiff_t row = (ptrdiff_t)w->grid->columns * pixel;
    ptrdiff_t right = columns ? row : pixel, below = columns ? pixel : row;
    size_t stride = columns ? w->grid->rows : w->grid->columns;
    const uint8_t *from = tile_source(w, tile, 0);
    uint8_t *to = tile_target(w, tile, 0);
    xform_source(w->t, width, height, 0, 0, &sx, &sy);
    from += (ptrdiff_t)sy * row + (ptrdiff_t)sx * pixel;
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *at = from;
        for (uint32_t x = 0; x < width; x++) {
            memcpy(to + x * (size_t)pixel, at, (size_t)pixel);
            at += w->t & XFORM_MIRROR_X ? -right : right;
        }
        from += w->t & XFORM_MIRROR_Y ? -below : below;
        to += stride * (size_t)pixel;
    }
}

/* ---- A tile of planes -----------------------------------------------------*/

/* Shrinks an image, which has room for more, to the size of a tile. */
static void set_size(struct image *img, uint32_t width, uint32_t height,
                     unsigned nplanes)
{
    img->width = width;
    img->height = height;
    img->nplanes = nplanes;
    for (unsigned i = 0; i < nplanes; i++) {
        img->plane[i].width = width;
        img->plane[i].height = height;
    }
}

/* Returns the planes of the p-th picture of a tile. */
static struct image picture_of(const struct grid_turn *w,
                               const struct image *img, uint32_t p)
{
    struct image one = { .cell = img->cell,
                         .width = img->width,
                         .height = img->height,
                         .nplanes = w->cells };
    memcpy(one.plane, img->plane + p * w->cells, w->cells * sizeof *one.plane);
    return one;
}

static int turn_tile(const struct grid_turn *w, struct tile_planes *planes,
                     const struct tile *tile, struct err *err)
{
    const struct npy_grid *grid = w->grid;
    struct image *from = &planes->from, *to = &planes->to;
    bool columns = xform_transposes(w->t);
    unsigned nplanes = tile->pictures * w->cells;
    size_t stride = grid->columns * grid->pixel;
    set_size(from, tile->width, tile->height, nplanes);
    set_size(to, columns ? tile->height : tile->width,
             columns ? tile->width : tile->height, nplanes);
    for (uint32_t p = 0; p < tile->pictures; p++) {
        const struct image one = picture_of(w, from, p);
        const uint8_t *at = tile_source(w, tile, p);
        for (uint32_t y = 0; y < one.height; y++)
            interleave_split_row(&one, y, at + y * stride);
    }
    const struct turner *turner = w->opts->turner;
    if (turner->turn(turner->context, to, from, w->t, err))
        return -1;
    stride = (columns ? grid->rows : grid->columns) * grid->pixel;
    for (uint32_t p = 0; p < tile->pictures; p++) {
        const struct image one = picture_of(w, to, p);
        uint8_t *at = tile_target(w, tile, p);
        for (uint32_t y = 0; y < one.height; y++)
            interleave_join_row(&one, y, at + y * stride);
    }
    return 0;
}

/* ---- Threads --------------------------------------------------------------*/

static void planes_free(struct tile_planes *planes)
{
    image_free(&planes->from);
    image_free(&planes->to);
    memory_free(planes);
}

static struct tile_planes *planes_new(const struct grid_turn *w,
                                      struct err *err)
{
    struct tile_planes *planes = memory_alloc_zeroed(1, sizeof *planes);
    if (!planes) {
        fail_memory(err, "no memory to turn an array");
        return NULL;
    }
    planes->from = (struct image){ .cell = w->cell,
                                   .width = w->columns,
                                   .height = w->rows,
                                   .nplanes = w->pictures * w->cells };
    if (image_alloc(&planes->from, w->opts->mem, err) == 0 &&
        image_like(&planes->to, &planes->from, w->t, w->opts->mem, err) == 0)
        return planes;
    planes_free(planes);
    return NULL;
}

static struct tile_planes *planes_take(struct grid_turn *w, struct err *err)
{
    pthread_mutex_lock(&w->lock);
    struct tile_planes *planes = w->idle;
    if (planes)
        w->idle = planes->next;
    pthread_mutex_unlock(&w->lock);
    return planes ? planes : planes_new(w, err);
}

static void planes_return(struct grid_turn *w, struct tile_planes *planes)
{
    pthread_mutex_lock(&w->lock);
    planes->next = w->idle;
    w->idle = planes;
    pthread_mutex_unlock(&w->lock);
}

/* Keeps the first failure, which is the one that is reported. */
static void give_up(struct grid_turn *w, const struct err *err)
{
    pthread_mutex_lock(&w->lock);
    if (!atomic_load(&w->failed))
        *w->err = *err;
    atomic_store(&w->failed, true);
    pthread_mutex_unlock(&w->lock);
}

static void work(void *context, size_t i)
{
    struct grid_turn *w = context;
    struct tile tile = tile_at(w, i);
    struct err err;
    if (atomic_load(&w->failed))
        return;
    if (!w->cells) {
        copy_pixels(w, &tile);
        return;
    }
    struct tile_planes *planes = planes_take(w, &err);
    if (!planes || turn_tile(w, planes, &tile, &err))
        give_up(w, &err);
    if (planes)
        planes_return(w, planes);
}

/* Where rows stay as they are, each is one pixel as wide as the picture, so
 * that whole rows are copied. */
static struct npy_grid grid_by_rows(const struct npy_grid *grid, enum xform t)
{
    struct npy_grid rows = *grid;
    if (t & ~(unsigned)XFORM_MIRROR_Y)
        return rows;
    rows.pixel *= rows.columns;
    rows.columns = 1;
    return rows;
}

int npy_turn_grid(uint8_t *to, const uint8_t *from, const struct npy_grid *grid,
                  enum xform t, const struct load_opts *opts, struct err *err)
{
    const struct npy_grid whole = grid_by_rows(grid, t);
    struct grid_turn w = {
        .grid = &whole,
        .t = t,
        .from = from,
        .to = to,
        .opts = opts,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .err = err,
    };
    choose_cells(&w);
    choose_tile(&w);
    size_t n =
        (size_t)((grid->pictures - 1) / w.pictures + 1) * w.down * w.across;
    thread_pool_run(opts->turner->parallel ? opts->pool : NULL, work, &w, n);
    for (struct tile_planes *planes = w.idle, *next; planes; planes = next) {
        next = planes->next;
        planes_free(planes);
    }
    return atomic_load(&w.failed) ? -1 : 0;
}
