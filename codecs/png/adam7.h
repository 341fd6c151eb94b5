/* Interlaced pictures (Third Edition, section 8): seven passes, each a picture
 * of some of the pixels. */
#ifndef CODECS_PNG_ADAM7_H
#define CODECS_PNG_ADAM7_H

#include "codecs/image/image.h"

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
