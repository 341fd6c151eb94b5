/* The list of backends, and the choice among them. */
#ifndef CUDA_BACKEND_CHOOSE_H
#define CUDA_BACKEND_CHOOSE_H

#include "cuda/backend.h"
#include "cuda/jpeg/scan_engine.h"

/* Returns the backend of this name, or NULL with the reason if the build has
 * none. Whether it can run is for its probe() to say, in the process that is to
 * use it: the runtime of CUDA serves no child of a process that has called it,
 * and starts threads, which a sandbox that is entered later leaves out. */
const struct backend *backend_find(const char *name, struct err *err);

/* Returns the backend of this name, or NULL with the reason if there is none or
 * it cannot run here. */
const struct backend *backend_choose(const char *name, struct err *err);

/* Returns what turns coded data on a GPU, which it is not asked for; or NULL in
 * a build without CUDA. */
const struct scan_engine_type *backend_choose_engine(void);

/* Returns what a benchmark of the GPU runs, or NULL in a build without CUDA. */
struct kernel_suite;
const struct kernel_suite *backend_choose_suite(void);

#endif
