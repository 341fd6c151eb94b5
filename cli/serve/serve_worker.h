/* What the worker process of serve does. */
#ifndef CLI_SERVE_SERVE_WORKER_H
#define CLI_SERVE_SERVE_WORKER_H

#include "cli/isolate/wire.h"
#include "cli/schedule/scheduler.h"
#include "cli/serve/serve_root.h"

struct serve_worker_opts {
    const struct options *opts;
    const char *backend;
    struct serve_root
        *root;       /* that the files of jobs are confined to, or NULL */
    unsigned window; /* notes in the table */
};

/* Reads, does and answers jobs, as worker_run() says. Prints why the device
 * cannot be used, if it cannot. */
enum outcome serve_worker_run(const struct serve_worker_opts *opts, int fd,
                              struct note_table *table);

#endif
