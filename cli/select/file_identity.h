/* Where a file is, whatever it is called: two names with the same place are the
 * same file, be it there or yet to be made.
 *
 * A place is the canonical name: the directory without symbolic links, "." and
 * "..", also as far as it is not there yet, and the last component, which is
 * followed where it is a link. What is found out about a directory is kept, so
 * that a file costs one lstat().
 *
 * A file that is there, with one link, is known by its inode as well: the names
 * may differ on a file system without upper and lower case, or that is mounted
 * twice. Of several hard links each is a file of its own, since what replaces
 * one leaves the others. */
#ifndef CLI_SELECT_FILE_IDENTITY_H
#define CLI_SELECT_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "codecs/base/err.h"

struct file_identities;

struct file_identity {
    const char *directory; /* canonical, and one pointer for each */
    const char *base;      /* not ended by a NUL; "" if it is a directory */
    size_t nbase;
    bool known;  /* by its inode, below: it has one link */
    bool linked; /* it has several, and this is the inode that they share */
    dev_t device;
    ino_t inode;
};

int file_identity_open(struct file_identities **places, struct err *err);

/* Frees all, also what the places found point to. Fine on NULL. */
void file_identity_close(struct file_identities *places);

/* Finds the place of a file. Its name must outlive the place. */
int file_identity_find(struct file_identities *places, const char *name,
                       struct file_identity *place, struct err *err);

/* The canonical name of the directory that the first `length` bytes of a name
 * name. */
int file_identity_directory(struct file_identities *places, const char *name,
                            size_t length, const char **directory,
                            struct err *err);

bool file_identity_same(const struct file_identity *a,
                        const struct file_identity *b);
uint64_t file_identity_hash(const struct file_identity *place);

/* Whether both are there, and hard links to one file; of two that are, the hash
 * is the same. */
bool file_identity_shares_inode(const struct file_identity *a,
                        const struct file_identity *b);
uint64_t file_identity_inode_hash(const struct file_identity *place);

/* Whether a place is in this directory, by its canonical name, or below it. */
bool file_identity_is_below(const struct file_identity *place,
                            const char *directory);

#endif
