/* Workers that do tasks side by side: a ring of tasks, of which
 *
 *     told <= given <= told + window
 *
 * are counted from the first one on. A task that was given is held, or it is
 * released: then it stands in a queue, in which
 *
 *     taken <= released <= given
 *
 * are counted. The first `taken` are under way or done, the others wait for a
 * worker. */
#include "cli/batch/ordered_workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/signals.h"
#include "codecs/base/clock.h"

enum { TICK_MS = 100 };

struct ordered_workers {
    struct ordered_workers_opts opts;
    pthread_t *thread; /* the workers, then the one that ticks */
    unsigned threads;
    unsigned started; /* workers that have taken their number */
    unsigned char *task;
    bool *done;
    size_t *queue; /* the slots of tasks, as they were released */
    size_t told, given, taken, released;
    unsigned busy, allowed; /* workers that are, and that may be */
    bool closing;
    bool telling; /* some thread is, and tells also what is done meanwhile */
    pthread_mutex_t lock;
    pthread_cond_t room, work, told_all;
};

static void *task_at(const struct ordered_workers *workers, size_t i)
{
    return workers->task + i % workers->opts.window * workers->opts.task_size;
}

/* Tells of what is done, in order, and ticks. The lock is held, but not while
 * it tells: who comes meanwhile leaves it to this thread. That is a worker as a
 * rule, so nobody has to be waked for it. */
static void tell(struct ordered_workers *workers)
{
    const struct ordered_workers_opts *opts = &workers->opts;
    size_t window = opts->window;
    if (workers->telling)
        return;
    workers->telling = true;
    do {
        bool done = workers->told < workers->given && workers->done[workers->told % window];
        pthread_mutex_unlock(&workers->lock);
        if (done)
            opts->tell(opts->context, task_at(workers, workers->told));
        if (opts->tick)
            opts->tick(opts->context);
        pthread_mutex_lock(&workers->lock);
        if (done)
            workers->done[workers->told++ % window] = false;
    } while (workers->told < workers->given && workers->done[workers->told % window]);
    workers->telling = false;
    /* Whoever gives tasks is waked for many at a time. */
    if (workers->given - workers->told <= window / 2)
        pthread_cond_signal(&workers->room);
    if (workers->told == workers->given)
        pthread_cond_broadcast(&workers->told_all);
}

static void *work(void *argument)
{
    struct ordered_workers *workers = argument;
    signals_block();
    pthread_mutex_lock(&workers->lock);
    unsigned number = workers->started++;
    for (;;) {
        bool idle = workers->taken == workers->released;
        if (idle && workers->closing && workers->released == workers->given)
            break;
        if (idle || workers->busy >= workers->allowed) {
            pthread_cond_wait(&workers->work, &workers->lock);
            continue;
        }
        size_t slot = workers->queue[workers->taken++ % workers->opts.window];
        workers->busy++;
        pthread_mutex_unlock(&workers->lock);
        workers->opts.work(workers->opts.context, number, task_at(workers, slot));
        pthread_mutex_lock(&workers->lock);
        workers->done[slot] = true;
        if (slot == workers->told % workers->opts.window)
            tell(workers);
        workers->busy--;
    }
    /* Some wait that were not allowed to. */
    pthread_cond_broadcast(&workers->work);
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* For what is announced, or a tick. */
static void wait_a_tick(pthread_cond_t *cond, pthread_mutex_t *lock)
{
    const struct timespec until = clock_after(TICK_MS);
    pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until);
}

static void *tick(void *argument)
{
    struct ordered_workers *workers = argument;
    signals_block();
    pthread_mutex_lock(&workers->lock);
    while (!workers->closing || workers->told < workers->given) {
        wait_a_tick(&workers->told_all, &workers->lock);
        tell(workers);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

static bool start_threads(struct ordered_workers *workers)
{
    for (unsigned i = 0; i <= workers->opts.workers; i++) {
        void *(*run)(void *) = i < workers->opts.workers ? work : tick;
        if (pthread_create(&workers->thread[i], NULL, run, workers))
            return false;
        workers->threads++;
    }
    return true;
}

static void join_threads(struct ordered_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    workers->closing = true;
    pthread_cond_broadcast(&workers->work);
    pthread_cond_broadcast(&workers->told_all);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->threads; i++)
        pthread_join(workers->thread[i], NULL);
}

struct ordered_workers *
ordered_workers_open(const struct ordered_workers_opts *opts)
{
    struct ordered_workers *workers = calloc(1, sizeof *workers);
    if (!workers)
        return NULL;
    workers->opts = *opts;
    workers->allowed = opts->workers;
    workers->thread = calloc(opts->workers + 1, sizeof *workers->thread);
    workers->task = calloc(opts->window, opts->task_size);
    workers->done = calloc(opts->window, sizeof *workers->done);
    workers->queue = calloc(opts->window, sizeof *workers->queue);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->room, NULL);
    pthread_cond_init(&workers->work, NULL);
    pthread_cond_init(&workers->told_all, NULL);
    if (workers->thread && workers->task && workers->done && workers->queue &&
        start_threads(workers))
        return workers;
    ordered_workers_close(workers);
    return NULL;
}

void *ordered_workers_room(struct ordered_workers *workers,
                           bool (*stop)(void *context))
{
    bool stopped;
    pthread_mutex_lock(&workers->lock);
    while (!(stopped = stop(workers->opts.context)) &&
           workers->given - workers->told == workers->opts.window)
        wait_a_tick(&workers->room, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
    if (stopped)
        return NULL;
    void *task = task_at(workers, workers->given);
    memset(task, 0, workers->opts.task_size);
    return task;
}

/* The lock is held. */
static void release(struct ordered_workers *workers, size_t slot)
{
    workers->queue[workers->released++ % workers->opts.window] = slot;
    /* A worker that is busy finds it by itself. */
    if (workers->busy < workers->allowed)
        pthread_cond_signal(&workers->work);
}

void ordered_workers_give(struct ordered_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    release(workers, workers->given++ % workers->opts.window);
    pthread_mutex_unlock(&workers->lock);
}

void ordered_workers_hold(struct ordered_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    workers->given++;
    pthread_mutex_unlock(&workers->lock);
}

void ordered_workers_release(struct ordered_workers *workers, void *task)
{
    size_t at = (size_t)((unsigned char *)task - workers->task);
    pthread_mutex_lock(&workers->lock);
    release(workers, at / workers->opts.task_size);
    pthread_mutex_unlock(&workers->lock);
}

void ordered_workers_allow(struct ordered_workers *workers, unsigned most)
{
    pthread_mutex_lock(&workers->lock);
    if (most > workers->allowed)
        pthread_cond_broadcast(&workers->work);
    workers->allowed = most ? most : 1;
    pthread_mutex_unlock(&workers->lock);
}

void ordered_workers_close(struct ordered_workers *workers)
{
    if (!workers)
        return;
    join_threads(workers);
    pthread_mutex_destroy(&workers->lock);
    pthread_cond_destroy(&workers->room);
    pthread_cond_destroy(&workers->work);
    pthread_cond_destroy(&workers->told_all);
    free(workers->thread);
    free(workers->task);
    free(workers->done);
    free(workers->queue);
    free(workers);
}
