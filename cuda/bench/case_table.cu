/* The list of all steps of the ladder, and how each is launched. */
#include "cuda/bench/kernel_cases.h"

#include "cuda/gpu/kernels.h"
#include "cuda/bench/literature.cuh"
#include "cuda/bench/batched_launch.h"

/* ---- Launchers ------------------------------------------------------------
 */

static unsigned blocks_over(unsigned cells, unsigned tile)
{
    return cells / tile + (cells % tile != 0);
}

static int launch_matrix(const struct kernel_case *rung, const struct task *task,
                         dim3 grid, dim3 block, struct err *err)
{
    rung->kernel<<<grid, block, rung->shared, task->stream>>>(
        reinterpret_cast<float *>(task->dst.plane[0].data),
        reinterpret_cast<const float *>(task->src.plane[0].data),
        (int)task->src.width, (int)task->src.height);
    return kernel_cases_check(cudaGetLastError(), rung->about.name, err);
}

static int launch_tiles(const struct kernel_case *rung, const struct task *task,
                        struct err *err)
{
    const struct image *over = rung->over_result ? &task->dst : &task->src;
    dim3 grid(blocks_over(over->width, rung->tile_x),
              blocks_over(over->height, rung->tile_y));
    dim3 block(rung->about.block_x, rung->about.block_y);
    return launch_matrix(rung, task, grid, block, err);
}

static int launch_rows(const struct kernel_case *rung, const struct task *task,
                       struct err *err)
{
    unsigned threads =
        rung->about.block_x ? rung->about.block_x : task->src.width;
    return launch_matrix(rung, task, dim3(task->src.height), dim3(threads),
                         err);
}

static int launch_copy(const struct kernel_case *rung, const struct task *task,
                       struct err *err)
{
    return kernel_cases_check(cudaMemcpyAsync(task->dst.cells, task->src.cells,
                                       task->src.size, cudaMemcpyDeviceToDevice,
                                       task->stream),
                       rung->about.name, err);
}

static int launch_ours(const struct kernel_case *, const struct task *task,
                       struct err *err)
{
    return kernel_cases_check(
        kernels_turn(&task->dst, &task->src, task->turn, task->stream),
        "turning", err);
}

int kernel_cases_launch(const struct kernel_case *rung, const struct task *task,
                 struct err *err)
{
    return (rung->launch ? rung->launch : launch_tiles)(rung, task, err);
}

/* ---- The list -------------------------------------------------------------
 */

/* What stands together: in a word, and where it is from. */
struct section {
    const char *name, *source;
};
static constexpr struct section nvidia = {
    "nvidia", "NVIDIA: An Efficient Matrix Transpose in CUDA C/C++"
};
static constexpr struct section book = {
    "book", "Professional CUDA C Programming, chapter 5"
};
static constexpr struct section sweep = {
    "sweep", "Professional CUDA C Programming: shapes of blocks"
};
static constexpr struct section mat = { "mat_transpose",
                                        "mat_transpose, v0 to v3" };
static constexpr struct section others = {
    "others", "Re-indexed rectangles; one block a row"
};
static constexpr struct section toolkit = { "libraries",
                                            "CUDA and its libraries" };
static constexpr struct section gimgxf = { "gimgxf", "gimgxf" };
static constexpr struct section many = { "many",
                                         "Many small pictures in one launch" };

static constexpr char squares[] =
    "writes with the pitch of the source, so for squares only";
static constexpr char behind[] =
    "barrier behind a test of exchanged indices: squares of whole blocks";
static constexpr char download[] =
    "the download: square blocks only, and scattered stores";

/* The article's own size lies in the L2 of today's GPUs; the other is 1 GiB. */
static constexpr struct ladder_shape article = { 1024, 1024 };
static constexpr struct ladder_shape chapter = { 4096, 4096 };
static constexpr struct ladder_shape gigabyte = { 16384, 16384 };
/* A multiple of nothing. */
static constexpr struct ladder_shape odd = { 16381, 16411 };

/* A row of the list: a transpose of floats, defined for all sizes, unless it
 * says otherwise. */
struct row {
    struct kernel_case rung;

