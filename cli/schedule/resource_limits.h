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
#include <stdbool.h>
#include <stdint.h>

/* A process that does one job at a time beside others has a part of the memory
 * for itself, and asks the process that knows them all for what it needs
 * beyond that. */
enum resource { RESOURCE_FILE, RESOURCE_CELLS, RESOURCE_PROCESSORS, RESOURCES };

struct resource_giver {
    unsigned processes; /* that share all, at the most */
    /* Waits until that process gives so many bytes, or for RESOURCE_PROCESSORS
     * any number of processors. Returns how many processors. */
    unsigned (*ask)(void *context, enum resource what, uint64_t bytes);
    void *context;
};

struct resource_limits {
    pthread_mutex_t lock;
    pthread_cond_t more_memory, processor; /* some was returned */
    struct memory_limit {
        uint64_t most, used;
        uint64_t next, serving; /* tickets: jobs are served in turn */
    } memory[RESOURCE_PROCESSORS];
    unsigned processors, idle;
    const struct resource_giver *giver; /* or NULL */
};

/* `bytes` is for everything. A quarter of it is left for what codecs need
 * beside planes, and for what is encoded. */
void resource_limits_init(struct resource_limits *limits, uint64_t bytes,
                          unsigned processors);

/* The same in a process that asks another one, which must outlive the limits:
 * has the part of the memory that it need not ask for. */
void resource_limits_init_part(struct resource_limits *limits, uint64_t bytes,
                               unsigned processors,
                               const struct resource_giver *giver);
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

/* ---- Jobs of other processes, which are told when they have it ---- */

/* What the job of a process has, and what it waits for. {0} at first. */
struct resource_claim {
    uint64_t held[RESOURCE_PROCESSORS]; /* bytes */
    unsigned processors;
    bool waits;                  /* for */
    enum resource wants;         /* this, and */
    uint64_t amount;             /* so much */
    struct resource_claim *next; /* that waits, too */
};

struct resource_claims {
    unsigned processors, busy; /* in all, and in use */
    struct memory_limit memory[RESOURCE_PROCESSORS];
    uint64_t part[RESOURCE_PROCESSORS]; /* what each has without asking */
    struct resource_claim *waiting;     /* in turn */
    /* Is called when a process has what it asked for, and for processors with
     * their number. */
    void (*grant)(struct resource_claim *claim, unsigned processors);
};

/* `bytes` is for everything, as for struct resource_limits. */
void resource_claims_init(struct resource_claims *claims, uint64_t bytes,
                          unsigned processors, unsigned processes);

/* Gives a process its part of the memory, and a processor. Returns whether
 * there is one of so many, and nobody waits for more. */
bool resource_claim_begin(struct resource_claims *claims,
                          struct resource_claim *claim, unsigned processors);

/* Grants more, or has it wait: then it holds no memory of that kind, nor of
 * what it takes later, so that none waits for ever. */
void resource_claim_more(struct resource_claims *claims,
                         struct resource_claim *claim, enum resource what,
                         uint64_t amount);

/* Takes back what a job had. */
void resource_claim_end(struct resource_claims *claims,
                        struct resource_claim *claim);

#endif
