/* An engine beside the coder on the CPU: it refuses the same scans, and turns
 * all others to the same bytes. */
#ifndef TESTS_SUPPORT_SCAN_TRIALS_H
#define TESTS_SUPPORT_SCAN_TRIALS_H

#include "cuda/jpeg/scan_engine.h"
#include "tests/support/test.h"

/* Each is a test of its own. */
void scan_trial_sizes(const struct scan_engine_type *type);
void scan_trial_restarts(const struct scan_engine_type *type);
void scan_trial_large(const struct scan_engine_type *type);

/* `each`: mutations of each of 96 pictures; a third of them if not WHOLE=1. */
void scan_trial_mutations(const struct scan_engine_type *type, unsigned each);

/* Pictures that go through samples and are turned by an engine: the file is,
 * byte for byte, the one that is made on the CPU. All components are made anew.
 */
void samples_trial_anew(const struct scan_engine_type *type);

/* The same where some components, or all, are moved. */
void samples_trial_realigned(const struct scan_engine_type *type);

/* Pictures that an engine makes samples of: they are those of libjpeg, turned
 * by the oracle. All samplings, turns and packings, of bytes and of floats, in
 * small sizes; and large pictures. */
void pixels_trial_samplings(const struct scan_engine_type *type);
void pixels_trial_large(const struct scan_engine_type *type);

/* Steps that are so long that decoders differ: what is not refused is right. */
void pixels_trial_long_steps(const struct scan_engine_type *type);

/* Samples about which libjpeg's C code and its vectors differ are refused. */
void pixels_trial_out_of_range(const struct scan_engine_type *type);

/* Beside pictures that become JPEG again. */
void pixels_trial_mixed(const struct scan_engine_type *type);

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
