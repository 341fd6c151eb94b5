/* Threads that share the pieces of one task, task after task. */
#ifndef CODECS_BASE_THREAD_POOL_H
#define CODECS_BASE_THREAD_POOL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct thread_pool;

/* Opens a pool of `threads` threads, of which the caller of thread_pool_run()
 * is one. The others start when they are first needed. Returns NULL if there is
 * no memory. */
struct thread_pool *thread_pool_open(unsigned threads);

/* Returns how many threads the pool has; 1 without a pool. */
unsigned thread_pool_threads(const struct thread_pool *pool);

/* Returns how many threads have worked so far: did a part of any task, or
 * called thread_pool_run(). */
unsigned thread_pool_worked(struct thread_pool *pool);

/* Returns why the pool has started fewer threads than it needed: an errno; or 0
 * if it has not. */
int thread_pool_refused(const struct thread_pool *pool);

/* Calls work(context, i) for each i from 0 to n - 1, in this order, on several
 * threads at once. Returns when all calls have returned and what they wrote can
 * be read. Two threads must not call it at a time. Without a pool the caller
 * does all. The memory that they take counts for the caller's file, and
 * they have its time. */
void thread_pool_run(struct thread_pool *pool,
                     void (*work)(void *context, size_t i), void *context,
                     size_t n);

/* Ends the threads and frees the pool. Fine on NULL. */
void thread_pool_close(struct thread_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
