/* The kernels that turn scans, in plain loops, beside the coder on the CPU. */
#include "tests/support/host_engine.h"
#include "tests/support/scan_trials.h"

TEST_ENGINE(host_engine, true, 60)
