/* The steps that coefficients are counted in, and the pixels of a block. */
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

/* The pixels of a block, of a component that has `own` of the `most` samples,
 * within so many. */
static struct span pixels_of(uint32_t block, unsigned most, unsigned own,
                             uint32_t within)
{
    const uint64_t first = (uint64_t)block * 8 * most / own;
    const uint64_t end = ((block + 1ull) * 8 * most + own - 1) / own;
    return (struct span){ (uint32_t)first,
                          end < within ? (uint32_t)end : within };
}

void steps_pixels(const struct image *img, unsigned i, uint32_t x, uint32_t y,
                  struct span *columns, struct span *rows)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    unsigned across, down;
    parameters_most(p, &across, &down);
    *columns = pixels_of(x, across, p->across[i], img->width);
    *rows = pixels_of(y, down, p->down[i], img->height);
}
