/* Files that are not whole yet: ".gimgxf-" and twelve letters, in the directory
 * that they are written for.
 *
 * The process that writes such a file holds a lock on it (flock) until it has
 * its own name. A file that nobody locks was left by a run that was killed, and
 * the next run that meets it removes it. */
#ifndef CLI_FILES_TEMPORARY_H
#define CLI_FILES_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/files/pending.h"

/* Returns whether a file may be a temporary one by its name. */
bool temporary_is_name(const char *base);

/* Makes a temporary file in a directory and locks it; from then on its name is
 * pending.
 * Returns a descriptor for writing. On failure it returns -1 and sets errno. */
int temporary_open(int directory, mode_t mode, struct pending *pending);

/* Removes a pending file. */
void temporary_remove(struct pending *pending);

/* Removes the file `base` in a directory if it is a temporary one that was
 * left: by its name and owner it is this user's, and nobody writes to it. On a
 * file system where others may not see locks, as over a network, it must be an
 * hour old, too.
 */
void temporary_remove_left(int directory, const char *base);

#endif
