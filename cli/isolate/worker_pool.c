/* The pool of worker processes: one thread, which waits in poll() and nowhere
 * else.
 */
#include "cli/isolate/worker_pool.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files/signals.h"
#include "cli/report/report.h"

enum {
    KEPT = 1 << 22,  /* bytes of memory, instead of 128 KiB */
    STEP = 1 << 16,  /* bytes that are received at a time */
    UNREADY_MAX = 3, /* processes in a row that ended before they were ready */
};

/* This end of a process. */
struct worker {
    pid_t pid;
    int fd;               /* -1: there is no process */
    bool ready;           /* it has said so */
    bool finishing;       /* it has been told that there are no more jobs */
    bool unread;          /* it ended before it read all that was sent */
    struct request *job;  /* that was sent and has not ended, or NULL */
    struct bytes out, in; /* what is not sent yet; and no whole message */
    struct resource_share share;
};

struct worker_pool {
    const struct worker_pool_opts *opts;
    struct job_queue queue;
    struct worker *worker;
    struct pollfd *poll;
    unsigned slots;                /* for processes, */
    unsigned most;                 /* of which so many may be used */
    struct resource_limits limits; /* of the jobs in them */
    struct pool_state {
        bool started;     /* a process was ready */
        bool finished;    /* there are no more jobs, */
        bool stopped;     /* and no more are to be begun */
        bool given_up;    /* no process can do the jobs that are left */
        unsigned unready; /* processes in a row that never were ready */
        int asked;        /* the signal that asked for the end */
        enum outcome outcome;
    } state;
};

bool worker_pool_has_room(const struct worker_pool *pool)
{
    const struct job_queue *queue = &pool->queue;
    return pool->state.started && !pool->state.finished &&
           queue->given - queue->first < queue->window;
}

void *worker_pool_room(struct worker_pool *pool)
{
    if (!worker_pool_has_room(pool))
        return NULL;
    void *task = job_queue_task(&pool->queue, pool->queue.given);
    return memset(task, 0, pool->opts->task_size);
}

void worker_pool_give(struct worker_pool *pool, const struct job *job,
                      const void *text, size_t size, const struct err *err)
{
    job_queue_give(&pool->queue, job, text, size, err);
}

void *worker_pool_take(struct worker_pool *pool)
{
    struct job_queue *queue = &pool->queue;
    const bool over = worker_pool_is_over(pool);
    while (queue->first < queue->given) {
        void *task = job_queue_task(queue, queue->first);
        const struct request *request = job_queue_at(queue, queue->first);
        if (request->state != REQUEST_ENDED && !over)
            return NULL;
        queue->first++;
        if (request->state == REQUEST_ENDED)
            return task;
        if (pool->opts->dropped)
            pool->opts->dropped(task);
    }
    return NULL;
}

/* ---- Sending ------------------------------------------------------------- */

/* Has a worker process go on that waited for memory or processors. */
static void grant(struct resource_share *share)
{
    struct worker *worker =
        (struct worker *)((char *)share - offsetof(struct worker, share));
    const struct job_message given = { .left = share->processors };
    /* Without memory the process waits for ever, so it is ended. */
    if (!bytes_append(&worker->out, &given, sizeof given))
        kill(worker->pid, SIGKILL);
}

/* Has a process that is free do the next job, if there are a processor and
 * memory for it. */
static void add_job(struct worker_pool *pool, struct worker *worker)
{
    struct job_queue *queue = &pool->queue;
    struct bytes *out = &worker->out;
    const uint64_t all =
        pool->opts->jobs == SIZE_MAX ? queue->given : pool->opts->jobs;
    struct request *request = job_queue_next(queue);
    worker->share.limits = &pool->limits;
    if (!request || !resource_limits_begin(&worker->share))
        return;
    const struct job_text text = request->text;
    const struct job_message message = { .left = all - queue->ended,
                                         .size = (uint32_t)text.size };
    job_queue_send(queue, request);
    worker->job = request;
    if (!bytes_append(out, &message, sizeof message) ||
        !bytes_append(out, text.data, text.size))
        kill(worker->pid, SIGKILL); /* which fails the job */
}

/* Sends a process its job, or that there are no more, as far as its socket
 * takes that. */
