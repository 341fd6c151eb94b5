/* The pool of worker processes: one thread, which waits in poll() and nowhere
 * else.
 */
#include "cli/isolate/worker_pool.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files/path.h"
#include "cli/files/signals.h"
#include "cli/report/report.h"
#include "codecs/codec.h"

enum {
    KEPT = 1 << 22,  /* bytes of memory, instead of 128 KiB */
    STEP = 1 << 16,  /* bytes that are received at a time */
    UNREADY_MAX = 3, /* processes in a row that ended before they were ready */
    WINDOW = 256,    /* jobs whose results may wait for one that takes long */
};

/* ---- Jobs on their way ----------------------------------------------------
 *
 * They stand in a ring, from the first that the client has not taken: each
 * waits, then is sent to a process, then has ended. */

/* What a file is known by, as hashes; 0: it is not known by that. If two files
 * have the same hash by chance, a job waits that would not need to. */
struct file_keys {
    uint64_t name;  /* its canonical name, which a replaced file keeps */
    uint64_t inode; /* itself, if it exists */
};

struct request {
    enum { REQUEST_WAITS, REQUEST_SENT, REQUEST_ENDED } state;
    struct job job;
    struct job_text {
        const void *data;
        size_t size;
    } text;
    struct file_keys input, output;
    unsigned earlier;   /* jobs that share a file, and have not ended */
    struct stat before; /* when it was sent this was its output; {0}: none */
    bool unread;        /* a process ended before it read it */
};

struct job_queue {
    const struct worker_pool_opts *opts;
    unsigned window;         /* jobs that may be given and not taken */
    struct request *request; /* a ring of so many */
    unsigned char *task;     /* of each */
    uint64_t first, given;   /* the first that is not taken; that is none */
    size_t sent, ended;      /* how many requests are */
    struct job_end *end;     /* that the client is told */
    bool told;               /* it was, since the last step */
};

static struct request *request_at(const struct job_queue *queue, uint64_t i)
{
    return &queue->request[i % queue->window];
}

static void *task_at(const struct job_queue *queue, uint64_t i)
{
    return queue->task + i % queue->window * queue->opts->task_size;
}

/* ---- Jobs that share a file ---------------------------------------------- */

/* Nothing that was found before counts: jobs make directories and links may
 * change. Files that cannot be told apart count as one. */
static struct file_keys find_keys(const char *root, const char *name)
{
    struct file_keys keys = { .name = 1 };
    struct path_text path, canonical;
    struct stat st;
    struct err err;
    path_text_set(&path, root && *name != '/' ? root : "");
    if (path.length)
        path_text_add(&path, "/", 1);
    path_text_add(&path, name, strlen(name));
    if (resolve_canonical(&canonical, path.text, path.length, &err) == 0)
        keys.name = hash_bytes(canonical.text, canonical.length);
    if (stat(path.text, &st) == 0) {
        const uint64_t inode[] = { st.st_dev, st.st_ino };
        keys.inode = hash_bytes(inode, sizeof inode);
    }
    return keys;
}

static bool is_same(const struct file_keys *a, const struct file_keys *b)
{
    return (a->name && a->name == b->name) ||
           (a->inode && a->inode == b->inode);
}

static bool shares_file(const struct request *a, const struct request *b)
{
    return is_same(&a->output, &b->input) || is_same(&a->output, &b->output) ||
           is_same(&a->input, &b->output);
}

static void look_at_output(const struct job *job, struct stat *st)
{
    if (!resolve_stat(job->output_root, job->output, true, st))
        *st = (struct stat){ .st_nlink = 0 };
}

/* ---- The end of a job ---------------------------------------------------- */

