/* In place of the kernels: what they do, by the processor, at once. */
#include "cuda/gpu/kernels.h"

#include "cuda/jpeg/scan_engine_gpu.h"
#include "cuda/jpeg/scan_kernels.h"
#include "tests/fake_gpu/fake_gpu.h"
#include "tests/support/scan_serial.h"
extern "C" {
#include "tests/support/oracle.h"
}

cudaError_t kernels_usable(void)
{
    return fake_gpu_launch();
}

cudaError_t kernels_turn(const struct image *dst, const struct image *src,
                         enum xform t, cudaStream_t)
{
    struct image to = *dst;
    struct err unheard;
    const cudaError_t error = fake_gpu_launch();
    if (error == cudaSuccess)
        (void)turn_cells(NULL, &to, src, t, &unheard);
    return error;
}

cudaError_t scan_kernels_prepare(void)
{
    return fake_gpu_launch();
}

cudaError_t scan_kernels_launch(enum scan_kernel kernel, uint32_t blocks,
                                uint32_t, const struct scan_params *params,
                                cudaStream_t)
{
    const cudaError_t error = fake_gpu_launch();
    if (error == cudaSuccess)
        scan_serial_launch(kernel, blocks, params);
    return error;
}

static cudaError_t launch_idats(unsigned kernel, uint32_t blocks, uint32_t,
                                const void *params, cudaStream_t)
{
    const cudaError_t error = fake_gpu_launch();
    if (error == cudaSuccess)
        idat_serial_launch((enum idat_kernel)kernel, blocks,
                           (const struct idat_params *)params);
    return error;
}

static int open_idats(struct scan_engine **engine,
                      const struct scan_engine_opts *opts, struct err *err)
{
    static const struct scan_work work = { idat_turn_batch,
                                           scan_kernels_prepare, launch_idats,
                                           "turning a PNG", true, 0 };
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
