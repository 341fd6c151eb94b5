/* POSIX access control lists as Linux stores them, in the extended attribute
 * system.posix_acl_access. libacl could apply a list to a file, but not find
 * the mode that allows no more than a list does, nor take rights from a lost
 * group. */
#ifndef CLI_FILES_ACL_H
#define CLI_FILES_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns whether these bytes are a list of the one version there is, with
 * entries for owner, owning group and others. The functions below take only
 * such lists. */
bool acl_is_valid(const uint8_t *acl, size_t size);

/* Returns the nine mode bits with which chmod() would leave the list as it is:
 * the group bits are the mask of the list, if it has one. */
mode_t acl_mode(const uint8_t *acl, size_t size);

/* Returns the nine mode bits of a file without a list that allow nobody more
 * than the list does. */
mode_t acl_mode_without(const uint8_t *acl, size_t size);

/* Changes a list for a file whose owning group is another one: the owning group
 * and others keep only what the list allows both, since members of the old
 * group are now others, and the reverse. */
void acl_leave_group(uint8_t *acl, size_t size);

/* Returns the nine bits of a mode changed in the same way. */
mode_t acl_mode_leave_group(mode_t mode);

#endif
