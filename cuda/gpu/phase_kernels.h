/* Kernels of what is written in phases, and their launchers.
 *
 * A room lists what its blocks do in a table X(kernel, function, threads,
 * shared, what): the number of the kernel, its function, which takes the
 * parameters, the number of the block and what it shares, the threads of a
 * block, the struct that these share, and a name for people. */
#ifndef CUDA_GPU_PHASE_KERNELS_H
#define CUDA_GPU_PHASE_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

/* Enqueues a kernel of this number, of so many blocks; the shared memory of a
 * block lacks the last bytes, so many of them, which it does not use. */
cudaError_t scan_kernels_launch(unsigned kernel, uint32_t blocks, uint32_t less,
                                const void *params, cudaStream_t stream);
cudaError_t idat_kernels_launch(unsigned kernel, uint32_t blocks, uint32_t less,
                                const void *params, cudaStream_t stream);

/* What a block shares is in static memory, whose size tells the compiler how
 * many registers are worth it; but there is a limit to that. */
#define PHASE_STATIC (48u << 10)
#define PHASE_DYNAMIC(shared)                                                  \
    (sizeof(struct shared) > PHASE_STATIC ? sizeof(struct shared) : 0)
/* Of these so many blocks are on a multiprocessor of 227 KiB; 0: any number. */
#define PHASE_BLOCKS(shared)                                                   \
    (PHASE_DYNAMIC(shared) ? (227u << 10) / sizeof(struct shared) : 0)

/* Makes the kernels of a table, whose parameter is PHASE_PARAMS. */
#define PHASE_KERNEL(kernel, function, count, shared, what)                    \
    static __global__ void __launch_bounds__(count, PHASE_BLOCKS(shared))      \
        function##_blocks(const __grid_constant__ PHASE_PARAMS p)              \
    {                                                                          \
        if constexpr (PHASE_DYNAMIC(shared)) {                                 \
            extern __shared__ uint4 memory[];                                  \
            function(&p, blockIdx.x, (struct shared *)memory);                 \
        } else {                                                               \
            __shared__ struct shared s;                                        \
            function(&p, blockIdx.x, &s);                                      \
        }                                                                      \
    }

/* Makes their launcher. Dynamic memory may be more than a kernel has unless it
 * was allowed more, on each device: to ask again costs little. */
#define PHASE_ROW(kernel, function, count, shared, what)                       \
    { function##_blocks, count, PHASE_DYNAMIC(shared) },
#define PHASE_LAUNCHER(launcher, table)                                        \
    cudaError_t launcher(unsigned kernel, uint32_t blocks, uint32_t less,      \
                         const void *params, cudaStream_t stream)              \
    {                                                                          \
        static const struct {                                                  \
            void (*run)(PHASE_PARAMS);                                         \
            unsigned threads, shared;                                          \
        } kernels[] = { table(PHASE_ROW) };                                    \
        const auto &k = kernels[kernel];                                       \
        cudaError_t status = cudaSuccess;                                      \
        if (k.shared)                                                          \
            status = cudaFuncSetAttribute(                                     \
                k.run, cudaFuncAttributeMaxDynamicSharedMemorySize, k.shared); \
        if (status != cudaSuccess)                                             \
            return status;                                                     \
        k.run<<<blocks, k.threads, k.shared - less, stream>>>(                 \
            *static_cast<const PHASE_PARAMS *>(params));                       \
        return cudaGetLastError();                                             \
    }

#endif
