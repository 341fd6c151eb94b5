/* From coefficients to the samples of pixels, without libjpeg, whose samples
 * these are, bit for bit: the integer transform (dct.h), "fancy" upsampling
 *, and YCbCr to RGB (arithmetic.h). */
#ifndef CODECS_JPEG_PIXELS_H
#define CODECS_JPEG_PIXELS_H

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/image/row_sink.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/sequential.h"

/* Returns whether a picture of such components can be read so. */
bool pixels_suit(const struct sequential *s);

/* Sets how component i is upsampled. Returns false if it cannot be. */
bool pixels_upsampling(struct upsampling *u, const struct sequential *s,
                       unsigned i);

/* Writes the picture, of which `s` has the blocks, to the rows of a sink, whose
 * picture has a plane for each component. Three components are converted to RGB
 * if `to_rgb`. Several threads share the work; the result does not depend on
 * them. *exact becomes false where coefficients are so large that decoders
 * differ in what they make of them. Returns -1 without memory, or if a turner
 * fails. */
int pixels_read(const struct row_sink *rows, const struct sequential *s,
                bool to_rgb, bool *exact, struct thread_pool *pool,
                struct err *err);

#endif
