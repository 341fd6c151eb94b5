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
#include <time.h>

#include "cli/files/signals.h"

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

static void *task_at(const struct ordered_workers *crew, size_t i)
{
    return crew->task + i % crew->opts.window * crew->opts.task_size;
}

/* Tells of what is done, in order, and ticks. The lock is held, but not while
 * it tells: who comes meanwhile leaves it to this thread. That is a worker as a
 * rule, so nobody has to be waked for it. */
static void tell(struct ordered_workers *crew)
{
    const struct ordered_workers_opts *opts = &crew->opts;
    size_t window = opts->window;
    if (crew->telling)
        return;
    crew->telling = true;
    do {
        bool done = crew->told < crew->given && crew->done[crew->told % window];
        pthread_mutex_unlock(&crew->lock);
        if (done)
            opts->tell(opts->context, task_at(crew, crew->told));
        if (opts->tick)
            opts->tick(opts->context);
        pthread_mutex_lock(&crew->lock);
        if (done)
            crew->done[crew->told++ % window] = false;
    } while (crew->told < crew->given && crew->done[crew->told % window]);
    crew->telling = false;
    /* Whoever gives tasks is waked for many at a time. */
    if (crew->given - crew->told <= window / 2)
        pthread_cond_signal(&crew->room);
    if (crew->told == crew->given)
        pthread_cond_broadcast(&crew->told_all);
}

static void *work(void *argument)
{
    struct ordered_workers *crew = argument;
    signals_elsewhere();
    pthread_mutex_lock(&crew->lock);
    unsigned number = crew->started++;
    for (;;) {
        bool idle = crew->taken == crew->released;
        if (idle && crew->closing && crew->released == crew->given)
            break;
        if (idle || crew->busy >= crew->allowed) {
            pthread_cond_wait(&crew->work, &crew->lock);
            continue;
        }
        size_t slot = crew->queue[crew->taken++ % crew->opts.window];
        crew->busy++;
        pthread_mutex_unlock(&crew->lock);
        crew->opts.work(crew->opts.context, number, task_at(crew, slot));
        pthread_mutex_lock(&crew->lock);
        crew->done[slot] = true;
        if (slot == crew->told % crew->opts.window)
            tell(crew);
        crew->busy--;
    }
    /* Some wait that were not allowed to. */
    pthread_cond_broadcast(&crew->work);
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* For what is announced, or a tick. */
static void wait_a_tick(pthread_cond_t *cond, pthread_mutex_t *lock)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(cond, lock, &until);
}

static void *tick(void *argument)
{
    struct ordered_workers *crew = argument;
    signals_elsewhere();
    pthread_mutex_lock(&crew->lock);
    while (!crew->closing || crew->told < crew->given) {
        wait_a_tick(&crew->told_all, &crew->lock);
        tell(crew);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static bool start_threads(struct ordered_workers *crew)
{
    for (unsigned i = 0; i <= crew->opts.workers; i++) {
        void *(*run)(void *) = i < crew->opts.workers ? work : tick;
        if (pthread_create(&crew->thread[i], NULL, run, crew))
            return false;
        crew->threads++;
    }
    return true;
}

static void join_threads(struct ordered_workers *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->closing = true;
    pthread_cond_broadcast(&crew->work);
    pthread_cond_broadcast(&crew->told_all);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->threads; i++)
        pthread_join(crew->thread[i], NULL);
}

struct ordered_workers *
ordered_workers_open(const struct ordered_workers_opts *opts)
{
    struct ordered_workers *crew = calloc(1, sizeof *crew);
    pthread_condattr_t monotonic;
    if (!crew)
        return NULL;
    crew->opts = *opts;
    crew->allowed = opts->workers;
    crew->thread = calloc(opts->workers + 1, sizeof *crew->thread);
    crew->task = calloc(opts->window, opts->task_size);
    crew->done = calloc(opts->window, sizeof *crew->done);
    crew->queue = calloc(opts->window, sizeof *crew->queue);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&crew->room, &monotonic);
    pthread_cond_init(&crew->work, &monotonic);
    pthread_cond_init(&crew->told_all, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (crew->thread && crew->task && crew->done && crew->queue &&
        start_threads(crew))
        return crew;
    ordered_workers_close(crew);
    return NULL;
}

void *ordered_workers_room(struct ordered_workers *crew,
                           bool (*stop)(void *context))
{
    bool stopped;
    pthread_mutex_lock(&crew->lock);
    while (!(stopped = stop(crew->opts.context)) &&
           crew->given - crew->told == crew->opts.window)
        wait_a_tick(&crew->room, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
    if (stopped)
        return NULL;
    void *task = task_at(crew, crew->given);
    memset(task, 0, crew->opts.task_size);
    return task;
}

/* The lock is held. */
static void release(struct ordered_workers *crew, size_t slot)
{
    crew->queue[crew->released++ % crew->opts.window] = slot;
    /* A worker that is busy finds it by itself. */
    if (crew->busy < crew->allowed)
        pthread_cond_signal(&crew->work);
}

void ordered_workers_give(struct ordered_workers *crew)
{
    pthread_mutex_lock(&crew->lock);
    release(crew, crew->given++ % crew->opts.window);
    pthread_mutex_unlock(&crew->lock);
}

void crew_hold(struct ordered_workers *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->given++;
    pthread_mutex_unlock(&crew->lock);
}

void crew_release(struct ordered_workers *crew, void *task)
{
    size_t at = (size_t)((unsigned char *)task - crew->task);
    pthread_mutex_lock(&crew->lock);
    release(crew, at / crew->opts.task_size);
    pthread_mutex_unlock(&crew->lock);
}

void ordered_workers_allow(struct ordered_workers *crew, unsigned workers)
{
    pthread_mutex_lock(&crew->lock);
    if (workers > crew->allowed)
        pthread_cond_broadcast(&crew->work);
    crew->allowed = workers ? workers : 1;
    pthread_mutex_unlock(&crew->lock);
}

void ordered_workers_close(struct ordered_workers *crew)
{
    if (!crew)
        return;
    join_threads(crew);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->room);
    pthread_cond_destroy(&crew->work);
    pthread_cond_destroy(&crew->told_all);
    free(crew->thread);
    free(crew->task);
    free(crew->done);
    free(crew->queue);
    free(crew);
}
