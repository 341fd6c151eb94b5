/* A root: a directory that names are confined to. A name that leaves it by
 * "..", by a link, or by being absolute is refused; links and ".." that stay
 * inside are followed. A directory that was walked is a stricter root: where
 * the walk came through directories, no link is followed afterwards.
 *
 * Functions that take a root take NULL for none: names may then lead anywhere.
 */
#ifndef CLI_FILES_ROOT_H
#define CLI_FILES_ROOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cli/files/path_walk.h"
#include "codecs/base/err.h"

/* Which links are followed on the way from a root. */
enum root_links {
    ROOT_LINKS_INSIDE,  /* all that stay inside */
    ROOT_LINKS_TO_FILE, /* the last component alone, wherever it leads; not when
                           a file is written */
    ROOT_LINKS_NONE,
};

struct root {
    struct path_rules rules;
    const char *name;
    bool prefixed; /* names begin with that of the root; else they are relative
                      to it */
    enum root_links links;
    bool
        reopened; /* the directory is not kept open, but opened for each name */
    atomic_int fd; /* -1: the directory does not exist yet, or is reopened */
    pthread_mutex_t making;
};

/* Opens the directory `name`, which must outlive the root. If it does not
 * exist, it is made when the first file is written below it. If `prefixed`,
 * names begin with that of the root. Returns 0, or -1 with the reason;
 * root_close() is fine after both. */
int root_open(struct root *root, const char *name, bool prefixed,
              struct err *err);

/* Opens a directory that is about to be walked, for the names that are found in
 * it, which begin with its own. It is kept open if `kept`; otherwise each name
 * opens it anew, which saves a descriptor.
 * Returns 0, or -1 with the reason; root_close() is fine after both. */
int root_open_walked(struct root *root, const char *name, enum root_links links,
                     bool kept, struct err *err);

void root_close(struct root *root);

/* Takes the root off a name that begins with it, and makes the directory if it
 * is missing and `make`.
 * Returns the descriptor from which the rest of the name starts, which
 * root_leave() takes back, or -1 with the reason and errno. */
int root_enter(struct root *root, const char **name, bool make,
               struct err *err);

/* Leaves errno alone. */
void root_leave(const struct root *root, int directory);

#endif
