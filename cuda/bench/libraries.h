/* The transposes of NVIDIA's libraries, cuBLAS and NPP. They are opened when
 * the first of their functions is asked for. */
#ifndef CUDA_BENCH_LIBRARIES_H
#define CUDA_BENCH_LIBRARIES_H

#include "cuda/bench/kernel_case.h"

/* Returns what is needed to use the libraries, or NULL without memory. The
 * caller frees it. Nothing is opened yet. */
struct libraries *libraries_new(void);
void libraries_free(struct libraries *libraries);

/* Returns NULL if the library is there, else why not. */
const char *libraries_lack(struct libraries *libraries,
                           enum vendor_library library);

/* Enqueue the transpose of one plane on the task's stream. Return 0; on failure
 * -1, with the reason in `err`. */
int libraries_geam(const struct kernel_case *kcase,
                   const struct kernel_task *task, struct err *err);
int libraries_npp(const struct kernel_case *kcase,
                  const struct kernel_task *task, struct err *err);

#endif
