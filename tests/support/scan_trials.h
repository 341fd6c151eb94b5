/* An engine beside the coder on the CPU: it refuses the same scans, and turns
 * all others to the same bytes. */
#ifndef TESTS_SUPPORT_SCAN_TRIALS_H
#define TESTS_SUPPORT_SCAN_TRIALS_H

#include "cuda/jpeg/scan_engine.h"

/* Each is a test of its own. */
void scan_trial_sizes(const struct scan_engine_type *type);
void scan_trial_restarts(const struct scan_engine_type *type);
void scan_trial_large(const struct scan_engine_type *type);

/* `each`: mutations of each of 96 pictures; a third of them if not WHOLE=1. */
void scan_trial_mutations(const struct scan_engine_type *type, unsigned each);

#endif
