/* The engine on a GPU beside zlib. Built with CUDA only. */
#include <stdlib.h>

#include "tests/support/idat_trials.h"

static bool has_device(void)
{
    const struct scan_engine_opts opts = { .input = 1 };
    const char *required = getenv("CUDA_REQUIRED");
    struct scan_engine *engine = NULL;
    struct err err = { .memory = false };
    bool found = idat_engine_cuda.open(&engine, &opts, &err) == 0;
    idat_engine_cuda.close(engine);
    if (!found && required && *required == '1')
        CHECK(found, "%s", err.text);
    else if (!found)
        test_skip("%s", err.text);
    return found;
}

/* With BATCHES as many. */
static unsigned batches(void)
{
    const char *n = getenv("BATCHES");
    return n ? (unsigned)atoi(n) : 60;
}

TEST_IDAT_ENGINE(idat_engine_cuda, has_device(), batches())
