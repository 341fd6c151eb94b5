/* Marks the cells of sources, and checks those of results. */
#ifndef CUDA_BENCH_VERIFY_GPU_H
#define CUDA_BENCH_VERIFY_GPU_H

#include "cuda/bench/kernel_case.h"

/* Enqueues on the task's stream that all its sources are marked and all its
 * results are garbage. */
int verify_gpu_fill(const struct kernel_task *task, struct err *err);

/* Waits for the task's stream, and adds the cells of its results, and those of
 * them that are not right. The counter is memory of the device. */
int verify_gpu_check(const struct kernel_task *task,
                     unsigned long long *counter, uint64_t *wrong,
                     uint64_t *cells, struct err *err);

#endif
