/* What the jobs of a batch share: memory and processors.
 *
 * A job takes memory for its file before it reads it, then processors, then, as
 * soon as the size of its picture is known, memory for the cells; each once, in
 * this order, and it waits where there is none left. Files and cells have parts
 * of the memory of their own, so whoever holds a file and waits for cells never
 * keeps those from going on that have all they need. What is asked for and is
 * more than there is at all is given when nobody else has any. */
#ifndef CLI_BATCH_RESOURCE_LIMITS_H
#define CLI_BATCH_RESOURCE_LIMITS_H

#include <pthread.h>
#include <stdint.h>

struct resource_limits {
    pthread_mutex_t lock;
    pthread_cond_t memory, processor; /* was given back */
    struct part_of_memory {
        uint64_t most, used;
        uint64_t next, serving; /* who waits is served in turn */
    } files, cells;
    unsigned processors, idle;
};

/* `bytes` for all of it. A quarter of that is left to what codecs need besides
 * and to what is encoded. */
void resource_limits_init(struct resource_limits *limits, uint64_t bytes,
                          unsigned processors);
void resource_limits_end(struct resource_limits *limits);

/* What one job has; {.limits} at first. */
struct resource_share {
    struct resource_limits *limits;
    uint64_t file, cells;
    unsigned processors;
    double waited; /* seconds, for cells */
};

void resource_limits_take_file(struct resource_share *share, uint64_t bytes);

/* A struct limits's `reserve`; the context is the share. Of several pictures in
 * a file the largest counts; a larger one that comes later does not wait. */
void resource_limits_take_cells(void *share, uint64_t bytes);

/* Gives one processor; more if fewer than that many jobs are left. */
unsigned resource_limits_take_processors(struct resource_share *share, size_t jobs_left);

void resource_limits_return_processors(struct resource_share *share);

/* Of a job that has ended, wherever it stood. */
void resource_limits_return_all(struct resource_share *share);

#endif
