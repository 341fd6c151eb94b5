/* The launchers of the kernels that turn scans. */
#ifndef CUDA_JPEG_SCAN_KERNELS_H
#define CUDA_JPEG_SCAN_KERNELS_H

#include <cuda_runtime_api.h>

#include "cuda/jpeg/scan_device.h"

/* Lets kernels use as much shared memory of the current device as the largest
 * tables need. */
cudaError_t scan_kernels_prepare(void);

/* Enqueues a kernel: see struct scan_device. */
cudaError_t scan_kernels_launch(enum scan_kernel kernel, uint32_t blocks,
                                uint32_t codes,
                                const struct scan_params *params,
                                cudaStream_t stream);

#endif
