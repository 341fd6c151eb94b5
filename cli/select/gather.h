/* Which files a batch takes: those on the command line, those of a list, and
 * those in directories. */
#ifndef CLI_SELECT_GATHER_H
#define CLI_SELECT_GATHER_H

#include "cli/select/inputs.h"

/* Appends all that the options ask for. `folder` is where outputs go, which no
 * walk enters, or NULL. On failure, too, the caller frees them. */
int gather_inputs(struct inputs *inputs, const struct options *opts,
                  const char *folder, struct err *err);

/* Returns 0 if gather_inputs() found an input. Otherwise it fails with a
 * message that says where it looked, and which patterns left nothing. */
int gather_check_found(const struct inputs *inputs, const struct options *opts,
                       struct err *err);

#endif
