/* A progress line on the terminal for one picture that takes long. */
#ifndef CLI_JOB_WATCH_H
#define CLI_JOB_WATCH_H

#include <stdint.h>

struct thread_pool;
struct watch;

/* Starts a thread that draws, after a second, the stage of the picture, how
 * much of it is done, where that is known, and the time so far. Where
 * watch_part() does not report how much is done, the progress of the pool
 * counts. Returns NULL if it cannot be started; the functions below are fine on
 * NULL. */
struct watch *watch_begin(const char *name, struct thread_pool *pool);

/* Reports the stage that begins. The string must stay. */
void watch_stage(struct watch *watch, const char *stage);

/* Reports how much of the stage is done. Any thread may call it. */
void watch_part(struct watch *watch, uint64_t done, uint64_t all);

/* Ends the thread and removes the line. */
void watch_end(struct watch *watch);

#endif
