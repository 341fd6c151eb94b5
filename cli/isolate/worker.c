/* The worker process. Jobs are received by its main thread and done by several
 * workers, which share memory, processors and devices as in a batch. */
#include "cli/isolate/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files/temporary.h"
#include "cli/isolate/job_order.h"
#include "cli/report/report.h"
#include "cli/schedule/ordered_workers.h"

struct worker_process {
    const struct worker_opts *opts;
    struct ordered_workers *workers;
    struct job_order *order;
    struct note_table *table;
    int fd;
    pthread_mutex_t sending;
    atomic_size_t to_do; /* jobs that wait for no other one and are not done */
    atomic_bool ending;  /* no more jobs are begun */
};

static bool is_ending(void *context)
{
    struct worker_process *process = context;
    return atomic_load(&process->table->ending) ||
           atomic_load(&process->ending);
}

void worker_stop(struct worker_process *process)
{
    atomic_store(&process->ending, true);
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

static struct job_note *note_of(const struct worker_task *task)
{
    return &task->process->table->note[task->message.slot];
}

static void note_step(const struct worker_task *task, enum job_step step)
{
    atomic_store(&note_of(task)->step, step);
}

uint64_t worker_mark(const struct worker_task *task)
{
    return note_of(task)->mark;
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
    struct worker_task *task = context;
    const struct worker_opts *opts = task->process->opts;
    struct job_note *note = note_of(task);
    look_at_output(job, &note->before);
    note->result = *result;
    note->result.bytes_out = output.size;
    note->mark = 0;
    if (opts->ready &&
        opts->ready(opts->context, task, output, &note->mark, err))
        return -1;
    note_step(task, JOB_WRITES);
    return 0;
}

/* ---- Jobs of the process before ------------------------------------------ */

void worker_describe_end(const struct worker_task *task, char *text,
                         size_t size)
{
    const int status = task->message.status;
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
    look_at_output(&task->job, &now);
    return memcmp(&now, &past->before, sizeof now) != 0;
}

/* Finds what became of a job in the process before. Returns whether nothing is
 * left to do but to answer. */
static bool settle_past(struct worker_task *task)
{
    char end[80];
    task->written_before = was_written(task);
    if (task->written_before) {
        task->result = note_of(task)->result;
        return true;
    }
    if (!task->message.only_report)
        return false;
    worker_describe_end(task, end, sizeof end);
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
    struct scheduler *scheduler = process->opts->scheduler;
    if (!task->scheduled.job)
        task->scheduled = (struct scheduled_job){
            .job = &task->job,
            .result = &task->result,
            .left = atomic_load(process->opts->left ? process->opts->left
                                                    : &process->to_do),
            .ready = note_writing,
            .resume = resume,
            .context = task,
        };
    struct err why;
    int status = scheduler_do(scheduler, worker, &task->scheduled, &task->err);
    if (status == SCHEDULER_PARKED)
        return false; /* another worker may have the task already */
    task->status = status;
    note_step(task,
              task->status || task->result.skipped ? JOB_BEGUN : JOB_WRITTEN);
    if (device_scans_failure(scheduler_scans(scheduler), &why) &&
        !process->opts->opts->quiet)
        report_device_failure(&why);
    ordered_workers_allow(process->workers, scheduler_wanted(scheduler));
    return true;
}

/* Returns whether there is nothing to do for the job any more. */
static bool begin_job(struct worker_process *process, struct worker_task *task)
{
    const struct worker_opts *opts = process->opts;
    if (task->status)
        return true;
    note_step(task, JOB_BEGUN);
    return (task->message.again && settle_past(task)) ||
           (opts->begin && !opts->begin(opts->context, task));
}

static void send_answer(struct worker_process *process,
                        struct worker_task *task)
{
    const struct worker_opts *opts = process->opts;
    struct answer_message message = { .slot = task->message.slot,
                                      .failed = task->status != 0 };
    struct bytes text = { 0 };
    if (!opts->answer(opts->context, task, &text) || text.size > ANSWER_MAX)
        text.size = 0; /* the supervisor has an answer of its own for that */
    message.size = (uint32_t)text.size;
    pthread_mutex_lock(&process->sending);
    bool sent = send_all(process->fd, &message, sizeof message) &&
                send_all(process->fd, text.data, text.size);
    pthread_mutex_unlock(&process->sending);
    if (!sent) /* the supervisor is gone */
        worker_stop(process);
    bytes_free(&text);
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
    const struct worker_opts *opts = process->opts;
    const bool begun = task->scheduled.job;
    if (begun || !is_ending(process)) {
        if ((begun || !begin_job(process, task)) &&
            !do_job(process, worker, task))
            return false;
        if (opts->end)
            opts->end(opts->context, task);
        send_answer(process, task);
    }
    atomic_fetch_sub(&process->to_do, 1);
    job_order_end(process->order, task->number, release, process);
    return true;
}

static void end_task(void *context, void *argument)
{
    const struct worker_process *process = context;
    struct worker_task *task = argument;
    if (process->opts->release)
        process->opts->release(process->opts->context, task);
    free(task->text);
}

/* ---- Receiving ----------------------------------------------------------- */

static int read_task(struct worker_process *process, struct worker_task *task)
{
    if (task->message.trouble == JOB_NO_MEMORY)
        return fail(&task->err, "no memory for a job");
    /* If the text ends the process, the note says whose it was. */
    note_step(task, JOB_BEGUN);
    int status = process->opts->read(process->opts->context, task, &task->err);
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
        const struct job *job = task->status ? NULL : &task->job;
        ordered_workers_hold(process->workers);
        if (job_order_add(process->order, job, task, &task->number))
            release(process, task);
    }
}

static enum outcome run_workers(struct worker_process *process)
{
    const struct answer_message ready = { .slot = ANSWER_READY };
    struct ordered_workers_opts opts = {
        .workers = scheduler_workers(process->opts->scheduler),
        .resumers = scheduler_resumers(process->opts->scheduler),
        .task_size = process->opts->task_size,
        .window = process->opts->window,
        .work = work,
        .report = end_task,
        .context = process,
    };
    process->order = job_order_open(opts.window, process->opts->root);
    process->workers = process->order ? ordered_workers_open(&opts) : NULL;
    if (!process->workers) {
        job_order_close(process->order);
        report_error(NULL, "the workers cannot be started");
        return OUTCOME_FAILED;
    }
    report_refused_threads(ordered_workers_refused(process->workers),
                           process->opts->opts);
    ordered_workers_allow(process->workers, process->opts->opts->threads);
    if (send_all(process->fd, &ready, sizeof ready))
        give_all(process);
    ordered_workers_close(process->workers);
    job_order_close(process->order);
    return OUTCOME_DONE;
}

enum outcome worker_run(const struct worker_opts *opts, int fd,
                        struct note_table *table)
{
    struct worker_process process = { .opts = opts, .table = table, .fd = fd };
    pthread_mutex_init(&process.sending, NULL);
    enum outcome outcome = run_workers(&process);
    pthread_mutex_destroy(&process.sending);
    return outcome;
}
