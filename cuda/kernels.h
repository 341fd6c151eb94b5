/* The kernels' launchers. */
#ifndef CUDA_KERNELS_H
#define CUDA_KERNELS_H

#include <cuda_runtime_api.h>

#include "codecs/image.h"
#include "codecs/xform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this build holds code for the current device. */
cudaError_t kernels_usable(void);

/* Enqueues on `stream`, a stream of the current device, the turn of every plane
 * of src into dst, in one launch. dst has the shape that image_like() gave for
 * t; the planes of both are in that device's memory. Cells beyond the end of a
 * row of dst, in its padding, may be written. */
cudaError_t kernels_turn(const struct image *dst, const struct image *src,
                         enum xform t, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
