/* Turns many pictures at once.
 *
 * In come the options of the command line; out go the outputs, a result for
 * each file, and a summary. This room plans nothing itself (cli/select does),
 * and knows nothing of formats or of what a turn is (cli/job does one picture):
 * it has cli/schedule do the jobs, and reports and notes what became of each.
 */
#ifndef CLI_BATCH_BATCH_H
#define CLI_BATCH_BATCH_H

#include <stdatomic.h>

#include "cli/batch/progress.h"
#include "cli/batch/records.h"
#include "cli/isolate/worker_pool.h"
#include "cli/select/plan.h"

/* Does all files that the options name, and reports them. `why_backend` says
 * why the backend was chosen, for --verbose; whether it can run here is asked
 * in the process that does the jobs. If a signal has asked for the end, it ends
 * the program by that signal after the report. Returns the outcome; what went
 * wrong has been printed. */
enum outcome batch_run(const struct options *opts,
                       const struct backend *backend, const char *why_backend);

/* ---- Within this room ---- */

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
    struct worker_task worker; /* of which only .scheduled is used where there
                                  is one process */
    struct batch *batch;
    size_t i;     /* in the plan */
    bool dropped; /* the batch ended before it was begun */
    bool unknown; /* nobody can tell what became of it in a run before */
    struct output_sum sum;
};

/* Returns whether no job is to be begun. */
bool batch_is_ending(void *batch);

/* Returns the i-th job of the plan. What was found in a directory stays there,
 * whether it is read or replaced. */
struct job batch_planned_job(void *batch, size_t i);

/* Begins the i-th task. Returns whether its job is to be done; otherwise its
 * status, err and result say why not. */
bool batch_task_begin(struct batch_task *task, struct batch *batch, size_t i);

/* Ends a task whose job has ended: notes what became of it, and has the batch
 * end if that asks for it. */
void batch_task_end(struct batch_task *task);

/* Reports a task that has ended. One at a time, in order. */
void batch_task_report(struct batch_task *task);

/* Confirms the first signal that asks for the end, and draws the progress.
 * Never beside a report. */
void batch_tick(void *batch);

/* Does and reports all tasks in processes of their own, --isolate, but for
 * those that are not begun because the batch ends early. A job that ends its
 * process fails, and the others are done. Call it before there are threads.
 * Returns the outcome, which is not that of the jobs; what went wrong has been
 * printed. */
enum outcome batch_isolated_run(struct batch *batch);

#endif
