/* Rounds the coefficients of a JPEG that is encoded again since its blocks lie
 * elsewhere after a turn.
 *
 * Each encoding adds noise of the size of its steps to every coefficient; the
 * next one would keep it and add more, so that files would grow and pictures
 * fade with every turn. Most coefficients are nearly zero, and hold only noise.
 * So they are rounded with a dead zone: all that lies in it becomes zero. */
#ifndef CODECS_JPEG_REQUANTIZE_H
#define CODECS_JPEG_REQUANTIZE_H

#include "codecs/image/image.h"

enum dead_zone {
    DEAD_ZONE_NONE,   /* to the nearest multiple of a step */
    DEAD_ZONE_NARROW, /* less than 3/4 of a step is zero */
    DEAD_ZONE_WIDE,   /* less than a step is zero */
};

/* Divides coefficients, which are in units of 1, by their steps and rounds them,
 * in the rows of blocks from `first` up to `end`. DC coefficients have no dead
 * zone. */
void requantize_rows(const struct plane *plane, uint32_t first, uint32_t end,
                     const uint16_t step[64], enum dead_zone zone);

#endif
