/* A worker process. */
#include "cli/isolate/worker_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/report/report.h"
#include "cli/schedule/ordered_workers.h"

struct worker_process {
    const struct worker_opts *opts;
    const struct worker_start *start;
    struct scheduler *scheduler;
    struct ordered_workers *workers; /* NULL: it does one job at a time */
    struct worker_task next; /* that came while it waited for something else;
                                without a process there is none */
    pthread_mutex_t sending;
    struct message_of_end {
        struct worker_message message;
        struct job_end end;
    } sent;
    atomic_bool stopping; /* no more jobs are begun */
};

static bool is_stopping(void *context)
{
    struct worker_process *process = context;
    return atomic_load(&process->stopping);
}

/* ---- The socket ---------------------------------------------------------- */

/* Sends bytes. If the pool is gone, no more jobs are begun. */
static void send_all(struct worker_process *process, const void *data,
                     size_t size)
{
    for (const char *at = data; size;) {
        ssize_t n = TEMP_FAILURE_RETRY(
            send(process->start->fd, at, size, MSG_NOSIGNAL));
        if (n < 0) {
            atomic_store(&process->stopping, true);
            return;
        }
        at += n;
        size -= (size_t)n;
    }
}

/* Receives bytes, and drops them if `data` is NULL. Returns false if they end
 * before `size`. */
static bool receive(const struct worker_process *process, void *data,
                    size_t size)
{
    char dropped[4096];
    for (char *at = data; size;) {
        const size_t most = at || size < sizeof dropped ? size : sizeof dropped;
        ssize_t n = TEMP_FAILURE_RETRY(
            recv(process->start->fd, at ? at : dropped, most, MSG_WAITALL));
        if (n <= 0)
            return false;
        at = at ? at + n : NULL;
        size -= (size_t)n;
    }
    return true;
}

/* Receives the text of a job, and ends it by a NUL. Returns false if the pool
 * is gone; without memory *text is NULL. */
static bool receive_text(const struct worker_process *process, size_t size,
                         char **text)
{
    *text = malloc(size + 1);
    if (!receive(process, *text, size)) {
        free(*text);
        *text = NULL;
        return false;
    }
    if (*text)
        (*text)[size] = '\0';
    return true;
}

/* Asks the pool for memory or processors, and waits for them; the next job may
 * come before. */
static unsigned ask(void *context, enum resource what, uint64_t amount)
{
    struct worker_process *process = context;
    struct worker_task *next = &process->next;
    const struct worker_message message = { .kind = WORKER_WANTS,
                                            .what = what,
                                            .amount = amount };
    struct job_message given;
    send_all(process, &message, sizeof message);
    while (receive(process, &given, sizeof given)) {
        if (given.slot == JOB_GIVEN)
            return (unsigned)given.left;
        next->message = given;
        if (!receive_text(process, given.size, &next->text))
            break;
        next->process = process;
    }
    atomic_store(&process->stopping, true);
    return 1;
}

/* Receives a job. Returns false if there are no more. */
static bool next_task(struct worker_process *process, struct worker_task *task)
{
    struct worker_task *next = &process->next;
    if (next->process) {
        task->message = next->message;
        task->text = next->text;
        next->process = NULL;
    } else if (!receive(process, &task->message, sizeof task->message)) {
        return false;
    } else if (task->message.slot == JOB_STOP) {
        atomic_store(&process->stopping, true);
        return false;
    } else if (!receive_text(process, task->message.size, &task->text)) {
        return false;
    }
    task->process = process;
    if (!task->text)
        task->scheduled.status =
            fail(&task->scheduled.err, "no memory for a job");
    return true;
}

/* ---- Jobs ---------------------------------------------------------------- */

static void resume(void *task)
{
    ordered_workers_resume(((struct worker_task *)task)->process->workers,
                           task);
}

/* Does a job, or a part of it. Returns whether it has ended, and is not parked.
 */
