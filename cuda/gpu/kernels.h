/* The kernels' launchers. */
#ifndef CUDA_GPU_KERNELS_H
#define CUDA_GPU_KERNELS_H

#include <cuda_runtime_api.h>

#include "codecs/image/image.h"
#include "codecs/image/xform.h"
#include "cuda/gpu/tiles_plan.h"

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

/* Describes the current device to tiles_plan_number(). */
cudaError_t kernels_chip(struct tiles_chip *chip);

/* The same for any number of planes, of any pictures, in one launch. They were
 * planned by tiles_plan_begin(), tiles_plan_add() for each, and
 * tiles_plan_number(); then `planes` was copied to the device's memory, where
 * it stays until the launch is done. */
cudaError_t kernels_turn_batch(const struct tiles_plan *plan,
                               const struct tiles_plane *planes,
                               cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
