/* Threads that share the pieces of one task, task after task.
 *
 * A free thread takes the next piece, so a thread that waits for its processor
 * delays nobody. For the same reason the caller, once there are no pieces left,
 * calls off the helpers that have not begun yet.
 *
 * It stands here because C11 and POSIX have threads but no pool, and OpenMP has
 * no way to call off threads that have not begun. */
#include "codecs/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "codecs/base/clock.h"
#include "codecs/base/memory.h"

struct thread_pool {
    unsigned most;     /* the most helpers that there may be */
    unsigned helpers;  /* how many there are */
    pthread_t *thread; /* of each helper */
    cpu_set_t allowed; /* where they may run */

    /* The current task. It is written under the lock while no helper is busy.
     */
    void (*work)(void *context, size_t i);
    void *context;
    struct memory_account *account; /* whose memory it takes */
    double end;                     /* of the time that it has */
    size_t n;
    atomic_size_t next;

    pthread_mutex_t lock;
    pthread_cond_t come, done;
    unsigned wanted; /* helpers that have yet to begin */
    unsigned busy;   /* helpers that have begun and not ended */
    bool closing;
};

static void take_pieces(struct thread_pool *pool)
{
    size_t i;
    while ((i = atomic_fetch_add(&pool->next, 1)) < pool->n)
        pool->work(pool->context, i);
}

static void *help(void *argument)
{
    struct thread_pool *pool = argument;
    if (CPU_COUNT(&pool->allowed))
        pthread_setaffinity_np(pthread_self(), sizeof pool->allowed,
                               &pool->allowed);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->wanted && !pool->closing)
            pthread_cond_wait(&pool->come, &pool->lock);
        if (pool->closing)
            break;
        pool->wanted--;
        pool->busy++;
        memory_count_for(pool->account);
        clock_set_end(pool->end);
        pthread_mutex_unlock(&pool->lock);
        take_pieces(pool);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Lets a thread that is about to be made begin on another processor. Left to
 * itself Linux may let it wait for this one, beside an idle one, for longer
 * than a picture takes; and it is woken where it ran before. */
static void begin_elsewhere(struct thread_pool *pool, pthread_attr_t *attr)
{
    int here = sched_getcpu();
    CPU_ZERO(&pool->allowed);
    if (here < 0 || here >= CPU_SETSIZE ||
        sched_getaffinity(0, sizeof pool->allowed, &pool->allowed))
        return;
    cpu_set_t elsewhere = pool->allowed;
    CPU_CLR(here, &elsewhere);
    if (CPU_COUNT(&elsewhere))
        pthread_attr_setaffinity_np(attr, sizeof elsewhere, &elsewhere);
}

/* Starts helpers up to `wanted`, or as many as the system allows. No signal is
 * delivered to them: signals belong to the thread that started the program, and
 * interrupt its calls. */
static void hire(struct thread_pool *pool, unsigned wanted)
{
    sigset_t all, before;
    pthread_attr_t attr;
    if (pool->helpers >= wanted)
        return;
    pthread_attr_init(&attr);
    begin_elsewhere(pool, &attr);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->helpers < wanted &&
           pthread_create(&pool->thread[pool->helpers], &attr, help, pool) == 0)
        pool->helpers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

struct thread_pool *thread_pool_open(unsigned threads)
{
    struct thread_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->most = threads ? threads - 1 : 0;
    pool->thread = calloc(pool->most + 1, sizeof *pool->thread);
    if (!pool->thread) {
        free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->come, NULL);
    pthread_cond_init(&pool->done, NULL);
    return pool;
}

unsigned thread_pool_threads(const struct thread_pool *pool)
{
    return pool ? pool->most + 1 : 1;
}

void thread_pool_run(struct thread_pool *pool,
                     void (*work)(void *context, size_t i), void *context,
                     size_t n)
{
    if (!pool || n == 1) {
        for (size_t i = 0; i < n; i++)
            work(context, i);
        return;
    }
    unsigned wanted = n > pool->most ? pool->most : n > 1 ? (unsigned)n - 1 : 0;
    hire(pool, wanted);
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->context = context;
    pool->account = memory_counted_for();
    pool->end = clock_end();
    pool->n = n;
    atomic_store(&pool->next, 0);
    pool->wanted = wanted < pool->helpers ? wanted : pool->helpers;
    for (unsigned i = 0; i < pool->wanted; i++)
        pthread_cond_signal(&pool->come);
    pthread_mutex_unlock(&pool->lock);

    take_pieces(pool);

    pthread_mutex_lock(&pool->lock);
    pool->wanted = 0;
    while (pool->busy)
        pthread_cond_wait(&pool->done, &pool->lock);
    pool->n = 0;
    pthread_mutex_unlock(&pool->lock);
}

void thread_pool_progress(struct thread_pool *pool, size_t *begun, size_t *all)
{
    *begun = *all = 0;
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    *all = pool->n;
    *begun = atomic_load(&pool->next);
    pthread_mutex_unlock(&pool->lock);
    *begun = *begun < *all ? *begun : *all;
}

void thread_pool_close(struct thread_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->come);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->helpers; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->come);
    pthread_cond_destroy(&pool->done);
    free(pool->thread);
    free(pool);
}
