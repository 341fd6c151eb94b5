/* Finds jobs that were done twice under different names: from different
 * directories, or by way of links. */
#ifndef CLI_MANIFEST_DUPLICATES_H
#define CLI_MANIFEST_DUPLICATES_H

#include "cli/manifest/manifest_index.h"

/* Sets `twice` of entries that repeat another one, by the files that were read
 * and written, where these are noted. In place, an entry repeats another if it
 * has read what that one had written; else, if both have read the same
 * unchanged file, and their outputs are one file now. The index must keep what
 * is done. Returns 0, or -1 without memory. */
int duplicates_find(struct manifest_index *index);

#endif
