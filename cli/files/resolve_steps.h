/* Walks the way that a name leads, a component at a time; see cli/files/resolve.h,
 * whose part it is. */
#ifndef CLI_FILES_RESOLVE_STEPS_H
#define CLI_FILES_RESOLVE_STEPS_H

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "cli/files/root.h"
#include "codecs/base/err.h"

/* How a directory on the way is opened. */
enum { DIRECTORY = O_PATH | O_DIRECTORY | O_CLOEXEC };

struct walker {
    /* What to do: */
    const struct root *root; /* NULL: the name is not confined */
    int start;               /* where a relative name starts */
    bool make;               /* directories that are missing */
    bool follow;             /* also the last component, if it is a link */
    struct err *err;
    /* Where it came to: */
    int fd;                  /* the directory that was reached */
    char base[NAME_MAX + 1]; /* the last component; "" if the name ends in a
                                directory, which is the one that was reached */
    bool magic;              /* a link of /proc was the last component */
    struct stat opened;      /* what that led to */
    /* On the way: */
    unsigned links; /* that were followed */
    bool last;      /* nothing comes after `base` */
    size_t ntrail;
    char trail[PATH_MAX]; /* the names of the directories from the root to the
                             one that was reached, without links */
    char rest[PATH_MAX];  /* what is left of the name */
};

/* Walks to the last component of a name, which need not exist. After success
 * the caller closes w->fd.
 * Returns 0, or -1 with the reason and errno. */
int walker_go(struct walker *w, const char *name);

/* Return -1 with the reason: an errno, which it sets; that a name leaves its
 * root. */
int walker_refuse(struct walker *w, int why);
int walker_refuse_outside(struct walker *w);

#endif