    constexpr row(struct section section, const char *name) : rung{}
    {
        rung.about.section = section.name;
        rung.about.source = section.source;
        rung.about.name = name;
        rung.about.form = LADDER_MEANT;
        rung.about.cell = CELL_F32;
        rung.about.turn = XFORM_TRANSPOSE;
        rung.about.nplanes = 1;
        rung.about.npictures = 1;
    }
    /* Blocks of x by y threads, for tiles of tile_x by tile_y cells. */
    constexpr row tiles(matrix_kernel kernel, unsigned x, unsigned y,
                        unsigned tile_x, unsigned tile_y) const
    {
        row r = *this;
        r.rung.kernel = kernel;
        r.rung.about.block_x = x;
        r.rung.about.block_y = y;
        r.rung.tile_x = tile_x;
        r.rung.tile_y = tile_y;
        return r;
    }
    constexpr row cells(matrix_kernel kernel, unsigned x, unsigned y) const
    {
        return tiles(kernel, x, y, x, y);
    }
    constexpr row rows(matrix_kernel kernel, unsigned threads) const
    {
        row r = tiles(kernel, threads, threads ? 1 : 0, 0, 0);
        r.rung.launch = launch_rows;
        return r;
    }
    constexpr row over_result() const
    {
        row r = *this;
        r.rung.over_result = true;
        return r;
    }
    constexpr row banks(enum pattern put, enum pattern get,
                        unsigned pitch) const
    {
        row r = *this;
        r.rung.put = put;
        r.rung.get = get;
        r.rung.pitch = pitch;
        return r;
    }
    /* The memory for its tile, rows of `pitch` words, is given at launch. */
    constexpr row dynamic() const
    {
        row r = *this;
        r.rung.shared = sizeof(float) * rung.pitch * rung.about.block_y;
        return r;
    }
    constexpr row published(const char *note) const
    {
        row r = *this;
        r.rung.about.form = LADDER_PUBLISHED;
        r.rung.about.note = note;
        return r;
    }
    constexpr row copies() const
    {
        row r = *this;
        r.rung.about.turn = XFORM_NONE;
        return r;
    }
    constexpr row wrong() const
    {
        row r = *this;
        r.rung.about.wrong = true;
        return r;
    }
    constexpr row whole(unsigned x, unsigned y) const
    {
        row r = *this;
        r.rung.whole_x = x;
        r.rung.whole_y = y;
        return r;
    }
    constexpr row square(unsigned side) const
    {
        row r = whole(side, side);
        r.rung.square = true;
        return r;
    }
    constexpr row widest(unsigned width) const
    {
        row r = *this;
        r.rung.widest = width;
        return r;
    }
    constexpr row library(enum library needs, enum cell cell,
                          int (*launch)(const struct kernel_case *,
                                        const struct task *,
                                        struct err *)) const
    {
        row r = *this;
        r.rung.about.form = LADDER_LIBRARY;
        r.rung.about.cell = cell;
        r.rung.needs = needs;
        r.rung.launch = launch;
        return r;
    }
    constexpr row at(struct ladder_shape first, struct ladder_shape second = {},
                     struct ladder_shape third = {}) const
    {
        row r = *this;
        r.rung.about.shape[0] = first;
        r.rung.about.shape[1] = second;
        r.rung.about.shape[2] = third;
        return r;
    }
};

