/* Files that are not whole yet: ".gimgxf-" and twelve letters, in the directory
 * that they are written for.
 *
 * Whoever writes one holds a lock on it (flock) until it has got its own name.
 * So one that nobody holds a lock on was left by a run that was killed, and the
 * next run that meets it removes it. */
#ifndef CLI_FILES_TEMPORARY_H
#define CLI_FILES_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/files/pending.h"

/* Whether a file may be a temporary one by its name. */
bool temporary_is_name(const char *base);

/* Makes one in a directory, and locks it. Its name is pending then.
 * Returns a descriptor for writing, or -1 by errno. */
int temporary_open(int directory, mode_t mode, struct pending *pending);

/* Removes a pending one. */
void temporary_remove(struct pending *pending);

/* Removes the file `base` in a directory if it is a temporary one that was
 * left: if it is ours by its name and its owner, and nobody writes to it. Where
 * locks may not be seen by all, as on a file system of a network, it also has
 * to be an hour old. */
void temporary_remove_left(int directory, const char *base);

#endif
