/* Which files a batch takes, in which order, and what each becomes. */
#ifndef CLI_SELECT_PLAN_H
#define CLI_SELECT_PLAN_H

#include "cli/select/passed_over.h"
#include "cli/files/resolve.h"
#include "cli/options/options.h"
#include "cli/select/gather.h"

/* One input and its output, as strings of the plan. */
struct item {
    const char *input;  /* as it was named or found */
    const char *output; /* the same for what is replaced */
    struct root *root;  /* that the input is confined to: the directory in which
                           it was found; NULL: it was named */
    size_t number;      /* among all that was named or found, from 1 */
};

struct batch_plan;

/* Names every file that the options ask for, of all shards, and then keeps this
 * shard's. An input that is not there, or is no picture, is among them: it
 * fails when its turn comes. -1: nothing is to be done, since two inputs would
 * be written to one output, an output is an input and those are not to be
 * replaced in place, a name would leave the output directory or is too long, or
 * a list cannot be read. The plan is the caller's. */
int plan_make(struct batch_plan **plan, const struct options *opts, struct err *err);

/* How many files are to be done. */
size_t plan_count(const struct batch_plan *plan);

/* The i-th of them, from 0. Its strings live as long as the plan. */
struct item plan_item(const struct batch_plan *plan, size_t i);

/* Returns 0 if an input was found, in whatever share; see
 * gather_check_found(). */
int plan_check_found(const struct batch_plan *plan, const struct options *opts,
                     struct err *err);

/* The directory that all outputs are in, by --directory or --output, and with
 * whose name theirs begin. NULL: they may be anywhere. It lives as long as the
 * plan. */
const char *plan_folder(const struct batch_plan *plan);

/* Removes the temporary files that killed runs have left in the directories that
 * were walked. */
void plan_remove_left(const struct batch_plan *plan);

/* What stands beside the files in directories, in the order of the names. It
 * lives as long as the plan. */
const struct passed_over *plan_passed(const struct batch_plan *plan);

void plan_free(struct batch_plan *plan);

#endif
