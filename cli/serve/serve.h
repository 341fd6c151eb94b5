/* gimgxf serve, for programs that turn pictures now and then and do not want to
 * start a process for each.
 *
 * In come jobs on standard input, each a JSON object; out go their answers on
 * standard output, in order. This room knows how jobs are read, ordered and
 * answered, and how a crash of one is survived; the jobs themselves are done by
 * cli/schedule and cli/job. */
#ifndef CLI_SERVE_SERVE_H
#define CLI_SERVE_SERVE_H

#include "cli/schedule/scheduler.h"

/* Reads jobs until standard input ends, one in a line, or up to a NUL with
 * --null. Several are done side by side, in a process of their own; each is
 * answered as soon as those before it are. `opts` are the options of jobs that
 * do not say otherwise. If a signal asked for the end, it ends the program by
 * that signal. Call it before there are threads, and before a device is used.
 * Returns the outcome; what went wrong has been printed. */
enum outcome serve_run(const struct options *opts, const char *backend);

#endif