/* Tells the client what has become of a job: queue->end. */
static void end_job(struct job_queue *queue, struct request *request)
{
    const unsigned window = queue->window;
    const uint64_t slot = (uint64_t)(request - queue->request);
    const uint64_t number =
        queue->first + (slot + window - queue->first % window) % window;
    queue->sent -= request->state == REQUEST_SENT;
    request->state = REQUEST_ENDED;
    queue->ended++;
    for (uint64_t i = number + 1; i < queue->given; i++) {
        struct request *later = request_at(queue, i);
        later->earlier -= later->earlier && shares_file(request, later);
    }
    queue->opts->ended(queue->opts->context, task_at(queue, number),
                       queue->end);
    queue->told = true;
}

/* Tells the client that a job has failed, for this reason. */
static void fail_job(struct job_queue *queue, struct request *request,
                     const char *why)
{
    struct job_end *end = queue->end;
    *end = (struct job_end){ .status = -1 };
    end->status = fail(&end->err, "%s", why);
    end_job(queue, request);
}

/* Returns whether this can have become of a job. Texts get an end. */
static bool is_sound(struct job_end *end)
{
    struct result *r = &end->result;
    const bool done = end->status == 0 && !r->skipped;
    bool from = false, to = false;
    for (int i = 0; codecs[i]; i++) {
        from = from || codecs[i] == r->from;
        to = to || codecs[i] == r->to;
    }
    end->err.text[sizeof end->err.text - 1] = '\0';
    for (unsigned i = 0; i < r->warnings.count && i < WARNINGS_MAX; i++)
        r->warnings.list[i].text[sizeof r->warnings.list[i].text - 1] = '\0';
    return (unsigned)r->skipped <= SKIPPED_DONE && (unsigned)r->how < HOWS &&
           (unsigned)r->turned < XFORM_COUNT &&
           (unsigned)r->device_use < DEVICE_USES &&
           (unsigned)r->last < STAGES && r->worker <= SIGNALS_CHILDREN_MAX &&
           (!done || (from && to));
}

/* Ends a job whose process has ended with this status; or has it wait again,
 * but not twice, if the process has not read it. */
static void bury_job(struct job_queue *queue, struct request *request,
                     bool unread, int status)
{
    const struct stat *before = &request->before;
    struct stat now;
    char how[80];
    look_at_output(&request->job, &now);
    /* Another file than before stands where the output is to. */
    const bool written =
        now.st_nlink &&
        (now.st_dev != before->st_dev || now.st_ino != before->st_ino ||
         now.st_size != before->st_size ||
         memcmp(&now.st_mtim, &before->st_mtim, sizeof now.st_mtim) != 0 ||
         memcmp(&now.st_ctim, &before->st_ctim, sizeof now.st_ctim) != 0);
    if (unread && !request->unread && !written) {
        request->unread = true;
        request->state = REQUEST_WAITS;
        queue->sent--;
        return;
    }
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "with status %d", WEXITSTATUS(status));
    *queue->end = (struct job_end){ .status = 0 };
    if (written)
        warn(&queue->end->result.warnings,
             "the process that did the job ended %s before it could answer; "
             "the output was written",
             how);
    else
        queue->end->status = fail(&queue->end->err,
                                  "the job ended its process %s; the output "
                                  "was not written",
                                  how);
    end_job(queue, request);
}

/* ---- Processes ----------------------------------------------------------- */

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
    void *task = task_at(&pool->queue, pool->queue.given);
    return memset(task, 0, pool->opts->task_size);
}

void worker_pool_give(struct worker_pool *pool, const struct job *job,
                      const void *text, size_t size, const struct err *err)
{
    struct job_queue *queue = &pool->queue;
    struct request *request = request_at(queue, queue->given);
    *request = (struct request){ .job = *job, .text = { text, size } };
    if (!err && queue->opts->ordered) { /* it waits for earlier jobs */
        request->output = find_keys(queue->opts->root, job->output);
        request->input = strcmp(job->input, job->output) == 0
                             ? request->output
                             : find_keys(queue->opts->root, job->input);
        for (uint64_t i = queue->first; i < queue->given; i++)
            request->earlier += request_at(queue, i)->state != REQUEST_ENDED &&
                                shares_file(request_at(queue, i), request);
    }
    queue->given++;
    if (err)
        fail_job(queue, request, err->text);
}