static constexpr row list[] = {
    row(nvidia, "copy")
        .tiles(nvidia_copy, 32, 8, 32, 32)
        .copies()
        .published("whole tiles only")
        .whole(32, 32)
        .at(article, gigabyte),
    row(nvidia, "copySharedMem")
        .tiles(nvidia_copy_shared, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_ROW, 32)
        .copies()
        .published("whole tiles only")
        .whole(32, 32)
        .at(article, gigabyte),
    row(nvidia, "transposeNaive")
        .tiles(nvidia_naive_published, 32, 8, 32, 32)
        .published(squares)
        .square(32)
        .at(article, gigabyte),
    row(nvidia, "transposeNaive")
        .tiles(nvidia_naive, 32, 8, 32, 32)
        .at(article, gigabyte),
    row(nvidia, "transposeCoalesced")
        .tiles(nvidia_tile_published<0>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 32)
        .published(squares)
        .square(32)
        .at(article, gigabyte),
    row(nvidia, "transposeCoalesced")
        .tiles(nvidia_tile<0>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 32)
        .at(article, gigabyte),
    row(nvidia, "transposeNoBankConflicts")
        .tiles(nvidia_tile_published<1>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 33)
        .published(squares)
        .square(32)
        .at(article, gigabyte),
    row(nvidia, "transposeNoBankConflicts")
        .tiles(nvidia_tile<1>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 33)
        .at(article, gigabyte),

    row(book, "copyGmem")
        .cells(book_copy_published, 32, 16)
        .copies()
        .published("the download: it transposes")
        .wrong()
        .at(chapter),
    row(book, "copyGmem").cells(book_copy, 32, 16).copies().at(chapter),
    row(book, "naiveGmem, reads rows")
        .cells(book_naive_rows, 32, 16)
        .at(chapter),
    row(book, "naiveGmem, reads columns")
        .cells(book_naive_columns_published, 32, 16)
        .published("takes nx and ny for the result's, so for squares only")
        .square(0)
        .at(chapter),
    row(book, "naiveGmem, reads columns")
        .cells(book_naive_columns, 32, 16)
        .over_result()
        .at(chapter),
    row(book, "transposeSmem")
        .cells(book_smem_published<0>, BOOK_X, BOOK_Y)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 32)
        .published(behind)
        .square(32)
        .at(chapter),
    row(book, "transposeSmem")
        .cells(book_smem<0>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 32)
        .dynamic()
        .at(chapter),
    row(book, "transposeSmemPad, IPAD 1")
        .cells(book_smem_published<1>, BOOK_X, BOOK_Y)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 33)
        .published(behind)
        .square(32)
        .at(chapter),
    row(book, "transposeSmemPad, IPAD 1")
        .cells(book_smem<1>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 33)
        .dynamic()
        .at(chapter),
    row(book, "transposeSmemPad, IPAD 2")
        .cells(book_smem_published<2>, BOOK_X, BOOK_Y)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 34)
        .published(behind)
        .square(32)
        .at(chapter),
    row(book, "transposeSmemPad, IPAD 2")
        .cells(book_pad_download, BOOK_SQUARE, BOOK_SQUARE)
        .banks(PATTERN_ROW, PATTERN_ROW, 18)
        .published(download)
        .whole(BOOK_SQUARE, BOOK_SQUARE)
        .at(chapter),
    row(book, "transposeSmemPad, IPAD 2")
        .cells(book_smem<2>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 34)
        .dynamic()
        .at(chapter),
    row(book, "transposeSmemUnrollPad")
        .tiles(book_unroll_published, BOOK_X, BOOK_Y, 2 * BOOK_X, BOOK_Y)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 2 * BOOK_X + BOOK_IPAD)
        .published("skips what is less than a pair of blocks")
        .whole(2 * BOOK_X, BOOK_Y)
        .at(chapter),
    row(book, "transposeSmemUnrollPad")
        .tiles(book_unroll_download, BOOK_SQUARE, BOOK_SQUARE, 2 * BOOK_SQUARE,
               BOOK_SQUARE)
        .banks(PATTERN_ROW, PATTERN_ROW, 2 * BOOK_SQUARE + BOOK_IPAD)
        .published(download)
        .whole(BOOK_SQUARE, BOOK_SQUARE)
        .at(chapter),
    row(book, "transposeSmemUnrollPad")
        .tiles(book_unroll<2>, 32, 16, 64, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 66)
        .dynamic()
        .at(chapter),

    row(mat, "v0, 16 x 16").cells(mat_v0, 16, 16).at(chapter, gigabyte),
    row(mat, "v1, 16 x 16")
        .cells(mat_v1<16, 0>, 16, 16)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 16)
        .at(chapter, gigabyte),
    row(mat, "v2, 16 x 16")
        .cells(mat_v1<16, 1>, 16, 16)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 17)
        .at(chapter, gigabyte),
    row(mat, "v3, 16 x 16, 4 a thread")
        .tiles(mat_v3<16, 4>, 16, 4, 16, 16)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 17)
        .at(chapter, gigabyte),
    row(mat, "v0, 32 x 32").cells(mat_v0, 32, 32).at(chapter, gigabyte),
    row(mat, "v1, 32 x 32")
        .cells(mat_v1<32, 0>, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 32)
        .at(chapter, gigabyte),
    row(mat, "v2, 32 x 32")
        .cells(mat_v1<32, 1>, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 33)
        .at(chapter, gigabyte),
    row(mat, "v3, 32 x 32, 4 a thread")
        .tiles(mat_v3<32, 4>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 33)
        .at(chapter, gigabyte),

    row(others, "re-indexed, 8 x 4")
        .cells(reindex_return<8, 4>, 8, 4)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 8)
        .published("returns before the barrier: whole blocks only")
        .whole(8, 4)
        .at({ 8, 4 }, { 8192, 16384 }),
    row(others, "re-indexed, 8 x 4")
        .cells(reindex<8, 4>, 8, 4)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 8)
        .at({ 8, 4 }, { 8192, 16384 }),
    row(others, "re-indexed, 32 x 16")
        .cells(reindex_branch<32, 16>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 32)
        .published("barrier behind a test: whole blocks only")
        .whole(32, 16)
        .at({ 8192, 16384 }),
    row(others, "re-indexed, 32 x 16")
        .cells(reindex<32, 16>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 32)
        .at({ 8192, 16384 }),
    row(others, "one block a row")
        .rows(row_published, 0)
        .published("a thread a cell: rows of 1024 at most")
        .widest(1024)
        .at({ 1024, 262144 }),
    row(others, "one block a row")
        .rows(row_loop, 256)
        .at({ 1024, 262144 }, gigabyte),

    row(toolkit, "cudaMemcpy, device to device")
        .library(LIBRARY_NONE, CELL_F32, launch_copy)
        .copies()
        .at(article, gigabyte),
    row(toolkit, "cuBLAS, cublasSgeam")
        .library(LIBRARY_CUBLAS, CELL_F32, libraries_geam)
        .at(article, gigabyte, odd),
    row(toolkit, "NPP, nppiTranspose_8u_C1R")
        .library(LIBRARY_NPP, CELL_U8, libraries_npp)
        .at(article, gigabyte, odd),
    row(toolkit, "NPP, nppiTranspose_16u_C1R")
        .library(LIBRARY_NPP, CELL_U16, libraries_npp)
        .at(article, gigabyte, odd),
    row(toolkit, "NPP, nppiTranspose_32f_C1R")
        .library(LIBRARY_NPP, CELL_F32, libraries_npp)
        .at(article, gigabyte, odd),
};
enum { LISTED = sizeof list / sizeof list[0] };

