/* The table of cases, and how each is launched. */
#include "cuda/bench/kernel_cases.h"

#include <limits.h>
#include <stdlib.h>

#include "cuda/bench/literature.cuh"
#include "cuda/gpu/gpu_memory.h"
#include "cuda/gpu/kernels.h"

static case_launcher launch_copy, launch_ours;

/* ---- The table -----------------------------------------------------------*/

/* The sizes that the literature has. The article's lies in the L2 of today's
 * GPUs; 16384 x 16384 floats are 1 GiB; 16381 x 16411 are multiples of
 * nothing. */
static const struct suite_shape
    article[] = { { 1024, 1024 }, { 16384, 16384 }, {} },
    chapter[] = { { 4096, 4096 }, {} },
    both[] = { { 4096, 4096 }, { 16384, 16384 }, {} },
    blocks[] = { { 8, 4 }, { 8192, 16384 }, {} },
    rows[] = { { 1024, 262144 }, { 16384, 16384 }, {} },
    libraries[] = { { 1024, 1024 }, { 16384, 16384 }, { 16381, 16411 }, {} },
    odd[] = { { 16381, 16411 }, {} },
    theirs[] = {
        { 16381, 16411 }, { 1024, 1024 }, { 4096, 4096 }, { 16384, 16384 }, {}
    };

static const struct suite_section
    nvidia = { "nvidia", "NVIDIA: An Efficient Matrix Transpose in CUDA C/C++",
               article },
    book = { "book", "Professional CUDA C Programming, chapter 5", chapter },
    mat = { "mat_transpose", "mat_transpose, v0 to v3", both },
    others = { "others", "Re-indexed rectangles", blocks },
    long_rows = { "others", "One block a row", rows },
    toolkit = { "libraries", "CUDA and its libraries", libraries },
    gimgxf = { "gimgxf", "gimgxf", odd };

static const char
    whole_tiles[] = "whole tiles only",
    squares[] = "writes with the pitch of the source, so for squares only",
    behind[] =
        "barrier behind a test of exchanged indices: squares of whole blocks",
    download[] = "the download: square blocks only, and scattered stores";

