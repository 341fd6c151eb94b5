/* The launcher of the kernels that turn scans. */
#ifndef CUDA_JPEG_SCAN_KERNELS_H
#define CUDA_JPEG_SCAN_KERNELS_H

#include <cuda_runtime_api.h>

#include "cuda/jpeg/scan_device.h"

/* Enqueues one, of enum scan_kernel with struct scan_params: see struct
 * scan_device. */
cudaError_t scan_kernels_launch(unsigned kernel, uint32_t blocks,
                                uint32_t codes, const void *params,
                                cudaStream_t stream);

#endif
