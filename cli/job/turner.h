/* A backend as codecs see it: struct turner. */
#ifndef CLI_JOB_TURNER_H
#define CLI_JOB_TURNER_H

#include "cli/job/watch.h"
#include "codecs/image/turner.h"
#include "cuda/backend.h"

/* What the turner's context points to; it lives as long as the turner. */
struct job_turner {
    const struct backend *backend;
    struct lane *lane;
    struct watch *watch; /* shows the progress, or NULL */
    uint32_t rows, done; /* rows that come in bands, in all and so far; 0: there
                            are no bands */
};

/* Returns the turner: several threads may turn small tiles at a time where the
 * backend lets them, else one thread turns large ones. */
struct turner job_turner_of(struct job_turner *context);

#endif
