/* Many pictures.
 *
 * The plan (cli/select) says which files, in which order, and what each
 * becomes. These threads work on it:
 *
 * - The main thread puts one item of the plan after another into the queue
 *   (ordered_workers.h), and draws the line of progress while it waits.
 * - Workers, half as many again as there are processors, take the items from
 *   the queue in order. Each does the whole way of a picture, from reading its
 *   file to renaming its output (cli/job), while others read and write theirs.
 * - Where a device turns the coded data of JPEG files (device_scans.h), a
 * worker leaves a picture to it and takes the next item; further workers, as
 * many as there are processors, write what has been turned.
 * - The worker that has finished the next item in the order of the plan
 *   reports it, and all finished ones after it. So results come out in the
 *   order of the plan, and no two reports mix.
 *
 * Who owns what, and when:
 *
 * - The names of files belong to the plan, which lives until the end.
 * - A task (batch.h) is a slot of a ring in the queue. It belongs to
 *   the main thread while it is filled in, then to the worker that takes it,
 *   then to the thread that reports it; then the slot is free. It holds the
 *   result, not the picture.
 * - The bytes of the input, the planes of the picture and the bytes of the
 *   output belong to the job, and so to one worker at a time, from job_read()
 *   to job_end() inside scheduler_do(). No two workers share a picture.
 * - Each worker has a lane of the backend, which keeps what it allocates
 *   between pictures. Blocks that a job frees go to the page cache, which
 *   belongs to all, and serve the next job.
 *
 * Memory is bounded by construction. The ring has a fixed number of slots, and
 * the main thread waits for a free one. A job asks for memory of the size of
 * its file before it reads that, and of the size of the planes before it
 * decodes, and waits if other jobs have it; a file larger than the limits is
 * refused. A job holds a processor only while it decodes, turns and encodes.
 * resource_limits.h says why no job waits for ever.
 *
 * A file that fails is a line on standard error, and the others go on. The
 * batch ends early by a signal, after --fail-after failures, when the disk is
 * full, when the manifest cannot be written, and when nobody reads the
 * results. Then no more items are begun, those under way are finished, and
 * progress.c says how to go on. */
#include "cli/batch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/files/signals.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"
#include "cli/schedule/ordered_workers.h"

/* ---- A task -------------------------------------------------------------- */

struct batch_task {
    struct scheduled_job scheduled;
    struct job_taker taker; /* its place in the stack, if there is one */
    struct batch *batch;
    size_t i;     /* in the plan */
    bool dropped; /* the batch ended before it was begun */
    bool unknown; /* nobody can tell what became of it in a run before */
};

/* Returns whether no job is to be begun. */
static bool is_ending(void *context)
{
    struct batch *batch = context;
    return atomic_load(&batch->end.early) ||
           atomic_load(&batch->records.failed) || signals_asked();
}

struct job batch_planned_job(void *context, size_t i)
{
    const struct batch *batch = context;
    const struct input *input = &batch->plan.inputs.list[i];
    return (struct job){
        .input = input->name,
        .output = batch->plan.output[i],
        .input_root = input->root,
        .output_root = batch->opts->in_place ? input->root : batch->root,
        .opts = batch->opts,
    };
}

/* Notes that the output is about to be written. */
static int note_ready(struct scheduled_job *s, struct bytes output)
{
    struct batch_task *task = (struct batch_task *)s;
    return records_note_ready(&task->batch->records, &s->job, &s->result,
                              output, &s->err);
}

static int put_on_stack(void *context, struct bytes output, size_t *size,
                        struct err *err)
{
    struct batch_task *task = context;
    return stack_put(task->batch->stack, task->i, task->scheduled.job.input,
                     output, size, err);
}

/* Begins a task, of which .batch and .i are set. Its job is to be done if it
 * has neither failed nor is skipped. */
static void begin_task(struct batch_task *task)
{
    struct batch *batch = task->batch;
    struct scheduled_job *s = &task->scheduled;
    enum verdict verdict;
    *task = (struct batch_task){ .batch = batch, .i = task->i };
    s->job = batch_planned_job(batch, task->i);
    task->taker = (struct job_taker){ put_on_stack, task };
    s->job.taker = batch->stack ? &task->taker : NULL;
    s->first = batch->stack && task->i == 0;
    s->ready = note_ready;
    s->status =
        records_check(&batch->records, task->i, &s->job, &verdict, &s->err);
    task->unknown = verdict == VERDICT_CHANGED;
    if (s->status == 0 && verdict == VERDICT_DONE)
        s->result.skipped = SKIPPED_DONE;
    else if (s->status == 0)
        s->status = job_choose_format(&s->job, &s->err);
}

