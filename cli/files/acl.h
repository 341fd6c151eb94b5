/* POSIX access control lists, in the form in which Linux hands them out as the
 * extended attribute system.posix_acl_access. They are changed in place. */
#ifndef CLI_FILES_ACL_H
#define CLI_FILES_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether these bytes are a list of the one version that there is, with entries
 * for owner, owning group and others. The functions below take only such. */
bool acl_is_valid(const uint8_t *acl, size_t size);

/* Returns the nine bits that chmod() would set to leave the list as it is:
 * those of the group class are the list's mask, if it has one. */
mode_t acl_mode(const uint8_t *acl, size_t size);

/* Returns the nine bits of a file without a list that allow nobody more than
 * the list does, whomever it names. */
mode_t acl_mode_without(const uint8_t *acl, size_t size);

/* Has the list allow the owning group and others only what it allows both, for
 * a file whose owning group is another one: members of the one that the list
 * was made for are others then, and the other way round. */
void acl_leave_group(uint8_t *acl, size_t size);

/* The same for the nine bits of a mode. */
mode_t acl_mode_leave_group(mode_t mode);

#endif
