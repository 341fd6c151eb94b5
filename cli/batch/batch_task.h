/* A batch, and what is done for each of its tasks before and after the job
 * itself, wherever that is done. */
#ifndef CLI_BATCH_BATCH_TASK_H
#define CLI_BATCH_BATCH_TASK_H

#include <stdatomic.h>

#include "cli/batch/progress.h"
#include "cli/batch/records.h"
#include "cli/schedule/scheduler.h"
#include "cli/select/plan.h"

struct batch {
    const struct options *opts;
    const struct backend *backend;
    const char *why_backend;
    struct file_plan plan;
    struct root folder;
    struct root *root; /* that outputs are confined to: the folder, or NULL */
    struct records records;
    struct stack *stack;         /* that all outputs go into, or NULL */
    struct scheduler *scheduler; /* NULL in a supervisor */
    struct ordered_workers *workers;
    struct batch_progress progress;
    atomic_size_t to_do;  /* jobs that are not done yet */
    atomic_bool ending;   /* no job is to be begun */
    atomic_bool full;     /* the disk is */
    atomic_uint failures; /* jobs that failed, as they are done */
    bool end_reported;    /* that a signal has asked for the end */
    bool pipe_closed;     /* nobody reads our results any more */
};

struct batch_task {
    struct batch *batch;
    size_t i; /* in the plan */
    struct job job;
    struct scheduled_job scheduled;
    bool begun;
    struct result result;
    struct err err;
    int status;
    bool dropped; /* the batch ended before it was begun */
    bool unknown; /* nobody can tell what became of it in a run before */
    struct output_sum sum;
};

/* Returns whether no job is to be begun. */
bool batch_is_ending(void *batch);

/* Returns the i-th job of the plan. What was found in a directory stays there,
 * whether it is read or replaced. */
struct job batch_planned_job(void *batch, size_t i);

/* Begins a task, of which `batch` and `i` are set. Returns whether its job is
 * to be done; otherwise status, err and result say why not. */
bool batch_task_begin(struct batch_task *task);

/* Notes that the output is about to be written. Returns 0, or -1 with the
 * reason for which the job fails. */
int batch_task_ready(struct batch_task *task, const struct result *result,
                     struct bytes output, struct err *err);

/* Ends a task whose job has ended: notes what became of it, and has the batch
 * end if that asks for it. */
void batch_task_end(struct batch_task *task);

/* Counts a task that has ended, and no more. */
void batch_task_count(const struct batch_task *task);

/* Reports a task that has ended. One at a time, in order. */
void batch_task_report(struct batch_task *task);

/* Confirms the first signal that asks for the end, and draws the progress.
 * Never beside a report. */
void batch_tick(void *batch);

/* Says once that the CPU goes on where a device has failed. */
void batch_warn_of_device(struct batch *batch);

/* Does and reports all tasks in processes of their own, --isolate, but for
 * those that are not begun because the batch ends early. A job that ends its
 * process fails, and the others are done. Call it before there are threads.
 * Returns the outcome, which is not that of the jobs; what went wrong has been
 * printed. */
enum outcome batch_isolated_run(struct batch *batch);

#endif