/* Ends a task whose job has ended: notes what became of it, and has the batch
 * end if that asks for it. */
static void end_task(struct batch_task *task)
{
    struct scheduled_job *s = &task->scheduled;
    struct batch *batch = task->batch;
    struct records *records = &batch->records;
    struct err why;
    /* A full disk ends the batch. Of the jobs that meet it at once the first
     * one fails; the others count as not begun, since nothing was written. */
    if (s->status && s->err.full) {
        atomic_store(&batch->end.early, true);
        task->dropped = atomic_exchange(&batch->end.full, true) ||
                        atomic_load(&records->disk_full);
    }
    /* Nothing is noted if nobody can tell: so the next run cannot tell either.
     */
    if (!task->dropped && !task->unknown &&
        records_note_result(records, &s->job, &s->result,
                            s->status ? &s->err : NULL, &why) &&
        s->status == 0) {
        s->err = why;
        s->status = -1;
    }
    atomic_fetch_sub(&batch->end.to_do, 1);
    if (s->status && !task->dropped && batch->opts->fail_after &&
        atomic_fetch_add(&batch->end.failures, 1) + 1 >=
            batch->opts->fail_after)
        atomic_store(&batch->end.early, true);
}

static void report_task(void *context, void *ended)
{
    struct batch *batch = context;
    struct batch_task *task = ended;
    struct scheduled_job *s = &task->scheduled;
    const struct err *err = s->status ? &s->err : NULL;
    if (task->dropped)
        return;
    progress_count(&batch->progress, &s->result, err != NULL);
    if (!report_is_due(&s->job, &s->result, err))
        return;
    progress_clear(&batch->progress);
    s->job.tools.backend = batch->backend;
    report_job(&s->job, &s->result, err, batch->why_backend);
    if (batch->opts->json && fflush(stdout) && errno == EPIPE) {
        batch->end.pipe_closed = true;
        atomic_store(&batch->end.early, true);
    }
}

/* Says once that the CPU goes on where a device has failed. */
static void warn_of_device(struct batch *batch)
{
    struct warnings warnings;
    struct err why;
    if (!batch->scheduler ||
        !device_scans_failure(batch->scheduler->scans, &why))
        return;
    progress_clear(&batch->progress);
    warnings.count = 0;
    warn(&warnings, "the GPU has failed: %s; the CPU goes on", why.text);
    report_warnings(NULL, batch->opts, &warnings, 0);
}

static void tick(void *context)
{
    struct batch *batch = context;
    if (signals_asked() && !batch->end.reported && !batch->opts->quiet) {
        progress_clear(&batch->progress);
        report_error(NULL, "ending when the files in work are done; the same "
                           "signal again ends at once");
        batch->end.reported = true;
    }
    warn_of_device(batch);
    progress_draw(&batch->progress);
}

/* ---- All of them, in this process ---------------------------------------- */

static void resume(void *task)
{
    ordered_workers_resume(((struct batch_task *)task)->batch->workers, task);
}

/* Does a task, or a part of it. Returns whether it has ended, and is not
 * parked. */
static bool work(void *context, unsigned worker, void *argument)
{
    struct batch *batch = context;
    struct batch_task *task = argument;
    struct scheduled_job *s = &task->scheduled;
    if (!s->state) {
        task->batch = batch;
        task->dropped = is_ending(batch);
        if (task->dropped)
            return true;
        begin_task(task);
        s->left = &batch->end.to_do;
        s->resume = resume;
    }
    if (s->status == 0 && !s->result.skipped &&
        !scheduler_do(batch->scheduler, worker, s))
        return false;
    end_task(task);
    return true;
}

static int give_all(struct batch *batch)
{
    struct ordered_workers_opts opts = {
        .workers = batch->scheduler->workers,
        .resumers = batch->scheduler->resumers,
        .task_size = sizeof(struct batch_task),
        .parked = batch->scheduler->parked,
        .work = work,
        .report = report_task,
        .tick = tick,
        .context = batch,
    };
    struct ordered_workers *workers = batch->workers =
        ordered_workers_open(&opts);
    struct batch_task *task, first = { .i = 0 };
    size_t i = 0;
    if (!workers) {
        report_error(NULL, "the workers cannot be started");
        return -1;
    }
    report_refused_threads(ordered_workers_refused(workers), batch->opts);
    signals_ask();
    if (batch->stack) { /* whose first picture decides the shape of all */
        (void)work(batch, 0, &first);
        report_task(batch, &first);
        i = 1;
    }
    for (; i < batch->plan.inputs.count; i++) {
        task = ordered_workers_room(workers, is_ending);
        if (!task)
            break;
        task->i = i;
        ordered_workers_give(workers);
    }
    ordered_workers_close(workers);
    return 0;
}

