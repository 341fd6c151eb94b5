/* The stage on GPUs: turns pictures at the speed of the GPU's memory. In comes
 * a picture in planes, in the host's memory, and one of the eight turns; out
 * goes the turned picture. gpu.cu is the backend: lanes (streams and memory),
 * and the pieces that planes are cut into (pieces.h). kernels.cu has the
 * kernels, tiles.h what their threads do. The room knows nothing of files and
 * formats, nor of what a cell means; blocks of coefficients it leaves to the
 * CPU.
 *
 * This header has the launchers. They enqueue and do not wait. */
#ifndef CUDA_GPU_KERNELS_H
#define CUDA_GPU_KERNELS_H

#include <cuda_runtime_api.h>

#include "codecs/image/image.h"
#include "codecs/image/xform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns an error if this build has no code for the current device. */
cudaError_t kernels_usable(void);

/* Enqueues on `stream`, a stream of the current device, the turn of a plane of
 * samples, in that device's memory. dst has the shape that t gives src. Cells
 * beyond the end of a row of dst, in its padding, may be written. */
cudaError_t kernels_turn(const struct plane *dst, const struct plane *src,
                         enum cell cell, enum xform t, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
