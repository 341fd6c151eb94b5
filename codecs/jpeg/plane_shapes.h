/* The shapes of the planes of a JPEG that is read. */
#ifndef CODECS_JPEG_PLANE_SHAPES_H
#define CODECS_JPEG_PLANE_SHAPES_H

#include "codecs/image/image.h"

/* Notes that all planes of img have full resolution, each way. */
void plane_shapes_sample_fully(const struct image *img, bool across, bool down);

/* Leaves the first columns and rows of img, in pixels, by the sampling of its
 * components; 0: all. What is left out of the planes stays in memory. */
void plane_shapes_trim(struct image *img, uint32_t width, uint32_t height);

/* Gives img the shape that it has when its axes are exchanged: its blocks are
 * turned as they are written. */
void plane_shapes_exchange(struct image *img);

#endif
