/* Whether a file is still what a manifest says was written to it. */
#ifndef CLI_MANIFEST_WRITTEN_H
#define CLI_MANIFEST_WRITTEN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cli/manifest/manifest_index.h"

/* Returns whether a file is what a line with "done" or "ready" says was
 * written: by inode, size and time, and only if these do not decide, by the
 * checksum. A line of an older version may have neither; then the size decides.
 * The name is confined to the root, unless that is NULL; `st` is of this file.
 */
bool written_matches(const struct facts *facts, struct root *root,
                     const char *name, const struct stat *st);

/* Returns whether the file has the size and the checksum that the line has;
 * false also if the line has no checksum, or the file cannot be read. */
bool written_has_sum(const struct facts *facts, struct root *root,
                     const char *name);

#endif
