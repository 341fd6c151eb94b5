/* Finds the pictures in a directory, and in those below it. */
#ifndef CLI_SELECT_DIRECTORY_WALK_H
#define CLI_SELECT_DIRECTORY_WALK_H

#include "cli/select/inputs.h"

/* Appends the pictures below a directory to the inputs, sorted by the bytes of
 * their names, as `find root | LC_ALL=C sort` prints them:
 *
 * - files that --include names, or else those with a suffix of a picture;
 *   names that begin with a dot only if a pattern of --include does;
 * - links to files, but not for --in-place; no links to directories;
 * - a directory that cannot be read, which fails when its turn comes.
 *
 * Left out are names that end as --backup says, what --exclude names, and the
 * directory `folder`, where outputs go, or NULL. Without --include other files
 * are counted in inputs->passed. Everything found is confined to `root`: a
 * directory that becomes a link after it was walked is not followed. Returns
 * 0, or -1 with the reason. */
int directory_walk(struct inputs *inputs, const char *root,
                   const struct options *opts, const char *folder,
                   struct err *err);

#endif
