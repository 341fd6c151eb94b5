/* In place of the kernels: what they do, by the processor, at once. */
#include "cuda/gpu/kernels.h"

#include "cuda/gpu/phase_kernels.h"
#include "tests/fake_gpu/fake_gpu.h"
#include "tests/support/scan_serial.h"
extern "C" {
#include "tests/support/oracle.h"
}

cudaError_t kernels_usable(void)
{
    return fake_gpu_launch();
}

cudaError_t kernels_turn(const struct plane *dst, const struct plane *src,
                         enum cell cell, enum xform t, cudaStream_t)
{
    struct image from = {}, to = {};
    struct err unheard;
    const cudaError_t error = fake_gpu_launch();
    from.cell = to.cell = cell;
    from.nplanes = to.nplanes = 1;
    from.plane[0] = *src;
    to.plane[0] = *dst;
    if (error == cudaSuccess)
        (void)turn_cells(NULL, &to, &from, t, &unheard);
    return error;
}

cudaError_t scan_kernels_launch(unsigned kernel, uint32_t blocks, uint32_t,
                                const void *params, cudaStream_t)
{
    const cudaError_t error = fake_gpu_launch();
    if (error == cudaSuccess)
        scan_serial_launch(kernel, blocks, params);
    return error;
}

cudaError_t idat_kernels_launch(unsigned kernel, uint32_t blocks, uint32_t,
                                const void *params, cudaStream_t)
{
    const cudaError_t error = fake_gpu_launch();
    if (error == cudaSuccess)
        idat_serial_launch(kernel, blocks, params);
    return error;
}
