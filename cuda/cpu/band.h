/* Some rows of a picture, turned to where they go in the whole turned one. */
#ifndef CUDA_CPU_BAND_H
#define CUDA_CPU_BAND_H

#include "cuda/backend.h"

/* Turns `band`, rows y and following of a picture of `height` rows, into dst,
 * which has the shape that image_like() gives for that picture and t. Where
 * rows become columns, those of the band have to begin at a whole IMAGE_STRIDE
 * of dst's rows, and to end at one or with them. The backend is one that takes
 * bands. */
int band_turn(const struct backend *backend, struct lane *lane,
              struct image *dst, const struct image *band, uint32_t y,
              uint32_t height, enum xform t, struct err *err);

#endif
