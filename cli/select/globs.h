/* Patterns of names, as --include and --exclude take them. */
#ifndef CLI_SELECT_GLOBS_H
#define CLI_SELECT_GLOBS_H

#include "cli/options/options.h"

/* Whether a pattern is like this name: one without a slash like its last
 * component, another like all of it. `flags`: FNM_PERIOD, or 0. */
bool globs_match(const struct globs *globs, const char *name, int flags);

/* Whether a pattern may be like a name below this directory, each dot at the
 * beginning of a component being named. */
bool globs_reach(const struct globs *globs, const char *directory);

#endif
