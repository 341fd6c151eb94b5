/* Finds the inputs of a batch: those on the command line, those of a list, and
 * those in directories, which --include and --exclude choose. */
#ifndef CLI_SELECT_GATHER_H
#define CLI_SELECT_GATHER_H

#include "cli/select/inputs.h"

/* Appends all inputs that the options name. `folder` is the directory where
 * outputs go, which no walk enters, or NULL. Returns 0, or -1 with the reason;
 * the caller frees the inputs after both. */
int gather_inputs(struct inputs *inputs, const struct options *opts,
                  const char *folder, struct err *err);

/* Returns 0 if gather_inputs() found an input. Otherwise it returns -1 with a
 * reason that says where it looked, and which patterns left nothing. */
int gather_check_found(const struct inputs *inputs, const struct options *opts,
                       struct err *err);

#endif
