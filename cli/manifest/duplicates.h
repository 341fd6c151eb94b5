/* What was done twice under different names: from different directories, or by
 * way of links. */
#ifndef CLI_MANIFEST_DUPLICATES_H
#define CLI_MANIFEST_DUPLICATES_H

#include "cli/manifest/manifest_index.h"

/* Sets `twice` of entries that did again what another one had done, by the
 * files that were read and written, where these are noted: of what is replaced
 * in place, if one has read what the other one had written; of all else, if
 * both have read the same file as it was, and their outputs are one file now.
 * The index has to keep what is done. -1: no memory. */
int duplicates_find(struct manifest_index *index);

#endif
