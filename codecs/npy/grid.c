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
#include "codecs/npy/header.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "codecs/image/interleave.h"
#include "codecs/image/limit.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

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

/* Refuses cells of so many bytes, which are needed before and after a turn;
 * UINT64_MAX: more than can be counted. */
static int refuse(uint64_t all, const struct npy_header *header,
                  const struct limits *limits, struct err *err)
{
    char text[256], what[288];
    struct limits told = *limits;
    told.bytes = limit_bytes(limits, all);
    layout_print_shape(text, sizeof text, header->shape, header->naxes);
    snprintf(what, sizeof what, "shape %s needs", text);
    return limit_refuse_memory(what, all == UINT64_MAX ? all : 2 * all, &told,
                               err);
}

/* Returns whether a grid needs more bytes, before and after a turn, than the
 * limits allow. */
static bool is_beyond(const struct npy_grid *grid, const struct limits *limits)
{
    const uint64_t all = grid_size(grid);
    return 2 * all > limit_bytes(limits, all);
}

/* Columns are the axis behind the rows, in the order of memory. */
int grid_of(struct npy_grid *grid, const struct npy_header *header,
            enum layout layout, size_t cell, const struct limits *limits,
            struct err *err)
{
    const char *name = layout_name[layout];
    const unsigned h = (unsigned)(strchr(name, 'h') - name),
                   at = header->fortran ? header->naxes - 2 - h : h;
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
        return refuse(UINT64_MAX, header, limits, err);
    grid->rows = (uint32_t)rows;
    grid->columns = (uint32_t)columns;
    grid->pixel = (size_t)pixel;
    return is_beyond(grid, limits) && !limits->scratch
               ? refuse(grid_size(grid), header, limits, err)
               : 0;
}

static uint64_t picture_size(const struct npy_grid *grid)
{
    return (uint64_t)grid->rows * grid->columns * grid->pixel;
}

/* Returns the bytes of a piece that is in memory, before and after its turn. */
static size_t piece_of(const struct scratch *scratch)
{
    return (size_t)(scratch->memory / 2);
}

int grid_plan(struct npy_grid *grid, const struct npy_header *header,
              const struct limits *limits, struct err *err)
{
    const struct scratch *scratch = limits->scratch;
    grid->large = is_beyond(grid, limits);
    if (grid->large && (!scratch || grid_size(grid) > limits->stored ||
                        picture_size(grid) > piece_of(scratch)))
        return refuse(grid_size(grid), header, limits, err);
    if (limits->reserve)
        limits->reserve(limits->context,
                        grid->large ? scratch->memory : 2 * grid_size(grid));
    return 0;
}

/* ---- Tiles ----------------------------------------------------------------*/

struct tiling {
    uint32_t rows, columns, pictures; /* of a tile */
    uint32_t down, across;            /* tiles of a picture */
};

struct tile_turn {
    const struct npy_grid *grid;
    enum xform t;
    const uint8_t *from;
    uint8_t *to;
    const struct load_opts *opts;
    enum cell cell;
    unsigned cells; /* of a pixel; 0: pixels are copied one by one */
    struct tiling tiling;
    size_t tiles, share; /* of all tiles, so many at a time are for a thread */
    struct err *err;     /* of the first thread that fails */
    atomic_bool failed;
};

/* Some pixels of some pictures, at their position in the source. */
struct tile {
    uint64_t picture;
    uint32_t pictures, x, y, width, height;
};

/* Returns where the p-th picture of a tile begins in the source. */
static const uint8_t *tile_source(const struct tile_turn *w,
                                  const struct tile *tile, uint32_t p)
{
    const struct npy_grid *grid = w->grid;
    size_t row = (size_t)(tile->picture + p) * grid->rows + tile->y;
    return w->from + (row * grid->columns + tile->x) * grid->pixel;
}

