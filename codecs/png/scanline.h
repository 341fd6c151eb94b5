/* Rows of samples as PNG stores them: pixels side by side, 16 bits big-endian,
 * samples below 8 bits packed from the high bit down (Third Edition,
 * section 7.2).
 */
#ifndef CODECS_PNG_SCANLINE_H
#define CODECS_PNG_SCANLINE_H

#include "codecs/image/image.h"

/* ---- Rows -----------------------------------------------------------------*/

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

/* ---- Passes of interlaced pictures ----------------------------------------*/

/* Interlaced pictures (Third Edition, section 8): seven passes, each a picture
 * of some of the pixels. */

enum { ADAM7_PASSES = 7 };

/* Pixels x + i * dx, y + j * dy for i < width, j < height. */
struct adam7_pass {
    uint32_t x, y, dx, dy, width, height;
};

/* Sets the passes of a picture, without empty ones. Returns how many there are.
 */
unsigned adam7_passes(struct adam7_pass pass[ADAM7_PASSES], uint32_t width,
                      uint32_t height);

/* Copies the only row of `line`, pass->width pixels, to where they belong in
 * row y of img. */
void adam7_spread(const struct image *img, uint32_t y,
                  const struct adam7_pass *pass, const struct image *line);

/* The inverse, of pixels side by side: joins what a pass has of row y of img to
 * `row`, in native byte order. */
void adam7_join(void *row, const struct image *img, uint32_t y,
                const struct adam7_pass *pass);

#endif
