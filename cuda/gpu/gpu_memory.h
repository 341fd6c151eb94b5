/* Errors of CUDA as messages; devices; memory of a device, and page-locked
 * memory of the host. */
#ifndef CUDA_GPU_GPU_MEMORY_H
#define CUDA_GPU_GPU_MEMORY_H

#include <cuda_runtime_api.h>

#include "codecs/base/err.h"
#include "codecs/image/image.h"

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

/* Counts the devices, of which there is one at least. Returns 0, or -1 with the
 * reason in `err`. */
int gpu_count_devices(int *count, struct err *err);

/* Memory that grows to the largest size that was asked for. {0} is empty. */
struct gpu_buffer {
    bool on_host; /* page-locked, and not on the device */
    bool locked;  /* it is plain memory that was page-locked */
    void *memory;
    size_t size; /* bytes */
};

/* Makes a buffer of the current device at least `size` bytes large; what it
 * held is lost. Memory of the device is zeroed, on `stream`. Returns 0; on
 * failure -1, with the reason in `err`, and the buffer is empty. */
int gpu_memory_grow(struct gpu_buffer *buffer, size_t size, cudaStream_t stream,
                    struct err *err);

void gpu_memory_free(struct gpu_buffer *buffer);

/* Page-locked memory for the pictures of a lane, kept from one picture to the
 * next. {0}, but for device and most, is empty. */
enum { GPU_POOL_BUFFERS = 8 };
struct gpu_pool {
    int device;  /* any device of the lane */
    size_t most; /* bytes that are kept in all */
    struct gpu_buffer buffer[GPU_POOL_BUFFERS];
    bool used[GPU_POOL_BUFFERS];
};

/* Returns the memory of the pool as pictures want it. Where the pool has no
 * room left, plain memory is given, which is copied more slowly. */
struct mem gpu_memory_of_pool(struct gpu_pool *pool);

/* Frees the memory; all pictures in it have been freed. */
void gpu_memory_close_pool(struct gpu_pool *pool);

#endif
