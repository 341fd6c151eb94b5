/* Errors of CUDA as messages. */
#ifndef CUDA_GPU_GPU_CHECK_H
#define CUDA_GPU_GPU_CHECK_H

#include <cuda_runtime_api.h>

#include "codecs/base/err.h"

/* Returns 0 if `status` is success; else -1, with "`what`: the error" in `err`,
 * which says so if it was for want of memory.
 * A failed call also leaves its error to be found by the cudaGetLastError()
 * after the next launch, which may belong to another picture: it is taken away
 * here. An error that the device cannot recover from is reported by every call
 * that follows in any case. */
static inline int gpu_check(cudaError_t status, const char *what,
                            struct err *err)
{
    if (status == cudaSuccess)
        return 0;
    (void)cudaGetLastError();
    if (status == cudaErrorMemoryAllocation)
        return fail_memory(err, "%s: %s", what, cudaGetErrorString(status));
    return fail(err, "%s: %s", what, cudaGetErrorString(status));
}

#endif
