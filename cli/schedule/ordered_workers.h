/* Workers that do tasks side by side. The results are reported in the order of
 * the tasks, one at a time, by whichever worker has finished the one that is
 * next; meanwhile the thread that gives the tasks may wait for something else.
 *
 * Tasks stand in a ring of a fixed size, so memory is bounded. A task belongs
 * to the thread that gives it until it is given, then to a worker while `work`
 * runs, then to whoever runs `report`; afterwards its slot is used again. */
#ifndef CLI_SCHEDULE_ORDERED_WORKERS_H
#define CLI_SCHEDULE_ORDERED_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

struct ordered_workers;

struct ordered_workers_opts {
    unsigned workers;
    unsigned resumers; /* more threads, for tasks that have been parked */
    size_t task_size;  /* bytes of a task, which start as zeros */
    size_t parked;     /* how many tasks may be at a time */
    /* Does a task. `worker` is 0 to workers + resumers - 1, one for each
     * thread. Returns false if the task is parked: then
     * ordered_workers_resume() is called for it, maybe before this returns, and
     * it is called once more, by a resumer. */
    bool (*work)(void *context, unsigned worker, void *task);
    /* Reports a task that is done, in order, and ends it. */
    void (*report)(void *context, void *task);
    /* Is called after each report, and while a thread waits in room or close
     * after a tenth of a second without one, but never beside a report. May be
     * NULL. */
    void (*tick)(void *context);
    void *context;
};

/* Starts the workers, or as many as the system allows. Without any the thread
 * that gives a task does it. Returns NULL if there is no memory, or no resumer
 * although they are wanted. */
struct ordered_workers *
ordered_workers_open(const struct ordered_workers_opts *opts);

/* Returns why there are fewer threads than were wanted: an errno, or 0. */
int ordered_workers_refused(const struct ordered_workers *workers);

/* Waits for a free slot and returns it; returns NULL once `stop` returns true.
 * ordered_workers_give() then hands the task to a worker. Both are for one
 * thread. */
void *ordered_workers_room(struct ordered_workers *workers,
                           bool (*stop)(void *context));
void ordered_workers_give(struct ordered_workers *workers);

/* Has a parked task done on. Any thread may call it, once each time. */
void ordered_workers_resume(struct ordered_workers *workers, void *task);

/* Waits until everything given is reported, ends the threads, and frees. Fine
 * on NULL. */
void ordered_workers_close(struct ordered_workers *workers);

#endif
