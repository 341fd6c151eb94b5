/* The eight turns of a rectangle: compose, invert, names, EXIF numbers. */
#include "codecs/image/xform.h"

#include <stddef.h>
#include <string.h>

enum { MIRRORS = XFORM_MIRROR_X | XFORM_MIRROR_Y };

/* Mirrors done before a transpose are the other axis's mirrors after it. */
static unsigned swap_mirrors(unsigned mirrors)
{
    return (mirrors & XFORM_MIRROR_X) << 1 | (mirrors & XFORM_MIRROR_Y) >> 1;
}

enum xform xform_then(enum xform first, enum xform second)
{
    unsigned mirrors = first & MIRRORS;
    if (xform_transposes(second))
        mirrors = swap_mirrors(mirrors);
    return (enum xform)((mirrors | (first & XFORM_TRANSPOSE)) ^ second);
}

/* x after its inverse is nothing: for mirrors alone a turn is its own inverse;
 * with a transpose the mirrors must be undone before it. */
enum xform xform_inverse(enum xform t)
{
    if (!xform_transposes(t))
        return t;
    return (enum xform)(swap_mirrors(t & MIRRORS) | XFORM_TRANSPOSE);
}

/* EXIF 2.3, 4.6.4 A, Orientation: which corner row 0 and column 0 are. */
static const enum xform from_exif[9] = {
    XFORM_NONE,       XFORM_NONE,       XFORM_MIRROR_X,
    XFORM_ROTATE_180, XFORM_MIRROR_Y,   XFORM_TRANSPOSE,
    XFORM_ROTATE_90,  XFORM_TRANSVERSE, XFORM_ROTATE_270,
};

enum xform xform_from_exif(unsigned orientation)
{
    return orientation <= 8 ? from_exif[orientation] : XFORM_NONE;
}

unsigned xform_to_exif(enum xform t)
{
    unsigned orientation = 1;
    while (from_exif[orientation] != t)
        orientation++;
    return orientation;
}

/* The canonical name of a turn stands before its aliases. */
static const struct {
    const char *name;
    enum xform t;
} names[] = {
    { "copy", XFORM_NONE },           { "identity", XFORM_NONE },
    { "fliph", XFORM_MIRROR_X },      { "flop", XFORM_MIRROR_X },
    { "hflip", XFORM_MIRROR_X },      { "mirror", XFORM_MIRROR_X },
    { "flipv", XFORM_MIRROR_Y },      { "flip", XFORM_MIRROR_Y },
    { "vflip", XFORM_MIRROR_Y },      { "rotate180", XFORM_ROTATE_180 },
    { "transpose", XFORM_TRANSPOSE }, { "rotate90", XFORM_ROTATE_90 },
    { "cw", XFORM_ROTATE_90 },        { "rotate270", XFORM_ROTATE_270 },
    { "ccw", XFORM_ROTATE_270 },      { "transverse", XFORM_TRANSVERSE },
};
enum { NAMES = sizeof names / sizeof names[0] };

bool xform_parse(const char *name, enum xform *t)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (strcmp(names[i].name, name) == 0) {
            *t = names[i].t;
            return true;
        }
    }
    return false;
}

const char *xform_name(enum xform t)
{
    size_t i = 0;
    while (names[i].t != t)
        i++;
    return names[i].name;
}

unsigned xform_retag(unsigned orientation, enum xform t)
{
    enum xform shown = orientation ? xform_from_exif(orientation) : XFORM_NONE;
    return xform_to_exif(xform_then(shown, t));
}
