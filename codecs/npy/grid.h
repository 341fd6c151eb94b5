/* The cells of an array, turned whatever they are.
 *
 * An array as it lies in memory is pictures, one behind the other, of rows of
 * pixels, which are runs of bytes. Every layout can be seen so: channels that
 * come first are pictures of their own, and in Fortran order, where all axes
 * run the other way round, rows are columns. */
#ifndef CODECS_NPY_GRID_H
#define CODECS_NPY_GRID_H

#include "codecs/codec.h"
#include "codecs/npy/header.h"

struct npy_grid {
    uint64_t pictures;
    uint32_t rows, columns;
    size_t pixel; /* bytes */
    bool large;   /* more than memory is to hold: grid_plan() */
};

/* Finds the grid of an array of cells of `cell` bytes. Fails if a picture has
 * more pixels than the limits allow, or all of them need more bytes before and
 * after a turn and cannot go through a file. */
int grid_of(struct npy_grid *grid, const struct npy_header *header,
            enum layout layout, size_t cell, const struct limits *limits,
            struct err *err);

/* Returns the bytes of a grid. grid_of() has checked that they fit. */
static inline size_t grid_size(const struct npy_grid *grid)
{
    return (size_t)grid->pictures * grid->rows * grid->columns * grid->pixel;
}

/* Decides whether a turn goes through memory or, piece by piece, through the
 * scratch file of the limits, and reserves what it takes. Fails if neither can
 * be: the file must hold the grid, and memory a row of it. */
int grid_plan(struct npy_grid *grid, const struct npy_header *header,
              enum xform t, const struct limits *limits, struct err *err);

/* Appends every picture of a grid to `out`, turned as planned by the turner of
 * the options; of a large one `out` is flushed. Where there are fewer cells
 * than the grid has, zeros follow them. */
int grid_turn(struct bytes *out, struct bytes cells,
              const struct npy_grid *grid, enum xform t,
              const struct load_opts *opts, struct err *err);

#endif
