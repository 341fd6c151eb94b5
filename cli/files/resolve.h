/* Opens what a name leads to, and finds where a file stands that is to be
 * written. Names may be confined to a root.
 *
 * A link in a directory that is sticky and writable by all, as /tmp is, is only
 * followed if it belongs to the user who follows it or to the owner of the
 * directory. That holds for names within a root and for all files that are
 * written.
 *
 * A root is a directory that names are confined to. A name that leaves it by
 * "..", by a link, or by being absolute is refused; links and ".." that stay
 * inside are followed. A directory that was walked is a stricter root: where
 * the walk came through directories, no link is followed afterwards.
 *
 * Functions that take a root take NULL for none: names may then lead anywhere.
 */
#ifndef CLI_FILES_RESOLVE_H
#define CLI_FILES_RESOLVE_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "codecs/base/err.h"

/* Which links are followed on the way from a root. */
enum root_links {
    ROOT_LINKS_INSIDE,  /* all that stay inside */
    ROOT_LINKS_TO_FILE, /* the last component alone, wherever it leads; not when
                           a file is written */
    ROOT_LINKS_NONE,
};

struct root {
    const char *name;
    bool prefixed; /* names begin with that of the root; else they are relative
                      to it */
    enum root_links links;
    atomic_int fd; /* -1: the directory does not exist yet; or, of one that was
                      walked, it is opened for each name */
    pthread_mutex_t making;
};

/* Opens the directory `name`, which must outlive the root, for names that begin
 * with its own, unless `prefixed` is set to false. With ROOT_LINKS_INSIDE one
 * that does not exist is made when the first file is written below it. One that
 * is about to be walked is kept open if `kept`; otherwise each name opens it
 * anew, which saves a descriptor; others are kept. Returns 0, or -1 with the
 * reason; root_close() is fine after both. */
int root_open(struct root *root, const char *name, enum root_links links,
              bool kept, struct err *err);

void root_close(struct root *root);

/* Opens what a name leads to, as open() does with the same flags, which create
 * nothing. Without a root it is open().
 * Returns a descriptor, or -1 with the reason and errno. */
int resolve_open(struct root *root, const char *name, int flags,
                 struct err *err);

/* Looks at what a name leads to, or at the link itself if not `follow`.
 * Returns false if there is nothing, or nothing that may be looked at. */
bool resolve_stat(struct root *root, const char *name, bool follow,
                  struct stat *st);

/* Finds the canonical name of what the first `length` bytes of a name mean:
 * without links, "." and "..", as far as it exists, and as it will be from
 * there on. Returns 0, or -1 with the reason. */
struct path_text;
int resolve_canonical(struct path_text *path, const char *name, size_t length,
                      struct err *err);

/* A component of a name that is too long, and a NUL. */
enum { RESOLVE_BASE = NAME_MAX + 2 };

/* Where a file is that is to be written. */
struct location {
    int directory;           /* that it stands in, opened with O_PATH */
    char base[RESOLVE_BASE]; /* its name in there: no link, but for `magic` */
    bool exists;
    bool magic;     /* the name led through a link of /proc to an open file */
    struct stat st; /* of the file, if it exists */
};

/* What is done where directories are missing. */
enum resolve_missing {
    RESOLVE_FAIL,
    RESOLVE_MAKE,
    RESOLVE_NEAREST, /* find where the first of them would be made */
};

/* Finds where the file of a name is, or would be made. After success the caller
 * closes location->directory.
 * A link of /proc to what is not a regular file, such as /proc/self/fd/1, is
 * not followed: base is the link, and st is what it leads to.
 * Returns 0, or -1 with the reason. */
int resolve_file(struct root *root, const char *name, enum resolve_missing way,
                 struct location *location, struct err *err);

#endif