static void send_job(struct worker_pool *pool, struct worker *worker)
{
    const struct pool_state *state = &pool->state;
    struct bytes *out = &worker->out;
    size_t at = 0;
    if (worker->ready && !worker->job && !state->stopped)
        add_job(pool, worker);
    if (!worker->finishing && !worker->job &&
        (state->stopped ||
         (state->finished && pool->queue.ended == pool->queue.given))) {
        worker->finishing = true;
        shutdown(worker->fd, SHUT_WR);
    }
    while (at < out->size) {
        ssize_t n = send(worker->fd, out->data + at, out->size - at,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EPIPE) { /* receiving finds the end */
            worker->unread = true;
            n = (ssize_t)(out->size - at);
        }
        if (n < 0 && errno != EINTR)
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    if (at)
        memmove(out->data, out->data + at, out->size - at);
    out->size -= at;
}

/* ---- Processes ----------------------------------------------------------- */

/* Returns how many processes there are, and how many are about to be ready, or
 * have nothing to do. */
static unsigned count_processes(const struct worker_pool *pool, unsigned *free)
{
    unsigned live = 0;
    *free = 0;
    for (unsigned i = 0; i < pool->slots; i++) {
        const struct worker *worker = &pool->worker[i];
        live += worker->fd >= 0;
        *free += worker->fd >= 0 && (!worker->ready || !worker->job);
    }
    return live;
}

/* Fails all jobs that are left. `why` is NULL if it is printed already. */
static void give_up(struct worker_pool *pool, const char *why)
{
    pool->state.given_up = true;
    pool->state.outcome = OUTCOME_FAILED;
    if (why)
        report_error(NULL, why);
    else
        why = "no worker process can be started";
    for (uint64_t i = pool->queue.first; i < pool->queue.given; i++)
        if (job_queue_at(&pool->queue, i)->state != REQUEST_ENDED)
            job_queue_fail(&pool->queue, job_queue_at(&pool->queue, i), why);
}

/* Starts a process, as long as there are too few. */
static void start_process(struct worker_pool *pool)
{
    const pid_t parent = getpid();
    unsigned number = 0;
    int fds[2] = { -1, -1 };
    while (pool->worker[number].fd >= 0) /* live < most <= slots */
        number++;
    struct worker *worker = &pool->worker[number];
    fflush(stdout); /* what is printed once is not to be there twice */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0 &&
        (worker->pid = signals_fork()) >= 0) {
        if (worker->pid == 0) {
            close(fds[0]);
            /* This is the process that has been started, which knows nothing of
             * the others. */
            const struct worker_start start = {
                .fd = fds[1],
                .number = number,
                .most = pool->slots,
            };
            for (unsigned i = 0; i < pool->slots; i++)
                if (pool->worker[i].fd >= 0)
                    close(pool->worker[i].fd);
            signals_follow(parent);
            exit((int)pool->opts->work(pool->opts->context, &start));
        }
        close(fds[1]);
        worker->fd = fds[0];
        return;
    }
    unsigned free;
    pool->most = count_processes(pool, &free);
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (!pool->most)
        give_up(pool, "no worker process can be started");
}

static bool needs_process(const struct worker_pool *pool)
{
    const struct job_queue *queue = &pool->queue;
    const struct pool_state *state = &pool->state;
    unsigned free;
    const unsigned live = count_processes(pool, &free);
    if (state->given_up || state->stopped || live >= pool->most)
        return false;
    if (!state->started)
        return live == 0;
    return queue->given - queue->ended - queue->sent > free;
}

/* A process that ended before it was ready has printed why, if it could. One
 * that was killed, as where memory runs out, could not, and another is tried.
 */
static void end_unready(struct worker_pool *pool, int status)
{
    const bool exited = WIFEXITED(status);
    unsigned free;
    if (!exited && ++pool->state.unready < UNREADY_MAX)
        return;
    pool->most = count_processes(pool, &free);
    if (pool->most)
        return;
    give_up(pool, exited && WEXITSTATUS(status) && !pool->state.started
                      ? NULL
                      : "a worker process ended before it was ready");
    if (exited && WEXITSTATUS(status) == OUTCOME_NO_DEVICE)
        pool->state.outcome = OUTCOME_NO_DEVICE;
}

/* Waits for a process that has closed its socket, or is to be ended. */
static void end_process(struct worker_pool *pool, struct worker *worker)
{
    const struct worker ended = *worker;
    kill(ended.pid, SIGKILL); /* it may have closed the socket alone */
    const int status = signals_wait_for(ended.pid);
    close(worker->fd);
    bytes_free(&worker->out);
    bytes_free(&worker->in);
    if (worker->share.limits)
        resource_limits_return_all(&worker->share);
    *worker = (struct worker){ .fd = -1 };
    if (ended.job)
        job_queue_bury(&pool->queue, ended.job, ended.unread, status);
    if (!ended.ready) {
        end_unready(pool, status);
    } else if (ended.finishing &&
               !(WIFEXITED(status) && WEXITSTATUS(status) == OUTCOME_DONE)) {
        report_error(NULL, "the worker process failed after its last job");
        pool->state.outcome = OUTCOME_FAILED;
    }
}

/* ---- Receiving ----------------------------------------------------------- */

