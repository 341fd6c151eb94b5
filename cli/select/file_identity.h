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

struct places;

struct place {
    const char *directory; /* canonical, and one pointer for each */
    const char *base;      /* not ended by a NUL; "" if it is a directory */
    size_t nbase;
    bool known;  /* by its inode, below: it has one link */
    bool linked; /* it has several, and this is the inode that they share */
    dev_t device;
    ino_t inode;
};

int places_open(struct places **places, struct err *err);

/* Frees all, also what the places found point to. Fine on NULL. */
void places_close(struct places *places);

/* Finds the place of a file. Its name must outlive the place. */
int places_find(struct places *places, const char *name, struct place *place,
                struct err *err);

/* The canonical name of the directory that the first `length` bytes of a name
 * name. */
int places_directory(struct places *places, const char *name, size_t length,
                     const char **directory, struct err *err);

bool place_same(const struct place *a, const struct place *b);
uint64_t place_hash(const struct place *place);

/* Whether both are there, and hard links to one file; of two that are, the hash
 * is the same. */
bool place_shares_inode(const struct place *a, const struct place *b);
uint64_t place_inode_hash(const struct place *place);

/* Whether a place is in this directory, by its canonical name, or below it. */
bool place_is_below(const struct place *place, const char *directory);

#endif
