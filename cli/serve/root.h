/* The directory that the names of jobs are confined to: serve --root. */
#ifndef CLI_SERVE_ROOT_H
#define CLI_SERVE_ROOT_H

#include "cli/files/resolve.h"

struct serve_root {
    struct root root;
    const char *name; /* as the user has it */
    char *path;       /* the same, absolute and without links */
};

/* Opens the directory, which has to exist. The name has to outlive the root.
 * Returns 0, or -1 with the reason; serve_root_close() is only for the first.
 */
int serve_root_open(struct serve_root *root, const char *name, struct err *err);
void serve_root_close(struct serve_root *root);

/* Returns what the root knows a name by: one that begins with the name or the
 * path of the root is taken without it, all others stay as they are. */
const char *serve_root_below(const struct serve_root *root, const char *name);

#endif
