/* The coefficients of a picture that was decoded from a JPEG file and is
 * encoded anew, since its blocks lie elsewhere after a turn.
 *
 * Each such encoding adds noise of its steps to every coefficient, and the next
 * one would keep that noise and add more: files would grow, and pictures fade,
 * with every turn. Most coefficients are nearly zero, and what is found in them
 * is noise. So they are rounded with a dead zone: what lies in it is zero. */
#ifndef CODECS_JPEG_REQUANTIZE_H
#define CODECS_JPEG_REQUANTIZE_H

#include "codecs/image/image.h"

enum dead_zone {
    DEAD_ZONE_NONE,   /* to the nearest multiple of a step */
    DEAD_ZONE_NARROW, /* less than 3/4 of a step is zero */
    DEAD_ZONE_WIDE,   /* less than a step is zero */
};

/* Divides the coefficients, in units of 1, of the rows of blocks from `first`
 * up to `end` by their steps and rounds them. DC coefficients have no dead
 * zone. */
void requantize_rows(const struct plane *plane, uint32_t first, uint32_t end,
                     const uint16_t step[64], enum dead_zone zone);

#endif
