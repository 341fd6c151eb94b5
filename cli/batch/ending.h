/* Why a batch ended before its files did, and how it goes on. */
#ifndef CLI_BATCH_ENDING_H
#define CLI_BATCH_ENDING_H

#include "cli/batch/progress.h"

enum ending {
    ENDING_NOT,
    ENDING_SIGNAL,   /* somebody asked for it */
    ENDING_FAILURES, /* as many as --fail-after has it */
    ENDING_FULL,     /* the disk is */
    ENDING_MANIFEST, /* it could not be written */
    ENDING_PIPE,     /* nobody reads the results any more */
};

/* Says in a line on standard error why, and what to type to go on, unless that
 * is known to whoever asked for the end; and with --json in an object. */
void ending_tell(enum ending ending, int signal,
                 const struct progress *progress, const struct options *opts);

#endif
