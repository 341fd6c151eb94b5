/* The order of jobs that share a file. Jobs that share none are done side by
 * side, in any order; of two that do, the later one waits until the earlier one
 * has ended, so that all comes out as if the jobs were done one after another.
 *
 * Two jobs share a file if the output of one is the input or the output of the
 * other. Two jobs that only read a file do not share it. Files are the same if
 * they have the same inode, through links of both kinds, or the same canonical
 * name, even where the file or its directory does not exist yet.
 *
 * A job waits for earlier jobs only, so that the earliest one never waits. */
#ifndef CLI_ISOLATE_JOB_ORDER_H
#define CLI_ISOLATE_JOB_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/job/job.h"

struct job_order;

/* Opens an order for up to `window` jobs between the first that has not ended
 * and the last that was added. Relative names start at the directory `root`,
 * which must outlive the order, or at the current one if that is NULL.
 * Returns NULL if there is no memory. */
struct job_order *job_order_open(unsigned window, const char *root);
void job_order_close(struct job_order *order);

/* Adds a job, which comes after all that were added before. `job` is NULL for
 * one that has no files; `task` stands for the job in job_order_end(). Sets
 * *number before any other thread can see the task. Call it from one thread.
 * Returns whether the job may begin now. If not, job_order_end() begins it
 * later, or has done so already. */
bool job_order_add(struct job_order *order, const struct job *job, void *task,
                   uint64_t *number);

/* Ends the job of this number, which may begin by then. Calls `begin` for each
 * task that may begin now since it waited for this job last, in the order in
 * which they were added. Several threads may call it at once. */
void job_order_end(struct job_order *order, uint64_t number,
                   void (*begin)(void *context, void *task), void *context);

#endif
