/* Recognizes jobs that a manifest has under other names: it was written from
 * another directory, on another machine, or before files were moved.
 *
 * A file that was replaced in place must not be turned once more. So each file
 * that is to be replaced, and that the manifest does not have by name, is
 * compared with the files of the manifest that are not among the jobs. It is
 * recognized
 *
 *   - if it is the same file, by device and inode, now or when it was written;
 *   - if its bytes, by size and CRC-32, are those of a file that is not where
 * it was;
 *   - if it has the name of a file that is not where it was, though from
 * another directory, or from one that was not noted; then size and time say
 * whether it is the result or the original, and if they do not, that is an
 * error.
 *
 * A job with an output of its own does no harm if it is done again. It is
 * recognized by its names from another directory, and then the files decide. */
#ifndef CLI_MANIFEST_RECOGNIZE_H
#define CLI_MANIFEST_RECOGNIZE_H

#include "cli/manifest/manifest_index.h"

/* Adds the jobs of a batch, all of one operation, that are recognized to the
 * index. Returns 0; or -1 if it cannot be told what a file is that is to be
 * replaced in place, or if none of the files is known while the manifest has
 * others that are not where they were. */
int recognize(struct manifest_index *index, size_t count,
              struct record (*job)(void *context, size_t i), void *context,
              struct err *err);

#endif
