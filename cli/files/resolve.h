/* Finds files by the directories that their names lead through, which are
 * opened one below the other and held by descriptors: what is swapped for a
 * link meanwhile is not walked into.
 *
 * Two rules hold on the way. Names that are confined to a directory, their
 * root, never leave it: neither by "..", nor by a link, nor by being absolute;
 * links and ".." that stay inside are followed. And a link in a directory that
 * is sticky and writable by all, as /tmp is, is only followed if it belongs to
 * the user who follows it or to the owner of the directory. Linux has this
 * second rule, too (fs.protected_symlinks), but asks it only where it opens
 * files itself, and only where it is switched on.
 *
 * What was found by walking a directory is confined to it more strictly: where
 * the walk came through directories, no link is followed now.
 *
 * Names without links, which are nearly all, are left to openat2(); a name with
 * a link, and all names where the kernel has no openat2(), are walked a
 * component at a time. Both give the same answers. */
#ifndef CLI_FILES_RESOLVE_H
#define CLI_FILES_RESOLVE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "cli/files/root.h"
#include "codecs/base/err.h"

/* Opens the directory `name`. If it does not exist, it is made when the first
 * file is written below it. Names are confined to it, and begin with its name
 * if `prefixed`. The name has to outlive the root.
 * Returns 0, or -1 with the reason; root_close() is fine after both. */
int root_open(struct root *root, const char *name, bool prefixed,
              struct err *err);
void root_close(struct root *root);

/* Opens a directory that is about to be walked, for the names that are found in
 * it, which begin with its own. It is kept open if `kept`; otherwise each name
 * opens it anew, for when there are more than there are descriptors.
 * Returns 0, or -1 with the reason; root_close() is fine after both. */
int root_open_walked(struct root *root, const char *name, enum root_links links,
                     bool kept, struct err *err);

/* Opens what a name leads to, as open() does with the same flags, which do not
 * create anything. Without a root it is open().
 * Returns a descriptor, or -1 with the reason and errno. */
int resolve_open(struct root *root, const char *name, int flags,
                 struct err *err);

/* Looks at what a name leads to, or at the link itself if not `follow`.
 * Returns false if there is nothing, or nothing that may be looked at. */
bool resolve_stat(struct root *root, const char *name, bool follow,
                  struct stat *st);

/* Where a file is that is to be written. */
struct location {
    int directory;           /* that it stands in, opened with O_PATH */
    char base[NAME_MAX + 1]; /* its name in there: no link, but for `magic` */
    bool exists;
    bool magic;     /* the name led through a link of /proc to an open file */
    struct stat st; /* of the file, if it exists */
};

/* Finds where the file of a name is, or would be made; `make` makes the
 * directories that are missing on the way. After success the caller closes
 * location->directory.
 * A link of /proc to what is not a regular file, such as /proc/self/fd/1, is
 * not followed: base is the link, and st is what it leads to.
 * Returns 0, or -1 with the reason. */
int resolve_file(struct root *root, const char *name, bool make,
                 struct location *location, struct err *err);

#endif
