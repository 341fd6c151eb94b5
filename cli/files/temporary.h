/* Files that are not whole yet, or about to be renamed: ".gimgxf-" and twelve
 * letters, in the directory that they are written for. The letters are those of
 * the name that a file is to get, so that what a run leaves that is killed is
 * removed by the next one that writes the same file. */
#ifndef CLI_FILES_TEMPORARY_H
#define CLI_FILES_TEMPORARY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct temporary;

struct temporary_place {
    int directory;           /* that the file stands in, a descriptor */
    char name[NAME_MAX + 1]; /* "": there is no file */
};

/* Their names begin so. */
#define TEMPORARY_PREFIX ".gimgxf-"

/* Makes a temporary file in a directory for one that is to be called `base`, or
 * for NULL, and sets *fd to a descriptor with this access, O_WRONLY or O_RDWR;
 * or gives such a name to `unnamed`, a file without one in the same file
 * system, unless that is -1, and sets *fd to another descriptor of it. It stays
 * locked as long as that, or a copy of it, is open. From then on a signal that
 * ends the program removes it. On failure it returns NULL and sets errno. */
struct temporary *temporary_open(int directory, const char *base, int unnamed,
                                 int access, mode_t mode, int *fd);

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

#endif
