/* Memory and processors, which the jobs of a batch share.
 *
 * A job takes memory for its file before it reads it, then processors, then,
 * once the size of its picture is known, memory for the planes; each once, in
 * this order, and it waits if none is left. Files and planes have separate
 * shares of the memory, so a job that holds memory for a file and waits for
 * memory for planes never blocks the jobs that have all they need. A job that
 * asks for more than there is in all gets it when no other job has any. */
#ifndef CLI_SCHEDULE_RESOURCE_LIMITS_H
#define CLI_SCHEDULE_RESOURCE_LIMITS_H

#include <pthread.h>
#include <stdint.h>

struct resource_limits {
    pthread_mutex_t lock;
    pthread_cond_t memory, processor; /* some was returned */
    struct memory_limit {
        uint64_t most, used;
        uint64_t next, serving; /* tickets: jobs are served in turn */
    } files, cells;
    unsigned processors, idle;
};

/* `bytes` is for everything. A quarter of it is left for what codecs need
 * beside planes, and for what is encoded. */
void resource_limits_init(struct resource_limits *limits, uint64_t bytes,
                          unsigned processors);
void resource_limits_end(struct resource_limits *limits);

/* What one job has taken; {.limits} at first. */
struct resource_share {
    struct resource_limits *limits;
    uint64_t file, cells; /* bytes */
    unsigned processors;
    double waited; /* seconds, for `cells` */
};

/* Takes memory for a file of this size, and waits for it. */
void resource_limits_take_file(struct resource_share *share, uint64_t bytes);

/* Takes memory for the planes of a picture, and waits for it. It is a `reserve`
 * of struct limits; the context is the share. Of several pictures in a file the
 * largest counts; a larger one that comes later does not wait. */
void resource_limits_take_cells(void *share, uint64_t bytes);

/* Takes one processor, and waits for it; takes more if fewer jobs are left than
 * there are processors. Returns how many. */
unsigned resource_limits_take_processors(struct resource_share *share,
                                         size_t jobs_left);

/* Returns them. Fine if it has none. */
void resource_limits_return_processors(struct resource_share *share);

/* Returns all memory of a job that has ended, however far it came. */
void resource_limits_return_all(struct resource_share *share);

#endif
