/* This room holds the commands that say something of files and write none:
 * check, info, relate and version. */
#ifndef CLI_COMMANDS_COMMANDS_H
#define CLI_COMMANDS_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options/options.h"
#include "cli/schedule/ordered_workers.h"

/* gimgxf check: says which files are damaged. Decodes every file that the
 * options name, and says on stderr what is wrong with each that is not sound;
 * on stdout, with --verbose a line and with --json an object for each file.
 * Returns whether all are sound. */
bool check_run(const struct options *opts);

/* gimgxf relate: says which turn makes one picture another. Prints on stdout
 * how the two pictures that the options name are related. Returns whether a
 * turn makes the first the second, sample by sample or coefficient by
 * coefficient. */
bool relate_run(const struct options *opts);

/* gimgxf --version: prints the version on stdout, and what a bug report should
 * name: the libraries, the vector instructions that the CPU stage uses, and the
 * GPUs, or why there are none. To ask for GPUs loads the driver, which takes up
 * to a second where there is one. */
void version_print(void);

/* gimgxf info: describes every file that the options name on stdout, in order,
 * by what stands beside their pixels: in words, or as a JSON object a line.
 * Returns whether all of them could be described; errors go to stderr. */
bool info_run(const struct options *opts);

/* ---- What info and check do alike ---- */

struct root;

/* What a task begins with. */
struct each_input {
    const char *name;
    struct root *root; /* in which it was found, or NULL */
};

/* Does the work for every file that the options name, on several threads; a
 * task begins with its struct each_input. Returns false, with a message on
 * stderr, if it cannot be done or if there is no file. */
bool each_input(const struct options *opts, struct ordered_workers_opts work);

#endif
