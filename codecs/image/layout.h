/* Layouts: which axis of an array is which, as in H x W x C. */
#ifndef CODECS_IMAGE_LAYOUT_H
#define CODECS_IMAGE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/base/err.h"

/* n counts pictures, h rows, w columns, c channels. */
enum layout {
    LAYOUT_AUTO, /* as the shape tells, if it does */
    LAYOUT_HWC,
    LAYOUT_CHW,
    LAYOUT_NHW,
    LAYOUT_NHWC,
    LAYOUT_NCHW,
    LAYOUT_HW, /* what every array of two axes is; it is not asked for */
    LAYOUTS,
};

/* The name, which has a letter for each axis, as "hwc"; or "auto". */
extern const char *const layout_name[LAYOUTS];

/* The most channels that a shape alone tells from rows and columns. */
enum { LAYOUT_CHANNELS = 4 };

/* The axes that a shape has room for; there may be more. */
enum { LAYOUT_AXES = 8 };

/* Fails where no layout is that of an array of this shape: it has too few axes,
 * too many, or one of 0. The reason names the shape. */
int layout_check(const uint64_t shape[LAYOUT_AXES], unsigned naxes,
                 struct err *err);

/* Finds how the axes of an array of this shape are read, where `asked` is what
 * --layout says. hwc and chw name the last three axes: of two axes there are no
 * channels, and of four the first counts pictures. layout_check() has taken the
 * shape. On failure the reason names it and says what to do. */
int layout_choose(enum layout *layout, enum layout asked,
                  const uint64_t shape[LAYOUT_AXES], unsigned naxes,
                  struct err *err);

/* Writes "(3, 480, 640)", as Python does, into `text` of `room` bytes. What it
 * has no room for becomes "...". */
void layout_print_shape(char *text, size_t room,
                        const uint64_t shape[LAYOUT_AXES], unsigned naxes);

#endif
