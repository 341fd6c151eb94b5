/* A root: a directory that names are confined to. */
#include "cli/files/root.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Opens a directory, which is made if `make`. */
static int open_directory(const char *name, bool make, struct err *err)
{
    static const struct path_rules none = { 0 };
    struct path_walk walk = {
        .rules = &none,
        .directory = AT_FDCWD,
        .make = make,
        .follow = true,
        .err = err,
    };
    char with_slash[PATH_MAX]; /* a name that ends in one is a directory's */
    int fd = path_walk_open(&none, AT_FDCWD, name, PATH_WALK_DIRECTORY);
    if (fd >= 0)
        return fd;
    if (*name == '\0')
        return path_walk_fail(err, ENOENT);
    if (strlen(name) + 1 >= sizeof with_slash)
        return path_walk_fail(err, ENAMETOOLONG);
    strcpy(stpcpy(with_slash, name), "/");
    return path_walk(&walk, with_slash) ? -1 : walk.fd;
}

static int open_root(struct root *root, struct err *err)
{
    pthread_mutex_init(&root->making, NULL);
    int fd = open_directory(root->name, false, err);
    atomic_store(&root->fd, root->reopened ? -1 : fd);
    if (fd >= 0 && root->reopened)
        close(fd);
    return fd < 0 ? -1 : 0;
}

int root_open(struct root *root, const char *name, bool prefixed,
              struct err *err)
{
    *root = (struct root){
        .rules = { .root = name },
        .name = name,
        .prefixed = prefixed,
    };
    return open_root(root, err) && errno != ENOENT ? -1 : 0;
}

int root_open_walked(struct root *root, const char *name, enum root_links links,
                     bool kept, struct err *err)
{
    *root = (struct root){
        .rules = { .root = name, .refuse_links = true },
        .name = name,
        .prefixed = true,
        .links = links,
        .reopened = !kept,
    };
    return open_root(root, err);
}

void root_close(struct root *root)
{
    int fd = atomic_exchange(&root->fd, -1);
    if (fd >= 0)
        close(fd);
    pthread_mutex_destroy(&root->making);
}

/* Makes the directory, unless another thread has. Returns its descriptor, or -1
 * with the reason. */
static int make_directory(struct root *root, struct err *err)
{
    pthread_mutex_lock(&root->making);
    int fd = atomic_load(&root->fd);
    if (fd < 0) {
        fd = open_directory(root->name, true, err);
        atomic_store(&root->fd, fd);
    }
    pthread_mutex_unlock(&root->making);
    return fd;
}

int root_enter(struct root *root, const char **name, bool make, struct err *err)
{
    if (root->prefixed) {
        size_t n = strlen(root->name);
        if (strncmp(*name, root->name, n) != 0 ||
            (n && root->name[n - 1] != '/' && (*name)[n] != '/'))
            return path_walk_fail_outside(err, root->name);
        *name += n + strspn(*name + n, "/");
    }
    if (root->reopened)
        return open_directory(root->name, false, err);
    int fd = atomic_load(&root->fd);
    if (fd >= 0)
        return fd;
    return make ? make_directory(root, err) : path_walk_fail(err, ENOENT);
}

void root_leave(const struct root *root, int directory)
{
    int why = errno;
    if (root->reopened)
        close(directory);
    errno = why;
}
