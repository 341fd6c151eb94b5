/* The kernels of components that go through samples, in plain loops. */
#ifndef TESTS_SUPPORT_SAMPLES_SERIAL_H
#define TESTS_SUPPORT_SAMPLES_SERIAL_H

#include "cuda/jpeg/samples_plan.h"

/* Runs them all, on arrays of this machine. The shared memory of each tile
 * begins as garbage. */
void samples_serial_run(const struct samples_params *p,
                        const struct samples_plan *plan);

#endif
