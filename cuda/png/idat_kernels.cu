/* The kernels that turn PNG pictures.
 *
 * All that they do stands in the headers of this room, with what it costs; here
 * is what a block of threads shares, and how many threads it has. */
#include "cuda/png/idat_kernels.h"

#include "cuda/png/idat_code.h"
#include "cuda/png/idat_inflate.h"

/* All kernels, in the order of enum idat_kernel, with the threads of a block:
 * those whose threads share memory, and what; and those that share none. */
#define FOR_EACH_KERNEL(SHARING, ALONE)                                        \
    SHARING(inflate, INFLATE_THREADS, inflate_shared)                          \
    SHARING(check_adler, ADLER_THREADS, adler_shared)                          \
    SHARING(undo, UNDO_THREADS, undo_shared)                                   \
    SHARING(move, ARRAY_THREADS, move_shared)                                  \
    SHARING(try_filter, LZ77_THREADS, lz77_shared)                             \
    ALONE(choose_filter, 1, )                                                  \
    SHARING(filter, FILTER_THREADS, filter_shared)                             \
    SHARING(sum_band, ADLER_THREADS, adler_shared)                             \
    SHARING(find_matches, LZ77_THREADS, lz77_shared)                           \
    SHARING(make_codes, CODE_THREADS, code_shared)                             \
    ALONE(place, 1, )                                                          \
    SHARING(emit, EMIT_THREADS, emit_shared)                                   \
    SHARING(check_band, INFLATE_THREADS, inflate_shared)                       \
    ALONE(check_rows, FILTER_THREADS, )

#define KERNEL(name, threads)                                                  \
    static __global__ void __launch_bounds__(threads)                          \
        name(const __grid_constant__ struct idat_params p)
#define SHARING(name, threads, shared)                                         \
    KERNEL(name, threads)                                                      \
    {                                                                          \
        __shared__ shared s;                                                   \
        idat_##name(&p, blockIdx.x, &s);                                       \
    }
#define ALONE(name, threads, none)                                             \
    KERNEL(name, threads)                                                      \
    {                                                                          \
        idat_##name(&p, blockIdx.x);                                           \
    }
FOR_EACH_KERNEL(SHARING, ALONE)

/* ---- The launcher --------------------------------------------------------*/

#define ROW(name, threads, shared) { name, threads },
static const struct {
    void (*kernel)(idat_params);
    unsigned threads;
} kernels[IDAT_KERNELS] = { FOR_EACH_KERNEL(ROW, ROW) };

cudaError_t idat_kernels_launch(unsigned kernel, uint32_t blocks, uint32_t,
                                const void *params, cudaStream_t stream)
{
    kernels[kernel].kernel<<<blocks, kernels[kernel].threads, 0, stream>>>(
        *(const struct idat_params *)params);
    return cudaGetLastError();
}
