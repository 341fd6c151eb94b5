/* The pictures in a directory, and in those below it. */
#ifndef CLI_SELECT_DIRECTORY_WALK_H
#define CLI_SELECT_DIRECTORY_WALK_H

#include "cli/select/inputs.h"

/* Appends them to the inputs, sorted by the bytes of their names, as `find root
 * | LC_ALL=C sort` prints them. Taken are files that --include names, or else
 * those with a suffix of a picture; links to files, but not to directories, and
 * none for --in-place; what begins with a dot only if a pattern of --include
 * does; and nothing that ends as --backup has it. `folder`, where outputs go,
 * is not entered, nor what --exclude names. A directory that cannot be read is
 * an input. Where there is no --include, the other files are counted in
 * inputs->passed, those of formats that are recognized by their names.
 *
 * The root is opened, and what is found is confined to it: a directory that
 * becomes a link after it was walked is not followed. */
int walk(struct inputs *inputs, const char *root, const struct options *opts,
         const char *folder, struct err *err);

#endif
