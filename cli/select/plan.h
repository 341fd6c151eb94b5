/* Plans a batch: which files, in which order, and what each becomes.
 *
 * This room (cli/select) turns options into a list of inputs and outputs. In
 * come names, lists, directories and patterns; out goes the plan, in which no
 * result is lost. It looks at names and inodes, and knows nothing of what is in
 * the files. */
#ifndef CLI_SELECT_PLAN_H
#define CLI_SELECT_PLAN_H

#include "cli/files/resolve.h"
#include "cli/options/options.h"
#include "cli/select/gather.h"
#include "cli/select/passed_over.h"

/* One input and its output. The strings are the plan's. */
struct item {
    const char *input;  /* as it was named or found */
    const char *output; /* the same if the input is replaced */
    struct root *root;  /* the directory where the input was found, and to which
                           it is  confined; NULL: it was named */
    size_t number;      /* among all that were named or found, from 1 */
};

struct file_plan;

/* Names every file that the options ask for, of all shards, then keeps this
 * shard's. An input that does not exist, or is not a picture, is among them and
 * fails when its turn comes. Returns 0; the plan is the caller's. On failure it
 * returns -1 with the reason, and nothing may be done: two inputs have one
 * output, an output is an input and inputs are not to be replaced, a name
 * leaves the output directory or is too long, or a list cannot be read. */
int plan_make(struct file_plan **plan, const struct options *opts,
              struct err *err);
void plan_free(struct file_plan *plan);

/* Returns how many files are to be done. */
size_t plan_count(const struct file_plan *plan);

/* Returns the i-th of them, from 0. Its strings live as long as the plan. */
struct item plan_item(const struct file_plan *plan, size_t i);

/* Returns 0 if an input was found, in whatever shard; see gather_check_found().
 */
int plan_check_found(const struct file_plan *plan, const struct options *opts,
                     struct err *err);

/* Returns the directory that all outputs are in, by --directory or --output,
 * and with whose name theirs begin; NULL if they may be anywhere. It lives as
 * long as the plan. */
const char *plan_folder(const struct file_plan *plan);

/* Removes the temporary files that killed runs have left in the directories
 * that were walked. */
void plan_remove_left(const struct file_plan *plan);

/* Returns the files beside the inputs that are not read, sorted by name. They
 * live as long as the plan. */
const struct passed_over *plan_passed(const struct file_plan *plan);

#endif
