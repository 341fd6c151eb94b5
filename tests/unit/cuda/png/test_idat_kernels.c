/* The kernels that turn PNG pictures, in plain loops, beside zlib. */
#include "tests/support/host_engine.h"
#include "tests/support/idat_trials.h"

TEST_IDAT_ENGINE(host_engine, true, 12)
