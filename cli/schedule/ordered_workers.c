/* Workers that do tasks side by side, and report them in order. In the ring of
 * tasks
 *
 *     reported <= taken <= given <= reported + window
 *
 * are counted from the first one on. The first `taken` are under way, parked or
 * done, the others wait for a worker. A parked task that is resumed stands in a
 * queue, from which other threads take: so tasks that have what others wait
 * for, such as memory, are not behind those that wait for it. */
#include "cli/schedule/ordered_workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/signals.h"
#include "codecs/base/clock.h"

/* Milliseconds between two ticks; and how many tasks may be done ahead of one
 * that takes long: their results are kept until it is reported. */
enum { TICK_MS = 100, AHEAD = 256 };

struct ordered_thread {
    struct ordered_workers *all;
    unsigned number; /* workers first, then resumers */
    pthread_t thread;
};

struct ordered_workers {
    struct ordered_workers_opts opts;
    size_t window; /* slots of the ring: tasks that are given, not reported */
    struct ordered_thread *thread;
    unsigned threads;
    int refused;     /* why there are not more of them: an errno, or 0 */
    bool has_worker; /* else who gives a task does it */
    unsigned char *task;
    bool *done;
    size_t *parked; /* the slots of tasks that are to be resumed */
    size_t reported, given, taken;
    size_t resumed, retaken; /* of the parked ones */
    bool closing;
    bool reporting; /* some thread does, also what is done meanwhile */
    pthread_mutex_t lock;
    pthread_cond_t room, work, resume, all_reported;
};

static void *task_at(const struct ordered_workers *workers, size_t i)
{
    return workers->task + i % workers->window * workers->opts.task_size;
}

/* Reports what is done, in order, and ticks. The lock is held, but not during a
 * report: a thread that comes meanwhile leaves its task to this one. As a rule
 * that is a worker, so nobody has to be woken for it. */
static void report(struct ordered_workers *workers)
{
    const struct ordered_workers_opts *opts = &workers->opts;
    size_t window = workers->window;
    if (workers->reporting)
        return;
    workers->reporting = true;
    do {
        bool done = workers->reported < workers->given &&
                    workers->done[workers->reported % window];
        pthread_mutex_unlock(&workers->lock);
        if (done)
            opts->report(opts->context, task_at(workers, workers->reported));
        if (opts->tick)
            opts->tick(opts->context);
        pthread_mutex_lock(&workers->lock);
        if (done)
            workers->done[workers->reported++ % window] = false;
    } while (workers->reported < workers->given &&
             workers->done[workers->reported % window]);
    workers->reporting = false;
    /* The thread that gives tasks is woken for many at a time. */
    if (workers->given - workers->reported <= window / 2)
        pthread_cond_signal(&workers->room);
    if (workers->reported == workers->given)
        pthread_cond_broadcast(&workers->all_reported);
}

/* Does a task, or a part of one. The lock is held before and after. */
static void do_slot(struct ordered_workers *workers, unsigned number,
                    size_t slot)
{
    const struct ordered_workers_opts *opts = &workers->opts;
    pthread_mutex_unlock(&workers->lock);
    bool done = opts->work(opts->context, number, task_at(workers, slot));
    pthread_mutex_lock(&workers->lock);
    if (!done)
        return;
    workers->done[slot] = true;
    if (slot == workers->reported % workers->window)
        report(workers);
}

