/* The list of backends, and the choice. */
#include "cuda/backend_choose.h"

#include <string.h>

#include "cuda/bench/kernel_suite.h"

static const struct backend *const backends[] = {
    &backend_cpu,
#if HAVE_CUDA
    &backend_cuda,
#endif
};
static const struct kernel_suite *const suites[] = {
#if HAVE_CUDA
    &kernel_suite_cuda,
#endif
    NULL,
};
static const struct scan_engine_type *const engines[] = {
#if HAVE_CUDA
    &scan_engine_cuda,
#endif
    NULL,
};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

const struct backend *backend_find(const char *name, struct err *err)
{
    for (size_t i = 0; i < BACKENDS; i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    if (strcmp(name, "cuda") == 0)
        fail(err, "this build has no CUDA");
    else
        fail(err, "unknown backend \"%s\"; expected cpu or cuda", name);
    return NULL;
}

const struct backend *backend_choose(const char *name, struct err *err)
{
    const struct backend *backend = backend_find(name, err);
    return backend && backend->probe(err) == 0 ? backend : NULL;
}

const struct scan_engine_type *backend_choose_engine(void)
{
    return engines[0];
}

const struct kernel_suite *backend_choose_suite(void)
{
    return suites[0];
}
