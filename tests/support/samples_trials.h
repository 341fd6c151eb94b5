/* Pictures that go through samples and are turned by an engine: the file is,
 * byte for byte, the one that is made on the CPU. */
#ifndef TESTS_SUPPORT_SAMPLES_TRIALS_H
#define TESTS_SUPPORT_SAMPLES_TRIALS_H

#include "cuda/jpeg/scan_engine.h"

/* All components are made anew. */
void samples_trial_anew(const struct scan_engine_type *type);

/* Some components, or all, are moved. */
void samples_trial_realigned(const struct scan_engine_type *type);

#endif
