/* Memory and processors, which jobs share.
 *
 * A job takes memory for its file before it reads it, then processors, then,
 * once the size of its picture is known, memory for the planes; each once, in
 * this order, and it waits in turn if none is left. Files and planes have
 * separate shares of the memory, so a job that holds memory for a file and
 * waits for memory for planes never blocks the jobs that have all they need. A
 * job that asks for more than there is in all gets it when no other job has
 * any.
 *
 * Jobs are done by threads of this process, which wait; or in other processes,
 * each of which has a part of the memory for itself, and for more asks the
 * process that knows them all and that waits for none. */
#ifndef CLI_SCHEDULE_RESOURCE_LIMITS_H
#define CLI_SCHEDULE_RESOURCE_LIMITS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum resource { RESOURCE_FILE, RESOURCE_CELLS, RESOURCE_PROCESSORS, RESOURCES };

/* What one job has taken, and what it waits for; {.limits} at first. */
struct resource_share {
    struct resource_limits *limits;
    uint64_t held[RESOURCE_PROCESSORS]; /* bytes */
    unsigned processors;
    double waited[RESOURCES]; /* seconds, where threads wait */
    bool waits;               /* for */
    enum resource wants;      /* this, and */
    uint64_t amount;          /* so much */
    pthread_cond_t *granted;
    struct resource_share *next; /* that waits, too */
};

/* Whom a process asks for more than its part. */
struct resource_giver {
    unsigned processes; /* that share all, at the most */
    /* Waits until that process gives so many bytes, or for RESOURCE_PROCESSORS
     * any number of processors. Returns how many processors the job has. */
    unsigned (*ask)(void *context, enum resource what, uint64_t amount);
    void *context;
};

struct resource_limits {
    pthread_mutex_t lock;
    unsigned processors, busy; /* in all, and in use */
    struct memory_limit {
        uint64_t most, used;
        uint64_t part; /* that a process has without asking */
    } memory[RESOURCE_PROCESSORS];
    struct resource_share *waiting;     /* in turn */
    const struct resource_giver *giver; /* in a process that asks; else NULL */
    /* Tells a process that its job has what it asked for; NULL: threads wait
     * for that. */
    void (*grant)(struct resource_share *share);
};

/* `bytes` is for everything. A quarter of it is left for what codecs need
 * beside planes, and for what is encoded. */
void resource_limits_init(struct resource_limits *limits, uint64_t bytes,
                          unsigned processors);

/* Gives each of so many processes a part of half the memory. */
void resource_limits_divide(struct resource_limits *limits, unsigned processes);

void resource_limits_end(struct resource_limits *limits);

/* ---- Jobs of threads; or in a process that asks ---- */

/* Take memory for a file of this size, or for the planes of a picture, and wait
 * for it: `reserve_file` and `reserve` of struct job. Of several pictures in a
 * file the largest counts; a larger one that comes later does not wait. */
void resource_limits_take_file(void *share, uint64_t bytes);
void resource_limits_take_cells(void *share, uint64_t bytes);

/* Takes one processor, and waits for it; takes more if fewer jobs are left than
 * there are processors. Returns how many. */
unsigned resource_limits_take_processors(struct resource_share *share,
                                         size_t jobs_left);

/* Returns them. Fine if it has none. */
void resource_limits_return_processors(struct resource_share *share);

/* Returns all that a job has, however far it came, and waits for. */
void resource_limits_return_all(struct resource_share *share);

/* ---- Jobs of other processes ---- */

/* Gives a job the part of the memory that is its process', and a processor.
 * Returns whether there is one, and nobody waits for more. */
bool resource_limits_begin(struct resource_share *share);

/* Has a job wait for more, which may be granted before this returns: meanwhile
 * it holds no memory of that kind, nor of what it takes later, so that none
 * waits for ever. Of processors it gets those that are idle. */
void resource_limits_ask(struct resource_share *share, enum resource what,
                         uint64_t amount);

#endif
