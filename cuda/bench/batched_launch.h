/* Many pictures of one size: turned in one launch, and in a launch each. All
 * functions that return an int return 0; on failure -1, with the reason in
 * `err`. */
#ifndef CUDA_BENCH_BATCHED_LAUNCH_H
#define CUDA_BENCH_BATCHED_LAUNCH_H

#include "cuda/bench/kernel_case.h"

/* The plan of one launch for all pictures of a task, here and on the device. */
struct batch_plan;

/* Makes the plan and copies it to the device, on the task's stream. The
 * caller frees it when all launches are done. Returns NULL without memory or
 * if the device failed. */
struct batch_plan *batched_launch_new(const struct kernel_task *task,
                                      struct err *err);
void batched_launch_free(struct batch_plan *plan);

/* Enqueue one launch for all pictures of the task, which has a plan; and one
 * launch for each. */
int batched_launch_run(const struct kernel_case *kcase,
                       const struct kernel_task *task, struct err *err);
int batched_launch_each(const struct kernel_task *task, struct err *err);

/* Times both: the launches of each between events; and how long the host
 * waits from the addresses of the pictures to the results, planning
 * included. */
int batched_launch_time(const struct kernel_task *task, unsigned rounds,
                        struct suite_batch *times, struct err *err);

#endif
