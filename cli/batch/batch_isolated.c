/* A batch whose jobs are done in a process of their own.
 *
 * The process that the user has started plans, reports, counts, and looks into
 * no picture. It gives the worker process (cli/isolate/supervisor.h) the
 * numbers of the tasks, and gets a struct batch_answer for each. The worker,
 * which knows the plan since it was forked with it, does what the workers of
 * any batch do. In the manifest it notes only that it is about to replace a
 * file; what became of each is noted once, by the process that reports it. */
#include "cli/batch/batch_isolated.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/signals.h"
#include "cli/isolate/supervisor.h"
#include "cli/isolate/worker.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"

/* How many tasks may be done ahead of one that takes long. */
enum { WINDOW = 256 };

/* How often the line of progress is drawn. */
enum { TICK_MS = 100 };

struct batch_answer {
    int status;
    bool unknown;          /* see struct batch_task */
    bool unnoted, no_room; /* the manifest could not be written; since the disk
                              is full */
    struct output_sum sum;
    struct err err;
    struct result result;
};

/* A task in the worker process. */
struct isolated_task {
    struct worker_task worker;
    struct batch_task task;
};

static unsigned window(const struct batch *batch)
{
    return 2 * batch->opts->threads + WINDOW;
}

/* ---- The worker process -------------------------------------------------- */

static struct batch_task *task_of(struct worker_task *worker)
{
    return &((struct isolated_task *)worker)->task;
}

/* The text of a job is its number. */
static int read_job(void *context, struct worker_task *worker, struct err *err)
{
    struct batch *batch = context;
    struct batch_task *task = task_of(worker);
    if (worker->message.size != sizeof task->i)
        return fail(err, "a job was sent that nobody understands");
    memcpy(&task->i, worker->text, sizeof task->i);
    task->batch = batch;
    task->job = batch_planned_job(batch, task->i);
    worker->job = task->job;
    return 0;
}

static bool begin(void *context, struct worker_task *worker)
{
    struct batch_task *task = task_of(worker);
    (void)context;
    bool to_do = batch_task_begin(task);
    worker->job = task->job;
    worker->status = task->status;
    worker->err = task->err;
    worker->result = task->result;
    return to_do;
}

static int ready(void *context, struct worker_task *worker, struct bytes output,
                 uint64_t *mark, struct err *err)
{
    struct batch_task *task = task_of(worker);
    (void)context;
    int status = batch_task_ready(task, &worker->result, output, err);
    *mark = task->sum.known ? (uint64_t)1 << 32 | task->sum.crc : 0;
    return status;
}

/* The process that reports does the same: here it ends the process in time. */
static void end(void *context, struct worker_task *worker)
{
    struct batch *batch = context;
    struct batch_task *task = task_of(worker);
    task->status = worker->status;
    batch_task_count(task);
    if (batch_is_ending(batch) || (worker->status && worker->err.full))
        worker_stop(worker->process);
}

/* The sum may have been noted by the process before. */
static bool answer(void *context, const struct worker_task *worker,
                   struct bytes *text)
{
    struct batch *batch = context;
    const uint64_t mark = worker_mark(worker);
    const struct batch_answer told = {
        .status = worker->status,
        .unknown = ((const struct isolated_task *)worker)->task.unknown,
        .unnoted = atomic_load(&batch->records.failed),
        .no_room = atomic_load(&batch->records.disk_full),
        .sum = { mark >> 32 != 0, (uint32_t)mark },
        .err = worker->err,
        .result = worker->result,
    };
    return bytes_append(text, &told, sizeof told);
}

/* The worker reads nothing from standard input, and prints nothing but the
 * manifest, if that goes to standard output. */
static bool close_streams(const struct options *opts, int null)
{
    bool prints = opts->manifest && strcmp(opts->manifest, "-") == 0;
    return dup2(null, STDIN_FILENO) >= 0 &&
           (prints || dup2(null, STDOUT_FILENO) >= 0);
}

