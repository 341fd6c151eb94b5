/* Tells whether two names mean the same file, which may exist or not.
 *
 * A file is known by its canonical name: the directory without symbolic links,
 * "." and "..", even where it does not exist yet, and the last component, which
 * is followed if it is a link. The canonical names of the last directories are
 * kept, so that a file costs one lstat().
 *
 * A file that exists and has one link is known by its inode instead: its names
 * may differ on a file system that ignores case or that is mounted twice. Each
 * of several hard links is a file of its own, since what replaces one leaves
 * the others. */
#ifndef CLI_SELECT_FILE_IDENTITY_H
#define CLI_SELECT_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/files/path.h"
#include "codecs/base/err.h"

enum { IDENTITY_DIRECTORIES = 8 };

/* {0} is empty. */
struct file_identities {
    struct string_arena names;
    struct spelled_directory {
        const char *name;
        size_t length;
        const char *directory; /* its canonical name */
    } last[IDENTITY_DIRECTORIES];
    unsigned next;
};

struct file_identity {
    const char *directory; /* canonical */
    const char *base;      /* not ended by a NUL; "" if it is a directory */
    size_t nbase;
    bool known; /* by the inode below: it has one link */
    dev_t device;
    ino_t inode;
};

/* Frees everything, including what the identities found point to. */
void file_identities_free(struct file_identities *identities);

/* Finds the identity of a file. The name must outlive the identity.
 * Returns 0, or -1 with the reason. */
int file_identity_find(struct file_identities *identities, const char *name,
                       struct file_identity *identity, struct err *err);

/* Finds the canonical name of the directory that the first `length` bytes of a
 * name mean.
 * Returns 0, or -1 with the reason. */
int file_identity_directory(struct file_identities *identities,
                            const char *name, size_t length,
                            const char **directory, struct err *err);

/* Orders identities as strcmp() does names: 0 says that both are the same file.
 */
int file_identity_compare(const struct file_identity *a,
                          const struct file_identity *b);

/* Returns whether a file is in or below a directory, by its canonical name. */
bool file_identity_is_below(const struct file_identity *identity,
                            const char *directory);

#endif
