/* gimgxf check: says which files are damaged. */
#ifndef CLI_COMMANDS_CHECK_H
#define CLI_COMMANDS_CHECK_H

#include <stdbool.h>

#include "cli/options/options.h"

/* Decodes every file that the options name, and says on stderr what is wrong
 * with each that is not sound; on stdout, with --verbose a line and with --json
 * an object for each file. Returns whether all are sound. */
bool check_run(const struct options *opts);

#endif
