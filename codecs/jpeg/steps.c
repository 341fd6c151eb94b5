/* The steps that coefficients are counted in. */
#include "codecs/jpeg/steps.h"

#include "codecs/jpeg/parameters.h"

const uint16_t *steps_of(const struct image *img, unsigned i)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    return p->step[p->table[i]];
}
