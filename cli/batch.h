/* Many pictures: all that the options name, side by side. */
#ifndef CLI_BATCH_H
#define CLI_BATCH_H

#include "cli/options.h"
#include "cuda/backend.h"

enum outcome {
    OUTCOME_DONE,
    OUTCOME_FAILED,     /* a file did, or the manifest cannot be written */
    OUTCOME_NOT_BEGUN,  /* nothing was done: what is asked for cannot be meant */
    OUTCOME_NO_DEVICE,
};

/* Does a batch, and reports it. Ends the program by the signal that asked for
 * its end, after the report. */
enum outcome batch_run(const struct options *opts, const struct backend *backend,
                     const char *why_backend);

#endif
