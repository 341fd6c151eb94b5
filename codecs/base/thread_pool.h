/* Threads that share the pieces of one piece of work after the other. */
#ifndef CODECS_BASE_THREAD_POOL_H
#define CODECS_BASE_THREAD_POOL_H

#include <stddef.h>

struct thread_pool;

/* A pool of `threads` threads, of which the caller of thread_pool_run() is one.
 * The others start when first needed. NULL: no memory. */
struct thread_pool *thread_pool_open(unsigned threads);

/* How many threads that are: 1 without a pool. */
unsigned thread_pool_threads(const struct thread_pool *pool);

/* Calls work(context, i) for each i from 0 to n - 1, in this order, on several
 * threads at once, and returns when all calls have returned and what they wrote
 * can be read. Not to be called by two threads at a time. No pool is one
 * thread, the caller's. */
void thread_pool_run(struct thread_pool *pool,
                     void (*work)(void *context, size_t i), void *context,
                     size_t n);

/* Tells how many of how many calls the thread_pool_run() that is under way has
 * begun; 0 of 0 if there is none, or no pool. For any thread. */
void thread_pool_progress(struct thread_pool *pool, size_t *begun, size_t *all);

void thread_pool_close(struct thread_pool *pool);

#endif
