/* The worker process of serve, which does the jobs. */
#ifndef CLI_SERVE_WORKER_H
#define CLI_SERVE_WORKER_H

#include "cli/batch/scheduler.h"
#include "cli/serve/root.h"
#include "cli/serve/wire.h"

struct worker_opts {
    const struct options *opts;
    const char *backend;
    struct serve_root *root; /* of the files of jobs, or NULL */
    unsigned window;         /* notes in the table */
};

/* Receives jobs from a socket until the other side closes it, does them side by
 * side, and sends an answer for each as soon as it is done. `table` is shared
 * with the other side, `window` the number of its notes. Returns how that went:
 * whether jobs failed is for the answers to say. Prints why the device cannot
 * be used. */
enum outcome worker_run(const struct worker_opts *opts, int fd,
                        struct serve_table *table);

#endif
