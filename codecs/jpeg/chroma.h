/* Chroma in full resolution along an axis. */
#ifndef CODECS_JPEG_CHROMA_H
#define CODECS_JPEG_CHROMA_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/image/image.h"

/* Along which axes of a file, of which the first width x height pixels are to
 * be turned by t, all components are to be in full resolution: if blocks lie
 * elsewhere after t, those that do not end with a sample of each component. One
 * that does not run backwards this time may do so the next time, and the file
 * would grow then. */
void chroma_choose(j_decompress_ptr d, uint32_t width, uint32_t height,
                   enum xform t, bool *across, bool *down);

/* Spreads the samples that were read over planes that are larger than what the
 * file stores, as libjpeg does to show them. */
void chroma_fill(j_decompress_ptr d, const struct image *img);

#endif
