/* Rounding with a dead zone. */
#include "codecs/jpeg/requantize.h"

enum { CELLS = 64 };

struct divisor {
    float scale[CELLS]; /* 1 / step */
    float least[CELLS]; /* smaller ones become zero */
};

static struct divisor make_divisor(const uint16_t step[CELLS],
                                   enum dead_zone zone)
{
    static const float shares[] = {
        [DEAD_ZONE_NONE] = 0, [DEAD_ZONE_NARROW] = 0.75F, [DEAD_ZONE_WIDE] = 1
    };
    struct divisor d;
    for (int k = 0; k < CELLS; k++) {
        d.scale[k] = 1 / (float)step[k];
        d.least[k] = shares[zone] * (float)step[k];
        /* Coefficients have been rounded to units of 1 already: with steps of
         * 1, the dead zone ends between 1 and 2. */
        if (step[k] == 1 && zone != DEAD_ZONE_NONE)
            d.least[k] = 1.5F;
    }
    d.least[0] = 0;
    return d;
}

/* Rounds to the nearest integer, halves to the even one: they are frequent, as
 * 3 with steps of 2, and would all go the same way. The sum has no bits for
 * fractions, since 2^23 takes all bits of a float. */
static float round_even(float value)
{
    const float room = 3 << 22;
    return (value + room) - room;
}

static void requantize_block(int16_t *block, const struct divisor *d)
{
    for (int k = 0; k < CELLS; k++) {
        float value = block[k], size = value < 0 ? -value : value;
        float rounded = round_even(value * d->scale[k]);
        block[k] = (int16_t)(size < d->least[k] ? 0 : rounded);
    }
}

void requantize_rows(const struct plane *plane, uint32_t first, uint32_t end,
                     const uint16_t step[CELLS], enum dead_zone zone)
{
    const struct divisor d = make_divisor(step, zone);
    for (uint32_t y = first; y < end && y < plane->height; y++) {
        int16_t *block = (int16_t *)(void *)plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++)
            requantize_block(block + (size_t)CELLS * x, &d);
    }
}
