/* Rows of pixels: channels side by side, as files have them, or in a plane
 * each, as struct image has them. */
#ifndef CODECS_IMAGE_INTERLEAVE_H
#define CODECS_IMAGE_INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/image/image.h"

/* Splits `row`, img->width pixels of img->nplanes cells in native byte order,
 * into row y of all planes, which are of one size. `row` need not be aligned.
 */
void interleave_split_row(const struct image *img, uint32_t y, const void *row);

/* The inverse: joins row y of all planes to `row`. */
void interleave_join_row(const struct image *img, uint32_t y, void *row);

/* Splits bytes into n cells of `bits` bits, which are 1, 2, 4 or 8; the high
 * bits of a byte come first. */
void interleave_unpack(uint8_t *cells, size_t n, const uint8_t *packed,
                       unsigned bits);

/* The inverse: bits after the last cell are 0. */
void interleave_pack(uint8_t *packed, const uint8_t *cells, size_t n,
                     unsigned bits);

/* Brings cells, which need not be aligned, from native byte order into this
 * one, or back, in place. */
void interleave_set_order(enum cell cell, void *cells, size_t count,
                          bool big_endian);

/* Returns the largest of `count` cells, which are integers and need not be
 * aligned; 0 if there are none. */
unsigned interleave_max(enum cell cell, const void *cells, size_t count);

/* Returns whether this machine stores the high byte first: then a file that
 * does as well needs no swap. */
static inline bool interleave_big_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

#endif
