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

static int launch_matrix(const struct kernel_case *kcase, const struct kernel_task *task,
                         dim3 grid, dim3 block, struct err *err)
{
    kcase->kernel<<<grid, block, kcase->shared, task->stream>>>(
        reinterpret_cast<float *>(task->dst.plane[0].data),
        reinterpret_cast<const float *>(task->src.plane[0].data),
        (int)task->src.width, (int)task->src.height);
    return kernel_cases_check(cudaGetLastError(), kcase->entry.name, err);
}

static int launch_tiles(const struct kernel_case *kcase, const struct kernel_task *task,
                        struct err *err)
{
    const struct image *over = kcase->over_result ? &task->dst : &task->src;
    dim3 grid(blocks_over(over->width, kcase->tile_x),
              blocks_over(over->height, kcase->tile_y));
    dim3 block(kcase->entry.block_x, kcase->entry.block_y);
    return launch_matrix(kcase, task, grid, block, err);
}

static int launch_rows(const struct kernel_case *kcase, const struct kernel_task *task,
                       struct err *err)
{
    unsigned threads =
        kcase->entry.block_x ? kcase->entry.block_x : task->src.width;
    return launch_matrix(kcase, task, dim3(task->src.height), dim3(threads),
                         err);
}

static int launch_copy(const struct kernel_case *kcase, const struct kernel_task *task,
                       struct err *err)
{
    return kernel_cases_check(cudaMemcpyAsync(task->dst.cells, task->src.cells,
                                       task->src.size, cudaMemcpyDeviceToDevice,
                                       task->stream),
                       kcase->entry.name, err);
}

static int launch_ours(const struct kernel_case *, const struct kernel_task *task,
                       struct err *err)
{
    return kernel_cases_check(
        kernels_turn(&task->dst, &task->src, task->turn, task->stream),
        "turning", err);
}

int kernel_cases_launch(const struct kernel_case *kcase, const struct kernel_task *task,
                 struct err *err)
{
    return (kcase->launch ? kcase->launch : launch_tiles)(kcase, task, err);
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
static constexpr struct section batch = { "many",
                                         "Many small pictures in one launch" };

static constexpr char squares[] =
    "writes with the pitch of the source, so for squares only";
static constexpr char behind[] =
    "barrier behind a test of exchanged indices: squares of whole blocks";
static constexpr char download[] =
    "the download: square blocks only, and scattered stores";

/* The article's own size lies in the L2 of today's GPUs; the other is 1 GiB. */
static constexpr struct suite_shape article = { 1024, 1024 };
static constexpr struct suite_shape chapter = { 4096, 4096 };
static constexpr struct suite_shape gigabyte = { 16384, 16384 };
/* A multiple of nothing. */
static constexpr struct suite_shape odd = { 16381, 16411 };

/* A row of the list: a transpose of floats, defined for all sizes, unless it
 * says otherwise. */
struct case_row {
    struct kernel_case kcase;

