/* What a root is: a directory that names are confined to. cli/files/resolve.h
 * opens it, and what lies below it. */
#ifndef CLI_FILES_ROOT_H
#define CLI_FILES_ROOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Which links are followed on the way from a root. */
enum root_links {
    ROOT_LINKS_INSIDE,  /* those that lead to what is inside, too */
    ROOT_LINKS_TO_FILE, /* the last component alone, wherever it leads to; what
                           is written is none */
    ROOT_LINKS_NONE,
};

/* A directory that names are confined to. Functions that take a root take NULL
 * for none: names are then as the system takes them. */
struct root {
    const char *name;
    bool prefixed; /* names begin with that of the root, and only what is
                      behind it is looked at; else they are relative to it */
    enum root_links links;
    bool stepwise; /* never use openat2(), for tests */
    bool reopened; /* for every name: it is not kept open */
    atomic_int fd; /* -1: the directory does not exist yet, or is reopened */
    pthread_mutex_t making;
};

#endif
