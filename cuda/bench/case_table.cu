/* The cases of the literature and of the libraries, and the sweep over shapes
 * of blocks. */
#include "cuda/bench/case_table.h"

#include "cuda/bench/case_builder.h"
#include "cuda/bench/libraries.h"
#include "cuda/bench/literature.cuh"

static constexpr struct case_section nvidia = {
    "nvidia", "NVIDIA: An Efficient Matrix Transpose in CUDA C/C++"
};
static constexpr struct case_section book = {
    "book", "Professional CUDA C Programming, chapter 5"
};
static constexpr struct case_section sweep = {
    "sweep", "Professional CUDA C Programming: shapes of blocks"
};
static constexpr struct case_section mat = { "mat_transpose",
                                             "mat_transpose, v0 to v3" };
static constexpr struct case_section others = {
    "others", "Re-indexed rectangles; one block a row"
};
static constexpr struct case_section toolkit = { "libraries",
                                                 "CUDA and its libraries" };
static constexpr char squares[] =
    "writes with the pitch of the source, so for squares only";
static constexpr char behind[] =
    "barrier behind a test of exchanged indices: squares of whole blocks";
static constexpr char download[] =
    "the download: square blocks only, and scattered stores";

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
        .library(VENDOR_NONE, CELL_F32, case_launch_copy)
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

/* The book's kernels, each with all these shapes of blocks. */
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
    case_row r =
        case_row(sweep, s.name).tiles(s.kernel, x, y, tile_x, y).at(chapter);
    if (s.across)
        r.banks(PATTERN_ROW, PATTERN_REINDEX, tile_x + s.pad).dynamic();
    if (s.kernel == book_naive_columns)
        r.over_result();
    if (s.kernel == book_copy)
        r.copies();
    r.kcase.entry.sweep = true;
    return r.kcase;
}

struct sweep_cases {
    struct kernel_case kcase[SWEPT];
};

static constexpr struct sweep_cases make_sweep()
{
    struct sweep_cases cases = {};
    for (size_t i = 0; i < SWEPT; i++)
        cases.kcase[i] = sweep_case(i % SWEEP_STEPS, i / SWEEP_STEPS);
    return cases;
}
static constexpr struct sweep_cases swept = make_sweep();

enum { LISTED = sizeof list / sizeof list[0] };

size_t case_table_count(void)
{
    return LISTED + SWEPT;
}

const struct kernel_case *case_table_get(size_t i)
{
    return i < LISTED ? &list[i].kcase : &swept.kcase[i - LISTED];
}
