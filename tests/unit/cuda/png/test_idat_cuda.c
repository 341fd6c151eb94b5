/* The engine on a GPU beside zlib. Built with CUDA only. */
#include <stdlib.h>

#include "tests/support/idat_trials.h"
#include "tests/support/scan_jobs.h"

/* With BATCHES as many. */
static unsigned batches(void)
{
    const char *n = getenv("BATCHES");
    return n ? (unsigned)atoi(n) : 60;
}

TEST_IDAT_ENGINE(scan_engine_cuda, scan_has_device(&scan_engine_cuda),
                 batches())
