/* Files that are not whole yet: ".gimgxf-" and twelve letters, in the directory
 * that they are written for.
 *
 * The process that writes such a file holds a lock on it (flock) until it has
 * its own name. A file that nobody locks was left by a run that was killed, and
 * the next run that meets it removes it. */
#ifndef CLI_FILES_TEMPORARY_H
#define CLI_FILES_TEMPORARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct temporary;

struct temporary_place {
    int directory;           /* that the file stands in, a descriptor */
    char name[NAME_MAX + 1]; /* "": there is no file */
};

/* Returns whether a file may be a temporary one by its name. */
bool temporary_is_name(const char *base);

/* Makes a temporary file in a directory, sets *fd to a descriptor with this
 * access, O_WRONLY or O_RDWR, and locks it. From then on a signal that ends the
 * program removes it. On failure it returns NULL and sets errno. */
struct temporary *temporary_open(int directory, int access, mode_t mode,
                                 int *fd);

/* The same for a file that was made without a name, in the file system of the
 * directory: gives it one, and sets *fd to another descriptor of it. */
struct temporary *temporary_link(int directory, int unnamed, int *fd);

/* Gives a file without a name this one. On failure it returns false and sets
 * errno. */
bool temporary_give_name(int unnamed, int directory, const char *name);

/* The file may be renamed, and its name emptied, only between these two. No
 * signal ends the program in between. */
struct temporary_place *temporary_lock(struct temporary *temporary);
void temporary_unlock(struct temporary *temporary);

/* Removes the file, unless its name is empty, and frees its entry. */
void temporary_end(struct temporary *temporary);

/* Removes all files that are half written. Afterwards no file can be made or
 * put in place. For a signal handler that ends the program. */
void temporary_remove_all(void);

/* Removes the file `base` in a directory if it is a temporary one that was
 * left: by its name and owner it is this user's, and nobody writes to it. On a
 * file system where others may not see locks, as over a network, it must be an
 * hour old, too. */
void temporary_remove_left(int directory, const char *base);

/* The directories in which a run has removed what killed runs left there; NULL
 * is fine for all functions, and removes nothing. */

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
