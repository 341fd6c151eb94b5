/* The oracle of turns: the definitions of the eight turns, by which all code
 * that turns is judged. It shares nothing with the code under test but the
 * names of the turns and the types of pictures. */
#ifndef TESTS_SUPPORT_ORACLE_H
#define TESTS_SUPPORT_ORACLE_H

#include "codecs/image/image.h"

/* dst(x, y) = src(sx, sy), where, of a source of w x h,
 * sx = xx * x + xy * y + x1 * (w-1) and sy = yx * x + yy * y + y1 * (h-1). */
struct turn {
    const char *name;
    int xx, xy, x1, yx, yy, y1;
};
extern const struct turn oracle[XFORM_COUNT]; /* by enum xform */

/* The head of a loop over all turns: for (EACH_TURN(t)). */
#define EACH_TURN(t)                                                           \
    enum xform t = XFORM_NONE;                                                 \
    (unsigned)(t) < XFORM_COUNT;                                               \
    (t)++

/* The turn of that name. Ends the test if the name is unknown. */
enum xform turn_named(const char *name);

/* Where the pixel at x, y of a turned picture comes from, in one of w x h. */
void turn_source(enum xform t, uint32_t w, uint32_t h, uint32_t x, uint32_t y,
                 uint32_t *sx, uint32_t *sy);

/* Whether there are 16 bytes, a vector of a GPU, within a row of a plane. */
static inline bool plane_has_vector(const struct plane *plane, uint64_t at)
{
    return at % 16 == 0 && at % plane->stride + 16 <= plane->stride &&
           at / plane->stride < plane->height;
}

/* Whether the plane d is what t makes of s. */
bool is_turned(enum xform t, const struct plane *d, const struct plane *s,
               enum cell cell);

/* The same of the 64 coefficients of a block: a column that runs backwards is
 * a change of sign of the odd ones. */
bool is_turned_block(enum xform t, const uint8_t *d, const uint8_t *s);

/* Turns src into dst, which has the shape for it: a turner, as codecs take one.
 * Always succeeds. */
int turn_cells(void *context, struct image *dst, const struct image *src,
               enum xform t, struct err *err);

extern const struct turner turner_of_cells;

/* Turns img in place, with all that it holds. Ends the test without memory. */
void turn_image(struct image *img, enum xform t);

#endif
