/* What a file has beside its bytes: who may do what with it, and its extended
 * attributes. */
#ifndef CLI_FILES_ATTRIBUTES_H
#define CLI_FILES_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "codecs/base/err.h"

/* Who may do what with a file. {0} is fine to free. */
struct permissions {
    struct stat st;
    uint8_t *acl;     /* the POSIX access control list, if it has one, */
    size_t nacl;      /* and of how many bytes; it is the holder's to free */
    bool acl_unknown; /* it may have one that cannot be read */
};

/* Reads the list of an opened file whose `st` is set.
 * Returns 0, or -1 with the reason if there is no memory. */
int permissions_read_acl(struct permissions *access, int fd, struct err *err);
void permissions_free(struct permissions *access);

/* Gives an opened file, which nobody but its owner may read yet, the owner,
 * group, list and mode of another one, as far as that is permitted. If the
 * owner or the group is not, it is no set-user-ID or set-group-ID file. `keep`
 * says what else becomes of the mode where the group is not permitted: */
enum permissions_keep {
    PERMISSIONS_NARROW, /* nobody may do more than before: the group and others may
                      do what both might */
    PERMISSIONS_AS_CP,  /* it is kept as cp -p keeps it */
};
/* Warns of a list that cannot be set; what it allowed some is left out then.
 * Returns 0, or -1 with the reason. */
int permissions_give(const struct permissions *access, int fd, enum permissions_keep keep,
                struct warnings *warnings, struct err *err);

/* Reads who may do what with a file that is replaced, the file `base` in a
 * directory, and gives an opened file its extended attributes: but not those
 * that stand for the old bytes (security.capability, .ima and .evm). Warns of
 * those that cannot be kept.
 * Returns 0, or -1 with the reason. */
int attributes_hand_on(int directory, const char *base, int fd,
                       struct permissions *access, struct warnings *warnings,
                       struct err *err);

#endif
