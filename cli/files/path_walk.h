/* Opens names without trusting the links in them.
 *
 * path_walk_open() follows no link at all, which is enough for nearly all
 * names. path_walk() goes through a name one component at a time and follows
 * links itself. No system call does what that is needed for: to check who owns
 * a link in the middle of a name, to make missing directories, and to find the
 * directory of the file that a link leads to. Each directory is held by a
 * descriptor, so one that is replaced by a link meanwhile is not entered. */
#ifndef CLI_FILES_PATH_WALK_H
#define CLI_FILES_PATH_WALK_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "codecs/base/err.h"

enum {
    PATH_WALK_DIRECTORY =
        O_PATH | O_DIRECTORY | O_CLOEXEC, /* flags of open() */
    PATH_WALK_BASE = NAME_MAX + 2, /* a component that is too long, and a NUL */
};

/* What a name may lead through. {0}: anything. */
struct path_rules {
    const char *root;   /* names must not leave the directory where they
                           start; this is its name in messages */
    bool refuse_links;  /* a link is an error */
    bool avoid_openat2; /* act as if the kernel had no openat2(), for tests */
};

struct path_walk {
    const struct path_rules *rules;
    int directory; /* where a relative name starts */
    bool make;     /* make missing directories */
    bool nearest;  /* end at the first of them, which is `base` then */
    bool follow;   /* follow the last component, too, if it is a link */
    struct err *err;
    /* The result: */
    int fd; /* the directory of the last component; the caller closes it */
    char
        base[PATH_WALK_BASE]; /* the last component, which need not exist; "" if
                                 the name ends in a directory, which is `fd` */
    unsigned made;            /* directories that were made */
    bool magic; /* the last component was a link in /proc to something open, */
    struct stat opened; /* which is this */
    /* Used on the way: */
    unsigned links;       /* followed so far */
    bool last;            /* nothing comes after `base` */
    char trail[PATH_MAX]; /* the way from the root to `fd`, without links */
    char rest[PATH_MAX];  /* what is left of the name, */
    const char *next;     /* from here on */
};

/* Opens a name that leads through no links. The flags are those of open() and
 * create nothing.
 * Returns a descriptor. On failure it returns -1 and sets errno: ELOOP if only
 * path_walk() can tell, EXDEV if the name leaves its root. */
int path_walk_open(const struct path_rules *rules, int directory,
                   const char *name, int flags);

/* Walks to the last component of a name.
 * Returns 0. On failure it returns -1 and sets the reason and errno. */
int path_walk(struct path_walk *walk, const char *name);

/* Return -1 and set the reason and errno: to an errno, and for a name that
 * leads out of its root. */
int path_walk_fail(struct err *err, int why);
int path_walk_fail_outside(struct err *err, const char *root);

#endif
