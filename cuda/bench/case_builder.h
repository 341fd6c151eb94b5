/* Builds the cases of a table, one property after the other. */
#ifndef CUDA_BENCH_CASE_BUILDER_H
#define CUDA_BENCH_CASE_BUILDER_H

#include "cuda/bench/case_launch.h"

/* The source of some cases: the word that --only takes, and the title. */
struct case_section {
    const char *name, *source;
};

/* The sizes that the literature has. The article's lies in the L2 of today's
 * GPUs; the third is 1 GiB. */
static constexpr struct suite_shape article = { 1024, 1024 };
static constexpr struct suite_shape chapter = { 4096, 4096 };
static constexpr struct suite_shape gigabyte = { 16384, 16384 };
static constexpr struct suite_shape odd = { 16381, 16411 }; /* no multiples */

/* A case that is a transpose of floats and defined for all sizes, unless what
 * is appended says otherwise. */
struct case_row {
    struct kernel_case kcase;

    constexpr case_row(struct case_section section, const char *name) : kcase{}
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
    constexpr case_row &tiles(matrix_kernel kernel, unsigned x, unsigned y,
                              unsigned tile_x, unsigned tile_y)
    {
        kcase.kernel = kernel;
        kcase.launch = case_launch_tiles;
        kcase.entry.block_x = x;
        kcase.entry.block_y = y;
        kcase.tile_x = tile_x;
        kcase.tile_y = tile_y;
        return *this;
    }
    constexpr case_row &cells(matrix_kernel kernel, unsigned x, unsigned y)
    {
        return tiles(kernel, x, y, x, y);
    }
    constexpr case_row &rows(matrix_kernel kernel, unsigned threads)
    {
        tiles(kernel, threads, threads ? 1 : 0, 0, 0);
        kcase.launch = case_launch_rows;
        return *this;
    }
    constexpr case_row &over_result()
    {
        kcase.over_result = true;
        return *this;
    }
    constexpr case_row &banks(enum pattern put, enum pattern get,
                              unsigned pitch)
    {
        kcase.put = put;
        kcase.get = get;
        kcase.pitch = pitch;
        return *this;
    }
    /* The shared memory of its tile, rows of `pitch` words, is given at
     * launch. */
    constexpr case_row &dynamic()
    {
        kcase.shared = sizeof(float) * kcase.pitch * kcase.entry.block_y;
        return *this;
    }
    constexpr case_row &published(const char *note)
    {
        kcase.entry.origin = SUITE_PUBLISHED;
        kcase.entry.note = note;
        return *this;
    }
    constexpr case_row &copies()
    {
        kcase.entry.turn = XFORM_NONE;
        return *this;
    }
    constexpr case_row &wrong()
    {
        kcase.entry.wrong = true;
        return *this;
    }
    constexpr case_row &whole(unsigned x, unsigned y)
    {
        kcase.whole_x = x;
        kcase.whole_y = y;
        return *this;
    }
    constexpr case_row &square(unsigned side)
    {
        whole(side, side);
        kcase.square = true;
        return *this;
    }
    constexpr case_row &widest(unsigned width)
    {
        kcase.widest = width;
        return *this;
    }
    constexpr case_row &library(enum vendor_library needs, enum cell cell,
                                case_launcher *launch)
    {
        kcase.entry.origin = SUITE_LIBRARY;
        kcase.entry.cell = cell;
        kcase.needs = needs;
        kcase.launch = launch;
        return *this;
    }
    constexpr case_row &at(struct suite_shape first,
                           struct suite_shape second = {},
                           struct suite_shape third = {})
    {
        kcase.entry.shape[0] = first;
        kcase.entry.shape[1] = second;
        kcase.entry.shape[2] = third;
        return *this;
    }
};

#endif
