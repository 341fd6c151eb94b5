/* In place of cuda/backend_choose.c, where the runtime and the kernels of CUDA
 * are those beside this file. */
#include "cuda/backend_choose.h"

#include <string.h>

#include "cuda/jpeg/scan_engine.h"

const struct backend *backend_choose(const char *name, struct err *err)
{
    if (strcmp(name, "cuda") != 0)
        return &backend_cpu;
    return backend_cuda.probe(err) ? NULL : &backend_cuda;
}

const struct scan_engine_type *backend_choose_engine(void)
{
    return &scan_engine_cuda;
}

const struct kernel_suite *backend_choose_suite(void)
{
    return NULL;
}
