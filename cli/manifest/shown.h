/* Whether a file shows the picture that a line of a manifest says was made. */
#ifndef CLI_MANIFEST_SHOWN_H
#define CLI_MANIFEST_SHOWN_H

#include "cli/job/job.h"
#include "cli/manifest/manifest_index.h"

/* Decodes a file, whose name is confined to the root unless that is NULL, and
 * returns whether its samples as shown have the digest that is noted of the
 * output; false also if none is, or if the file is not sound. */
bool shown_as_made(const struct entry *entry, struct root *root,
                   const char *name, const struct options *opts);

/* Returns whether that also tells the output from the input: the turn has
 * changed what is shown. */
bool shown_tells(const struct entry *entry);

#endif
