/* The worker process of serve. Jobs are read by its main thread and done by
 * several workers, which share memory, processors and devices as in a batch. */
#include "cli/serve/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files/left_behind.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"
#include "cli/schedule/ordered_workers.h"
#include "cli/serve/serve_job.h"
#include "cli/serve/serve_order.h"
#include "cuda/backend_choose.h"

struct worker_task {
    struct worker_process *process;
    struct job_message message;
    char *text;
    struct serve_job asked;
    struct scheduled_job scheduled;
    uint64_t number; /* in the order of jobs that share a file */
    struct result result;
    struct err err;
    int status;
};

struct worker_process {
    const struct worker_opts *opts;
    const struct backend *backend;
    struct scheduler *scheduler;
    struct ordered_workers *workers;
    struct serve_order *order;
    struct serve_table *table;
    int fd;
    pthread_mutex_t sending;
    atomic_size_t to_do; /* jobs that wait for no other one and are not done */
    atomic_bool alone;   /* the supervisor is gone */
};

static bool is_ending(void *context)
{
    struct worker_process *process = context;
    return atomic_load(&process->table->ending) || atomic_load(&process->alone);
}

/* ---- The socket ---------------------------------------------------------- */

/* Returns false if the other process is gone. */
static bool send_all(int fd, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        ssize_t n = TEMP_FAILURE_RETRY(send(fd, at, size, MSG_NOSIGNAL));
        if (n < 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Returns false if the bytes end before `size`. */
static bool receive_all(int fd, void *data, size_t size)
{
    for (char *at = data; size;) {
        ssize_t n = TEMP_FAILURE_RETRY(recv(fd, at, size, MSG_WAITALL));
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* ---- Notes --------------------------------------------------------------- */

static void note_step(const struct worker_task *task, enum job_step step)
{
    struct serve_table *table = task->process->table;
    atomic_store(&table->note[task->message.slot].step, step);
}

static void look_at_output(const struct job *job, struct output_stat *state)
{
    struct stat st;
    *state = (struct output_stat){ 0 };
    if (!resolve_stat(job->output_root, job->output, true, &st))
        return;
    *state = (struct output_stat){
        .exists = 1,
        .device = st.st_dev,
        .inode = st.st_ino,
        .size = (uint64_t)st.st_size,
        .modified = { st.st_mtim.tv_sec, st.st_mtim.tv_nsec },
        .changed = { st.st_ctim.tv_sec, st.st_ctim.tv_nsec },
    };
}

/* Notes that the output is about to be written. The note is complete before the
 * step says so. */
static int note_writing(const struct job *job, const struct result *result,
                        struct bytes output, void *context, struct err *err)
{
    const struct worker_task *task = context;
    struct job_note *note = &task->process->table->note[task->message.slot];
    (void)result, (void)output, (void)err;
    look_at_output(job, &note->before);
    note_step(task, JOB_WRITES);
    return 0;
}

/* ---- Jobs of the process before ------------------------------------------ */

static void describe_end(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "with status %d", WEXITSTATUS(status));
}

static bool was_written(const struct worker_task *task)
{
    const struct job_past *past = &task->message.past;
    struct output_stat now;
    if (past->step != JOB_WRITES)
        return past->step == JOB_WRITTEN;
    look_at_output(&task->asked.job, &now);
    return memcmp(&now, &past->before, sizeof now) != 0;
}

/* Removes the temporary file that the process before could not remove, if it
 * was writing one. */
static void remove_left_behind(const struct worker_process *process,
                               const struct worker_task *task)
{
    const struct job *job = &task->asked.job;
    struct location place;
    struct err err;
    if (task->message.past.step < JOB_WRITES ||
        resolve_file(job->output_root, job->output, false, &place, &err))
        return;
    left_behind_remove(scheduler_left_behind(process->scheduler),
                       place.directory);
    close(place.directory);
}

/* Finds what became of a job in the process before. Returns whether nothing is
 * left to do but to answer. */
static bool settle_past(const struct worker_process *process,
                        struct worker_task *task)
{
    char end[80];
    remove_left_behind(process, task);
    describe_end(task->message.status, end, sizeof end);
    if (was_written(task)) {
        warn(
            &task->result.warnings,
            "the process that did the job ended %s before it could answer; the "
            "output was written",
            end);
        return true;
    }
    if (!task->message.only_report)
        return false;
    task->status = fail(&task->err,
                        "the job ended its process %s; the output "
                        "was not written",
                        end);
    return true;
}

/* ---- Doing and answering ------------------------------------------------- */

static void resume(void *context)
{
    struct worker_task *task = context;
    ordered_workers_resume(task->process->workers, task);
}

/* Returns whether it is done, and not parked. */
static bool do_job(struct worker_process *process, unsigned worker,
                   struct worker_task *task)
{
    if (!task->scheduled.job)
        task->scheduled = (struct scheduled_job){
            .job = &task->asked.job,
            .result = &task->result,
            .left = atomic_load(&process->to_do),
            .ready = note_writing,
            .resume = resume,
            .context = task,
        };
    struct err why;
    int status =
        scheduler_do(process->scheduler, worker, &task->scheduled, &task->err);
    if (status == SCHEDULER_PARKED)
        return false; /* another worker may have the task already */
    task->status = status;
    note_step(task, task->status ? JOB_BEGUN : JOB_WRITTEN);
    if (device_scans_failure(scheduler_scans(process->scheduler), &why) &&
        !process->opts->opts->quiet)
        report_device_failure(&why);
    ordered_workers_allow(process->workers,
                          scheduler_wanted(process->scheduler));
    if (task->message.again) {
        char end[80];
        describe_end(task->message.status, end, sizeof end);
        warn(&task->result.warnings,
             "done once more from the start: the process that did this job and "
             "others ended %s",
             end);
    }
    return true;
}

static void send_answer(struct worker_process *process,
                        struct worker_task *task)
{
    struct answer_message message = { .slot = task->message.slot,
                                      .failed = task->status != 0 };
    struct job job = task->asked.job;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    job.opts = job.opts ? job.opts : process->opts->opts;
    job.backend = process->backend;
    job.input = task->asked.input; /* as the user gave them */
    job.output = task->asked.output;
    if (out) {
        report_answer(out, &job, &task->result,
                      task->status ? &task->err : NULL);
        if (fclose(out) || size > SERVE_ANSWER_MAX)
            size = 0; /* the supervisor has an answer of its own for that */
    }
    message.size = (uint32_t)size;
    pthread_mutex_lock(&process->sending);
    bool sent = send_all(process->fd, &message, sizeof message) &&
                send_all(process->fd, text, size);
    pthread_mutex_unlock(&process->sending);
    if (!sent)
        atomic_store(&process->alone, true);
    free(text);
}

static void release(void *context, void *task)
{
    struct worker_process *process = context;
    atomic_fetch_add(&process->to_do, 1);
    ordered_workers_release(process->workers, task);
}

/* A job ends when its answer is sent: if the process ends before, the jobs that
 * wait for it have not begun. */
static bool work(void *context, unsigned worker, void *argument)
{
    struct worker_process *process = context;
    struct worker_task *task = argument;
    const bool begun = task->scheduled.job;
    if (begun || !is_ending(process)) {
        bool settled = task->status != 0;
        if (!begun)
            note_step(task, JOB_BEGUN);
        if (!begun && !settled && task->message.again)
            settled = settle_past(process, task);
        if (!settled && !do_job(process, worker, task))
            return false;
        send_answer(process, task);
    }
    atomic_fetch_sub(&process->to_do, 1);
    serve_order_end(process->order, task->number, release, process);
    return true;
}

static void end_task(void *context, void *argument)
{
    struct worker_task *task = argument;
    (void)context;
    serve_job_free(&task->asked);
    free(task->text);
}

/* ---- Receiving ----------------------------------------------------------- */

static int read_task(struct worker_process *process, struct worker_task *task)
{
    switch ((enum job_trouble)task->message.trouble) {
    case JOB_TOO_LONG:
        return fail(&task->err, "the job has more than %d bytes",
                    (int)JSON_SIZE_MAX);
    case JOB_NO_MEMORY:
        return fail(&task->err, "no memory for a job");
    case JOB_IS_TEXT:
        break;
    }
    /* If the text ends the process, the note says whose it was. */
    note_step(task, JOB_BEGUN);
    int status =
        serve_job_read(&task->asked, task->text, task->message.size,
                       process->opts->opts, process->opts->root, &task->err);
    note_step(task, JOB_WAITS);
    return status;
}

/* Receives a text and drops it. */
static bool drop_text(int fd, size_t size)
{
    char some[4096];
    while (size) {
        size_t n = size < sizeof some ? size : sizeof some;
        if (!receive_all(fd, some, n))
            return false;
        size -= n;
    }
    return true;
}

/* Receives a job. Returns false if there are no more. */
static bool next_task(struct worker_process *process, struct worker_task *task)
{
    struct job_message *message = &task->message;
    task->process = process;
    if (!receive_all(process->fd, message, sizeof *message))
        return false;
    task->text = malloc((size_t)message->size + 1);
    if (!task->text)
        message->trouble = JOB_NO_MEMORY;
    if (task->text ? !receive_all(process->fd, task->text, message->size)
                   : !drop_text(process->fd, message->size)) {
        free(task->text);
        return false;
    }
    if (task->text)
        task->text[message->size] = '\0';
    task->status = read_task(process, task);
    return true;
}

static void give_all(struct worker_process *process)
{
    struct worker_task *task;
    while ((task = ordered_workers_room(process->workers, is_ending)) &&
           next_task(process, task)) {
        const struct job *job = task->status ? NULL : &task->asked.job;
        ordered_workers_hold(process->workers);
        if (serve_order_add(process->order, job, task, &task->number))
            release(process, task);
    }
}

static enum outcome run_workers(struct worker_process *process)
{
    const struct answer_message ready = { .slot = SERVE_READY };
    struct ordered_workers_opts opts = {
        .workers = scheduler_workers(process->scheduler),
        .resumers = scheduler_resumers(process->scheduler),
        .task_size = sizeof(struct worker_task),
        .window = process->opts->window,
        .work = work,
        .report = end_task,
        .context = process,
    };
    process->order = serve_order_open(
        opts.window, process->opts->root ? process->opts->root->path : NULL);
    process->workers = process->order ? ordered_workers_open(&opts) : NULL;
    if (!process->workers) {
        serve_order_close(process->order);
        report_error(NULL, "the workers cannot be started");
        return OUTCOME_FAILED;
    }
    ordered_workers_allow(process->workers, process->opts->opts->threads);
    if (send_all(process->fd, &ready, sizeof ready))
        give_all(process);
    ordered_workers_close(process->workers);
    serve_order_close(process->order);
    return OUTCOME_DONE;
}

enum outcome worker_run(const struct worker_opts *opts, int fd,
                        struct serve_table *table)
{
    struct worker_process process = { .opts = opts, .table = table, .fd = fd };
    struct err err;
    process.backend = backend_choose(opts->backend, &err);
    if (!process.backend || scheduler_open(&process.scheduler, opts->opts,
                                           process.backend, SIZE_MAX, &err))
        return scheduler_refuse(opts->opts, opts->backend, process.backend,
                                &err);
    sandbox_enter_for_jobs(opts->root ? opts->root->path : NULL, opts->opts,
                           scheduler_scans(process.scheduler) ||
                               process.backend != &backend_cpu);
    pthread_mutex_init(&process.sending, NULL);
    enum outcome outcome = run_workers(&process);
    pthread_mutex_destroy(&process.sending);
    scheduler_close(process.scheduler);
    return outcome;
}