/* Returns where it begins in the result. */
static uint8_t *tile_target(const struct tile_turn *w, const struct tile *tile,
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

/* Copies pixels in the order in which they are written. A step to the right in
 * the result is `right` bytes in the source, a step down is `below`. */
static void copy_pixels(const struct tile_turn *w, const struct tile *tile)
{
    bool columns = xform_transposes(w->t);
    uint32_t width = columns ? tile->height : tile->width;
    uint32_t height = columns ? tile->width : tile->height;
    ptrdiff_t pixel = (ptrdiff_t)w->grid->pixel;
    ptrdiff_t row = (ptrdiff_t)w->grid->columns * pixel;
    ptrdiff_t right = columns ? row : pixel, below = columns ? pixel : row;
    size_t stride = columns ? w->grid->rows : w->grid->columns;
    const struct plane source = { (uint8_t *)tile_source(w, tile, 0),
                                  (size_t)row, tile->width, tile->height };
    const uint8_t *from = plane_cell(&source, (size_t)pixel, w->t, 0, 0);
    uint8_t *to = tile_target(w, tile, 0);
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
static struct image picture_of(const struct tile_turn *w,
                               const struct image *img, uint32_t p)
{
    struct image one = { .cell = img->cell,
                         .width = img->width,
                         .height = img->height,
                         .nplanes = w->cells };
    memcpy(one.plane, img->plane + p * w->cells, w->cells * sizeof *one.plane);
    return one;
}

/* Turns a tile through planes that have room for it. */
static int turn_tile(const struct tile_turn *w, struct image *from,
                     struct image *to, const struct tile *tile, struct err *err)
{
    const struct npy_grid *grid = w->grid;
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
    const struct turner *turner = w->opts->save->turner;
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

/* Turns the tiles of a share, with planes before and after the turn. */
static void turn_share(void *context, size_t share)
{
    struct tile_turn *w = context;
    const struct npy_grid *grid = w->grid;
    const struct tiling *g = &w->tiling;
    struct image from = { .cell = w->cell,
                          .width = g->columns,
                          .height = g->rows,
                          .nplanes = g->pictures * w->cells },
                 to = { 0 };
    struct err err;
    bool good =
        !w->cells || (image_alloc(&from, w->opts->mem, &err) == 0 &&
                      image_like(&to, &from, w->t, w->opts->mem, &err) == 0);
    const size_t first = share * w->share,
                 end = least(first + w->share, w->tiles);
    for (size_t i = first; i < end && good && !atomic_load(&w->failed); i++) {
        struct tile tile = {
            .x = (uint32_t)(i % g->across) * g->columns,
            .y = (uint32_t)(i / g->across % g->down) * g->rows,
            .picture = (uint64_t)(i / g->across / g->down) * g->pictures,
        };
        tile.width = (uint32_t)least(grid->columns - tile.x, g->columns);
        tile.height = (uint32_t)least(grid->rows - tile.y, g->rows);
        tile.pictures =
            (uint32_t)least(grid->pictures - tile.picture, g->pictures);
        if (w->cells)
            good = turn_tile(w, &from, &to, &tile, &err) == 0;
        else
            copy_pixels(w, &tile);
    }
    image_free(&from);
    image_free(&to);
    if (!good && !atomic_exchange(&w->failed, true))
        *w->err = err;
}

/* Turns every picture of a grid from `from` to `to`, which do not overlap, a
 * tile at a time. Where rows stay as they are, each is one pixel as wide as the
 * picture, so that whole rows are copied. */
static int turn_tiles(uint8_t *to, const uint8_t *from,
                      const struct npy_grid *grid, enum xform t,
                      const struct load_opts *opts, struct err *err)
{
    enum { CELLS_OF_PIXEL = 4 }; /* pixels of more are copied one by one */
    enum { SHARES = 8 };         /* of each thread, which may be held up */
    struct npy_grid whole = *grid;
    struct tile_turn w = {
        .grid = &whole,
        .t = t,
        .from = from,
        .to = to,
        .opts = opts,
        .err = err,
    };
    if (!(t & ~(unsigned)XFORM_MIRROR_Y)) {
        whole.pixel *= whole.columns;
        whole.columns = 1;
    }
    /* The largest cells that make up a pixel, if few of them do. A tile has
     * about the number of bytes that suits the turner. It is square where rows
     * become columns, else as wide as the picture. */
    const size_t pixel = whole.pixel;
    uint64_t pixels = opts->save->turner->tile / pixel + 1;
    uint32_t side = 64, rows = 1, columns, pictures = 1;
    w.cell = pixel % 4 == 0 ? CELL_F32 : pixel % 2 == 0 ? CELL_U16 : CELL_U8;
    size_t cells = pixel / cell_size(w.cell);
    w.cells = cells > CELLS_OF_PIXEL ? 0 : (unsigned)cells;
    while (xform_transposes(t) && (uint64_t)side * side * 4 <= pixels)
        side *= 2;
    if (xform_transposes(t))
        rows = (uint32_t)least(side, whole.rows);
    columns = (uint32_t)least(pixels / rows + 1, whole.columns);
    rows = (uint32_t)least(pixels / columns + 1, whole.rows);
    if (rows == whole.rows && columns == whole.columns && w.cells)
        pictures = (uint32_t)least(pixels / rows / columns + 1,
                                   IMAGE_PLANES / w.cells);
    w.tiling = (struct tiling){
        .rows = rows,
        .columns = columns,
        .pictures = (uint32_t)least(whole.pictures, pictures),
        .down = (whole.rows - 1) / rows + 1,
        .across = (whole.columns - 1) / columns + 1,
    };
    struct thread_pool *pool = opts->save->turner->parallel ? opts->pool : NULL;
    w.tiles = (size_t)((grid->pictures - 1) / w.tiling.pictures + 1) *
              w.tiling.down * w.tiling.across;
    w.share =
        pool ? w.tiles / (SHARES * thread_pool_threads(pool)) + 1 : w.tiles;
    thread_pool_run(pool, turn_share, &w, (w.tiles - 1) / w.share + 1);
    return atomic_load(&w.failed) ? -1 : 0;
}

/* ---- The whole ------------------------------------------------------------*/

/* An array that is more than memory is to hold is turned in pieces, each of
 * some pictures. */
int grid_turn(struct bytes *out, struct bytes cells,
              const struct npy_grid *grid, enum xform t,
              const struct load_opts *opts, struct err *err)
{
    const size_t size = (size_t)picture_size(grid);
    const uint64_t most =
        grid->large ? piece_of(opts->limits.scratch) / size : grid->pictures;
    struct bytes_passed passed = bytes_passed_begin(cells);
    struct npy_grid piece = *grid;
    int status = 0;
    for (uint64_t i = 0; i < grid->pictures && status == 0;
         i += piece.pictures) {
        piece.pictures = least(most, grid->pictures - i);
        /* Where the file is cut short, zeros follow. */
        const size_t at = least(i * size, cells.size), all = grid_size(&piece);
        const struct bytes rest = { cells.data + at, cells.size - at, 0 };
        struct bytes from;
        if (!bytes_reserve(out, all) || !bytes_pad(&from, rest, all))
            return fail_memory(err, "no memory for a part of an array");
        status =
            turn_tiles(out->data + out->size, from.data, &piece, t, opts, err);
        bytes_pass(&passed, rest.data + least(all, rest.size));
        bytes_free(&from);
        out->size += all;
        if (status == 0)
            status = flush_file(grid->large ? opts->flush : NULL, out, err);
    }
    return status;
}
