/* A batch whose jobs are done in a process of their own: --isolate. */
#ifndef CLI_BATCH_BATCH_ISOLATED_H
#define CLI_BATCH_BATCH_ISOLATED_H

#include "cli/batch/batch_task.h"

/* Does and reports all tasks, but for those that are not begun because the
 * batch ends early. A job that ends its process fails, and the others are done.
 * Call it before there are threads. Returns the outcome, which is not that of
 * the jobs; what went wrong has been printed. */
enum outcome batch_isolated_run(struct batch *batch);

#endif