    constexpr case_row(struct section section, const char *name) : kcase{}
    {
        kcase.entry.section = section.name;
        kcase.entry.source = section.source;
        kcase.entry.name = name;
        kcase.entry.origin = SUITE_MEANT;
        kcase.entry.cell = CELL_F32;
        kcase.entry.turn = XFORM_TRANSPOSE;
        kcase.entry.nplanes = 1;
        kcase.entry.npictures = 1;
    }
    /* Blocks of x by y threads, for tiles of tile_x by tile_y cells. */
    constexpr case_row tiles(matrix_kernel kernel, unsigned x, unsigned y,
                        unsigned tile_x, unsigned tile_y) const
    {
        case_row r = *this;
        r.kcase.kernel = kernel;
        r.kcase.entry.block_x = x;
        r.kcase.entry.block_y = y;
        r.kcase.tile_x = tile_x;
        r.kcase.tile_y = tile_y;
        return r;
    }
    constexpr case_row cells(matrix_kernel kernel, unsigned x, unsigned y) const
    {
        return tiles(kernel, x, y, x, y);
    }
    constexpr case_row rows(matrix_kernel kernel, unsigned threads) const
    {
        case_row r = tiles(kernel, threads, threads ? 1 : 0, 0, 0);
        r.kcase.launch = launch_rows;
        return r;
    }
    constexpr case_row over_result() const
    {
        case_row r = *this;
        r.kcase.over_result = true;
        return r;
    }
    constexpr case_row banks(enum pattern put, enum pattern get,
                        unsigned pitch) const
    {
        case_row r = *this;
        r.kcase.put = put;
        r.kcase.get = get;
        r.kcase.pitch = pitch;
        return r;
    }
    /* The memory for its tile, rows of `pitch` words, is given at launch. */
    constexpr case_row dynamic() const
    {
        case_row r = *this;
        r.kcase.shared = sizeof(float) * kcase.pitch * kcase.entry.block_y;
        return r;
    }
    constexpr case_row published(const char *note) const
    {
        case_row r = *this;
        r.kcase.entry.origin = SUITE_PUBLISHED;
        r.kcase.entry.note = note;
        return r;
    }
    constexpr case_row copies() const
    {
        case_row r = *this;
        r.kcase.entry.turn = XFORM_NONE;
        return r;
    }
    constexpr case_row wrong() const
    {
        case_row r = *this;
        r.kcase.entry.wrong = true;
        return r;
    }
    constexpr case_row whole(unsigned x, unsigned y) const
    {
        case_row r = *this;
        r.kcase.whole_x = x;
        r.kcase.whole_y = y;
        return r;
    }
    constexpr case_row square(unsigned side) const
    {
        case_row r = whole(side, side);
        r.kcase.square = true;
        return r;
    }
    constexpr case_row widest(unsigned width) const
    {
        case_row r = *this;
        r.kcase.widest = width;
        return r;
    }
    constexpr case_row library(enum vendor_library needs, enum cell cell,
                          int (*launch)(const struct kernel_case *,
                                        const struct kernel_task *,
                                        struct err *)) const
    {
        case_row r = *this;
        r.kcase.entry.origin = SUITE_LIBRARY;
        r.kcase.entry.cell = cell;
        r.kcase.needs = needs;
        r.kcase.launch = launch;
        return r;
    }
    constexpr case_row at(struct suite_shape first, struct suite_shape second = {},
                     struct suite_shape third = {}) const
    {
        case_row r = *this;
        r.kcase.entry.shape[0] = first;
        r.kcase.entry.shape[1] = second;
        r.kcase.entry.shape[2] = third;
        return r;
    }
};

static constexpr case_row list[] = {
    case_row(nvidia, "copy")
        .tiles(nvidia_copy, 32, 8, 32, 32)
        .copies()
        .published("whole tiles only")
        .whole(32, 32)
        .at(article, gigabyte),
    case_row(nvidia, "copySharedMem")
        .tiles(nvidia_copy_shared, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_ROW, 32)
        .copies()
        .published("whole tiles only")
        .whole(32, 32)
        .at(article, gigabyte),
    case_row(nvidia, "transposeNaive")
        .tiles(nvidia_naive_published, 32, 8, 32, 32)
        .published(squares)
        .square(32)
        .at(article, gigabyte),
    case_row(nvidia, "transposeNaive")
        .tiles(nvidia_naive, 32, 8, 32, 32)
        .at(article, gigabyte),
    case_row(nvidia, "transposeCoalesced")
        .tiles(nvidia_tile_published<0>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 32)
        .published(squares)
        .square(32)
        .at(article, gigabyte),
    case_row(nvidia, "transposeCoalesced")
        .tiles(nvidia_tile<0>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 32)
        .at(article, gigabyte),
    case_row(nvidia, "transposeNoBankConflicts")
        .tiles(nvidia_tile_published<1>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 33)
        .published(squares)
        .square(32)
        .at(article, gigabyte),
    case_row(nvidia, "transposeNoBankConflicts")
        .tiles(nvidia_tile<1>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 33)
        .at(article, gigabyte),

    case_row(book, "copyGmem")
        .cells(book_copy_published, 32, 16)
        .copies()
        .published("the download: it transposes")
        .wrong()
        .at(chapter),
    case_row(book, "copyGmem").cells(book_copy, 32, 16).copies().at(chapter),
    case_row(book, "naiveGmem, reads rows")
        .cells(book_naive_rows, 32, 16)
        .at(chapter),
    case_row(book, "naiveGmem, reads columns")
        .cells(book_naive_columns_published, 32, 16)
        .published("takes nx and ny for the result's, so for squares only")
        .square(0)
        .at(chapter),
    case_row(book, "naiveGmem, reads columns")
        .cells(book_naive_columns, 32, 16)
        .over_result()
        .at(chapter),
    case_row(book, "transposeSmem")
        .cells(book_smem_published<0>, BOOK_X, BOOK_Y)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 32)
        .published(behind)
        .square(32)
        .at(chapter),
    case_row(book, "transposeSmem")
        .cells(book_smem<0>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 32)
        .dynamic()
        .at(chapter),
    case_row(book, "transposeSmemPad, IPAD 1")
        .cells(book_smem_published<1>, BOOK_X, BOOK_Y)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 33)
        .published(behind)
        .square(32)
        .at(chapter),
    case_row(book, "transposeSmemPad, IPAD 1")
        .cells(book_smem<1>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 33)
        .dynamic()
        .at(chapter),
    case_row(book, "transposeSmemPad, IPAD 2")
        .cells(book_smem_published<2>, BOOK_X, BOOK_Y)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 34)
        .published(behind)
        .square(32)
        .at(chapter),
    case_row(book, "transposeSmemPad, IPAD 2")
        .cells(book_pad_download, BOOK_SQUARE, BOOK_SQUARE)
        .banks(PATTERN_ROW, PATTERN_ROW, 18)
        .published(download)
        .whole(BOOK_SQUARE, BOOK_SQUARE)
        .at(chapter),
    case_row(book, "transposeSmemPad, IPAD 2")
        .cells(book_smem<2>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 34)
        .dynamic()
        .at(chapter),
    case_row(book, "transposeSmemUnrollPad")
        .tiles(book_unroll_published, BOOK_X, BOOK_Y, 2 * BOOK_X, BOOK_Y)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 2 * BOOK_X + BOOK_IPAD)
        .published("skips what is less than a pair of blocks")
        .whole(2 * BOOK_X, BOOK_Y)
        .at(chapter),
    case_row(book, "transposeSmemUnrollPad")
        .tiles(book_unroll_download, BOOK_SQUARE, BOOK_SQUARE, 2 * BOOK_SQUARE,
               BOOK_SQUARE)
        .banks(PATTERN_ROW, PATTERN_ROW, 2 * BOOK_SQUARE + BOOK_IPAD)
        .published(download)
        .whole(BOOK_SQUARE, BOOK_SQUARE)
        .at(chapter),
    case_row(book, "transposeSmemUnrollPad")
        .tiles(book_unroll<2>, 32, 16, 64, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 66)
        .dynamic()
        .at(chapter),

    case_row(mat, "v0, 16 x 16").cells(mat_v0, 16, 16).at(chapter, gigabyte),
    case_row(mat, "v1, 16 x 16")
        .cells(mat_v1<16, 0>, 16, 16)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 16)
        .at(chapter, gigabyte),
    case_row(mat, "v2, 16 x 16")
        .cells(mat_v1<16, 1>, 16, 16)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 17)
        .at(chapter, gigabyte),
    case_row(mat, "v3, 16 x 16, 4 a thread")
        .tiles(mat_v3<16, 4>, 16, 4, 16, 16)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 17)
        .at(chapter, gigabyte),
    case_row(mat, "v0, 32 x 32").cells(mat_v0, 32, 32).at(chapter, gigabyte),
    case_row(mat, "v1, 32 x 32")
        .cells(mat_v1<32, 0>, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 32)
        .at(chapter, gigabyte),
    case_row(mat, "v2, 32 x 32")
        .cells(mat_v1<32, 1>, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 33)
        .at(chapter, gigabyte),
    case_row(mat, "v3, 32 x 32, 4 a thread")
        .tiles(mat_v3<32, 4>, 32, 8, 32, 32)
        .banks(PATTERN_ROW, PATTERN_COLUMN, 33)
        .at(chapter, gigabyte),

    case_row(others, "re-indexed, 8 x 4")
        .cells(reindex_return<8, 4>, 8, 4)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 8)
        .published("returns before the barrier: whole blocks only")
        .whole(8, 4)
        .at({ 8, 4 }, { 8192, 16384 }),
    case_row(others, "re-indexed, 8 x 4")
        .cells(reindex<8, 4>, 8, 4)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 8)
        .at({ 8, 4 }, { 8192, 16384 }),
    case_row(others, "re-indexed, 32 x 16")
        .cells(reindex_branch<32, 16>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 32)
        .published("barrier behind a test: whole blocks only")
        .whole(32, 16)
        .at({ 8192, 16384 }),
    case_row(others, "re-indexed, 32 x 16")
        .cells(reindex<32, 16>, 32, 16)
        .banks(PATTERN_ROW, PATTERN_REINDEX, 32)
        .at({ 8192, 16384 }),
    case_row(others, "one block a row")
        .rows(row_published, 0)
        .published("a thread a cell: rows of 1024 at most")
        .widest(1024)
        .at({ 1024, 262144 }),
    case_row(others, "one block a row")
        .rows(row_loop, 256)
        .at({ 1024, 262144 }, gigabyte),

    case_row(toolkit, "cudaMemcpy, device to device")
        .library(VENDOR_NONE, CELL_F32, launch_copy)
        .copies()
        .at(article, gigabyte),
    case_row(toolkit, "cuBLAS, cublasSgeam")
        .library(VENDOR_CUBLAS, CELL_F32, libraries_geam)
        .at(article, gigabyte, odd),
    case_row(toolkit, "NPP, nppiTranspose_8u_C1R")
        .library(VENDOR_NPP, CELL_U8, libraries_npp)
        .at(article, gigabyte, odd),
    case_row(toolkit, "NPP, nppiTranspose_16u_C1R")
        .library(VENDOR_NPP, CELL_U16, libraries_npp)
        .at(article, gigabyte, odd),
    case_row(toolkit, "NPP, nppiTranspose_32f_C1R")
        .library(VENDOR_NPP, CELL_F32, libraries_npp)
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

