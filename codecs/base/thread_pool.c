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

#include "codecs/base/account.h"

struct thread_pool {
    unsigned most;     /* the most helpers that there may be */
    unsigned helpers;  /* how many there are */
    pthread_t *thread; /* of each helper */
    int refused; /* why there are fewer than were wanted, an errno; or 0 */
    cpu_set_t allowed; /* where they may run, */
    cpu_set_t begin;   /* and begin; empty if that is the same */

    /* The current task. It is written under the lock while no helper is busy.
     */
    void (*work)(void *context, size_t i);
    void *context;
    struct account *account; /* of the job that it is a part of */
    size_t n;
    atomic_size_t next;

    pthread_mutex_t lock;
    pthread_cond_t come, done;
    unsigned wanted; /* helpers that have yet to begin */
    unsigned busy;   /* helpers that have begun and not ended */
    unsigned worked; /* helpers that have done a piece of any task */
    bool closing;
};

/* Returns whether there was a piece left. */
static bool take_pieces(struct thread_pool *pool)
{
    bool any = false;
    for (size_t i; (i = atomic_fetch_add(&pool->next, 1)) < pool->n; any = true)
        pool->work(pool->context, i);
    return any;
}

static void *help(void *argument)
{
    struct thread_pool *pool = argument;
    bool worked = false;
    /* On another processor than that of the thread that made this one. Left to
     * itself Linux may let it wait for that one, beside an idle one, for longer
     * than a picture takes; and it is woken where it ran before. The thread
     * does so itself: attributes of pthread_create() would name it by its
     * number, by which it could be a thread of another process as well, so that
     * the sandbox refuses it. */
    if (CPU_COUNT(&pool->begin) &&
        sched_setaffinity(0, sizeof pool->begin, &pool->begin) == 0)
        (void)sched_setaffinity(0, sizeof pool->allowed, &pool->allowed);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->wanted && !pool->closing)
            pthread_cond_wait(&pool->come, &pool->lock);
        if (pool->closing)
            break;
        pool->wanted--;
        pool->busy++;
        account_enter(pool->account);
        pthread_mutex_unlock(&pool->lock);
        const bool any = take_pieces(pool);
        pthread_mutex_lock(&pool->lock);
        pool->worked += any && !worked;
        worked = worked || any;
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts helpers up to `wanted`, or as many as the system allows. No signal is
 * delivered to them: signals belong to the thread that started the program, and
 * interrupt its calls. */
static void hire(struct thread_pool *pool, unsigned wanted)
{
    sigset_t all, before;
    int why = 0;
    if (pool->helpers >= wanted)
        return;
    const int here = sched_getcpu();
    CPU_ZERO(&pool->begin);
    if (here >= 0 && here < CPU_SETSIZE &&
        sched_getaffinity(0, sizeof pool->allowed, &pool->allowed) == 0) {
        pool->begin = pool->allowed;
        CPU_CLR(here, &pool->begin);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (
        pool->helpers < wanted &&
        !(why = pthread_create(&pool->thread[pool->helpers], NULL, help, pool)))
        pool->helpers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->refused = why ? why : pool->refused;
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

unsigned thread_pool_worked(struct thread_pool *pool)
{
    if (!pool)
        return 1;
    pthread_mutex_lock(&pool->lock);
    const unsigned worked = pool->worked;
    pthread_mutex_unlock(&pool->lock);
    return worked + 1;
}

int thread_pool_refused(const struct thread_pool *pool)
{
    return pool ? pool->refused : 0;
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
    pool->account = account_current();
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
