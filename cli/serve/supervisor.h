/* The supervisor of serve, which sends jobs to a worker process and outlives
 * it. The comment at the head of cli/serve/serve.c says what happens when. */
#ifndef CLI_SERVE_SUPERVISOR_H
#define CLI_SERVE_SUPERVISOR_H

#include "cli/schedule/scheduler.h"
#include "cli/serve/wire.h"

struct supervisor_opts {
    int jobs, answers; /* descriptors */
    char end;          /* of a job: '\n' or '\0' */
    unsigned window;   /* how many jobs may be read and not answered */
    /* What a worker process does; the answers are not open there. */
    enum outcome (*work)(void *context, int fd, struct serve_table *table);
    void *context;
};

struct supervised {
    enum outcome outcome;
    int write_error; /* why an answer could not be written: an errno, or 0 */
};

/* Reads jobs until they end or a signal asks for the end, and answers them in
 * order. Prints failures that are not of a single job. Call it before there are
 * threads. */
struct supervised supervisor_run(const struct supervisor_opts *opts);

#endif
