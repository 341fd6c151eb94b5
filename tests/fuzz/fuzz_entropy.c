/* Any bytes as a JPEG file: what our coder of sequential JPEG reads of it,
 * turns and writes has the coefficients that libjpeg reads. */
#include "tests/fuzz/fuzz.h"
#include "tests/support/entropy_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes file = { .data = (uint8_t *)(uintptr_t)data, .size = size };
    struct entropy_trial trial = { .pixels_max = 1 << 18 };
    const unsigned way = fuzz_way(data, size);
    trial.turn = (enum xform)(way % XFORM_COUNT);
    trial.optimize = way & 8;
    trial.planes = way & 16;
    trial.pool = way & 32 ? fuzz_pool(3) : NULL;
    must(entropy_try(file, &trial) != ENTROPY_WRONG);
    return 0;
}