void *worker_pool_take(struct worker_pool *pool)
{
    struct job_queue *queue = &pool->queue;
    const bool over = worker_pool_is_over(pool);
    while (queue->first < queue->given) {
        void *task = task_at(queue, queue->first);
        const struct request *request = request_at(queue, queue->first);
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

/* Has a process that is free do the first job that can be sent, if there are a
 * processor and memory for it. */
static void add_job(struct worker_pool *pool, struct worker *worker)
{
    struct job_queue *queue = &pool->queue;
    struct bytes *out = &worker->out;
    const uint64_t all =
        pool->opts->jobs == SIZE_MAX ? queue->given : pool->opts->jobs;
    struct request *request = NULL;
    for (uint64_t i = queue->first; i < queue->given && !request; i++) {
        request = request_at(queue, i);
        if (request->state != REQUEST_WAITS || request->earlier)
            request = NULL;
    }
    worker->share.limits = &pool->limits;
    if (!request || !resource_limits_begin(&worker->share))
        return;
    const struct job_text text = request->text;
    const struct job_message message = { .left = all - queue->ended,
                                         .size = (uint32_t)text.size };
    look_at_output(&request->job, &request->before);
    request->state = REQUEST_SENT;
    queue->sent++;
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

/* ---- Beginning and end --------------------------------------------------- */

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
        if (request_at(&pool->queue, i)->state != REQUEST_ENDED)
            fail_job(&pool->queue, request_at(&pool->queue, i), why);
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
        bury_job(&pool->queue, ended.job, ended.unread, status);
    const bool exited = WIFEXITED(status);
    const int exit = exited ? WEXITSTATUS(status) : OUTCOME_FAILED;
    if (ended.ready && ended.finishing && exit != OUTCOME_DONE) {
        report_error(NULL, "the worker process failed after its last job");
        pool->state.outcome = OUTCOME_FAILED;
    }
    /* One that ended before it was ready has printed why, if it could. One that
     * was killed, as where memory runs out, could not, and another is tried. */
    if (ended.ready || (!exited && ++pool->state.unready < UNREADY_MAX))
        return;
    unsigned free;
    pool->most = count_processes(pool, &free);
    if (pool->most)
        return;
    give_up(pool, exited && exit && !pool->state.started
                      ? NULL
                      : "a worker process ended before it was ready");
    if (exit == OUTCOME_NO_DEVICE)
        pool->state.outcome = OUTCOME_NO_DEVICE;
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
        memcpy(queue->end, rest, message->size);
        if (message->size == job_end_size(queue->end) && is_sound(queue->end))
            end_job(queue, job);
        else
            fail_job(queue, job, "its process did not say what became of it");
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
    struct job_queue *queue = &pool->queue;
    queue->opts = opts;
    queue->window = 2 * opts->opts->threads + WINDOW;
    queue->request = calloc(queue->window, sizeof *queue->request);
    queue->task = calloc(queue->window, opts->task_size);
    queue->end = malloc(sizeof *queue->end);
    resource_limits_init(&pool->limits, opts->opts->limits.bytes, most);
    resource_limits_divide(&pool->limits, pool->slots);
    pool->limits.grant = grant;
    for (unsigned i = 0; pool->worker && i < pool->slots; i++)
        pool->worker[i].fd = -1;
    mallopt(M_TRIM_THRESHOLD, KEPT); /* what each job takes, for the next one */
    mallopt(M_MMAP_THRESHOLD, KEPT);
    signals_ask();
    if (pool->worker && pool->poll && queue->request && queue->task &&
        queue->end)
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
    free(pool->queue.request);
    free(pool->queue.task);
    free(pool->queue.end);
    free(pool);
    return outcome;
}
