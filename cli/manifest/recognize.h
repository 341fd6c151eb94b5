/* Jobs that a manifest knows by other names: it was written from another
 * directory, on another machine, or before files were moved.
 *
 * What counts is what is in danger: a file that was replaced in place must not
 * be turned once more. So of those that the manifest does not know by name, each
 * is compared with what it says of files that are not among the jobs:
 *
 *   - the same file, as of device and inode, now or when it was written: it is
 *     known;
 *   - the same bytes, as of size and CRC-32, as a file that is not where it was:
 *     it is known;
 *   - the same name, from another directory or from none that is noted, as a
 *     file that is not where it was: it is known by size and time, as what was
 *     made or as what it was made of, and else nobody can tell.
 *
 * A job that writes to another place does no harm if it is done again. It is
 * known by its names from another directory, and then the files tell. */
#ifndef CLI_MANIFEST_RECOGNIZE_H
#define CLI_MANIFEST_RECOGNIZE_H

#include "cli/manifest/manifest_index.h"

/* The jobs of a batch, of one operation. */
struct jobs {
    size_t count;
    struct record (*job)(void *context, size_t i);
    void *context;
};

/* Adds to the index what can be recognized. -1: nobody can tell of a
 * file that is to be replaced in place; or none of these is known, and the
 * manifest speaks of others that are not where they were. */
int recognize(struct manifest_index *index, const struct jobs *jobs,
              struct err *err);

#endif
