/* Jobs from one stream, answers to another, and a supervisor in between. */
#ifndef CLI_SERVE_SERVE_STREAMS_H
#define CLI_SERVE_SERVE_STREAMS_H

#include "cli/isolate/supervisor.h"

struct serve_streams_opts {
    int jobs, answers; /* descriptors */
    char end;          /* of a job: '\n' or '\0' */
    struct supervisor_opts supervisor;
};

struct served {
    enum outcome outcome;
    int write_error; /* why an answer could not be written: an errno, or 0 */
};

/* Reads jobs until they end or a signal asks for the end, and answers them in
 * order. Prints failures that are not of a single job. Call it before there are
 * threads. */
struct served serve_streams_run(const struct serve_streams_opts *opts);

#endif
