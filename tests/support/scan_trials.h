/* An engine beside the coder on the CPU: it refuses the same scans, and turns
 * all others to the same bytes. */
#ifndef TESTS_SUPPORT_SCAN_TRIALS_H
#define TESTS_SUPPORT_SCAN_TRIALS_H

#include "cuda/jpeg/scan_engine.h"
#include "tests/support/pixels_trials.h"
#include "tests/support/samples_trials.h"
#include "tests/support/test.h"

/* Each is a test of its own. */
void scan_trial_sizes(const struct scan_engine_type *type);
void scan_trial_restarts(const struct scan_engine_type *type);
void scan_trial_large(const struct scan_engine_type *type);

/* `each`: mutations of each of 96 pictures; a third of them if not WHOLE=1. */
void scan_trial_mutations(const struct scan_engine_type *type, unsigned each);

/* The tests of an engine, where it can run. */
#define TEST_ENGINE(engine, usable, each)                                      \
    TEST_TRIAL(sizes, scan_trial_sizes, engine, usable)                        \
    TEST_TRIAL(restarts, scan_trial_restarts, engine, usable)                  \
    TEST_TRIAL(large, scan_trial_large, engine, usable)                        \
    TEST_TRIAL(anew, samples_trial_anew, engine, usable)                       \
    TEST_TRIAL(realigned, samples_trial_realigned, engine, usable)             \
    TEST_TRIAL(pixels, pixels_trial_samplings, engine, usable)                 \
    TEST_TRIAL(large_pixels, pixels_trial_large, engine, usable)               \
    TEST_TRIAL(long_steps, pixels_trial_long_steps, engine, usable)            \
    TEST_TRIAL(out_of_range, pixels_trial_out_of_range, engine, usable)        \
    TEST_TRIAL(mixed, pixels_trial_mixed, engine, usable)                      \
    TEST(mutations)                                                            \
    {                                                                          \
        if (usable)                                                            \
            scan_trial_mutations(&(engine), each);                             \
    }
#define TEST_TRIAL(name, trial, engine, usable)                                \
    TEST(name)                                                                 \
    {                                                                          \
        if (usable)                                                            \
            trial(&(engine));                                                  \
    }

#endif
