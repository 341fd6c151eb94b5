/* gimgxf serve: jobs from standard input, an answer for each on standard
 * output, for programs that turn pictures now and then and do not want to start
 * one for each. */
#ifndef CLI_SERVE_SERVE_H
#define CLI_SERVE_SERVE_H

#include "cli/batch/scheduler.h"

/* Reads jobs until standard input ends: each a JSON object in a line, or up to
 * a NUL with --null. Several are done side by side, in a process of their own;
 * they are answered in order, each as soon as those before it are. `opts` are
 * what jobs have unless they say otherwise. Ends the program by the signal that
 * asked for its end. To be called before there are threads, and before a device
 * is used. */
enum outcome serve_run(const struct options *opts, const char *backend);

#endif
