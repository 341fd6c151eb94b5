/* Chroma in full resolution along an axis. */
#ifndef CODECS_JPEG_CHROMA_H
#define CODECS_JPEG_CHROMA_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/image/image.h"

/* Chooses the axes along which all components get full resolution, when the
 * first width x height pixels of a file are turned by t and blocks lie
 * elsewhere after it: those that do not end with a whole sample of each
 * component. This counts for an axis that does not run backwards as well: it
 * may do so the next time, and the file would grow then. */
void chroma_choose(j_decompress_ptr d, uint32_t width, uint32_t height,
                   enum xform t, bool *across, bool *down);

/* Spreads samples that were read over planes that are larger than what the file
 * stores, as libjpeg does to show them. */
void chroma_fill(j_decompress_ptr d, const struct image *img);

#endif
