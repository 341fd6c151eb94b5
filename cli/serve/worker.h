/* The worker process of serve, which does the jobs. */
#ifndef CLI_SERVE_WORKER_H
#define CLI_SERVE_WORKER_H

#include "cli/schedule/scheduler.h"
#include "cli/serve/serve_root.h"
#include "cli/serve/wire.h"

struct worker_opts {
    const struct options *opts;
    const char *backend;
    struct serve_root
        *root;       /* that the files of jobs are confined to, or NULL */
    unsigned window; /* notes in the table */
};

/* Receives jobs from a socket until the supervisor closes it, does them side by
 * side, and sends an answer for each as soon as it is done. `table` is shared
 * with the supervisor. Prints why the device cannot be used, if it cannot.
 * Returns the outcome of the process, not of the jobs, which their answers
 * tell. */
enum outcome worker_run(const struct worker_opts *opts, int fd,
                        struct serve_table *table);

#endif
