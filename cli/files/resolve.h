/* Opens what a name leads to, and finds where a file stands that is to be
 * written. Names may be confined to a root (cli/files/root.h).
 *
 * A link in a directory that is sticky and writable by all, as /tmp is, is only
 * followed if it belongs to the user who follows it or to the owner of the
 * directory. That holds for names within a root and for all files that are
 * written. Names without links, which are nearly all, are left to openat2();
 * names with links are walked, and so are all where the kernel lacks it. */
#ifndef CLI_FILES_RESOLVE_H
#define CLI_FILES_RESOLVE_H

#include "cli/files/root.h"

/* Opens what a name leads to, as open() does with the same flags, which create
 * nothing. Without a root it is open().
 * Returns a descriptor, or -1 with the reason and errno. */
int resolve_open(struct root *root, const char *name, int flags,
                 struct err *err);

/* Looks at what a name leads to, or at the link itself if not `follow`.
 * Returns false if there is nothing, or nothing that may be looked at. */
bool resolve_stat(struct root *root, const char *name, bool follow,
                  struct stat *st);

/* Where a file is that is to be written. */
struct location {
    int directory;             /* that it stands in, opened with O_PATH */
    char base[PATH_WALK_BASE]; /* its name in there: no link, but for `magic` */
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
