/* What a file has beside its bytes: permissions, that is owner, group, mode and
 * access control list, and extended attributes. */
#ifndef CLI_FILES_ATTRIBUTES_H
#define CLI_FILES_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "codecs/base/err.h"

/* {0} is fine to free. */
struct permissions {
    struct stat st;
    uint8_t *acl;     /* the POSIX access control list, if the file has one, */
    size_t nacl;      /* of so many bytes */
    bool acl_unknown; /* there may be a list, which cannot be read */
};

/* Reads the list of an open file; `st` is set already.
 * Returns 0, or -1 with the reason if there is no memory. */
int permissions_read_acl(struct permissions *permissions, int fd,
                         struct err *err);
void permissions_free(struct permissions *permissions);

/* What becomes of the mode if the group may not be given: */
enum permissions_keep {
    PERMISSIONS_NARROW, /* nobody may do more than before: the group and others
                           get only what both had */
    PERMISSIONS_AS_CP,  /* it is kept, as cp -p keeps it */
};

/* Gives an open file, which nobody but its owner may read yet, the permissions
 * of another one, as far as the system lets it. Without the owner or the group
 * it is not a set-user-ID or set-group-ID file. Warns if the list cannot be
 * set, or would speak of another group; then only the owner may do anything.
 * Returns 0, or -1 with the reason. */
int permissions_give(const struct permissions *permissions, int fd,
                     enum permissions_keep keep, struct warnings *warnings,
                     struct err *err);

/* Reads the permissions of the file `base` in a directory, which is about to be
 * replaced, and copies its extended attributes to an open file, but for those
 * that vouch for the old bytes (security.capability, .ima and .evm). Warns of
 * those that cannot be kept. Returns 0, or -1 with the reason. */
int attributes_copy(int directory, const char *base, int to,
                    struct permissions *permissions, struct warnings *warnings,
                    struct err *err);

#endif