static constexpr struct kernel_case sweep_case(size_t step, size_t block)
{
    const struct sweep_step s = sweep_steps[step];
    unsigned x = sweep_blocks[block].x, y = sweep_blocks[block].y;
    unsigned tile_x = s.across ? x * s.across : x;
    case_row r = case_row(sweep, s.name).tiles(s.kernel, x, y, tile_x, y).at(chapter);
    if (s.across)
        r = r.banks(PATTERN_ROW, PATTERN_REINDEX, tile_x + s.pad).dynamic();
    if (s.kernel == book_naive_columns)
        r = r.over_result();
    if (s.kernel == book_copy)
        r = r.copies();
    r.kcase.entry.sweep = true;
    return r.kcase;
}

/* Ours: every turn of every cell at sizes that are multiples of nothing, planes
 * of 256 MiB and more, and of a picture as cameras make it. What the others do,
 * at their sizes too. */
static constexpr struct {
    enum cell cell;
    unsigned nplanes;
    struct suite_shape shape;
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
static constexpr bool others_do(const struct suite_entry *entry)
{
    return entry->nplanes == 1 && entry->cell != CELL_DCT &&
           (entry->turn == XFORM_NONE || entry->turn == XFORM_TRANSPOSE);
}

static constexpr struct kernel_case our_case(size_t picture, size_t turn)
{
    const struct suite_shape theirs[] = { article, chapter, gigabyte };
    case_row r = case_row(gimgxf, NULL).at(our_pictures[picture].shape);
    r.kcase.entry.origin = SUITE_OURS;
    r.kcase.entry.cell = our_pictures[picture].cell;
    r.kcase.entry.nplanes = our_pictures[picture].nplanes;
    r.kcase.entry.turn = static_cast<enum xform>(turn);
    r.kcase.launch = launch_ours;
    for (int i = 0; i < 3 && others_do(&r.kcase.entry); i++)
        r.kcase.entry.shape[1 + i] = theirs[i];
    return r.kcase;
}

/* Thumbnails: a launch for each would take longer to start than to run. */
static constexpr struct kernel_case batch_case(size_t turn)
{
    case_row r = case_row(batch, NULL).at({ 64, 64 });
    r.kcase.entry.origin = SUITE_OURS;
    r.kcase.entry.cell = CELL_U8;
    r.kcase.entry.nplanes = 3;
    r.kcase.entry.npictures = 1000;
    r.kcase.entry.turn = static_cast<enum xform>(turn);
    r.kcase.launch = batched_launch_launch;
    return r.kcase;
}

struct generated {
    struct kernel_case swept[SWEPT], ours[OURS], batch[XFORM_COUNT];
};

static constexpr struct generated generate()
{
    struct generated g = {};
    for (size_t i = 0; i < SWEPT; i++)
        g.swept[i] = sweep_case(i % SWEEP_STEPS, i / SWEEP_STEPS);
    for (size_t i = 0; i < OURS; i++)
        g.ours[i] = our_case(i / XFORM_COUNT, i % XFORM_COUNT);
    for (size_t i = 0; i < XFORM_COUNT; i++)
        g.batch[i] = batch_case(i);
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
        return &list[i].kcase;
    if (i < LISTED + SWEPT)
        return &generated.swept[i - LISTED];
    if (i < LISTED + SWEPT + OURS)
        return &generated.ours[i - LISTED - SWEPT];
    return &generated.batch[i - LISTED - SWEPT - OURS];
}

/* ---- Banks ----------------------------------------------------------------
 */

enum { LANES = 32, BANKS = 32 };

static unsigned word_of(enum pattern pattern, unsigned n,
                        const struct kernel_case *kcase)
{
    unsigned bx = kcase->entry.block_x, by = kcase->entry.block_y;
    unsigned tx = n % bx, ty = n / bx;
    if (pattern == PATTERN_COLUMN)
        return tx * kcase->pitch + ty;
    if (pattern == PATTERN_REINDEX)
        return n % by * kcase->pitch + n / by;
    return ty * kcase->pitch + tx;
}

/* The most words of one bank that a warp asks for. Lanes do not ask for the
 * same word in any pattern. */
static unsigned ways(enum pattern pattern, const struct kernel_case *kcase)
{
    unsigned worst = 0;
    unsigned threads = kcase->entry.block_x * kcase->entry.block_y;
    if (pattern == PATTERN_NONE)
        return 0;
    for (unsigned warp = 0; warp < threads; warp += LANES) {
        unsigned words[BANKS] = { 0 };
        for (unsigned n = warp; n < threads && n < warp + LANES; n++) {
            unsigned *bank = &words[word_of(pattern, n, kcase) % BANKS];
            if (++*bank > worst)
                worst = *bank;
        }
    }
    return worst;
}

struct suite_banks kernel_cases_banks(size_t i)
{
    const struct kernel_case *kcase = kernel_cases_get(i);
    struct suite_banks banks = { ways(kcase->put, kcase),
                                  ways(kcase->get, kcase) };
    return banks;
}
