/* Plans a batch: which files, in which order, and what each becomes.
 *
 * This room (cli/select) turns options into a list of inputs and outputs. In
 * come names, lists, directories and patterns; out goes the plan, in which no
 * result is lost. It looks at names and inodes, and knows nothing of what is in
 * the files. */
#ifndef CLI_SELECT_PLAN_H
#define CLI_SELECT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/files/path.h"
#include "cli/files/resolve.h"
#include "cli/options/options.h"
#include "cli/select/inputs.h"
#include "codecs/base/err.h"

/* {0} is fine to free. */
struct file_plan {
    struct inputs inputs;
    const char **output; /* of each input; the same if the input is replaced */
    const char *folder;  /* that all outputs are in, by --directory or --output,
                            and with whose name theirs begin; NULL: they may be
                            anywhere */
    struct string_arena names; /* what these point to */
};

/* Names every file that the options ask for, of all shards, then keeps this
 * shard's. An input that does not exist, or is not a picture, is among them and
 * fails when its turn comes. Returns
 * 0. On failure it returns -1 with the reason, and nothing may be done: two
 * inputs have one output, an output is an input and inputs are not to be
 * replaced, a name leaves the output directory or is too long, or a list cannot
 * be read. */
int plan_make(struct file_plan *plan, const struct options *opts,
              struct err *err);
void plan_free(struct file_plan *plan);

#endif
