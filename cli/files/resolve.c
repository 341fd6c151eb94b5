/* Opens what a name leads to. */
#include "cli/files/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Names may lead anywhere. */
static const struct path_rules none = { 0 };

/* ---- Roots -------------------------------------------------------------- */

/* Opens a directory, which is made if `make`. */
static int open_directory(const char *name, bool make, struct err *err)
{
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

/* Takes the root off a name that begins with it, and makes the directory if it
 * is missing and `make`. Returns the descriptor from which the rest of the name
 * starts, which leave() takes back, or -1 with the reason and errno. */
static int enter(struct root *root, const char **name, bool make,
                 struct err *err)
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

/* Leaves errno alone. */
static void leave(const struct root *root, int directory)
{
    int why = errno;
    if (root->reopened)
        close(directory);
    errno = why;
}

/* ---- What is there ------------------------------------------------------ */

/* Opens what a name leads to through links. With ROOT_LINKS_TO_FILE the last
 * link is the system's to follow. */
static int open_by_walk(const struct root *root, int directory,
                        const char *name, int flags, struct err *err)
{
    bool to_system = root->links == ROOT_LINKS_TO_FILE && !(flags & O_NOFOLLOW);
    struct path_walk walk = {
        .rules = &root->rules,
        .directory = directory,
        .follow = !(flags & O_NOFOLLOW) && !to_system,
        .err = err,
    };
    if (path_walk(&walk, name))
        return -1;
    int fd = openat(walk.fd, *walk.base ? walk.base : ".",
                    flags | (to_system ? 0 : O_NOFOLLOW) | O_CLOEXEC);
    if (fd < 0)
        path_walk_fail(err, errno);
    int why = errno;
    close(walk.fd);
    errno = why;
    return fd;
}

static int open_within(const struct root *root, int directory, const char *name,
                       int flags, struct err *err)
{
    int fd = path_walk_open(&root->rules, directory, name, flags);
    if (fd < 0 && errno == ELOOP)
        return open_by_walk(root, directory, name, flags, err);
    if (fd < 0 && errno == EXDEV)
        return path_walk_fail_outside(err, root->name);
    return fd < 0 ? path_walk_fail(err, errno) : fd;
}

int resolve_open(struct root *root, const char *name, int flags,
                 struct err *err)
{
    if (!root) {
        int fd = open(name, flags | O_CLOEXEC);
        return fd < 0 ? path_walk_fail(err, errno) : fd;
    }
    int directory = enter(root, &name, false, err);
    if (directory < 0)
        return -1;
    int fd = open_within(root, directory, name, flags, err);
    leave(root, directory);
    return fd;
}

bool resolve_stat(struct root *root, const char *name, bool follow,
                  struct stat *st)
{
    struct err err;
    if (!root)
        return fstatat(AT_FDCWD, name, st, follow ? 0 : AT_SYMLINK_NOFOLLOW) ==
               0;
    int fd = resolve_open(root, name, O_PATH | (follow ? 0 : O_NOFOLLOW), &err);
    bool found = fd >= 0 && fstat(fd, st) == 0;
    if (fd >= 0)
        close(fd);
    return found;
}

/* ---- Files to write ----------------------------------------------------- */

/* Looks at what stands where a walk has ended. */
static int look(struct path_walk *w, struct location *location)
{
    *location = (struct location){ .directory = w->fd,
                                   .made = w->made,
                                   .magic = w->magic };
    strcpy(location->base, *w->base ? w->base : ".");
    bool by_link = w->magic && !S_ISREG(w->opened.st_mode);
    if (by_link)
        location->st = w->opened;
    location->exists = by_link || fstatat(w->fd, location->base, &location->st,
                                          AT_SYMLINK_NOFOLLOW) == 0;
    if (!location->exists && errno != ENOENT)
        return path_walk_fail(w->err, errno);
    if (location->exists && S_ISLNK(location->st.st_mode) && !by_link)
        return path_walk_fail(w->err, ELOOP);
    /* The open file may have lost its name, and another may have it. */
    if (w->magic && !by_link &&
        (!location->exists || location->st.st_dev != w->opened.st_dev ||
         location->st.st_ino != w->opened.st_ino))
        return path_walk_fail(w->err, ENOENT);
    return 0;
}

static int find(struct path_walk *walk, const char *name,
                struct location *location)
{
    walk->follow = true;
    if (path_walk(walk, name)) {
        location->made = walk->made;
        return errno == ENOENT && !walk->make
                   ? fail(walk->err, "its directory does not exist")
                   : -1;
    }
    if (look(walk, location) == 0)
        return 0;
    close(walk->fd);
    return -1;
}

/* The same from the directory `start` of a root. */
static int find_within(struct root *root, int start, struct path_walk *walk,
                       const char *name, struct location *location)
{
    walk->rules = &root->rules;
    walk->directory = start;
    int status = find(walk, name, location);
    leave(root, start);
    return status;
}

int resolve_file(struct root *root, const char *name, bool make,
                 struct location *location, struct err *err)
{
    struct path_walk walk = {
        .rules = &none, .directory = AT_FDCWD, .make = make, .err = err
    };
    if (!root)
        return find(&walk, name, location);
    int start = enter(root, &name, make, err);
    location->made = 0;
    return start < 0 ? -1 : find_within(root, start, &walk, name, location);
}

int resolve_nearest(struct root *root, const char *name,
                    struct location *location, struct err *err)
{
    struct path_walk walk = {
        .rules = &none, .directory = AT_FDCWD, .nearest = true, .err = err
    };
    if (!root)
        return find(&walk, name, location);
    int start = enter(root, &name, false, err);
    if (start >= 0)
        return find_within(root, start, &walk, name, location);
    return errno == ENOENT ? find(&walk, root->name, location) : -1;
}
