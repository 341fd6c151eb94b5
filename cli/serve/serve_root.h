/* The directory that the names of jobs are confined to: serve --root. */
#ifndef CLI_SERVE_SERVE_ROOT_H
#define CLI_SERVE_SERVE_ROOT_H

#include "cli/files/resolve.h"

struct serve_root {
    struct root root;
    char *path; /* its name, absolute and without links */
};

/* Opens the directory, which must exist. The name must outlive the root.
 * Returns 0, or -1 with the reason; then there is nothing to close. */
int serve_root_open(struct serve_root *root, const char *name, struct err *err);
void serve_root_close(struct serve_root *root);

/* Returns a name relative to the root: without the name or the path of the root
 * if it begins with either, else as it is. */
const char *serve_root_below(const struct serve_root *root, const char *name);

#endif
