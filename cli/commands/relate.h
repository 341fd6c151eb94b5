/* gimgxf relate: says which turn makes one picture another. */
#ifndef CLI_COMMANDS_RELATE_H
#define CLI_COMMANDS_RELATE_H

#include <stdbool.h>

#include "cli/options/options.h"

/* Prints on stdout how the two pictures that the options name are related.
 * Returns whether a turn makes the first the second, sample by sample or
 * coefficient by coefficient. */
bool relate_run(const struct options *opts);

#endif
