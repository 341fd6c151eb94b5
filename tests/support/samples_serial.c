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

static void decode_tile(const struct samples_params *p, uint32_t tile)
{
    forget();
    EACH(i)
    {
        at[i] = samples_find_from(p, tile, i);
        samples_load(p, &at[i], &shared);
    }
    EACH(i) samples_inverse_column(&at[i], &shared);
    EACH(i) samples_store(p, &at[i], &shared);
}

static void unit_tile(const struct samples_params *p, uint32_t tile)
{
    forget();
    EACH(i)
    {
        at[i] = samples_find_unit(p, tile, i);
        samples_forward_row(p, &at[i], &shared);
    }
    EACH(i) samples_store_units(p, &at[i], &shared);
}

static void find_cap(const struct samples_params *p, uint32_t component)
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

static void encode_tile(const struct samples_params *p, uint32_t tile)
{
    forget();
    EACH(i)
    {
        at[i] = samples_find_to(p, tile, i);
        samples_forward_row(p, &at[i], &shared);
    }
    EACH(i) samples_round(p, &at[i], &shared);
    EACH(i) samples_mark(&at[i], &shared);
    EACH(i) samples_put(p, &at[i], &shared);
}

void samples_serial_run(const struct samples_params *p,
                        const struct samples_plan *plan)
{
    for (uint32_t i = 0; i < plan->tiles; i++)
        decode_tile(p, i);
    for (uint32_t i = 0; i < plan->unit_tiles; i++)
        unit_tile(p, i);
    for (uint32_t i = 0; i < samples_plan_count(plan); i++)
        find_cap(p, i);
    for (uint32_t i = 0; i < plan->to_tiles; i++)
        encode_tile(p, i);
}
