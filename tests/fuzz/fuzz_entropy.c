/* Any bytes as a JPEG file: what our coder of sequential JPEG reads of it,
 * turns and writes has the coefficients that libjpeg reads. */
#include "tests/fuzz/fuzz.h"
#include "tests/support/entropy_oracle.h"
#include "tests/support/must.h"

static struct thread_pool *three_threads(void)
{
    static struct thread_pool *pool;
    if (!pool)
        pool = thread_pool_open(3);
    must(pool != NULL);
    return pool;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes file = { .data = (uint8_t *)(uintptr_t)data, .size = size };
    struct entropy_trial trial = { .pixels_max = 1 << 18 };
    unsigned way = 0;
    for (size_t i = 0; i < size; i++)
        way = way * 31 + data[i];
    trial.turn = (enum xform)(way % XFORM_COUNT);
    trial.optimize = way & 8;
    trial.planes = way & 16;
    trial.pool = way & 32 ? three_threads() : NULL;
    must(entropy_try(file, &trial) != ENTROPY_WRONG);
    return 0;
}
