/* The launcher of the kernels that turn PNG pictures. */
#ifndef CUDA_PNG_IDAT_KERNELS_H
#define CUDA_PNG_IDAT_KERNELS_H

#include <cuda_runtime_api.h>

#include "cuda/png/idat_device.h"

/* Enqueues one, of enum idat_kernel with struct idat_params: see struct
 * scan_device. None has use for `codes`. */
cudaError_t idat_kernels_launch(unsigned kernel, uint32_t blocks,
                                uint32_t codes, const void *params,
                                cudaStream_t stream);

#endif
