/* gimgxf info: describes pictures by what stands beside their pixels. */
#ifndef CLI_COMMANDS_INFO_H
#define CLI_COMMANDS_INFO_H

#include <stdbool.h>

#include "cli/options/options.h"

/* Describes every file that the options name on stdout, in order: in words, or as
 * a JSON object a line. Returns whether all of them could be
 * described; errors go to stderr. */
bool info_run(const struct options *opts);

#endif
