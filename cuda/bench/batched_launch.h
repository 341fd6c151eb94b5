/* Many pictures of one size, turned in one launch, and in a launch each. */
#ifndef CUDA_BENCH_BATCHED_LAUNCH_H
#define CUDA_BENCH_BATCHED_LAUNCH_H

#include "cuda/bench/kernel_case.h"

/* The plan of one launch for all pictures of a task, here and on the device. */
struct batch_plan;

/* Makes the plan and sends it, on the task's stream. The caller frees it, which
 * waits for nothing: not before the launches are done. NULL: no memory, or the
 * device failed. */
struct batch_plan *batched_launch_new(const struct kernel_task *task,
                                      struct err *err);
void batched_launch_free(struct batch_plan *plan);

/* Enqueues one launch for all pictures of the task, and one for each. The task
 * has a plan. */
int batched_launch_run(const struct kernel_case *kcase,
                       const struct kernel_task *task, struct err *err);
int batched_launch_each(const struct kernel_task *task, struct err *err);

/* Times both: what a launch each takes between events, and what the host waits
 * from the addresses of the pictures to the results, planning included. */
int batched_launch_time(const struct kernel_task *task, unsigned rounds,
                        struct suite_batch *times, struct err *err);

#endif
