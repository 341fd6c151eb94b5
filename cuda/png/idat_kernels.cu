/* The kernels that turn PNG pictures, their launchers, and the engine.
 *
 * All that they do stands in the headers of this room, with what it costs; here
 * is what a block of threads shares, and how many threads it has. */
#include "cuda/jpeg/scan_engine_gpu.h"
#include "cuda/png/idat_code.h"
#include "cuda/png/idat_device.h"
#include "cuda/png/idat_inflate.h"

#define PARAMS          const __grid_constant__ struct idat_params p
#define KERNEL(threads) static __global__ void __launch_bounds__(threads)

KERNEL(INFLATE_THREADS) inflate(PARAMS)
{
    __shared__ inflate_shared s;
    idat_inflate(&p, blockIdx.x, &s);
}

KERNEL(ADLER_THREADS) check_adler(PARAMS)
{
    __shared__ adler_shared s;
    idat_check_adler(&p, blockIdx.x, &s);
}

KERNEL(UNDO_THREADS) undo(PARAMS)
{
    __shared__ undo_shared s;
    idat_undo(&p, blockIdx.x, &s);
}

KERNEL(TURN_THREADS) move(PARAMS)
{
    __shared__ turn_shared s;
    idat_move(&p, blockIdx.x, &s);
}

KERNEL(LZ77_THREADS) try_filter(PARAMS)
{
    __shared__ lz77_shared s;
    idat_try_filter(&p, blockIdx.x, &s);
}

KERNEL(1) choose_filter(PARAMS)
{
    idat_choose_filter(&p, blockIdx.x);
}

KERNEL(FILTER_THREADS) filter(PARAMS)
{
    __shared__ filter_shared s;
    idat_filter(&p, blockIdx.x, &s);
}

KERNEL(ADLER_THREADS) sum_band(PARAMS)
{
    __shared__ adler_shared s;
    idat_sum_band(&p, blockIdx.x, &s);
}

KERNEL(LZ77_THREADS) find_matches(PARAMS)
{
    __shared__ lz77_shared s;
    idat_find_matches(&p, blockIdx.x, &s);
}

KERNEL(CODE_THREADS) make_codes(PARAMS)
{
    __shared__ code_shared s;
    idat_make_codes(&p, blockIdx.x, &s);
}

KERNEL(1) place(PARAMS)
{
    idat_place(&p, blockIdx.x);
}

KERNEL(EMIT_THREADS) emit(PARAMS)
{
    __shared__ emit_shared s;
    idat_emit(&p, blockIdx.x, &s);
}

KERNEL(INFLATE_THREADS) check_band(PARAMS)
{
    __shared__ inflate_shared s;
    idat_check_band(&p, blockIdx.x, &s);
}

KERNEL(FILTER_THREADS) check_rows(PARAMS)
{
    idat_check_rows(&p, blockIdx.x);
}

/* ---- Launchers -----------------------------------------------------------*/

static const struct {
    void (*kernel)(idat_params);
    unsigned threads;
} kernels[IDAT_KERNELS] = {
    { inflate, INFLATE_THREADS },
    { check_adler, ADLER_THREADS },
    { undo, UNDO_THREADS },
    { move, TURN_THREADS },
    { try_filter, LZ77_THREADS },
    { choose_filter, 1 },
    { filter, FILTER_THREADS },
    { sum_band, ADLER_THREADS },
    { find_matches, LZ77_THREADS },
    { make_codes, CODE_THREADS },
    { place, 1 },
    { emit, EMIT_THREADS },
    { check_band, INFLATE_THREADS },
    { check_rows, FILTER_THREADS },
};

static cudaError_t prepare(void)
{
    return cudaSuccess; /* none needs more shared memory than any has */
}

static cudaError_t launch(unsigned kernel, uint32_t blocks, uint32_t codes,
                          const void *params, cudaStream_t stream)
{
    (void)codes;
    if (blocks == 0)
        return cudaSuccess;
    kernels[kernel].kernel<<<blocks, kernels[kernel].threads, 0, stream>>>(
        *(const struct idat_params *)params);
    return cudaGetLastError();
}

/* ---- The engine ----------------------------------------------------------*/

static int open_idats(struct scan_engine **engine,
                      const struct scan_engine_opts *opts, struct err *err)
{
    static const struct scan_work work = { idat_turn_batch, prepare, launch,
                                           "turning a PNG", true };
    return scan_engine_gpu_open(engine, opts, &work, err);
}

const struct scan_engine_type idat_engine_cuda = {
    scan_engine_gpu_devices,
    open_idats,
    scan_engine_gpu_input,
    scan_engine_gpu_run,
    scan_engine_gpu_output,
    scan_engine_gpu_close,
    false,
};