static enum outcome work(void *context, int fd, struct note_table *table)
{
    struct batch *batch = context;
    const struct options *opts = batch->opts;
    struct worker_opts worker = {
        .opts = opts,
        .window = window(batch),
        .task_size = sizeof(struct isolated_task),
        .left = &batch->to_do,
        .read = read_job,
        .begin = begin,
        .ready = ready,
        .end = end,
        .answer = answer,
        .context = batch,
    };
    const size_t count = batch->plan.inputs.count;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct err err;
    sandbox_enter_for_batch(
        &batch->plan, opts,
        scheduler_may_use_device(opts, batch->backend, count));
    if (scheduler_open(&batch->scheduler, opts, batch->backend, count, &err))
        return scheduler_refuse(opts, batch->backend->name, batch->backend,
                                &err);
    if (null < 0 || !close_streams(opts, null)) {
        report_error("/dev/null", strerror(errno));
        return OUTCOME_FAILED;
    }
    close(null);
    worker.scheduler = batch->scheduler;
    enum outcome outcome = worker_run(&worker, fd, table);
    scheduler_close(batch->scheduler);
    return outcome;
}

/* ---- Answers ------------------------------------------------------------- */

static bool is_codec(const struct codec *codec)
{
    bool found = false;
    for (int i = 0; i < CODECS; i++)
        found = found || codecs[i] == codec;
    return found;
}

/* Returns whether the answer can be one: a process that a picture has taken
 * over may send anything. Texts get an end. */
static bool is_sound(struct batch_answer *told)
{
    struct result *r = &told->result;
    const bool done = told->status == 0 && !r->skipped;
    told->err.text[sizeof told->err.text - 1] = '\0';
    for (int i = 0; i < WARNINGS_MAX; i++)
        r->warnings.list[i].text[sizeof r->warnings.list[i].text - 1] = '\0';
    return (unsigned)r->skipped <= SKIPPED_DONE && (unsigned)r->how < HOWS &&
           (unsigned)r->turned < XFORM_COUNT &&
           (unsigned)r->device_use < DEVICE_USES &&
           (unsigned)r->last < STAGES && r->worker <= WORKERS_MAX &&
           (done ? is_codec(r->from) && is_codec(r->to) : true);
}

/* Takes what became of a task: notes, counts and reports it. */
static void take(struct batch *batch, const struct supervisor_answer *answer)
{
    struct batch_task task = { .batch = batch, .i = answer->number };
    struct batch_answer told;
    bool sound = answer->text.size == sizeof told;
    task.job = batch_planned_job(batch, task.i);
    if (sound)
        memcpy(&told, answer->text.data, sizeof told);
    sound = sound && is_sound(&told);
    if (sound) {
        task.status = told.status;
        task.unknown = told.unknown;
        task.sum = told.sum;
        task.err = told.err;
        task.result = told.result;
        if (told.unnoted)
            atomic_store(&batch->records.failed, true);
        if (told.no_room)
            atomic_store(&batch->records.disk_full, true);
    } else {
        task.status = fail(&task.err, "%s",
                           answer->why ? answer->why
                                       : "its process did not say what became "
                                         "of it");
    }
    batch_task_end(&task);
    batch_task_report(&task);
}

static void take_all(struct batch *batch, struct supervisor *supervisor)
{
    struct supervisor_answer answer;
    while (supervisor_answer(supervisor, &answer)) {
        take(batch, &answer);
        bytes_free(&answer.text);
    }
}

/* ---- All of them --------------------------------------------------------- */

static void give_all(struct batch *batch, struct supervisor *supervisor)
{
    const size_t count = batch->plan.inputs.count;
    for (size_t i = 0; !supervisor_is_over(supervisor);) {
        take_all(batch, supervisor);
        batch_tick(batch);
        for (; i < count && supervisor_has_room(supervisor); i++)
            supervisor_give(supervisor, JOB_IS_TEXT, &i, sizeof i);
        if (batch_is_ending(batch))
            supervisor_stop(supervisor);
        else if (i == count)
            supervisor_finish(supervisor);
        supervisor_step(supervisor, NULL, 0,
                        batch->progress.shown ? TICK_MS : -1);
    }
    take_all(batch, supervisor);
}

enum outcome batch_isolated_run(struct batch *batch)
{
    const struct supervisor_opts opts = { .window = window(batch),
                                          .work = work,
                                          .context = batch };
    struct supervisor *supervisor = supervisor_open(&opts);
    if (!supervisor) {
        report_error(NULL, "no memory");
        return OUTCOME_FAILED;
    }
    give_all(batch, supervisor);
    return supervisor_close(supervisor);
}