static const struct kernel_case table[] = {
    { &nvidia, "copy", nvidia_copy, 32, 8, 32, 32, COPIES | WHOLE, 0, 0, 0,
      whole_tiles },
    { &nvidia, "copySharedMem", nvidia_copy_shared, 32, 8, 32, 32,
      COPIES | WHOLE, 1, 1, 0, whole_tiles },
    { &nvidia, "transposeNaive", nvidia_naive_published, 32, 8, 32, 32,
      SQUARE | WHOLE, 0, 0, 0, squares },
    { &nvidia, "transposeNaive", nvidia_naive, 32, 8, 32, 32 },
    { &nvidia, "transposeCoalesced", nvidia_tile_published<0>, 32, 8, 32, 32,
      SQUARE | WHOLE, 1, 32, 0, squares },
    { &nvidia, "transposeCoalesced", tile_turn<32, 8, 0>, 32, 8, 32, 32, 0, 1,
      32, 0 },
    { &nvidia, "transposeNoBankConflicts", nvidia_tile_published<1>, 32, 8, 32,
      32, SQUARE | WHOLE, 1, 1, 1, squares },
    { &nvidia, "transposeNoBankConflicts", tile_turn<32, 8, 1>, 32, 8, 32, 32,
      0, 1, 1, 1 },

    { &book, "copyGmem", book_naive_rows, 32, 16, 32, 16, COPIES | WRONG, 0, 0,
      0, "the download: it transposes" },
    { &book, "copyGmem", book_copy, 32, 16, 32, 16, COPIES },
    { &book, "naiveGmem, reads rows", book_naive_rows, 32, 16, 32, 16 },
    { &book, "naiveGmem, reads columns", book_naive_columns_published, 32, 16,
      32, 16, SQUARE, 0, 0, 0,
      "takes nx and ny for the result's, so for squares only" },
    { &book, "naiveGmem, reads columns", book_naive_columns, 32, 16, 32, 16,
      OVER_RESULT },
    { &book, "transposeSmem", book_smem_published<0>, 32, 16, 32, 16,
      SQUARE | WHOLE, 1, 16, 0, behind },
    { &book, "transposeSmem", book_smem<1, 0>, 32, 16, 32, 16, DYNAMIC, 1, 16,
      0 },
    { &book, "transposeSmemPad, IPAD 1", book_smem_published<1>, 32, 16, 32, 16,
      SQUARE | WHOLE, 1, 2, 1, behind },
    { &book, "transposeSmemPad, IPAD 1", book_smem<1, 1>, 32, 16, 32, 16,
      DYNAMIC, 1, 2, 1 },
    { &book, "transposeSmemPad, IPAD 2", book_smem_published<2>, 32, 16, 32, 16,
      SQUARE | WHOLE, 1, 1, 2, behind },
    { &book, "transposeSmemPad, IPAD 2", book_pad_download, 16, 16, 16, 16,
      WHOLE, 2, 2, 2, download },
    { &book, "transposeSmemPad, IPAD 2", book_smem<1, 2>, 32, 16, 32, 16,
      DYNAMIC, 1, 1, 2 },
    { &book, "transposeSmemUnrollPad", book_unroll_published, 32, 16, 64, 16,
      WHOLE, 1, 1, 2, "skips what is less than a pair of blocks" },
    { &book, "transposeSmemUnrollPad", book_unroll_download, 16, 16, 32, 16,
      WHOLE, 2, 2, 2, download },
    { &book, "transposeSmemUnrollPad", book_smem<2, 2>, 32, 16, 64, 16, DYNAMIC,
      1, 1, 2 },

    { &mat, "v0, 16 x 16", book_naive_rows, 16, 16, 16, 16 },
    { &mat, "v1, 16 x 16", tile_turn<16, 16, 0>, 16, 16, 16, 16, 0, 1, 8, 0 },
    { &mat, "v2, 16 x 16", tile_turn<16, 16, 1>, 16, 16, 16, 16, 0, 2, 2, 1 },
    { &mat, "v3, 16 x 16, 4 a thread", tile_turn<16, 4, 1>, 16, 4, 16, 16, 0, 2,
      2, 1 },
    { &mat, "v0, 32 x 32", book_naive_rows, 32, 32, 32, 32 },
    { &mat, "v1, 32 x 32", tile_turn<32, 32, 0>, 32, 32, 32, 32, 0, 1, 32, 0 },
    { &mat, "v2, 32 x 32", tile_turn<32, 32, 1>, 32, 32, 32, 32, 0, 1, 1, 1 },
    { &mat, "v3, 32 x 32, 4 a thread", tile_turn<32, 8, 1>, 32, 8, 32, 32, 0, 1,
      1, 1 },

    { &others, "re-indexed, 8 x 4", reindex_return<8, 4>, 8, 4, 8, 4, WHOLE, 1,
      1, 0, "returns before the barrier: whole blocks only" },
    { &others, "re-indexed, 8 x 4", book_smem<1, 0>, 8, 4, 8, 4, DYNAMIC, 1, 1,
      0 },
    { &others, "re-indexed, 32 x 16", reindex_branch<32, 16>, 32, 16, 32, 16,
      WHOLE, 1, 16, 0, "barrier behind a test: whole blocks only" },
    { &others, "re-indexed, 32 x 16", book_smem<1, 0>, 32, 16, 32, 16, DYNAMIC,
      1, 16, 0 },

    { &long_rows, "one block a row", row_published, 0, 0, 0, 0, 0, 0, 0, 0,
      "a thread a cell: rows of 1024 at most" },
    { &long_rows, "one block a row", row_loop, 256, 1 },

};

static const struct {
    const char *name;
    case_launcher *launch;
    enum cell cell;
} of_libraries[] = {
    { "cudaMemcpy, device to device", launch_copy, CELL_F32 },
    { "cuBLAS, cublasSgeam", libraries_geam, CELL_F32 },
    { "NPP, nppiTranspose_8u_C1R", libraries_npp, CELL_U8 },
    { "NPP, nppiTranspose_16u_C1R", libraries_npp, CELL_U16 },
    { "NPP, nppiTranspose_32f_C1R", libraries_npp, CELL_F32 },
};

/* Our planes, each with every turn, of 256 MiB and more, whose sides are
 * multiples of nothing. Copies and transposes, which others do as well, are run
 * at their sizes. */
static const enum cell ours[] = { CELL_U8, CELL_U16, CELL_F32 };

enum {
    LISTED = sizeof table / sizeof table[0],
    THEIRS = sizeof of_libraries / sizeof of_libraries[0],
    OURS = sizeof ours / sizeof ours[0] * XFORM_COUNT,
};

