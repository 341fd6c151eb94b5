/* The stage on the CPU.
 *
 * A picture is cut into pieces, which the threads of a pool share. Where rows
 * stay rows a piece is some whole rows: they are read in the order of memory,
 * which the CPU prefetches. Where rows become columns a piece is one block of
 * dst wide: the blocks are read along the rows of src, so that the pages of one
 * block are still in the TLB for the next. */
#include "cuda/cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/thread_pool.h"

/* A lane is its options: it has no memory of its own. */
static const struct cpu_opts *cpu_opts_of(const struct lane *lane)
{
    return (const struct cpu_opts *)lane;
}

/* One turn of one picture. */
struct turn {
    const struct cpu_opts *opts;
    const struct image *dst, *src;
    enum xform t;
    bool stream;
    size_t first[IMAGE_PLANES + 1]; /* the number of each plane's first piece */
};

static size_t ceil_div(size_t n, size_t unit)
{
    return (n + unit - 1) / unit;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Moves the first row of a plane to its last one, from where all steps lead
 * backwards: so rows are mirrored. */
static void step_back(uint8_t **at, ptrdiff_t *stride, size_t rows)
{
    *at += (ptrdiff_t)(rows - 1) * *stride;
    *stride = -*stride;
}

/* ---- Rows stay rows ------------------------------------------------------*/

static size_t rows_of_piece(const struct plane *dst, size_t piece)
{
    return dst->stride < piece ? piece / dst->stride : 1;
}

/* Turns the rows of one piece. Mirrored, the first rows of src are the last
 * ones of dst. */
static void rows_piece(const struct turn *turn, const struct plane *dst,
                       const struct plane *src, size_t piece)
{
    size_t n = rows_of_piece(dst, turn->opts->piece), y = piece * n;
    uint8_t *to = dst->data;
    ptrdiff_t stride = (ptrdiff_t)dst->stride;
    if (turn->t & XFORM_MIRROR_Y)
        step_back(&to, &stride, dst->height);
    turn->opts->tiles->rows[turn->src->cell](&(struct cpu_block){
        .to = to + (ptrdiff_t)y * stride,
        .from = plane_row(src, y),
        .to_stride = stride,
        .from_stride = (ptrdiff_t)src->stride,
        .rows = least(n, dst->height - y),
        .cells = dst->width,
        .t = turn->t,
        .stream = turn->stream,
    });
}

/* ---- Rows become columns -------------------------------------------------*/

/* Cells in a row of a block, and rows of a block and of a piece. */
struct sides {
    size_t across, down, piece;
};

static struct sides sides_of(enum cell cell, size_t piece)
{
    size_t size = cell_size(cell);
    struct sides sides = { CPU_BLOCK_TO / size, CPU_BLOCK_FROM / size, 0 };
    if (cell == CELL_DCT)
        sides.across = sides.down = CPU_BLOCK_DCT;
    size_t block = sides.across * sides.down * size;
    sides.piece = sides.down * (piece > block ? piece / block : 1);
    return sides;
}

/* Rows of dst are columns of src: (x, y) of dst is (y, x) of src, where each
 * mirror exchanges rows, of src and of dst, and never cells within them. */
static void columns_piece(const struct turn *turn, const struct plane *dst,
                          const struct plane *src, size_t piece)
{
    struct sides sides = sides_of(turn->src->cell, turn->opts->piece);
    size_t size = cell_size(turn->src->cell);
    size_t high = ceil_div(dst->height, sides.piece);
    size_t x = piece / high * sides.across, y = piece % high * sides.piece;
    size_t end = least(y + sides.piece, dst->height);
    uint8_t *to = dst->data, *from = src->data;
    struct cpu_block block = {
        .to_stride = (ptrdiff_t)dst->stride,
        .from_stride = (ptrdiff_t)src->stride,
        .cells = least(sides.across, dst->width - x),
        .t = turn->t,
        .stream = turn->stream,
    };
    if (turn->t & XFORM_MIRROR_X)
        step_back(&from, &block.from_stride, src->height);
    if (turn->t & XFORM_MIRROR_Y)
        step_back(&to, &block.to_stride, dst->height);
    from += (ptrdiff_t)x * block.from_stride;
    to += x * size;
    for (; y < end; y += block.rows) {
        block.to = to + (ptrdiff_t)y * block.to_stride;
        block.from = from + y * size;
        block.rows = least(sides.down, end - y);
        turn->opts->tiles->columns[turn->src->cell](&block);
    }
}

/* ---- Pieces --------------------------------------------------------------*/

static size_t count_pieces(const struct plane *dst, enum cell cell,
                           enum xform t, size_t piece)
{
    struct sides sides = sides_of(cell, piece);
    if (!xform_transposes(t))
        return ceil_div(dst->height, rows_of_piece(dst, piece));
    return ceil_div(dst->width, sides.across) *
           ceil_div(dst->height, sides.piece);
}

static void turn_piece(void *context, size_t i)
{
    const struct turn *turn = context;
    unsigned p = 0;
    while (i >= turn->first[p + 1])
        p++;
    (xform_transposes(turn->t) ? columns_piece : rows_piece)(
        turn, &turn->dst->plane[p], &turn->src->plane[p], i - turn->first[p]);
    turn->opts->tiles->flush();
}

/* ---- The backend ---------------------------------------------------------*/

const struct cpu_tiles *const cpu_tiles[] = {
#ifdef __x86_64__
    &cpu_tiles_avx512,
    &cpu_tiles_sse2,
#endif
    &cpu_tiles_portable,
    NULL,
};

static int cpu_probe(struct err *why_not)
{
    (void)why_not;
    return 0;
}

int cpu_open_with(struct lane **lane, const struct cpu_opts *opts,
                  struct err *err)
{
    struct cpu_opts *copy = malloc(sizeof *copy);
    *lane = (struct lane *)copy;
    if (!copy)
        return fail(err, "no memory for a lane");
    *copy = *opts;
    return 0;
}

static const struct cpu_tiles *best_tiles(void)
{
    size_t i = 0;
    while (!cpu_tiles[i]->usable())
        i++;
    return cpu_tiles[i];
}

static int cpu_open(struct lane **lane, const struct lane_opts *opts,
                    struct err *err)
{
    struct cpu_opts how = {
        /* Small enough to share them evenly, large enough to hand out few. */
        .piece = 512 << 10,
        /* Waking a thread takes as long as turning so many bytes. */
        .alone_below = 1 << 20,
        /* Less may still be in a cache when it is encoded. From here on the
         * turn gains more than that costs: 4.0 for 5.8 ms of 18 MB. */
        .stream_from = 4 << 20,
    };
    (void)opts;
    how.tiles = best_tiles();
    return cpu_open_with(lane, &how, err);
}

static struct mem cpu_memory(struct lane *lane)
{
    (void)lane;
    return mem_plain;
}

static int cpu_apply(struct lane *lane, struct image *dst,
                     const struct image *src, enum xform t,
                     struct thread_pool *pool, struct err *err)
{
    const struct cpu_opts *opts = cpu_opts_of(lane);
    struct turn turn = {
        .opts = opts,
        .dst = dst,
        .src = src,
        .t = t,
        .stream = dst->pixels.rows.size >= opts->stream_from,
    };
    size_t n = 0;
    (void)err;
    for (unsigned i = 0; i < src->nplanes; i++)
        turn.first[i + 1] = n +=
            count_pieces(&dst->plane[i], src->cell, t, opts->piece);
    thread_pool_run(dst->pixels.rows.size < opts->alone_below ? NULL : pool,
                    turn_piece, &turn, n);
    return 0;
}

/* The CPU is one device. */
static bool cpu_describe(unsigned i, char *text, size_t room)
{
    if (i > 0)
        return false;
    snprintf(text, room, "%s", best_tiles()->name);
    return true;
}

static void cpu_close(struct lane *lane)
{
    free(lane);
}

const struct backend backend_cpu = {
    .name = "cpu",
    .probe = cpu_probe,
    .describe = cpu_describe,
    .open = cpu_open,
    .memory = cpu_memory,
    .apply = cpu_apply,
    .close = cpu_close,
    .parts = true,
};
