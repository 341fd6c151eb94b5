/* Workers that do tasks side by side. Results are told in the order in which
 * the tasks were given, one at a time, by whichever worker is there first:
 * whoever gives the tasks may wait for something else meanwhile. */
#ifndef CLI_BATCH_ORDERED_WORKERS_H
#define CLI_BATCH_ORDERED_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

struct ordered_workers;

struct ordered_workers_opts {
    unsigned workers;
    size_t task_size; /* bytes of a task, which start as zeros */
    size_t window;    /* how many tasks there may be between the one that is
                         given and the one that is told */
    /* Does a task, on worker 0 to workers - 1, each a thread. */
    void (*work)(void *context, unsigned worker, void *task);
    /* Tells of a task that is done, in order, and ends it. */
    void (*tell)(void *context, void *task);
    /* Is called after each of these and when a while passes without one, and
     * never beside them. May be NULL. */
    void (*tick)(void *context);
    void *context;
};

/* All workers may be busy at first. NULL: no memory, or no threads. */
struct ordered_workers *
ordered_workers_open(const struct ordered_workers_opts *opts);

/* Where the next task goes, when there is room for it, or NULL when `stop` says
 * so, which is asked while it waits. Then ordered_workers_give() hands it out.
 * Both are for one thread. */
void *ordered_workers_room(struct ordered_workers *workers,
                           bool (*stop)(void *context));
void ordered_workers_give(struct ordered_workers *workers);

/* The same in two steps: a task that is held has its place in the order, but no
 * worker takes it before it is released. That may be done by any thread, once.
 * Every held task must be released, at the latest by the work on another one.
 */
void ordered_workers_hold(struct ordered_workers *workers);
void ordered_workers_release(struct ordered_workers *workers, void *task);

/* From now on at most so many workers are busy. */
void ordered_workers_allow(struct ordered_workers *workers, unsigned most);

/* Waits until all that was given is told, and ends the threads. */
void ordered_workers_close(struct ordered_workers *workers);

#endif