static bool work(void *context, unsigned worker, void *argument)
{
    struct worker_process *process = context;
    const struct worker_opts *opts = process->opts;
    struct worker_task *task = argument;
    struct scheduled_job *s = &task->scheduled;
    bool does = s->state != NULL;
    struct err why;
    if (!does) {
        if (is_stopping(process))
            return true;
        does = s->status == 0 && opts->begin(opts->context, task);
        s->left = task->message.left;
        s->resume = resume;
    }
    if (does) {
        if (!scheduler_do(process->scheduler, worker, s))
            return false;
        if (device_scans_failure(process->scheduler->scans, &why) &&
            !opts->opts->quiet)
            report_device_failure(&why);
        if (process->workers)
            ordered_workers_allow(process->workers,
                                  scheduler_wanted(process->scheduler));
    }
    struct message_of_end *sent = &process->sent;
    struct job_end *end = &sent->end;
    pthread_mutex_lock(&process->sending);
    end->status = s->status;
    end->added = opts->add ? opts->add(opts->context, task) : 0;
    end->pace = s->pace;
    end->err = s->err;
    end->result = s->result;
    if (!process->workers && end->result.worker)
        end->result.worker = process->start->number + 1;
    sent->message =
        (struct worker_message){ .kind = WORKER_ENDED,
                                 .slot = task->message.slot,
                                 .size = (uint32_t)job_end_size(end) };
    send_all(process, sent, sizeof sent->message + sent->message.size);
    pthread_mutex_unlock(&process->sending);
    return true;
}

static void end_task(void *context, void *argument)
{
    const struct worker_process *process = context;
    struct worker_task *task = argument;
    if (process->opts->release)
        process->opts->release(task);
    free(task->text);
}

static void say_ready(struct worker_process *process)
{
    const struct worker_message ready = { .kind = WORKER_READY };
    send_all(process, &ready, sizeof ready);
}

/* Returns -1 if there is no memory. */
static int do_one_by_one(struct worker_process *process)
{
    struct worker_task *task = malloc(process->opts->task_size);
    if (!task)
        return -1;
    say_ready(process);
    while (!is_stopping(process)) {
        memset(task, 0, process->opts->task_size);
        if (!next_task(process, task))
            break;
        (void)work(process, 0, task);
        end_task(process, task);
    }
    free(task);
    return 0;
}

/* Returns -1 if no thread could be started. */
static int do_side_by_side(struct worker_process *process)
{
    const struct ordered_workers_opts opts = {
        .workers = process->scheduler->workers,
        .resumers = process->scheduler->resumers,
        .task_size = process->opts->task_size,
        .window = process->start->window,
        .work = work,
        .report = end_task,
        .context = process,
    };
    struct worker_task *task;
    process->workers = ordered_workers_open(&opts);
    if (!process->workers)
        return -1;
    report_refused_threads(ordered_workers_refused(process->workers),
                           process->opts->opts);
    ordered_workers_allow(process->workers, process->opts->opts->threads);
    say_ready(process);
    while ((task = ordered_workers_room(process->workers, is_stopping)) &&
           next_task(process, task))
        ordered_workers_give(process->workers);
    ordered_workers_close(process->workers);
    return 0;
}

enum outcome worker_run(const struct worker_opts *opts,
                        const struct worker_start *start)
{
    struct worker_process process = { .opts = opts, .start = start };
    const struct resource_giver giver = { start->most, ask, &process };
    struct err err;
    if (scheduler_open(&process.scheduler, opts->opts, opts->backend,
                       opts->jobs, start->many ? NULL : &giver, &err))
        return scheduler_refuse(opts->opts, opts->backend->name, opts->backend,
                                &err);
    if (opts->scheduler)
        *opts->scheduler = process.scheduler;
    pthread_mutex_init(&process.sending, NULL);
    int status =
        start->many ? do_side_by_side(&process) : do_one_by_one(&process);
    if (status)
        report_error(NULL, "the workers cannot be started");
    pthread_mutex_destroy(&process.sending);
    scheduler_close(process.scheduler);
    return status ? OUTCOME_FAILED : OUTCOME_DONE;
}