/* Returns false if a process does not speak the protocol. */
static bool on_message(struct worker_pool *pool, struct worker *worker,
                       const struct worker_message *message, const void *rest)
{
    struct job_queue *queue = &pool->queue;
    struct request *job = worker->job;
    switch (message->kind) {
    case WORKER_READY:
        worker->ready = pool->state.started = true;
        pool->state.unready = 0;
        return message->size == 0;
    case WORKER_WANTS:
        if (message->size || !job || worker->share.waits ||
            worker->share.processors > 1 || message->what >= RESOURCES ||
            !message->amount)
            return false;
        resource_limits_ask(&worker->share, message->what, message->amount);
        return true;
    case WORKER_ENDED:
        if (!job ||
            message->size < offsetof(struct job_end, result.warnings.list))
            return false;
        worker->job = NULL;
        resource_limits_return_all(&worker->share);
        job_queue_answer(queue, job, rest, message->size);
        return true;
    }
    return false;
}

/* Receives what is there, and does what whole messages say. Returns false if no
 * more will come. */
static bool receive(struct worker_pool *pool, struct worker *worker)
{
    struct bytes *in = &worker->in;
    struct worker_message message;
    size_t at = 0;
    if (!bytes_reserve(in, STEP))
        return false;
    const ssize_t n = recv(worker->fd, in->data + in->size, STEP, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    worker->unread = worker->unread || (n < 0 && errno == ECONNRESET);
    if (n <= 0)
        return false;
    in->size += (size_t)n;
    while (in->size - at >= sizeof message) {
        memcpy(&message, in->data + at, sizeof message);
        if (message.size > sizeof(struct job_end))
            return false;
        if (in->size - at - sizeof message < message.size)
            break;
        at += sizeof message;
        if (!on_message(pool, worker, &message, in->data + at))
            return false;
        at += message.size;
    }
    if (at)
        memmove(in->data, in->data + at, in->size - at);
    in->size -= at;
    return true;
}

/* ---- The loop ------------------------------------------------------------ */

void worker_pool_finish(struct worker_pool *pool)
{
    pool->state.finished = true;
}

void worker_pool_stop(struct worker_pool *pool)
{
    pool->state.finished = pool->state.stopped = true;
}

bool worker_pool_is_over(const struct worker_pool *pool)
{
    const struct pool_state *state = &pool->state;
    unsigned free;
    return count_processes(pool, &free) == 0 &&
           (state->given_up || state->stopped ||
            (state->finished && pool->queue.ended == pool->queue.given));
}

void worker_pool_step(struct worker_pool *pool, struct pollfd *fds, unsigned n,
                      int milliseconds)
{
    struct pollfd *all = pool->poll;
    while (needs_process(pool))
        start_process(pool);
    for (unsigned i = 0; i < pool->slots; i++) {
        struct worker *worker = &pool->worker[i];
        if (worker->fd >= 0)
            send_job(pool, worker);
        all[i] = (struct pollfd){
            .fd = worker->fd,
            .events = (short)(POLLIN | (worker->out.size ? POLLOUT : 0)),
        };
    }
    for (unsigned i = 0; i < n; i++)
        all[pool->slots + i] = fds[i];
    /* There may be something already that the client must see. */
    const bool waits = !pool->queue.told && !worker_pool_is_over(pool);
    const int ready = signals_poll(all, pool->slots + n, pool->state.asked,
                                   waits ? milliseconds : 0);
    pool->state.asked = signals_asked();
    pool->queue.told = false;
    for (unsigned i = 0; i < n; i++)
        fds[i].revents = ready > 0 ? all[pool->slots + i].revents : 0;
    for (unsigned i = 0; i < pool->slots && ready > 0; i++)
        if (all[i].revents & ~POLLOUT && !receive(pool, &pool->worker[i]))
            end_process(pool, &pool->worker[i]);
}

struct worker_pool *worker_pool_open(const struct worker_pool_opts *opts)
{
    const unsigned most = scheduler_workers(opts->opts->threads);
    struct worker_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->opts = opts;
    pool->slots = opts->jobs < most ? (unsigned)opts->jobs : most;
    if (!pool->slots)
        pool->slots = 1;
    pool->most = pool->slots;
    pool->worker = calloc(pool->slots, sizeof *pool->worker);
    pool->poll = calloc(pool->slots + WORKER_POOL_FDS_MAX, sizeof *pool->poll);
    const bool queued = job_queue_init(&pool->queue, opts);
    resource_limits_init(&pool->limits, opts->opts->limits.bytes, most);
    resource_limits_divide(&pool->limits, pool->slots);
    pool->limits.grant = grant;
    for (unsigned i = 0; pool->worker && i < pool->slots; i++)
        pool->worker[i].fd = -1;
    mallopt(M_TRIM_THRESHOLD, KEPT); /* what each job takes, for the next one */
    mallopt(M_MMAP_THRESHOLD, KEPT);
    signals_ask();
    if (pool->worker && pool->poll && queued)
        return pool;
    (void)worker_pool_close(pool);
    return NULL;
}

enum outcome worker_pool_close(struct worker_pool *pool)
{
    const enum outcome outcome = pool->state.outcome;
    resource_limits_end(&pool->limits);
    free(pool->worker);
    free(pool->poll);
    job_queue_free(&pool->queue);
    free(pool);
    return outcome;
}