/* ---- All of them, in processes of their own ------------------------------
 *
 * This process plans, reports, counts, and looks into no picture. It gives the
 * worker processes (cli/isolate/worker_pool.h) the numbers of the tasks, and
 * hears what became of each. A worker, which knows the plan since it was forked
 * with it, does what the workers of any batch do. In the manifest it notes only
 * that it is about to replace a file; what became of each is noted once, by the
 * process that reports it. */

/* How often the line of progress is drawn. */
enum { TICK_MS = 100 };

/* What a worker adds to the end of a job. */
enum {
    END_UNKNOWN = 1, /* see struct batch_task */
    END_UNNOTED = 2, /* the manifest could not be written, */
    END_NO_ROOM = 4, /* since the disk is full */
};

/* The text of a job is its number. */
static struct scheduled_job *begin_given(void *context, const char *text,
                                         size_t size)
{
    struct batch_task *task = context;
    memcpy(&task->i, text, size);
    begin_task(task);
    return &task->scheduled;
}

static uint64_t added(void *context)
{
    const struct batch_task *task = context;
    struct records *records = &task->batch->records;
    return (task->unknown ? END_UNKNOWN : 0u) |
           (atomic_load(&records->failed) ? END_UNNOTED : 0u) |
           (atomic_load(&records->disk_full) ? END_NO_ROOM : 0u);
}

