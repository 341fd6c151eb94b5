/* Patterns of names, as --include and --exclude take them. */
#ifndef CLI_SELECT_GLOBS_H
#define CLI_SELECT_GLOBS_H

#include "cli/options/options.h"

/* Returns whether a pattern matches a name. One without a slash is compared
 * with the last component, any other with the whole name. `flags`: FNM_PERIOD,
 * or 0. */
bool globs_match(const struct globs *globs, const char *name, int flags);

/* Returns whether a pattern may match a name below this directory; a pattern
 * must name each dot at the beginning of a component. */
bool globs_reach(const struct globs *globs, const char *directory);

#endif
