/* The steps that coefficients are counted in. */
#include "codecs/jpeg/steps.h"

#include "codecs/jpeg/parameters.h"

const uint16_t *steps_of(const struct image *img, unsigned i)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    return p->step[p->table[i]];
}

/* Transposed, then odd columns and rows negated where they run backwards. */
struct turned_block steps_turn(const uint16_t *steps, enum xform t)
{
    struct turned_block turned;
    for (unsigned i = 0; i < 64; i++) {
        const unsigned u = i % 8, v = i / 8;
        const unsigned from = xform_transposes(t) ? 8 * u + v : i;
        const bool minus =
            (t & XFORM_MIRROR_X && u % 2) != (t & XFORM_MIRROR_Y && v % 2);
        turned.from[i] = (uint8_t)from;
        turned.factor[i] = minus ? -steps[from] : steps[from];
    }
    return turned;
}
