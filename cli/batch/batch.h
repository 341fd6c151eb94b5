/* Turns many pictures at once.
 *
 * In come the options of the command line; out go the outputs, a result for
 * each file, and a summary. This room plans nothing itself (cli/select does),
 * and knows nothing of formats or of what a turn is (cli/job does one picture):
 * it has cli/schedule do the jobs, and reports and notes what became of each.
 */
#ifndef CLI_BATCH_BATCH_H
#define CLI_BATCH_BATCH_H

#include "cli/schedule/scheduler.h"

/* Does all files that the options name, and reports them. `why_backend` says
 * why the backend was chosen, for --verbose; whether it can run here is asked
 * in the process that does the jobs. If a signal has asked for the end, it ends
 * the program by that signal after the report. Returns the outcome; what went
 * wrong has been printed. */
enum outcome batch_run(const struct options *opts,
                       const struct backend *backend, const char *why_backend);

#endif
