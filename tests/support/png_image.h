/* Pictures with the shapes of PNG files, and their samples. */
#ifndef TESTS_SUPPORT_PNG_IMAGE_H
#define TESTS_SUPPORT_PNG_IMAGE_H

#include "codecs/image/image.h"
#include "tests/support/png_file.h"

/* A picture of this shape, of garbage; to be freed by image_free(). */
struct image shape_image(const struct shape *s);

/* Sets the sample of channel c at x, y. */
void image_set_sample(struct image *img, unsigned c, uint32_t x, uint32_t y,
                      unsigned value);

/* Whether the samples are these, side by side. */
bool image_holds(const struct image *img, const uint16_t *cells);

#endif
