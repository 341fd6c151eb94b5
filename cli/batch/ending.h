/* Says why a batch ended before its files did, and how to go on. */
#ifndef CLI_BATCH_ENDING_H
#define CLI_BATCH_ENDING_H

#include "cli/batch/progress.h"

enum ending {
    ENDING_SIGNAL,   /* a signal asked for it */
    ENDING_FAILURES, /* as many as --fail-after allows */
    ENDING_FULL,     /* the disk is full */
    ENDING_MANIFEST, /* the manifest could not be written */
    ENDING_PIPE,     /* nobody reads the results any more */
};

/* Prints on standard error how many files are left and what to type to go on,
 * and with --json an object on standard output. Prints nothing for ENDING_PIPE.
 * `signal` counts for ENDING_SIGNAL. */
void ending_report(enum ending ending, int signal,
                   const struct batch_progress *progress,
                   const struct options *opts);

#endif
