/* What BMP and TGA have in common: numbers with the low byte first, bytes in
 * the order blue, green, red, alpha, and rows from the bottom up. */
#ifndef CODECS_SIMPLE_BGR_ROWS_H
#define CODECS_SIMPLE_BGR_ROWS_H

#include "codecs/base/byte_order.h"
#include "codecs/codec.h"

/* Checks the shape of a picture of bytes, 1 to 4 planes of them, and sets it in
 * img. */
int bgr_rows_shape(struct image *img, uint64_t width, uint64_t height,
                   unsigned nplanes, const struct load_opts *opts,
                   struct err *err);

/* img with its planes in the order that the files have, which are still those
 * of img: for interleave_split_row() and interleave_join_row(). */
struct image bgr_rows_view(const struct image *img);

/* Rows of a file that stand at their places, which may be cut short. */
struct bgr_rows {
    struct bytes file;
    size_t at, size; /* where they begin, and the bytes of one */
    uint8_t *spare;  /* room for a row that is cut */
};

/* Checks that `count` rows of `size` bytes are there at `at`. Tolerant, a
 * warning will do if they are not. */
int bgr_rows_check(struct bytes file, size_t at, size_t size, uint32_t count,
                   const struct load_opts *opts, struct err *err);

/* Prepares to read such rows. */
int bgr_rows_open(struct bgr_rows *rows, struct bytes file, size_t at,
                  size_t size, struct err *err);
void bgr_rows_close(struct bgr_rows *rows);

/* Row `i` as it stands in the file; what is past its end is 0. Good until the
 * next call. */
const uint8_t *bgr_rows_row(struct bgr_rows *rows, uint32_t i);

/* The warning for a picture that is read as far as it goes. */
void bgr_rows_warn_cut(const struct load_opts *opts);

#endif
