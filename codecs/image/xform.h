/* The eight turns of a rectangle: a group, not a list of cases.
 *
 * A turn is "transpose first, then mirror": three bits are the whole group
 * (the dihedral group of the square). For a source of w x h pixels,
 * dst(x, y) = src(sx, sy), where, with W x H the size of dst,
 *
 *     x' = MIRROR_X ? W-1-x : x,   y' = MIRROR_Y ? H-1-y : y
 *     (sx, sy) = TRANSPOSE ? (y', x') : (x', y')
 */
#ifndef CODECS_IMAGE_XFORM_H
#define CODECS_IMAGE_XFORM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum xform {
    XFORM_NONE = 0,
    XFORM_MIRROR_X = 1, /* columns run backwards */
    XFORM_MIRROR_Y = 2, /* rows run backwards */
    XFORM_ROTATE_180 = 3,
    XFORM_TRANSPOSE = 4,  /* rows become columns */
    XFORM_ROTATE_90 = 5,  /* clockwise */
    XFORM_ROTATE_270 = 6, /* counterclockwise */
    XFORM_TRANSVERSE = 7,
};
enum { XFORM_COUNT = 8 };

/* Returns the one turn that does `first`, then `second`. */
enum xform xform_then(enum xform first, enum xform second);

/* Returns the turn that undoes t. */
enum xform xform_inverse(enum xform t);

static inline bool xform_transposes(enum xform t)
{
    return (t & XFORM_TRANSPOSE) != 0;
}

/* Return whether the columns, or the rows, of the source run backwards after t.
 */
static inline bool xform_reverses_x(enum xform t)
{
    return (t & (xform_transposes(t) ? XFORM_MIRROR_Y : XFORM_MIRROR_X)) != 0;
}

static inline bool xform_reverses_y(enum xform t)
{
    return (t & (xform_transposes(t) ? XFORM_MIRROR_X : XFORM_MIRROR_Y)) != 0;
}

/* Returns the turn that makes a picture with this orientation tag upright (EXIF
 * 2.3, tag 0x0112). A value outside 1..8 is read as 1: nothing to do. */
enum xform xform_from_exif(unsigned orientation);

/* Returns the orientation tag, 1..8, that asks a viewer for this turn. */
unsigned xform_to_exif(enum xform t);

/* Returns the tag of a picture that has the tag `orientation`, 1..8, or 0 for
 * none, after the picture as shown was turned by t. */
unsigned xform_retag(unsigned orientation, enum xform t);

/* Reads a name or an alias, as "rotate90" or "cw". Returns false if no turn has
 * this name. */
bool xform_parse(const char *name, enum xform *t);

/* Returns the canonical name. */
const char *xform_name(enum xform t);

#ifdef __cplusplus
}
#endif
#endif
