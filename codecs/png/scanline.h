/* A row of samples as a PNG has it: pixels side by side, the high byte first,
 * samples of less than 8 bits packed from the high bit down (PNG, Third
 * Edition, section 7.2). */
#ifndef CODECS_PNG_SCANLINE_H
#define CODECS_PNG_SCANLINE_H

#include "codecs/image/image.h"

/* Bytes of a row of img, without the filter's type. */
size_t scanline_size(const struct image *img);

/* Bytes of a pixel, 1 if it is smaller: what filters count in. */
unsigned scanline_pixel(const struct image *img);

/* From a file's row to row y of the planes. */
void scanline_split(const struct image *img, uint32_t y, const uint8_t *row);

/* The inverse. Bits behind the last pixel are 0. */
void scanline_join(const struct image *img, uint32_t y, uint8_t *row);

#endif
