/* Jobs in a process of their own, which the program outlives: the main header
 * of cli/isolate/.
 *
 * One picture must not take the results of the others with it, whatever it does
 * to the process that reads it: a fault in a library, a limit of the system, or
 * the kernel that kills what takes too much memory. So the jobs of serve, and
 * with --isolate those of a batch, are done in another process, the worker.
 * What comes in are jobs, as texts that only the client and its worker
 * understand; what goes out is an answer to each, in their order. The room
 * knows what becomes of a job when its process ends, and nothing of what is
 * done with an answer.
 *
 * The supervisor (this module) lives in the process that the user has started.
 * It looks into no picture, has one thread, and keeps the text of each job
 * until that is answered.
 *
 * The worker (worker.h) owns the pictures, the threads, the memory and the GPU,
 * which all jobs share. A socket joins the two (worker_link.h): jobs go in, and
 * answers come out, in any order, each as soon as it is there. The two also
 * share a table (wire.h) in which the worker notes how far it is with each job:
 * the job waits, has begun, is about to write, has written. Before the job
 * writes, the worker notes what stands under the output's name.
 *
 * Jobs that share a file are done in the order in which they were given
 * (job_order.h), others in any order. The supervisor sends all of them in that
 * order, and the worker begins none before those that it has to wait for are
 * answered. So the order is kept when the worker ends, too: what waited for a
 * job that is done again has not begun, and is sent after it.
 *
 * When the worker ends on its own,
 *
 * - jobs that wait in it go to the next worker, as if nothing had happened.
 * - a job that has begun is to blame if no other one had begun: it fails. If
 *   there were several, the next worker does them again, one at a time. One
 *   that ends its worker again fails, and the others are done.
 * - for a job that was about to write, the next worker looks whether another
 *   file than before stands under the output's name. If so, the job is done.
 *   It must not be done a second time, as its input may be what it has
 *   written. If not, it is treated as one that has begun.
 * - a job that had written, but had not answered, is answered as done.
 * - half an answer is dropped, and its job is treated as above.
 * - a temporary file is left behind. The next worker removes it when it gets
 *   the job: nobody holds a lock on it any more (temporary.h).
 * - the next worker is started as soon as there is a job for it. If a worker
 *   ends before it is ready, or several end before they begin a job, the
 *   program gives up: what is left fails.
 *
 * When the client has the end come early, the worker finishes what has begun,
 * begins nothing more, and ends; what it still answers is passed on. It ignores
 * the signals that ask for that, which a terminal sends to both processes. By
 * any other signal the program ends the worker first, which removes its
 * temporary files; by SIGKILL the kernel sends a signal to the worker, which
 * does the same. */
#ifndef CLI_ISOLATE_SUPERVISOR_H
#define CLI_ISOLATE_SUPERVISOR_H

#include <poll.h>

#include "cli/isolate/wire.h"
#include "cli/schedule/scheduler.h"
#include "codecs/base/bytes.h"

struct supervisor_opts {
    unsigned window; /* how many jobs may be given and not answered */
    /* What a worker process does, which ends with this outcome. It calls
     * worker_run() sooner or later. */
    enum outcome (*work)(void *context, int fd, struct note_table *table);
    void *context;
};

struct supervisor;

/* Starts a worker process. The options must outlive the supervisor. Call it
 * before there are threads. Returns NULL if there is no memory. */
struct supervisor *supervisor_open(const struct supervisor_opts *opts);

/* Returns whether supervisor_give() may be called: not before the first worker
 * process is ready, since it may find that no job can be done. */
bool supervisor_has_room(const struct supervisor *supervisor);

/* Gives a job, the first of which has the number 0. The text is copied. */
void supervisor_give(struct supervisor *supervisor, enum job_trouble trouble,
                     const void *text, size_t size);

/* An answer to a job. Without a text, which the caller frees, `why` says why
 * there is none; or it is NULL, if there was no memory for it. */
struct supervisor_answer {
    uint64_t number; /* of the job */
    bool failed;
    struct bytes text;
    const char *why;
};

/* Takes the answer to the next job, in order. Returns false if it is not there
 * yet. When all is over, jobs that were not begun have none. */
bool supervisor_answer(struct supervisor *supervisor,
                       struct supervisor_answer *answer);

/* Says that there will be no more jobs. */
void supervisor_finish(struct supervisor *supervisor);

/* The same, and no more are to be begun. */
void supervisor_stop(struct supervisor *supervisor);

/* Sends what is to be sent, and waits until something has happened: to the
 * worker process, to the descriptors, of which .fd is -1 for none, or a signal;
 * or so many milliseconds, if they are not negative. Prints failures that are
 * not of a single job. */
enum { SUPERVISOR_FDS_MAX = 2 };
void supervisor_step(struct supervisor *supervisor, struct pollfd *fds,
                     unsigned n, int milliseconds);

/* Returns whether there is no worker process any more, nor will be. */
bool supervisor_is_over(const struct supervisor *supervisor);

/* Frees all, once it is over. Returns the outcome, which is not that of the
 * jobs. */
enum outcome supervisor_close(struct supervisor *supervisor);

#endif
