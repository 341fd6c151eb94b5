/* What the kernels of the host take from the runtime beside them. */
#ifndef TESTS_FAKE_GPU_FAKE_GPU_H
#define TESTS_FAKE_GPU_FAKE_GPU_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts a launch. Returns an error if it is one that fails. */
cudaError_t fake_gpu_launch(void);

#ifdef __cplusplus
}
#endif
#endif