bool kernel_cases_get(size_t i, struct kernel_case *kcase)
{
    struct suite_entry *e = &kcase->entry;
    *kcase = i < LISTED ? table[i] : kernel_case{};
    if (i >= LISTED + THEIRS + OURS)
        return false;
    if (i >= LISTED + THEIRS) {
        const enum cell cell = ours[(i - LISTED - THEIRS) / XFORM_COUNT];
        const auto turn =
            static_cast<enum xform>((i - LISTED - THEIRS) % XFORM_COUNT);
        const bool others_do = turn == XFORM_NONE || turn == XFORM_TRANSPOSE;
        kcase->section = &gimgxf;
        kcase->launch = launch_ours;
        e->origin = SUITE_OURS;
        e->work = { cell, turn };
        e->shapes = others_do ? theirs : odd;
    } else if (i >= LISTED) {
        const auto &its = of_libraries[i - LISTED];
        kcase->section = &toolkit;
        kcase->name = its.name;
        kcase->launch = its.launch;
        kcase->cell = its.cell;
        kcase->traits = its.launch == launch_copy ? COPIES : 0;
    }
    if (kcase->section != &gimgxf) {
        e->origin = kcase->launch ? SUITE_LIBRARY
                    : kcase->note ? SUITE_PUBLISHED
                                  : SUITE_MEANT;
        e->work = { kcase->cell,
                    kcase->traits & COPIES ? XFORM_NONE : XFORM_TRANSPOSE };
        e->shapes = kcase->section->shapes;
    }
    e->section = kcase->section;
    e->name = kcase->name;
    e->note = kcase->note;
    e->wrong = (kcase->traits & WRONG) != 0;
    e->by.block_x = kcase->block.x;
    e->by.block_y = kcase->block.y;
    return true;
}

/* ---- Bounds --------------------------------------------------------------*/

static constexpr unsigned GRID_Y = 65535, THREADS = 1024; /* at most */

const char *kernel_cases_undefined(const struct kernel_case *kcase,
                                   struct suite_shape shape)
{
    const unsigned traits = kcase->traits, x = kcase->tile.x, y = kcase->tile.y;
    const uint64_t cells = (uint64_t)shape.width * shape.height;
    const uint64_t down = traits & OVER_RESULT ? shape.width : shape.height;
    if (shape.width == 0 || shape.height == 0 || shape.width > INT_MAX ||
        shape.height > INT_MAX)
        return "not a valid size";
    if (kcase->entry.origin == SUITE_OURS)
        return NULL;
    if (cells > INT_MAX)
        return "it counts cells with 31 bits";
    if (traits & SQUARE && shape.width != shape.height)
        return "for squares only";
    if (traits & WHOLE && (shape.width % x || shape.height % y))
        return "for whole blocks only";
    if (kcase->kernel && !kcase->block.x && shape.width > THREADS)
        return "its rows are at most as long as a block has threads";
    if (y && down > (uint64_t)GRID_Y * y)
        return "a grid ends at 65535 blocks in y";
    return NULL;
}

/* ---- Launches ------------------------------------------------------------*/

static unsigned blocks_over(unsigned cells, unsigned tile)
{
    return cells / tile + (cells % tile != 0);
}

int kernel_cases_launch(const struct kernel_case *kcase,
                        struct kernel_task *task, struct err *err)
{
    if (kcase->launch)
        return kcase->launch(kcase, task, err);
    const struct image *over =
        kcase->traits & OVER_RESULT ? &task->dst : &task->src;
    dim3 grid(over->height), block(kcase->block.x, kcase->block.y);
    if (kcase->tile.x)
        grid = dim3(blocks_over(over->width, kcase->tile.x),
                    blocks_over(over->height, kcase->tile.y));
    else if (!kcase->block.x)
        block = dim3(over->width);
    const size_t shared =
        kcase->traits & DYNAMIC
            ? sizeof(float) * (kcase->tile.x + kcase->pad) * block.y
            : 0;
    kcase->kernel<<<grid, block, shared, task->stream>>>(
        reinterpret_cast<float *>(task->dst.plane[0].data),
        reinterpret_cast<const float *>(task->src.plane[0].data),
        (int)task->src.width, (int)task->src.height);
    return gpu_check(cudaGetLastError(), kcase->name, err);
}

static int launch_copy(const struct kernel_case *kcase,
                       struct kernel_task *task, struct err *err)
{
    const struct plane *src = &task->src.plane[0];
    return gpu_check(cudaMemcpyAsync(task->dst.plane[0].data, src->data,
                                     src->stride * src->height,
                                     cudaMemcpyDeviceToDevice, task->stream),
                     kcase->name, err);
}

static int launch_ours(const struct kernel_case *kcase,
                       struct kernel_task *task, struct err *err)
{
    return gpu_check(kernels_turn(&task->dst.plane[0], &task->src.plane[0],
                                  task->src.cell, kcase->entry.work.turn,
                                  task->stream),
                     "turning", err);
}
