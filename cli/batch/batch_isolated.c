/* A batch whose jobs are done in processes of their own.
 *
 * The process that the user has started plans, reports, counts, and looks into
 * no picture. It gives the worker processes (cli/isolate/worker_pool.h) the
 * numbers of the tasks, and hears what became of each. A worker, which
 * knows the plan since it was forked with it, does what the workers of any
 * batch do. In the manifest it notes only that it is about to replace a file;
 * what became of each is noted once, by the process that reports it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch_task.h"
#include "cli/isolate/worker_pool.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"

/* How many tasks may be done ahead of one that takes long. */
enum { WINDOW = 256 };

/* How often the line of progress is drawn. */
enum { TICK_MS = 100 };

/* What a worker adds to the end of a job: the CRC-32 of the output, and */
enum {
    END_SUMMED = 1,  /* that it is known, */
    END_UNKNOWN = 2, /* see struct batch_task, */
    END_UNNOTED = 4, /* that the manifest could not be written, */
    END_NO_ROOM = 8, /* since the disk is full */
};

struct isolated_batch {
    struct batch *batch;
    unsigned window;
    struct batch_task *task; /* a ring of these */
};

/* ---- A worker process ---------------------------------------------------- */

struct isolated_task {
    struct worker_task worker;
    struct batch_task task;
};

/* The text of a job is its number. */
static bool begin(void *batch, struct worker_task *worker)
{
    struct batch_task *task = &((struct isolated_task *)worker)->task;
    memcpy(&task->i, worker->text, sizeof task->i);
    task->batch = batch;
    bool to_do = batch_task_begin(task);
    worker->job = task->job;
    worker->status = task->status;
    worker->err = task->err;
    worker->result = task->result;
    return to_do;
}

static int ready(const struct job *job, const struct result *result,
                 struct bytes output, void *worker, struct err *err)
{
    (void)job;
    return batch_task_ready(&((struct isolated_task *)worker)->task, result,
                            output, err);
}

static uint64_t add(void *context, const struct worker_task *worker)
{
    struct batch *batch = context;
    const struct batch_task *task =
        &((const struct isolated_task *)worker)->task;
    const unsigned flags =
        (task->sum.known ? END_SUMMED : 0) | (task->unknown ? END_UNKNOWN : 0) |
        (atomic_load(&batch->records.failed) ? END_UNNOTED : 0) |
        (atomic_load(&batch->records.disk_full) ? END_NO_ROOM : 0);
    return (uint64_t)task->sum.crc << 32 | flags;
}

/* The worker reads nothing from standard input, and prints nothing but the
 * manifest, if that goes to standard output. */
static bool close_streams(const struct options *opts)
{
    const bool prints = opts->manifest && strcmp(opts->manifest, "-") == 0;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const bool closed = null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
                        (prints || dup2(null, STDOUT_FILENO) >= 0);
    if (null >= 0)
        close(null);
    return closed;
}

static enum outcome work(void *context, const struct worker_start *start)
{
    struct batch *batch = ((struct isolated_batch *)context)->batch;
    const struct options *opts = batch->opts;
    const struct worker_opts worker = {
        .opts = opts,
        .backend = batch->backend,
        .jobs = batch->plan.inputs.count,
        .task_size = sizeof(struct isolated_task),
        .begin = begin,
        .ready = ready,
        .add = add,
        .context = batch,
        .scheduler = &batch->scheduler,
    };
    if (!close_streams(opts)) {
        report_error("/dev/null", strerror(errno));
        return OUTCOME_FAILED;
    }
    sandbox_enter_for_batch(&batch->plan, opts, start->many);
    return worker_run(&worker, start);
}

/* ---- All of them --------------------------------------------------------- */

static struct batch_task *task_at(struct isolated_batch *all, size_t i)
{
    return &all->task[i % all->window];
}

/* Takes what became of a task: notes and counts it. */
static void on_end(void *context, uint64_t i, const struct job_end *end)
{
    struct isolated_batch *all = context;
    struct batch_task *task = task_at(all, i);
    task->status = end->status;
    task->err = end->err;
    task->result = end->result;
    task->unknown = end->added & END_UNKNOWN;
    task->sum = (struct output_sum){ end->added & END_SUMMED,
                                     (uint32_t)(end->added >> 32) };
    if (end->added & END_UNNOTED)
        atomic_store(&all->batch->records.failed, true);
    if (end->added & END_NO_ROOM)
        atomic_store(&all->batch->records.disk_full, true);
    batch_task_end(task);
}

static void give(struct isolated_batch *all, struct worker_pool *pool, size_t i)
{
    struct batch_task *task = task_at(all, i);
    *task = (struct batch_task){ .batch = all->batch, .i = i };
    task->job = batch_planned_job(all->batch, i);
    worker_pool_give(pool, &task->job, &task->i, sizeof task->i);
}

static void report_ended(struct isolated_batch *all, struct worker_pool *pool)
{
    uint64_t i;
    while (worker_pool_take(pool, &i))
        batch_task_report(task_at(all, i));
}

static void run(struct isolated_batch *all, struct worker_pool *pool)
{
    struct batch *batch = all->batch;
    const size_t count = batch->plan.inputs.count;
    for (size_t i = 0; !worker_pool_is_over(pool);) {
        report_ended(all, pool);
        batch_tick(batch);
        while (i < count && worker_pool_has_room(pool))
            give(all, pool, i++);
        if (batch_is_ending(batch))
            worker_pool_stop(pool);
        else if (i == count)
            worker_pool_finish(pool);
        worker_pool_step(pool, NULL, 0, batch->progress.shown ? TICK_MS : -1);
    }
    report_ended(all, pool);
}

enum outcome batch_isolated_run(struct batch *batch)
{
    const size_t count = batch->plan.inputs.count;
    struct isolated_batch all = {
        .batch = batch,
        .window = 2 * batch->opts->threads + WINDOW,
    };
    const struct worker_pool_opts opts = {
        .opts = batch->opts,
        .jobs = count,
        .queue = { .window = all.window,
                   .many = scheduler_finds_device(batch->opts, batch->backend,
                                                  count),
                   .ended = on_end,
                   .context = &all },
        .work = work,
    };
    enum outcome outcome = OUTCOME_FAILED;
    all.task = calloc(all.window, sizeof *all.task);
    struct worker_pool *pool = all.task ? worker_pool_open(&opts) : NULL;
    if (pool) {
        run(&all, pool);
        outcome = worker_pool_close(pool);
    } else {
        report_error(NULL, "no memory");
    }
    free(all.task);
    return outcome;
}
