/* The names of files that are half written, which a signal that ends the
 * program has to remove. */
#ifndef CLI_FILES_PENDING_H
#define CLI_FILES_PENDING_H

#include <limits.h>

struct pending_file {
    int directory;           /* that it stands in, a descriptor */
    char name[NAME_MAX + 1]; /* "": there is no file */
};

struct pending;

/* Returns an entry for one file, without a name at first; NULL if there is no
 * memory. */
struct pending *pending_take(void);

/* The entry may be read and changed, and its file be made, renamed or removed,
 * only between these two. No signal ends the program in between. */
struct pending_file *pending_lock(struct pending *pending);
void pending_unlock(struct pending *pending);

/* Gives the entry back. Its file, if there still is one, stays. */
void pending_give(struct pending *pending);

/* Removes all files that are half written. Afterwards no file can be made or
 * put in place. For a signal handler that ends the program. */
void pending_remove_all(void);

#endif
