/* NVIDIA's own JPEG codec, for comparison: it decodes to planes of samples, and
 * encodes these. */
#ifndef CUDA_BENCH_NVJPEG_H
#define CUDA_BENCH_NVJPEG_H

#include "cuda/bench/kernel_suite.h"

/* As struct kernel_suite has it. */
int nvjpeg_time(const struct suite_jpeg *task, struct suite_jpeg_times *times,
                struct err *err);

#endif