/* The book's kernels over shapes of blocks. */
struct sweep_step {
    const char *name;
    matrix_kernel kernel;
    unsigned pad, across; /* cells of a row that a thread moves; 0: no tile */
};

static constexpr struct sweep_step sweep_steps[] = {
    { "copyGmem", book_copy, 0, 0 },
    { "naiveGmem, reads rows", book_naive_rows, 0, 0 },
    { "naiveGmem, reads columns", book_naive_columns, 0, 0 },
    { "transposeSmem", book_smem<0>, 0, 1 },
    { "transposeSmemPad, IPAD 1", book_smem<1>, 1, 1 },
    { "transposeSmemPad, IPAD 2", book_smem<2>, 2, 1 },
    { "transposeSmemUnrollPad", book_unroll<2>, 2, 2 },
};
static constexpr struct {
    unsigned x, y;
} sweep_blocks[] = {
    { 8, 8 },   { 16, 8 },  { 8, 16 },  { 16, 16 }, { 32, 8 },  { 8, 32 },
    { 32, 16 }, { 16, 32 }, { 32, 32 }, { 64, 4 },  { 64, 16 }, { 128, 2 },
};
enum {
    SWEEP_STEPS = sizeof sweep_steps / sizeof sweep_steps[0],
    SWEEP_BLOCKS = sizeof sweep_blocks / sizeof sweep_blocks[0],
    SWEPT = SWEEP_STEPS * SWEEP_BLOCKS,
};

static constexpr struct kernel_case sweep_rung(size_t step, size_t block)
{
    const struct sweep_step s = sweep_steps[step];
    unsigned x = sweep_blocks[block].x, y = sweep_blocks[block].y;
    unsigned tile_x = s.across ? x * s.across : x;
    row r = row(sweep, s.name).tiles(s.kernel, x, y, tile_x, y).at(chapter);
    if (s.across)
        r = r.banks(PATTERN_ROW, PATTERN_REINDEX, tile_x + s.pad).dynamic();
    if (s.kernel == book_naive_columns)
        r = r.over_result();
    if (s.kernel == book_copy)
        r = r.copies();
    r.rung.about.sweep = true;
    return r.rung;
}

/* Ours: every turn of every cell at sizes that are multiples of nothing, planes
 * of 256 MiB and more, and of a picture as cameras make it. What the others do,
 * at their sizes too. */
static constexpr struct {
    enum cell cell;
    unsigned nplanes;
    struct ladder_shape shape;
} our_pictures[] = {
    { CELL_U8, 1, odd },
    { CELL_U16, 1, odd },
    { CELL_F32, 1, odd },
    { CELL_DCT, 1, { 1447, 1453 } },
    { CELL_U8, 3, { 6000, 4000 } },
};
enum {
    OUR_PICTURES = sizeof our_pictures / sizeof our_pictures[0],
    OURS = OUR_PICTURES * XFORM_COUNT,
};

