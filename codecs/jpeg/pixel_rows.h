/* Rows of pixels from rows of samples (upsample.h, ycc.h). */
#ifndef CODECS_JPEG_PIXEL_ROWS_H
#define CODECS_JPEG_PIXEL_ROWS_H

#include "codecs/jpeg/upsample.h"

/* Writes row y of a component, of `width` bytes, one a pixel, to `pairs`, which
 * has room for one more. `samples` are its rows from number `first` on,
 * `stride` bytes apart; those of row y and near it are there. `scratch` has
 * room for u->width + 2 numbers. */
void pixel_rows_upsample(uint16_t *pairs, uint32_t width, uint32_t y,
                         const uint8_t *samples, size_t stride, uint32_t first,
                         const struct upsampling *u, uint16_t *scratch);

/* Converts a row of Y, Cb and Cr to R, G and B. */
void pixel_rows_to_rgb(uint8_t *const rgb[3], const uint8_t *const ycc[3],
                       uint32_t width);

#endif
