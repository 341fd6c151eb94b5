/* Verification on the GPU: fills sources and checks results (verify.h). */
#ifndef CUDA_BENCH_VERIFY_GPU_H
#define CUDA_BENCH_VERIFY_GPU_H

#include "cuda/bench/kernel_case.h"

/* Both return 0; on failure -1, with the reason in `err`. */

/* Enqueues on the task's stream: writes the cells of all sources, and garbage
 * into all results. */
int verify_gpu_fill(const struct kernel_task *task, struct err *err);

/* Waits for the task's stream, and adds the number of cells of its results to
 * *cells and of wrong cells to *wrong. `counter` is memory of the device. */
int verify_gpu_check(const struct kernel_task *task,
                     unsigned long long *counter, uint64_t *wrong,
                     uint64_t *cells, struct err *err);

#endif
