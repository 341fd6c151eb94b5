/* Reads the command line. */
#ifndef CLI_OPTIONS_COMMAND_LINE_H
#define CLI_OPTIONS_COMMAND_LINE_H

#include "cli/options/options.h"

/* Reads the command line, which must outlive the options. Not for two threads
 * at a time. Returns 0; on failure -1, with the message in `err`, and nothing
 * must be done but to print it. */
int command_line_parse(struct options *opts, int argc, char **argv,
                       struct err *err);

/* Reads the words of one job, "OP --option=VALUE... INPUT OUTPUT", into a copy
 * of `base`, the options of the whole program. Refuses options that are not
 * about one picture. Otherwise as command_line_parse(). */
int command_line_parse_job(struct options *opts, const struct options *base,
                           int argc, char **argv, struct err *err);

#endif
