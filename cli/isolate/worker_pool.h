/* Jobs in processes of their own, which the program outlives: the main header
 * of cli/isolate/.
 *
 * One picture must not take the results of the others with it, whatever it does
 * to the process that reads it: a fault in a library, a limit of the system, or
 * the kernel that kills what takes too much memory. So the jobs of serve, and
 * with --isolate those of a batch, are done in other processes, the workers
 * (worker.h). What comes in are jobs, as texts that only the client and its
 * workers understand; what goes out is what became of each. The room knows
 * nothing of how that is reported.
 *
 * The pool (this module) lives in the process that the user has started. It
 * looks into no picture and has one thread. It starts processes as long as jobs
 * wait, about as many as there are processors; a socket joins it with each. It
 * has a process do one job after the other; the next one may wait in it, so
 * that it begins at once. All share the memory and the processors that the user
 * allows: each process has a part of the memory for itself, and asks the pool
 * for more, and for processors beside its own.
 *
 * Where a device may turn pictures, which it does in batches, there is one
 * process, which has many jobs at a time.
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
 * has written. Of several jobs, which only a process with a device has, those
 * that are not done are done again, one at a time. If processes end before they
 * are ready, the program gives up: what is left fails.
 *
 * When the client has the end come early, the processes finish what has begun,
 * begin nothing more, and end. They ignore the signals that ask for that, which
 * a terminal sends to all processes. By any other signal the program ends the
 * processes first, which remove their temporary files; by SIGKILL the kernel
 * sends a signal to each, which does the same. */
#ifndef CLI_ISOLATE_WORKER_POOL_H
#define CLI_ISOLATE_WORKER_POOL_H

#include <poll.h>

#include "cli/isolate/job_queue.h"

struct worker_pool_opts {
    const struct options *opts; /* their threads, and their memory */
    size_t jobs;                /* in all; SIZE_MAX: nobody knows */
    struct job_queue_opts queue;
    /* What a process does, which ends with this outcome. It calls worker_run()
     * sooner or later. The context is that of the queue. */
    enum outcome (*work)(void *context, const struct worker_start *start);
};

struct worker_pool;

/* The options must outlive the pool. All of it is called by a process that has
 * no threads. Returns NULL if there is no memory. */
struct worker_pool *worker_pool_open(const struct worker_pool_opts *opts);

/* Returns whether a job may be given: not before the first process is ready,
 * since it may find that no job can be done. */
bool worker_pool_has_room(const struct worker_pool *pool);

/* Gives a job, the first of which has the number 0. Its names and its text must
 * live until it has ended. Without a job there is nothing to do: it has ended,
 * and the number is its place among the others. */
void worker_pool_give(struct worker_pool *pool, const struct job *job,
                      const void *text, size_t size);

/* Takes the next job, in order, if it has ended. When all is over, jobs that
 * were not begun are left out. */
bool worker_pool_take(struct worker_pool *pool, uint64_t *number);

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
