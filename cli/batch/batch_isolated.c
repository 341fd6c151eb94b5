/* A batch whose jobs are done in processes of their own.
 *
 * The process that the user has started plans, reports, counts, and looks into
 * no picture. It gives the worker processes (cli/isolate/worker_pool.h) the
 * numbers of the tasks, and hears what became of each. A worker, which
 * knows the plan since it was forked with it, does what the workers of any
 * batch do. In the manifest it notes only that it is about to replace a file;
 * what became of each is noted once, by the process that reports it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/files/files.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"

/* How often the line of progress is drawn. */
enum { TICK_MS = 100 };

/* What a worker adds to the end of a job. */
enum {
    END_UNKNOWN = 1, /* see struct batch_task */
    END_UNNOTED = 2, /* the manifest could not be written, */
    END_NO_ROOM = 4, /* since the disk is full */
};

/* ---- A worker process ---------------------------------------------------- */

/* The text of a job is its number. */
static struct scheduled_job *begin(void *context, const char *text, size_t size)
{
    struct batch_task *task = context;
    memcpy(&task->i, text, size);
    batch_task_begin(task);
    return &task->scheduled;
}

static uint64_t added(void *context)
{
    const struct batch_task *task = context;
    struct records *records = &task->batch->records;
    const unsigned flags = (task->unknown ? END_UNKNOWN : 0) |
                           (atomic_load(&records->failed) ? END_UNNOTED : 0) |
                           (atomic_load(&records->disk_full) ? END_NO_ROOM : 0);
    return flags;
}

static enum outcome work(void *context, const struct worker_start *start)
{
    struct batch *batch = context;
    const struct options *opts = batch->opts;
    static struct batch_task task; /* of this process */
    const struct worker_opts worker = {
        .opts = opts,
        .backend = batch->backend,
        .jobs = batch->plan.inputs.count,
        .begin = begin,
        .added = added,
        .context = &task,
    };
    task.batch = batch;
    /* The worker reads nothing from standard input, and prints nothing. */
    if (!file_put_null(STDIN_FILENO) || !file_put_null(STDOUT_FILENO)) {
        report_error("/dev/null", strerror(errno));
        return OUTCOME_FAILED;
    }
    sandbox_enter_for_batch(&batch->plan, opts, batch->backend != &backend_cpu);
    return worker_run(&worker, start);
}

/* ---- All of them --------------------------------------------------------- */

/* Takes what became of a task: notes and counts it. */
static void on_end(void *context, void *ended, const struct job_end *end)
{
    struct batch *batch = context;
    struct batch_task *task = ended;
    struct scheduled_job *s = &task->scheduled;
    s->status = end->status;
    s->err = end->err;
    s->result = end->result;
    task->unknown = end->added & END_UNKNOWN;
    if (end->added & END_UNNOTED)
        atomic_store(&batch->records.failed, true);
    if (end->added & END_NO_ROOM)
        atomic_store(&batch->records.disk_full, true);
    batch_task_end(task);
}

static void report_ended(struct worker_pool *pool)
{
    struct batch_task *task;
    while ((task = worker_pool_take(pool)))
        batch_task_report(task);
}

enum outcome batch_isolated_run(struct batch *batch)
{
    const size_t count = batch->plan.inputs.count;
    const struct worker_pool_opts opts = {
        .opts = batch->opts,
        .jobs = count,
        .task_size = sizeof(struct batch_task),
        .ended = on_end,
        .work = work,
        .context = batch,
    };
    struct worker_pool *pool = worker_pool_open(&opts);
    struct batch_task *task;
    if (!pool) {
        report_error(NULL, "no memory");
        return OUTCOME_FAILED;
    }
    for (size_t i = 0; !worker_pool_is_over(pool);) {
        report_ended(pool);
        batch_tick(batch);
        for (; i < count && (task = worker_pool_room(pool)); i++) {
            *task = (struct batch_task){ .batch = batch, .i = i };
            task->scheduled.job = batch_planned_job(batch, i);
            worker_pool_give(pool, &task->scheduled.job, &task->i,
                             sizeof task->i, NULL);
        }
        if (batch_is_ending(batch))
            worker_pool_stop(pool);
        else if (i == count)
            worker_pool_finish(pool);
        worker_pool_step(pool, NULL, 0, batch->progress.shown ? TICK_MS : -1);
    }
    report_ended(pool);
    return worker_pool_close(pool);
}
