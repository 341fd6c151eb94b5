/* The line on the terminal that shows progress: of a batch, or of one picture
 * that takes long. */
#ifndef CLI_JOB_WATCH_H
#define CLI_JOB_WATCH_H

#include <stdint.h>

#include "cli/options/options.h"

/* Returns whether standard error is a terminal where a line can be drawn, and
 * one is wanted. */
bool progress_line_is_shown(const struct options *opts);

/* Draws a line in place of the last one, of n fields, each with what stands
 * before it. Those that the terminal has no room for are left out: the more
 * important ones come first. */
void progress_line_put(const char *const *fields, size_t n);

/* Removes the line. */
void progress_line_wipe(void);

/* Writes "0:42" or "1:02:03", and returns it. */
const char *progress_line_time(double seconds, char text[32]);

/* ---- Of one picture ---- */

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
