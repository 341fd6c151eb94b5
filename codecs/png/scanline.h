/* Rows of samples as PNG stores them: pixels side by side, 16 bits big-endian,
 * samples below 8 bits packed from the high bit down (Third Edition,
 * section 7.2).
 */
#ifndef CODECS_PNG_SCANLINE_H
#define CODECS_PNG_SCANLINE_H

#include "codecs/image/image.h"

/* Returns the bytes of a row of img, without the type of its filter. */
size_t scanline_size(const struct image *img);

/* Returns the bytes of a pixel, which filters count in; 1 if it is smaller. */
unsigned scanline_pixel(const struct image *img);

/* Copies a row of a file to row y of the planes. */
void scanline_split(const struct image *img, uint32_t y, const uint8_t *row);

/* Copies row y of the planes to a row of a file. Bits after the last pixel are
 * 0.
 */
void scanline_join(const struct image *img, uint32_t y, uint8_t *row);

#endif
