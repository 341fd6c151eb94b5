/* The kernels that turn scans, in plain loops, beside the coder on the CPU. */
#include "tests/support/pixels_trials.h"
#include "tests/support/samples_trials.h"
#include "tests/support/scan_engine_serial.h"
#include "tests/support/scan_trials.h"
#include "tests/support/test.h"

TEST(sizes)
{
    scan_trial_sizes(&scan_engine_serial);
}

TEST(restarts)
{
    scan_trial_restarts(&scan_engine_serial);
}

TEST(large)
{
    scan_trial_large(&scan_engine_serial);
}

TEST(anew)
{
    samples_trial_anew(&scan_engine_serial);
}

TEST(realigned)
{
    samples_trial_realigned(&scan_engine_serial);
}

TEST(pixels)
{
    pixels_trial_samplings(&scan_engine_serial);
}

TEST(large_pixels)
{
    pixels_trial_large(&scan_engine_serial);
}

TEST(long_steps)
{
    pixels_trial_long_steps(&scan_engine_serial);
}

TEST(out_of_range)
{
    pixels_trial_out_of_range(&scan_engine_serial);
}

TEST(mixed)
{
    pixels_trial_mixed(&scan_engine_serial);
}

TEST(mutations)
{
    scan_trial_mutations(&scan_engine_serial, 60);
}
