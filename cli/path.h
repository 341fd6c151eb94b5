/* The parts of a file's name. */
#ifndef CLI_PATH_H
#define CLI_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Both point into the name. Slashes at the end of either belong to neither, but
 * for the root: of "a//b/" they are "a" and "b", of "/b" "/" and "b", of "b" ""
 * and "b", of "/" "/" and "". */
struct path {
    const char *directory, *base;
    size_t ndirectory, nbase;
};

struct path path_split(const char *name, size_t length);

/* Whether this component stands in the name. */
bool path_has(const char *name, const char *component);

#endif
