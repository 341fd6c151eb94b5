/* In place of the CUDA runtime, in a program that is gimgxf otherwise: a device
 * whose memory is that of the host, whose copies copy, whose kernels are those
 * of kernels.cu, and whose calls fail as the environment says:
 *
 *   GPU_FAIL_AT=N   the Nth call fails, for want of memory if it is to allocate
 *   GPU_FAIL_FOR=M  so many fail from that on, 1 if it is not given; 0: all, as
 *                   after an error from which a device does not recover
 *   GPU_COUNT=FD    how many there were is written there at the end
 *
 * As with the real one, no call works in a child of a process that has called.
 *
 * So all that calls CUDA is tested, also when a call fails, on any machine that
 * can compile it. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "tests/fake_gpu/fake_gpu.h"

static atomic_ulong count;
static _Atomic pid_t user; /* the first process that called */
static _Thread_local cudaError_t last;

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *value = getenv(name);
    return value ? strtoul(value, NULL, 10) : otherwise;
}

/* Returns what a call returns: this error if it is one that fails. */
static cudaError_t call(cudaError_t error)
{
    const unsigned long n = atomic_fetch_add(&count, 1) + 1;
    const unsigned long at = number("GPU_FAIL_AT", 0),
                        times = number("GPU_FAIL_FOR", 1);
    pid_t none = 0, own = getpid();
    if (!atomic_compare_exchange_strong(&user, &none, own) && none != own)
        return last = cudaErrorInitializationError;
    if (!at || n < at || (times && n >= at + times))
        return cudaSuccess;
    return last = error;
}

static cudaError_t call_any(void)
{
    return call(cudaErrorUnknown);
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    const unsigned long fd = number("GPU_COUNT", 0);
    int n = snprintf(text, sizeof text, "%lu\n", atomic_load(&count));
    if (fd && write((int)fd, text, (size_t)n) != n)
        _exit(99);
}

/* ---- The device --------------------------------------------------------- */

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation ? "out of memory"
                                              : "the device has failed";
}

/* Sets what a call finds out, where it does not fail. */
#define FINDS(name, type, value)                                               \
    cudaError_t name(type *found)                                              \
    {                                                                          \
        const cudaError_t error = call_any();                                  \
        if (error == cudaSuccess)                                              \
            *found = value;                                                    \
        return error;                                                          \
    }
FINDS(cudaDriverGetVersion, int, CUDART_VERSION)
FINDS(cudaGetDeviceCount, int, 1)

cudaError_t cudaSetDevice(int device)
{
    (void)device;
    return call_any();
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties,
                                    int device)
{
    (void)device;
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "the host as a GPU");
    return call_any();
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
    *left = *all = (size_t)256 << 20;
    return call_any();
}

/* ---- Memory ------------------------------------------------------------- */

static cudaError_t take(void **memory, size_t size)
{
    const cudaError_t error = call(cudaErrorMemoryAllocation);
    if (error != cudaSuccess)
        return error;
    size = (size + 4095) & ~(size_t)4095;
    *memory = aligned_alloc(4096, size ? size : 4096);
    if (!*memory)
        return last = cudaErrorMemoryAllocation;
    memset(*memory, 0, size);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
    return take(memory, size);
}

cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned flags)
{
    (void)flags;
    return take(memory, size);
}

/* Plain memory is as good here. */
cudaError_t cudaHostRegister(void *memory, size_t size, unsigned flags)
{
    (void)memory;
    (void)size;
    (void)flags;
    return call_any();
}

cudaError_t cudaHostUnregister(void *memory)
{
    (void)memory;
    return call_any();
}

/* What fails to be freed is free all the same, so that leaks are ours. */
cudaError_t cudaFree(void *memory)
{
    free(memory);
    return call_any();
}

cudaError_t cudaFreeHost(void *memory)
{
    return cudaFree(memory);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const cudaError_t error = call_any();
    (void)kind, (void)stream;
    if (error == cudaSuccess)
        memcpy(to, from, size);
    return error;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_stride, const void *from,
                              size_t from_stride, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const cudaError_t error = call_any();
    (void)kind, (void)stream;
    for (size_t y = 0; error == cudaSuccess && y < height; y++)
        memcpy((char *)to + y * to_stride, (const char *)from + y * from_stride,
               width);
    return error;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t size,
                            cudaStream_t stream)
{
    const cudaError_t error = call_any();
    (void)stream;
    if (error == cudaSuccess)
        memset(memory, value, size);
    return error;
}

/* ---- Streams and events ------------------------------------------------- */

static cudaError_t make(void *handle)
{
    const cudaError_t error = call_any();
    void *made = error == cudaSuccess ? malloc(1) : NULL;
    if (made)
        memcpy(handle, &made, sizeof made);
    return error;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    return make(stream);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    return make(event);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return cudaFree(stream);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return cudaFree(event);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return call_any();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event, (void)stream;
    return call_any();
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return call_any();
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from,
                                 cudaEvent_t to)
{
    (void)from, (void)to;
    *milliseconds = 1;
    return call_any();
}

/* ---- Kernels ------------------------------------------------------------- */

/* What kernels.cu launches. */
cudaError_t fake_gpu_launch(void)
{
    return call_any();
}

/* What nvcc has every object call as the program starts. */
void **__cudaRegisterFatBinary(void *code);
void **__cudaRegisterFatBinary(void *code)
{
    static void *handle;
    (void)code;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle);
void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

void __cudaRegisterVar(void);
void __cudaRegisterVar(void)
{
}
