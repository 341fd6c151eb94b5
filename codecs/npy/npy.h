/* NPY: numpy's array files, as numpy.lib.format describes them, in pieces that
 * the codec and its tests share. */
#ifndef CODECS_NPY_NPY_H
#define CODECS_NPY_NPY_H

#include "codecs/base/bytes.h"
#include "codecs/codec.h"
#include "codecs/image/layout.h"

enum { NPY_DESCR = 64 };

/* What a header says. */
struct npy_header {
    char descr[NPY_DESCR]; /* the type of a cell: "<f4", "|u1", "<M8[ns]"; of a
                              type with fields the beginning of their list */
    bool plain;            /* the type has no fields */
    bool fortran;          /* the first axis, not the last, is that whose cells
                              lie side by side */
    uint64_t shape[LAYOUT_AXES];
    unsigned naxes; /* may be more than LAYOUT_AXES, whose sizes are lost */
    size_t size;    /* bytes of the header: the cells begin behind it */
};

/* How a file was coded: the state of the codec. */
struct npy_state {
    struct npy_header header;
    enum layout layout; /* which axis is which */
    bool big_endian;
};

/* Whether a file begins as NPY does. */
bool npy_is(const uint8_t *head, size_t size);

/* Reads the header of a file that npy_is(). The sizes in the shape are not
 * multiplied yet, and may be any. */
int npy_read_header(struct npy_header *header, struct bytes file,
                    struct err *err);

/* Appends a header of version 1 with blanks at its end, so that the cells begin
 * at a multiple of 64. */
int npy_write_header(struct bytes *file, const struct npy_header *header,
                     struct err *err);

/* Whether an array is one that can be turned, however its axes are read: of
 * some rows and columns, and of cells that can be moved, whose size is found.
 * On failure the reason says why not. */
int npy_suits(const struct npy_header *header, size_t *cell, struct err *err);

/* Fills a note with what a header says. */
void npy_note(struct array_note *note, const struct npy_header *header,
              enum layout asked);

/* An array as it lies in memory: pictures, one behind the other, of rows of
 * pixels, which are runs of bytes that belong together. So every layout is
 * seen, in either order: channels that come first are pictures of their own,
 * and of an array in Fortran order, where all axes run the other way round,
 * rows are columns. */
struct npy_grid {
    uint64_t pictures;
    uint32_t rows, columns;
    size_t pixel; /* bytes */
};

/* Finds the grid of an array of cells of `cell` bytes. On failure a picture has
 * more pixels than the limits allow, or all of them, before and after a turn,
 * need more bytes. */
int npy_grid_of(struct npy_grid *grid, const struct npy_header *header,
                enum layout layout, size_t cell, const struct limits *limits,
                struct err *err);

/* The bytes of a grid that npy_grid_of() has found. */
static inline size_t npy_grid_size(const struct npy_grid *grid)
{
    return (size_t)grid->pictures * grid->rows * grid->columns * grid->pixel;
}

/* Turns every picture of a grid from `from` to `to`, which do not overlap. The
 * turner of the options does it, a tile at a time. */
int npy_turn_grid(uint8_t *to, const uint8_t *from, const struct npy_grid *grid,
                  enum xform t, const struct load_opts *opts, struct err *err);

#endif
