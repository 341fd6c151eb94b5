/* Turns an array that is more than memory is to hold.
 *
 * It is read in order, in pieces that lie in one place: some pictures, or some
 * rows of one. Each is turned on its own. Where rows stay rows it is a piece of
 * the output, too. Where they become columns it is some columns of all rows:
 * then it goes to the scratch file as it is, and rows of the output are put
 * together from all pieces of a picture. */
#include <pthread.h>
#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/npy/npy.h"

/* Bytes that are read at a time: they stay in a cache until they are copied. */
enum { CHUNK = 256 << 10 };

struct grid_pieces {
    struct bytes *out;
    struct bytes cells; /* of the array; a file that is cut short has fewer */
    struct bytes_passed passed;
    const struct npy_grid *grid;
    enum xform t;
    const struct load_opts *opts;
    size_t most; /* bytes of a piece */
    struct err *err;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t picture_size(const struct npy_grid *grid)
{
    return (uint64_t)grid->rows * grid->columns * grid->pixel;
}

static size_t row_size(const struct npy_grid *grid)
{
    return grid->columns * grid->pixel;
}

/* Returns the bytes of a row after the turn. */
static size_t turned_row_size(const struct npy_grid *grid, enum xform t)
{
    return (xform_transposes(t) ? grid->rows : grid->columns) * grid->pixel;
}

static size_t piece_of(const struct scratch *scratch)
{
    return (size_t)(scratch->memory / 2);
}

bool npy_suits_pieces(const struct npy_grid *grid, enum xform t,
                      const struct limits *limits)
{
    const struct scratch *scratch = limits->scratch;
    return scratch && npy_grid_size(grid) <= limits->stored &&
           row_size(grid) <= piece_of(scratch) &&
           turned_row_size(grid, t) <= piece_of(scratch);
}

/* ---- A piece ------------------------------------------------------------- */

/* Turns what stands `at` bytes behind the first cell. Where the file is cut
 * short, zeros follow. */
static int turn_piece(struct grid_pieces *w, const struct npy_grid *piece,
                      uint64_t at, uint8_t *to)
{
    struct bytes rest = { .data = w->cells.data }, padded;
    if (at < w->cells.size) {
        rest.data += at;
        rest.size = w->cells.size - (size_t)at;
    }
    if (!bytes_pad(&padded, rest, npy_grid_size(piece)))
        return fail_memory(w->err, "no memory for a part of an array");
    int status = npy_turn_grid(to, padded.data, piece, w->t, w->opts, w->err);
    /* Pieces may come from the last one on. */
    bytes_pass(&w->passed, rest.data);
    bytes_pass(&w->passed, rest.data + least(rest.size, npy_grid_size(piece)));
    bytes_free(&padded);
    return status;
}

/* Turns a piece to the end of the output. */
static int append_piece(struct grid_pieces *w, const struct npy_grid *piece,
                        uint64_t at)
{
    if (!bytes_reserve(w->out, npy_grid_size(piece)))
        return fail_memory(w->err, "no memory for the file");
    if (turn_piece(w, piece, at, w->out->data + w->out->size))
        return -1;
    w->out->size += npy_grid_size(piece);
    return flush_file(w->opts->flush, w->out, w->err);
}

/* ---- Small pictures, and rows that stay rows ------------------------------
 */

static int turn_pictures(struct grid_pieces *w)
{
    const uint64_t size = picture_size(w->grid);
    struct npy_grid piece = *w->grid;
    int status = 0;
    for (uint64_t i = 0; i < w->grid->pictures && status == 0;
         i += piece.pictures) {
        piece.pictures = least(w->most / size, w->grid->pictures - i);
        status = append_piece(w, &piece, i * size);
    }
    return status;
}

/* The rows of a picture that begins `at` bytes behind the first cell. */
static int turn_rows(struct grid_pieces *w, uint64_t at)
{
    const size_t row = row_size(w->grid);
    struct npy_grid piece = *w->grid;
    int status = 0;
    piece.pictures = 1;
    for (uint32_t left = w->grid->rows; left && status == 0;
         left -= piece.rows) {
        piece.rows = (uint32_t)least(w->most / row, left);
        uint32_t y =
            w->t & XFORM_MIRROR_Y ? left - piece.rows : w->grid->rows - left;
        status = append_piece(w, &piece, at + y * (uint64_t)row);
    }
    return status;
}

/* ---- Rows that become columns ---------------------------------------------
 */

/* A picture in the scratch file, and some of its turned rows in memory. */
struct strips {
    const struct grid_pieces *w;
    const struct scratch *scratch;
    uint32_t band; /* rows of the stored picture in each piece */
    uint32_t y, n; /* the turned rows */
    uint8_t *rows;
    pthread_mutex_t lock; /* of what follows */
    bool failed;
};

/* Writes the picture, each of its pieces turned. */
static int write_strips(const struct strips *s, struct grid_pieces *w,
                        uint64_t at)
{
    const size_t row = row_size(w->grid);
    struct npy_grid piece = *w->grid;
    int status = 0;
    piece.pictures = 1;
    for (uint32_t y = 0; y < w->grid->rows && status == 0; y += piece.rows) {
        piece.rows = (uint32_t)least(s->band, w->grid->rows - y);
        status = turn_piece(w, &piece, at + y * (uint64_t)row, s->rows);
        if (status == 0)
            status = s->scratch->write(s->scratch->context, y * (uint64_t)row,
                                       s->rows, npy_grid_size(&piece), w->err);
    }
    return status;
}

/* Reads what a piece, which begins at row `begin` of the stored picture, has of
 * the turned rows. */
static int read_strip(const struct strips *s, uint32_t begin, uint8_t *buffer,
                      struct err *err)
{
    const struct npy_grid *grid = s->w->grid;
    const uint32_t band = (uint32_t)least(s->band, grid->rows - begin);
    const bool back = s->w->t & XFORM_MIRROR_X;
    const uint32_t x = back ? grid->rows - begin - band : begin;
    const size_t part = band * grid->pixel, row = grid->rows * grid->pixel;
    const uint64_t at =
        begin * (uint64_t)row_size(grid) + s->y * (uint64_t)part;
    uint32_t step = part < CHUNK ? (uint32_t)(CHUNK / part) : 1;
    for (uint32_t i = 0; i < s->n; i += step) {
        step = (uint32_t)least(step, s->n - i);
        if (s->scratch->read(s->scratch->context, at + i * (uint64_t)part,
                             buffer, step * part, err))
            return -1;
        for (uint32_t k = 0; k < step; k++)
            memcpy(s->rows + (i + k) * row + x * grid->pixel, buffer + k * part,
                   part);
    }
    return 0;
}

static void read_next(void *context, size_t i)
{
    struct strips *s = context;
    struct err err;
    const size_t part = s->band * s->w->grid->pixel;
    uint8_t *buffer = memory_alloc(part < CHUNK ? CHUNK : part);
    int status = buffer ? read_strip(s, (uint32_t)i * s->band, buffer, &err)
                        : fail_memory(&err, "no memory for some rows");
    memory_free(buffer);
    if (status == 0)
        return;
    pthread_mutex_lock(&s->lock);
    if (!s->failed)
        *s->w->err = err;
    s->failed = true;
    pthread_mutex_unlock(&s->lock);
}

/* Reads the turned rows, some at a time, to the end of the output. */
static int read_strips(struct strips *s, struct grid_pieces *w)
{
    const struct npy_grid *grid = w->grid;
    const size_t row = grid->rows * grid->pixel;
    int status = 0;
    for (s->y = 0; s->y < grid->columns && status == 0; s->y += s->n) {
        s->n = (uint32_t)least(w->most / row, grid->columns - s->y);
        if (!bytes_reserve(w->out, s->n * row))
            return fail_memory(w->err, "no memory for the file");
        s->rows = w->out->data + w->out->size;
        thread_pool_run(w->opts->pool, read_next, s,
                        (grid->rows - 1) / s->band + 1);
        if (s->failed)
            return -1;
        w->out->size += s->n * row;
        status = flush_file(w->opts->flush, w->out, w->err);
    }
    return status;
}

static int turn_strips(struct grid_pieces *w, uint64_t at)
{
    const uint64_t size = picture_size(w->grid);
    struct strips s = { .w = w,
                        .scratch = w->opts->limits.scratch,
                        .lock = PTHREAD_MUTEX_INITIALIZER };
    s.band = (uint32_t)least(w->most / row_size(w->grid), w->grid->rows);
    uint8_t *piece = memory_alloc(s.band * row_size(w->grid));
    s.rows = piece;
    int status = piece ? s.scratch->begin(s.scratch->context, size, w->err)
                       : fail_memory(w->err, "no memory to turn an array");
    if (status == 0)
        status = write_strips(&s, w, at);
    memory_free(piece);
    return status ? status : read_strips(&s, w);
}

/* ---- The whole ------------------------------------------------------------
 */

int npy_turn_pieces(struct bytes *out, struct bytes cells,
                    const struct npy_grid *grid, enum xform t,
                    const struct load_opts *opts, struct err *err)
{
    const uint64_t size = picture_size(grid);
    struct grid_pieces w = { .out = out,
                             .cells = cells,
                             .passed = bytes_passed_begin(cells),
                             .grid = grid,
                             .t = t,
                             .opts = opts,
                             .most = piece_of(opts->limits.scratch),
                             .err = err };
    int status = 0;
    if (size <= w.most)
        return turn_pictures(&w);
    for (uint64_t i = 0; i < grid->pictures && status == 0; i++)
        status = xform_transposes(t) ? turn_strips(&w, i * size)
                                     : turn_rows(&w, i * size);
    return status;
}
