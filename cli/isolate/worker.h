/* A worker process, which does the jobs that the pool sends it, and the
 * messages between the two. worker_pool.h says what happens when it ends.
 *
 * As a rule it does one job after the other, in its only thread, and asks the
 * pool for memory and processors that a large picture needs. Where a device may
 * turn the pictures of several jobs together there is one such process, and it
 * does many jobs side by side, as a batch does them. */
#ifndef CLI_ISOLATE_WORKER_H
#define CLI_ISOLATE_WORKER_H

#include "cli/schedule/scheduler.h"

/* ---- Messages on the socket: each is followed by `size` bytes ---- */

/* From the pool: a job and its text; or with JOB_STOP, that no more jobs are to
 * be begun; or with JOB_GIVEN, that the process has what it wants. */
struct job_message {
    uint32_t slot, size;
    uint64_t left; /* jobs that are to be done, this one included; processors
                      that are given */
};
enum { JOB_GIVEN = INT32_MAX - 1, JOB_STOP };

/* To the pool, which checks all of it, as a picture may have taken the process
 * over. */
struct worker_message {
    enum { WORKER_READY, WORKER_WANTS, WORKER_ENDED } kind;
    uint32_t slot, size; /* of a struct job_end up to its last warning */
    enum resource what;  /* of WORKER_WANTS: of this so much */
    uint64_t amount;
};

/* What became of a job. */
struct job_end {
    int status;     /* 0; or -1: err says why */
    uint64_t added; /* by the client's process; 0 if the process ended */
    struct pace pace;
    struct err err;
    struct result result;
};

/* Returns the bytes up to its last warning. */
static inline size_t job_end_size(const struct job_end *end)
{
    const struct warnings *warnings = &end->result.warnings;
    const unsigned kept =
        warnings->count < WARNINGS_MAX ? warnings->count : WARNINGS_MAX;
    return (size_t)((const char *)&warnings->list[kept] - (const char *)end);
}

/* ---- The process ---- */

/* What a process is started with. */
struct worker_start {
    int fd;          /* its end of the socket */
    unsigned number; /* of the process, from 0 */
    unsigned most;   /* processes at a time */
    bool many;       /* it does several jobs at a time, */
    unsigned window; /* up to so many */
};

struct worker_process;

/* A job in the process, {0} at first: the beginning of a struct of the
 * client's.
 */
struct worker_task {
    struct worker_process *process;
    struct job_message message;
    char *text; /* message.size bytes, and a NUL */
    struct job job;
    struct scheduled_job scheduled;
    struct result result;
    struct err err;
    int status;
};

struct worker_opts {
    const struct options *opts;
    const struct backend *backend;
    size_t jobs;      /* in all; SIZE_MAX: nobody knows */
    size_t task_size; /* of the client's struct */
    /* Sets task->job by the text. Returns whether it is to be done; if not,
     * status, err and result are set. With many jobs any thread calls it. */
    bool (*begin)(void *context, struct worker_task *task);
    /* See struct scheduled_job, whose context is the task. May be NULL. */
    int (*ready)(const struct job *job, const struct result *result,
                 struct bytes output, void *task, struct err *err);
    /* Returns job_end.added. May be NULL. */
    uint64_t (*add)(void *context, const struct worker_task *task);
    /* Frees what the client holds. May be NULL. */
    void (*release)(struct worker_task *task);
    void *context;
    struct scheduler **scheduler; /* is set as long as there are jobs */
};

/* Opens the backend and does jobs until the pool closes the socket. Returns the
 * outcome of the process, not of the jobs; what went wrong has been printed. */
enum outcome worker_run(const struct worker_opts *opts,
                        const struct worker_start *start);

#endif