/* Does tasks that are given, or as a resumer those that are resumed. */
static void *work(void *argument)
{
    const struct ordered_thread *thread = argument;
    struct ordered_workers *workers = thread->all;
    const bool resumes = thread->number >= workers->opts.workers;
    size_t *taken = resumes ? &workers->retaken : &workers->taken,
           *given = resumes ? &workers->resumed : &workers->given;
    signals_block();
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        if (*taken < *given) {
            const size_t slot = (*taken)++ % workers->window;
            do_slot(workers, thread->number,
                    resumes ? workers->parked[slot] : slot);
        } else if (workers->closing) {
            break;
        } else {
            pthread_cond_wait(resumes ? &workers->resume : &workers->work,
                              &workers->lock);
        }
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* Waits for a signal of the condition, or for a tick. The lock is held. */
static void wait_a_tick(struct ordered_workers *workers, pthread_cond_t *cond)
{
    const struct timespec until = clock_after(TICK_MS);
    if (pthread_cond_clockwait(cond, &workers->lock, CLOCK_MONOTONIC, &until))
        report(workers);
}

/* Starts the threads of these numbers, up to `end`, or as many as the system
 * allows. Returns whether there is one. */
static bool start(struct ordered_workers *workers, unsigned number,
                  unsigned end)
{
    const unsigned before = workers->threads;
    int why = 0;
    for (; number < end && !why; number++) {
        struct ordered_thread *thread = &workers->thread[workers->threads];
        thread->all = workers;
        thread->number = number;
        why = pthread_create(&thread->thread, NULL, work, thread);
        workers->threads += !why;
    }
    workers->refused = why ? why : workers->refused;
    return workers->threads > before;
}

int ordered_workers_refused(const struct ordered_workers *workers)
{
    return workers->refused;
}

struct ordered_workers *
ordered_workers_open(const struct ordered_workers_opts *opts)
{
    const unsigned works = opts->workers, all = works + opts->resumers;
    struct ordered_workers *workers = calloc(1, sizeof *workers);
    if (!workers)
        return NULL;
    workers->opts = *opts;
    workers->window = works + opts->parked + AHEAD;
    workers->thread = calloc(all, sizeof *workers->thread);
    workers->task = calloc(workers->window, opts->task_size);
    workers->done = calloc(workers->window, sizeof *workers->done);
    workers->parked = calloc(workers->window, sizeof *workers->parked);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->room, NULL);
    pthread_cond_init(&workers->work, NULL);
    pthread_cond_init(&workers->resume, NULL);
    pthread_cond_init(&workers->all_reported, NULL);
    const bool memory =
        workers->thread && workers->task && workers->done && workers->parked;
    /* One of each kind, and of the others as many as the system allows: with
     * fewer it takes longer. */
    workers->has_worker = memory && start(workers, 0, 1);
    if (!memory || (all > works && !start(workers, works, works + 1))) {
        ordered_workers_close(workers);
        return NULL;
    }
    if (workers->has_worker)
        start(workers, 1, works);
    start(workers, works + 1, all);
    return workers;
}

void *ordered_workers_room(struct ordered_workers *workers,
                           bool (*stop)(void *context))
{
    bool stopped;
    pthread_mutex_lock(&workers->lock);
    while (!(stopped = stop(workers->opts.context)) &&
           workers->given - workers->reported == workers->window)
        wait_a_tick(workers, &workers->room);
    pthread_mutex_unlock(&workers->lock);
    if (stopped)
        return NULL;
    void *task = task_at(workers, workers->given);
    memset(task, 0, workers->opts.task_size);
    return task;
}

void ordered_workers_give(struct ordered_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    workers->given++;
    pthread_cond_signal(&workers->work);
    if (!workers->has_worker)
        do_slot(workers, 0, workers->taken++ % workers->window);
    pthread_mutex_unlock(&workers->lock);
}

void ordered_workers_resume(struct ordered_workers *workers, void *task)
{
    size_t at = (size_t)((unsigned char *)task - workers->task);
    pthread_mutex_lock(&workers->lock);
    workers->parked[workers->resumed++ % workers->window] =
        at / workers->opts.task_size;
    pthread_cond_signal(&workers->resume);
    pthread_mutex_unlock(&workers->lock);
}

void ordered_workers_close(struct ordered_workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->lock);
    while (workers->reported < workers->given)
        wait_a_tick(workers, &workers->all_reported);
    workers->closing = true;
    pthread_cond_broadcast(&workers->work);
    pthread_cond_broadcast(&workers->resume);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->threads; i++)
        pthread_join(workers->thread[i].thread, NULL);
    pthread_mutex_destroy(&workers->lock);
    pthread_cond_destroy(&workers->room);
    pthread_cond_destroy(&workers->work);
    pthread_cond_destroy(&workers->resume);
    pthread_cond_destroy(&workers->all_reported);
    free(workers->thread);
    free(workers->task);
    free(workers->done);
    free(workers->parked);
    free(workers);
}
