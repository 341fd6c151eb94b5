/* A worker process. */
#include "cli/isolate/worker_pool.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/report/report.h"

/* Sends bytes. If the pool is gone, receiving finds it. */
static void send_all(int fd, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        ssize_t n = TEMP_FAILURE_RETRY(send(fd, at, size, MSG_NOSIGNAL));
        if (n < 0)
            return;
        at += n;
        size -= (size_t)n;
    }
}

/* Receives bytes. Returns false if they end before `size`. */
static bool receive(int fd, void *data, size_t size)
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

/* Asks the pool for memory or processors, and waits for them. */
static unsigned ask(void *context, enum resource what, uint64_t amount)
{
    const struct worker_start *start = context;
    const struct worker_message message = { .kind = WORKER_WANTS,
                                            .what = what,
                                            .amount = amount };
    struct job_message given = { .left = 1 };
    send_all(start->fd, &message, sizeof message);
    (void)receive(start->fd, &given, sizeof given);
    return (unsigned)given.left;
}

enum outcome worker_run(const struct worker_opts *opts,
                        const struct worker_start *start)
{
    const struct resource_giver giver = { start->most, ask, (void *)start };
    const struct worker_message ready = { .kind = WORKER_READY };
    struct scheduler *scheduler;
    struct job_message message;
    atomic_size_t left;
    struct bytes text = { 0 };
    struct err err;
    if (scheduler_open(&scheduler, opts->opts, opts->backend, opts->jobs,
                       &giver, &err))
        return scheduler_refuse(opts->opts, opts->backend->name, opts->backend,
                                &err);
    send_all(start->fd, &ready, sizeof ready);
    while (receive(start->fd, &message, sizeof message)) {
        text.size = 0;
        if (!bytes_reserve(&text, (size_t)message.size + 1)) {
            report_error(NULL, "no memory for a job");
            break; /* which ends the job */
        }
        if (!receive(start->fd, text.data, message.size))
            break;
        text.data[message.size] = '\0';
        struct scheduled_job *s =
            opts->begin(opts->context, (const char *)text.data, message.size);
        atomic_store(&left, message.left);
        s->left = &left;
        if (s->status == 0 && !s->result.skipped)
            (void)scheduler_do(scheduler, 0, s);
        struct { /* what became of it */
            struct worker_message message;
            struct job_end end;
        } sent = {
            .message.kind = WORKER_ENDED,
            .end = { .status = s->status, .err = s->err, .result = s->result }
        };
        if (opts->added)
            sent.end.added = opts->added(opts->context);
        if (sent.end.result.worker)
            sent.end.result.worker = start->number + 1;
        sent.message.size = (uint32_t)job_end_size(&sent.end);
        send_all(start->fd, &sent, sizeof sent.message + sent.message.size);
    }
    bytes_free(&text);
    scheduler_close(scheduler);
    return OUTCOME_DONE;
}
