/* gimgxf info: says what pictures are, by their headers alone. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include <stdbool.h>

#include "cli/options/options.h"

/* Describes every file that the options name, side by side and in order, on
 * stdout: in words, as a JSON object a line, or as CSV. Returns whether all of
 * them could be described; the others are told on stderr. */
bool info_run(const struct options *opts);

#endif
