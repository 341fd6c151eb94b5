/* What BMP and TGA share: pixels of bytes in the order blue, green, red, alpha,
 * and rows that may be cut short. */
#ifndef CODECS_SIMPLE_BGR_ROWS_H
#define CODECS_SIMPLE_BGR_ROWS_H

#include "codecs/base/byte_order.h"
#include "codecs/simple/simple.h"

/* Sets the shape of a picture of `nplanes` planes of bytes, 1 to 4, in img.
 * Fails if it is above the limits. */
int bgr_rows_shape(struct image *img, uint64_t width, uint64_t height,
                   unsigned nplanes, const struct load_opts *opts,
                   struct err *err);

/* Returns img with its planes in the order of the file, for
 * interleave_split_row() and interleave_join_row(). The planes stay img's. */
struct image bgr_rows_view(const struct image *img);

/* Fails if the file has not `count` rows of `size` bytes from `at` on;
 * tolerant, it warns. */
int bgr_rows_check(struct bytes file, size_t at, size_t size, uint32_t count,
                   const struct load_opts *opts, struct err *err);

/* Finds these rows, with zeros for what the file does not have; bytes_free()
 * frees *rows. */
int bgr_rows_find(struct bytes *rows, struct bytes file, size_t at, size_t size,
                  uint32_t count, struct err *err);

#endif
