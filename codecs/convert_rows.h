/* Converts samples, some pixels at a time, in doubles.
 *
 * A double holds every sample of 16 bits and every float exactly, and the
 * product of two samples of 16 bits as well: rounding is exact if the one
 * division comes last. One way serves all pairs of cells. It need not be fast:
 * pictures that keep their format never come here. */
#ifndef CODECS_CONVERT_ROWS_H
#define CODECS_CONVERT_ROWS_H

#include "codecs/image/image.h"

/* What transparency is when it has no channel, and what it is laid on. */
struct row_colors {
    unsigned ncolors; /* the palette of COLOR_INDEXED */
    uint8_t palette[256][4];
    bool transparent; /* by an alpha channel, the palette or the key */
    bool keyed;       /* cells equal to `key` are transparent */
    uint16_t key[3];
    uint8_t over[3]; /* red, green and blue, behind what dst has no alpha for */
};

/* Converts all pixels of src, which has any cells but CELL_DCT, to those of
 * dst, of the same size: gray to gray or RGB, a palette to RGB, alpha to alpha
 * or to nothing, what has none to opaque alpha, and COLOR_OTHER to the same.
 * Returns how many samples were below 0 or above full intensity, and are
 * clipped. */
uint64_t convert_rows(const struct image *dst, const struct image *src,
                      const struct row_colors *colors);

#endif
