/* Runs of literals in plain C, and the choice for this CPU. */
#include "codecs/deflate/literal_run.h"

static bool always(void)
{
    return true;
}

static void put(struct bit_writer *b, const uint32_t *code, const uint8_t *data,
                size_t size)
{
    struct bit_writer copy = *b; /* which no store to `out` changes */
    literal_run_put(&copy, code, data, size);
    *b = copy;
}

static const struct literal_runs portable = {
    .name = "portable",
    .usable = always,
    .put = put,
};

const struct literal_runs *const literal_runs[] = {
#ifdef __x86_64__
    &literal_runs_avx512,
#endif
    &portable,
    NULL,
};

void literal_run_put_long(struct bit_writer *b, const uint32_t *code,
                          const uint8_t *data, size_t size)
{
    size_t i = 0;
    while (!literal_runs[i]->usable())
        i++;
    literal_runs[i]->put(b, code, data, size);
}
