/* NPY and NPZ: numpy's files of one array (numpy.lib.format), and ZIP archives
 * of several.
 *
 * What comes in is the bytes of a file; what goes out is the same file with all
 * of its pictures turned, whatever their cells are, or one picture in planes
 * for another format. The turns themselves are done by the turner of the
 * options: the room knows nothing of backends, of the meaning of cells, or of
 * files on disk.
 *
 * This is the header of an array: what it says of its cells and its shape. */
#ifndef CODECS_NPY_HEADER_H
#define CODECS_NPY_HEADER_H

#include "codecs/codec.h"
#include "codecs/image/layout.h"

enum { NPY_DESCR = 64 };

/* What a header says. */
struct npy_header {
    char descr[NPY_DESCR]; /* the type of a cell: "<f4", "|u1", "<M8[ns]"; for a
                              type with fields, the beginning of their list */
    bool plain;            /* the type has no fields */
    bool fortran;          /* cells along the first axis, not the last, are
                              neighbors */
    uint64_t shape[LAYOUT_AXES];
    unsigned naxes; /* may be more than LAYOUT_AXES; those sizes are lost */
    size_t size;    /* bytes of the header, behind which the cells begin */
};

/* How a file was coded: the state of codec_npy. */
struct npy_state {
    struct npy_header header;
    enum layout layout; /* which axis is which */
    bool big_endian;
};

/* Returns whether a file begins as NPY does. */
bool npy_is(const uint8_t *head, size_t size);

/* Reads the header of a file of which npy_is() is true. The sizes in the shape
 * may be any: they have not been multiplied. */
int npy_read_header(struct npy_header *header, struct bytes file,
                    struct err *err);

/* Appends a header of version 1, padded so that the cells begin at a multiple
 * of 64. */
int npy_write_header(struct bytes *file, const struct npy_header *header,
                     struct err *err);

/* Fails if an array cannot be turned in any layout: it needs rows, columns, and
 * cells that can be moved. *cell becomes the bytes of a cell. */
int npy_suits(const struct npy_header *header, size_t *cell, struct err *err);

/* Fills a note of `info` with what a header says. */
void npy_note(struct array_note *note, const struct npy_header *header,
              enum layout asked);

/* ---- The cells of an array (grid.c) ----
 *
 * They are turned whatever they are.
 *
 * An array as it lies in memory is pictures, one behind the other, of rows of
 * pixels, which are runs of bytes. Every layout can be seen so: channels that
 * come first are pictures of their own, and in Fortran order, where all axes
 * run the other way round, rows are columns. */

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

/* Decides whether a turn goes through memory or, some pictures at a time, to a
 * temporary file, by the limits, and reserves what it takes. Fails if neither
 * can be. */
int grid_plan(struct npy_grid *grid, const struct npy_header *header,
              const struct limits *limits, struct err *err);

/* Appends every picture of a grid to `out`, turned as planned by the turner of
 * the options; of a large one `out` is flushed. Where there are fewer cells
 * than the grid has, zeros follow them. */
int grid_turn(struct bytes *out, struct bytes cells,
              const struct npy_grid *grid, enum xform t,
              const struct load_opts *opts, struct err *err);

#endif
