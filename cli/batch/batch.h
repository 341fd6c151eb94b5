/* Many pictures: all that the options name, side by side. */
#ifndef CLI_BATCH_BATCH_H
#define CLI_BATCH_BATCH_H

#include "cli/batch/scheduler.h"

/* Does a batch, and reports it. Ends the program by the signal that asked for
 * its end, after the report. */
enum outcome batch_run(const struct options *opts, const struct backend *backend,
                     const char *why_backend);

#endif