/* Copies and transposes, of planes of what they have cells of. */
static constexpr bool others_do(const struct ladder_entry *entry)
{
    return entry->nplanes == 1 && entry->cell != CELL_DCT &&
           (entry->turn == XFORM_NONE || entry->turn == XFORM_TRANSPOSE);
}

static constexpr struct kernel_case our_rung(size_t picture, size_t turn)
{
    const struct ladder_shape theirs[] = { article, chapter, gigabyte };
    row r = row(gimgxf, NULL).at(our_pictures[picture].shape);
    r.rung.about.form = LADDER_OURS;
    r.rung.about.cell = our_pictures[picture].cell;
    r.rung.about.nplanes = our_pictures[picture].nplanes;
    r.rung.about.turn = static_cast<enum xform>(turn);
    r.rung.launch = launch_ours;
    for (int i = 0; i < 3 && others_do(&r.rung.about); i++)
        r.rung.about.shape[1 + i] = theirs[i];
    return r.rung;
}

/* Thumbnails: a launch for each would take longer to start than to run. */
static constexpr struct kernel_case many_rung(size_t turn)
{
    row r = row(many, NULL).at({ 64, 64 });
    r.rung.about.form = LADDER_OURS;
    r.rung.about.cell = CELL_U8;
    r.rung.about.nplanes = 3;
    r.rung.about.npictures = 1000;
    r.rung.about.turn = static_cast<enum xform>(turn);
    r.rung.launch = batched_launch_launch;
    return r.rung;
}

struct generated {
    struct kernel_case swept[SWEPT], ours[OURS], many[XFORM_COUNT];
};

static constexpr struct generated generate()
{
    struct generated g = {};
    for (size_t i = 0; i < SWEPT; i++)
        g.swept[i] = sweep_rung(i % SWEEP_STEPS, i / SWEEP_STEPS);
    for (size_t i = 0; i < OURS; i++)
        g.ours[i] = our_rung(i / XFORM_COUNT, i % XFORM_COUNT);
    for (size_t i = 0; i < XFORM_COUNT; i++)
        g.many[i] = many_rung(i);
    return g;
}
static constexpr struct generated generated = generate();

size_t kernel_cases_count(void)
{
    return LISTED + SWEPT + OURS + XFORM_COUNT;
}

const struct kernel_case *kernel_cases_get(size_t i)
{
    if (i < LISTED)
        return &list[i].rung;
    if (i < LISTED + SWEPT)
        return &generated.swept[i - LISTED];
    if (i < LISTED + SWEPT + OURS)
        return &generated.ours[i - LISTED - SWEPT];
    return &generated.many[i - LISTED - SWEPT - OURS];
}

/* ---- Banks ----------------------------------------------------------------
 */

enum { LANES = 32, BANKS = 32 };

static unsigned word_of(enum pattern pattern, unsigned n,
                        const struct kernel_case *rung)
{
    unsigned bx = rung->about.block_x, by = rung->about.block_y;
    unsigned tx = n % bx, ty = n / bx;
    if (pattern == PATTERN_COLUMN)
        return tx * rung->pitch + ty;
    if (pattern == PATTERN_REINDEX)
        return n % by * rung->pitch + n / by;
    return ty * rung->pitch + tx;
}

/* The most words of one bank that a warp asks for. Lanes do not ask for the
 * same word in any pattern. */
static unsigned ways(enum pattern pattern, const struct kernel_case *rung)
{
    unsigned worst = 0;
    unsigned threads = rung->about.block_x * rung->about.block_y;
    if (pattern == PATTERN_NONE)
        return 0;
    for (unsigned warp = 0; warp < threads; warp += LANES) {
        unsigned words[BANKS] = { 0 };
        for (unsigned n = warp; n < threads && n < warp + LANES; n++) {
            unsigned *bank = &words[word_of(pattern, n, rung) % BANKS];
            if (++*bank > worst)
                worst = *bank;
        }
    }
    return worst;
}

struct ladder_banks kernel_cases_banks(size_t i)
{
    const struct kernel_case *rung = kernel_cases_get(i);
    struct ladder_banks banks = { ways(rung->put, rung),
                                  ways(rung->get, rung) };
    return banks;
}
