/* A line on the terminal of how one picture goes, for one that takes long. */
#ifndef CLI_JOB_WATCH_H
#define CLI_JOB_WATCH_H

#include <stdint.h>

struct thread_pool;
struct watch;

/* Watches a picture from now on: after a second, a thread draws what stage it
 * is in, how far that is, where it is known, and how long it has taken so far.
 * `pool` is that of the codecs; how far its work is counts where watch_part()
 * does not tell. Returns NULL if that cannot be; all below is fine on NULL. */
struct watch *watch_begin(const char *name, struct thread_pool *pool);

/* Tells what is done from now on; the string has to stay. */
void watch_stage(struct watch *watch, const char *stage);

/* Tells how much of the stage is done. For any thread. */
void watch_part(struct watch *watch, uint64_t done, uint64_t all);

/* Takes the line away. */
void watch_end(struct watch *watch);

#endif
