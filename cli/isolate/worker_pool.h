/* Jobs in processes of their own, which the program outlives: the main header
 * of cli/isolate/.
 *
 * One picture must not take the results of the others with it, whatever it does
 * to the process that reads it: a fault in a library, a limit of the system, or
 * the kernel that kills what takes too much memory. So the jobs of serve, and
 * with --isolate those of a batch, are done in other processes, the workers
 * (worker.c). What comes in are jobs, as texts that only the client and its
 * workers understand; what goes out is what became of each. The room knows
 * nothing of how that is reported.
 *
 * The pool (this module) lives in the process that the user has started. It
 * looks into no picture and has one thread. It starts processes as long as jobs
 * wait, as many as there would be threads; a socket joins it with each. It
 * has a process do one job after the other. All share the memory and the
 * processors that the user allows: each process has a part of the memory for
 * itself, and asks the pool for more, and for processors beside its own. A
 * device that was asked for is opened by each process. (One that turns pictures
 * in batches would need many of them in one process.)
 *
 * Jobs that share a file are done in the order in which they were given, if the
 * client wants that; others in any order. Two jobs share a file if the output
 * of one is the input or the output of the other. Two jobs that only read a
 * file do not share it. Files are the same if they have the same inode, through
 * links of both kinds, or the same canonical name, even where the file or its
 * directory does not exist yet. A job waits for earlier jobs only, so that the
 * earliest one never waits.
 *
 * When a process ends on its own, the job that it had is to blame. If another
 * file than before it was sent stands under the name of its output, it is done;
 * otherwise it fails. It is not done a second time, as its input may be what it
 * has written. If processes end before they are ready, the program gives up:
 * what is left fails.
 *
 * When the client has the end come early, the processes finish what has begun,
 * begin nothing more, and end. They ignore the signals that ask for that, which
 * a terminal sends to all processes. By any other signal the program ends the
 * processes first, which remove their temporary files; by SIGKILL the kernel
 * sends a signal to each, which does the same. */
#ifndef CLI_ISOLATE_WORKER_POOL_H
#define CLI_ISOLATE_WORKER_POOL_H

#include <poll.h>
#include <sys/stat.h>

#include "cli/schedule/scheduler.h"

/* ---- Messages on the socket: each is followed by `size` bytes ---- */

/* From the pool: a job and its text; or an answer to WORKER_WANTS. */
struct job_message {
    uint64_t left; /* jobs that are to be done, this one included; or
                      processors that are given */
    uint32_t size;
};

/* To the pool, which checks all of it, as a picture may have taken the process
 * over. */
struct worker_message {
    enum { WORKER_READY, WORKER_WANTS, WORKER_ENDED } kind;
    uint32_t size;      /* of a struct job_end up to its last warning */
    enum resource what; /* of WORKER_WANTS: of this so much */
    uint64_t amount;
};

/* What became of a job. */
struct job_end {
    int status;     /* 0; or -1: err says why */
    uint64_t added; /* by the client's process; 0 if the process ended */
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

/* ---- A worker process ---- */

/* What a process is started with. */
struct worker_start {
    int fd;          /* its end of the socket */
    unsigned number; /* of the process, from 0 */
    unsigned most;   /* processes at a time */
};

struct worker_opts {
    const struct options *opts;
    const struct backend *backend;
    size_t jobs; /* in all; SIZE_MAX: nobody knows */
    /* Returns a job by its text, which a NUL ends. It is done if it has neither
     * failed nor is skipped. It stays until the next one is begun. */
    struct scheduled_job *(*begin)(void *context, const char *text,
                                   size_t size);
    /* Returns job_end.added of the job, which has ended. May be NULL. */
    uint64_t (*added)(void *context);
    void *context;
};

/* Opens the backend and does jobs, one after the other, until the pool closes
 * the socket. Returns the outcome of the process, not of the jobs; what went
 * wrong has been printed. */
enum outcome worker_run(const struct worker_opts *opts,
                        const struct worker_start *start);

/* ---- The pool ---- */

struct worker_pool_opts {
    const struct options *opts; /* their threads, and their memory */
    size_t jobs;                /* in all; SIZE_MAX: nobody knows */
    size_t task_size;           /* bytes that its client keeps of each job */
    bool ordered;               /* jobs that share a file */
    const char *root; /* the directory where names of files start, or NULL */
    /* Is called when a job has ended, in any order. end->added is not checked.
     */
    void (*ended)(void *context, void *task, const struct job_end *end);
    /* Frees what a task has whose job was not begun when all is over. May be
     * NULL. */
    void (*dropped)(void *task);
    /* What a process does, which ends with this outcome. It calls worker_run()
     * sooner or later. */
    enum outcome (*work)(void *context, const struct worker_start *start);
    void *context;
};

struct worker_pool;

/* The options must outlive the pool. All of it is called by a process that has
 * no threads. Returns NULL if there is no memory. */
struct worker_pool *worker_pool_open(const struct worker_pool_opts *opts);

/* Returns whether a job may be given: not before the first process is ready,
 * since it may find that no job can be done. */
bool worker_pool_has_room(const struct worker_pool *pool);

/* Returns the task of the next job, zeros at first, if there is room. */
void *worker_pool_room(struct worker_pool *pool);

/* Gives that job. Its names and its text must live until it has ended. With an
 * error it has failed already, and keeps its place among the others. */
void worker_pool_give(struct worker_pool *pool, const struct job *job,
                      const void *text, size_t size, const struct err *err);

/* Takes the next job, in order, if it has ended: returns its task, which stays
 * until another job is given; or NULL. */
void *worker_pool_take(struct worker_pool *pool);

/* Says that there will be no more jobs. */
void worker_pool_finish(struct worker_pool *pool);

/* The same, and no more are to be begun. */
void worker_pool_stop(struct worker_pool *pool);

/* Sends what is to be sent, and waits until something has happened: to a
 * process, to the descriptors, of which .fd is -1 for none, or a signal; or so
 * many milliseconds, if they are not negative. Prints failures that are not of
 * a single job. */
enum { WORKER_POOL_FDS_MAX = 2 };
void worker_pool_step(struct worker_pool *pool, struct pollfd *fds, unsigned n,
                      int milliseconds);

/* Returns whether there is no process any more, nor will be. */
bool worker_pool_is_over(const struct worker_pool *pool);

/* Frees all, once it is over. Returns the outcome, which is not that of the
 * jobs. */
enum outcome worker_pool_close(struct worker_pool *pool);

#endif
