/* The transposes of NVIDIA's libraries, cuBLAS and NPP. They are opened when
 * the first of their functions is asked for. */
#ifndef CUDA_BENCH_LIBRARIES_H
#define CUDA_BENCH_LIBRARIES_H

#include <dlfcn.h>

#include "cuda/bench/kernel_case.h"

/* Returns what is needed to use the libraries, or NULL without memory. The
 * caller frees it. Nothing is opened yet. */
struct libraries *libraries_new(void);
void libraries_free(struct libraries *libraries);

/* Returns NULL if the library is there, else why not. */
const char *libraries_lack(struct libraries *libraries,
                           enum vendor_library library);

/* Opens a library by its name, as "libnpp": where the loader looks, and then
 * where toolkits are installed. Returns NULL if it is not there. It stays
 * open: the kernels that it registers with the CUDA runtime do, too. */
void *libraries_open(const char *name);

/* Finds a function of it. Returns false if it has none of this name. */
template <typename F>
static inline bool libraries_find(void *library, const char *name, F *f)
{
    *f = reinterpret_cast<F>(dlsym(library, name));
    return *f != NULL;
}

/* Enqueue the transpose of one plane on the task's stream. Return 0; on failure
 * -1, with the reason in `err`. */
int libraries_geam(const struct kernel_case *kcase,
                   const struct kernel_task *task, struct err *err);
int libraries_npp(const struct kernel_case *kcase,
                  const struct kernel_task *task, struct err *err);

#endif
