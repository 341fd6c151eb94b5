/* The directories in which a run has removed what killed runs left there; NULL
 * is fine for all functions, and removes nothing. */
#ifndef CLI_FILES_LEFT_BEHIND_H
#define CLI_FILES_LEFT_BEHIND_H

#include <stddef.h>

struct left_behind;

/* `most` entries of a directory are looked at: a run that writes one file has
 * no time for more. Returns NULL if there is no memory. */
struct left_behind *left_behind_open(size_t most);
void left_behind_close(struct left_behind *left);

/* Removes the temporary files that were left in a directory, a descriptor, the
 * first time that it is called for that directory. Several threads may call it
 * at once. */
void left_behind_remove(struct left_behind *left, int directory);

#endif
