/* The kernels of components that go through samples, in plain loops. */
#include "tests/support/samples_serial.h"

#include <string.h>

static struct samples_shared shared;
static struct samples_place at[SAMPLES_THREADS];

/* Calls a function of each thread, as between two barriers. */
#define EACH(thread)                                                           \
    for (unsigned thread = 0; thread < SAMPLES_THREADS; thread++)

static void forget(void)
{
    memset(&shared, 0xa5, sizeof shared);
}

bool samples_serial_decode(const struct samples_params *p, uint32_t tile)
{
    bool agree = true;
    forget();
    EACH(i)
    {
        at[i] = samples_find_from(p, tile, i);
        samples_load(p, &at[i], &shared);
    }
    EACH(i) samples_inverse_column(&at[i], &shared);
    EACH(i)
    {
        agree = samples_store(p, &at[i], &shared) && agree;
        agree = samples_agree(&at[i], &shared) && agree;
    }
    return agree;
}

void samples_serial_units(const struct samples_params *p, uint32_t tile)
{
    forget();
    EACH(i)
    {
        at[i] = samples_find_unit(p, tile, i);
        samples_forward_row(p, &at[i], &shared);
    }
    EACH(i) samples_store_units(p, &at[i], &shared);
}

void samples_serial_cap(const struct samples_params *p, uint32_t component)
{
    const struct samples_component *c = &p->component[component];
    struct samples_search search = samples_search_begin(c);
    while (!search.done) {
        uint64_t error = 0;
        EACH(i) error += samples_error(p, c, search.cap, i, SAMPLES_THREADS);
        samples_search_next(&search, c, error);
    }
    p->cap[component] = search.cap;
}

bool samples_serial_blocks(const struct samples_params *p, uint32_t tile)
{
    forget();
    EACH(i)
    {
        at[i] = samples_find_to(p, tile, i);
        samples_forward_row(p, &at[i], &shared);
    }
    EACH(i) samples_round(p, &at[i], &shared);
    EACH(i) samples_mark(&at[i], &shared);
    bool fits = true;
    EACH(i) fits = samples_put(p, &at[i], &shared) && fits;
    return fits;
}

void samples_serial_pixels(const struct pixels_params *p,
                           const struct samples_params *samples, uint32_t tile)
{
    static struct pixels_shared pixels;
    const struct pixels_place place = pixels_find(p, tile);
    memset(&pixels, 0xa5, sizeof pixels);
    for (unsigned i = 0; i < PIXELS_THREADS; i++)
        pixels_load(samples, &place, i, &pixels);
    for (unsigned i = 0; i < PIXELS_THREADS; i++)
        pixels_store(p, &place, i, &pixels);
}