static enum outcome work_isolated(void *context,
                                  const struct worker_start *start)
{
    struct batch *batch = context;
    const struct options *opts = batch->opts;
    static struct batch_task task; /* of this process */
    const struct worker_opts worker = {
        .opts = opts,
        .backend = batch->backend,
        .jobs = batch->plan.inputs.count,
        .begin = begin_given,
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
    end_task(task);
}

static enum outcome run_isolated(struct batch *batch)
{
    const size_t count = batch->plan.inputs.count;
    const struct worker_pool_opts opts = {
        .opts = batch->opts,
        .jobs = count,
        .task_size = sizeof(struct batch_task),
        .ended = on_end,
        .work = work_isolated,
        .context = batch,
    };
    struct worker_pool *pool = worker_pool_open(&opts);
    struct batch_task *task;
    if (!pool) {
        report_error(NULL, "no memory");
        return OUTCOME_FAILED;
    }
    for (size_t i = 0;;) {
        const bool over = worker_pool_is_over(pool);
        while ((task = worker_pool_take(pool)))
            report_task(batch, task);
        if (over)
            break;
        tick(batch);
        for (; i < count && (task = worker_pool_room(pool)); i++) {
            *task = (struct batch_task){ .batch = batch, .i = i };
            task->scheduled.job = batch_planned_job(batch, i);
            worker_pool_give(pool, &task->scheduled.job, &task->i,
                             sizeof task->i, NULL);
        }
        if (is_ending(batch))
            worker_pool_stop(pool);
        else if (i == count)
            worker_pool_finish(pool);
        worker_pool_step(pool, NULL, 0, batch->progress.shown ? TICK_MS : -1);
    }
    return worker_pool_close(pool);
}

/* ---- The whole ----------------------------------------------------------- */

/* Prints what would be done. */
static void show_plan(struct batch *batch)
{
    size_t planned = 0, all = batch->plan.inputs.count;
    for (size_t i = 0; i < all && !ferror(stdout); i++) {
        const struct job job = batch_planned_job(batch, i);
        struct err err;
        enum verdict verdict;
        if (records_check(&batch->records, i, &job, &verdict, &err)) {
            report_error(job.input, err.text);
            report_plan(&job, SKIPPED_NOT, &err);
            continue;
        }
        const enum skipped skipped =
            verdict == VERDICT_DONE ? SKIPPED_DONE : job_is_skipped(&job);
        planned += !skipped;
        report_plan(&job, skipped, NULL);
    }
    if (!batch->opts->quiet && planned < all && !ferror(stdout))
        progress_plan(planned, all);
}

/* Says how the batch has ended. */
static void conclude(struct batch *batch)
{
    const struct options *opts = batch->opts;
    struct scan_estimate estimates[SCAN_KINDS];
    unsigned weighed = 0;
    for (int i = 0; batch->scheduler && i < SCAN_KINDS; i++)
        weighed += device_scans_estimate(
            batch->scheduler->scans, (enum scan_kind)i, &estimates[weighed]);
    const bool early = progress_left(&batch->progress);
    progress_clear(&batch->progress);
    warn_of_device(batch);
    if (!opts->quiet && !batch->end.pipe_closed)
        progress_summary(&batch->progress, opts, estimates,
                         opts->verbose ? weighed : 0);
    if (early) {
        const struct records *records = &batch->records;
        bool full =
            atomic_load(&batch->end.full) || atomic_load(&records->disk_full);
        progress_report_ending(batch->end.pipe_closed          ? ENDING_PIPE
                               : full                          ? ENDING_FULL
                               : atomic_load(&records->failed) ? ENDING_MANIFEST
                               : signals_asked()               ? ENDING_SIGNAL
                                                 : ENDING_FAILURES,
                               &batch->progress, opts);
    }
}

static enum outcome do_all(struct batch *batch)
{
    const struct options *opts = batch->opts;
    const size_t count = batch->plan.inputs.count;
    struct err err;
    atomic_store(&batch->end.to_do, count);
    progress_begin(&batch->progress, count, opts);
    if (opts->isolate) {
        enum outcome outcome = run_isolated(batch);
        if (outcome != OUTCOME_DONE &&
            progress_left(&batch->progress) == batch->progress.all)
            return outcome; /* as it was said, no job could be done */
        conclude(batch);
        return outcome;
    }
    sandbox_enter_for_batch(&batch->plan, opts,
                            batch->backend != &backend_cpu ||
                                device_scans_may_start(opts, count));
    if (scheduler_open(&batch->scheduler, opts, batch->backend, count, NULL,
                       &err))
        return scheduler_refuse(opts, batch->backend->name, batch->backend,
                                &err);
    if (opts->stack && count && stack_open(&batch->stack, opts, count, &err)) {
        scheduler_close(batch->scheduler);
        stack_report(opts, WRITTEN_NOT, &err);
        return OUTCOME_FAILED;
    }
    int status = give_all(batch);
    if (status == 0)
        conclude(batch);
    if (batch->stack)
        status = stack_end(batch->stack, status ? 0 : batch->progress.done);
    scheduler_close(batch->scheduler);
    return status ? OUTCOME_FAILED : OUTCOME_DONE;
}

static enum outcome plan_and_do(struct batch *batch)
{
    const struct options *opts = batch->opts;
    const char *folder = NULL;
    struct err err, why;
    int status = plan_make(&batch->plan, opts, &err);
    /* The plan was checked when it was made. A directory that has become a link
     * since is found by this. */
    if (status == 0 && (folder = batch->plan.folder)) {
        status =
            root_open(&batch->folder, folder, ROOT_LINKS_INSIDE, true, &why);
        if (status)
            fail(&err, "%s: %s", folder, why.text);
        else
            batch->root = &batch->folder;
    }
    if (status || records_open(batch, &err)) {
        report_refusal("usage", err.text, opts);
        return OUTCOME_NOT_BEGUN;
    }
    report_warnings(NULL, opts, &batch->records.warnings, 0);
    enum outcome outcome = OUTCOME_DONE;
    if (inputs_check_found(&batch->plan.inputs, opts, &err)) {
        report_refusal("failed", err.text, opts);
        outcome = OUTCOME_FAILED;
    } else if (opts->dry_run) {
        show_plan(batch);
    } else if (opts->stack && opts->no_clobber &&
               file_exists(NULL, opts->stack)) {
        stack_report(opts, WRITTEN_EXISTS, NULL);
    } else {
        outcome = do_all(batch);
        if (outcome == OUTCOME_DONE &&
            (batch->progress.failed || atomic_load(&batch->records.failed)))
            outcome = OUTCOME_FAILED;
    }
    if (opts->shard <= 1 && !batch->end.pipe_closed && !ferror(stdout))
        report_passed_over(&batch->plan.inputs.passed, opts);
    return outcome;
}

enum outcome batch_run(const struct options *opts,
                       const struct backend *backend, const char *why_backend)
{
    struct batch batch = {
        .opts = opts,
        .backend = backend,
        .why_backend = why_backend,
    };
    enum outcome status = plan_and_do(&batch);
    struct err err;
    if (records_close(&batch.records, &err)) {
        report_error(opts->manifest, err.text);
        status = OUTCOME_FAILED;
    }
    if (batch.root)
        root_close(batch.root);
    plan_free(&batch.plan);
    if (batch.end.pipe_closed)
        signals_end(SIGPIPE);
    if (signals_asked()) {
        fflush(stdout);
        signals_end(signals_asked());
    }
    return status;
}
