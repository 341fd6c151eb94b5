/* Finds files by the directories that their names lead through. */
#include "cli/files/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/files/resolve_steps.h"

/* ---- What needs no walking ---------------------------------------------- */

/* A name without links; -1 also if there are some. (RESOLVE_NO_SYMLINKS keeps
 * from magic links, too.) A process may be kept from calling openat2() by
 * EPERM; then, as in all other cases, it is the walker that says why not. */
static int open_quickly(const struct root *root, int start, const char *name,
                        int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                   (root ? RESOLVE_BENEATH : 0),
    };
    if (root && root->stepwise)
        return -1;
    return (int)syscall(SYS_openat2, start, name, &how, sizeof how);
}

/* Opens the directory that a name ends in, if no links lead there; -1 also if
 * it ends in none of a file. Gives the last component. */
static int open_directory_quickly(const struct root *root, int start,
                                  const char *name, const char **last)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(name, '/');
    const char *base = *last = slash ? slash + 1 : name;
    size_t n = (size_t)(base - name);
    if (!*base || strlen(base) > NAME_MAX || strcmp(base, ".") == 0 ||
        strcmp(base, "..") == 0 || n >= sizeof directory)
        return -1;
    memcpy(directory, name, n);
    strcpy(directory + n, n ? "" : ".");
    return open_quickly(root, start, directory, DIRECTORY);
}

/* Finds the directory and the last component of a name without links. */
static bool find_quickly(const struct root *root, int start, const char *name,
                         struct location *location)
{
    const char *base;
    int fd = open_directory_quickly(root, start, name, &base);
    if (fd < 0)
        return false;
    *location = (struct location){ .directory = fd };
    strcpy(location->base, base);
    location->exists =
        fstatat(fd, base, &location->st, AT_SYMLINK_NOFOLLOW) == 0;
    if (location->exists ? !S_ISLNK(location->st.st_mode) : errno == ENOENT)
        return true;
    close(fd);
    return false;
}

/* ---- Roots -------------------------------------------------------------- */

/* Opens a directory, which is made if `make`. */
static int open_directory(const char *name, bool make, struct err *err)
{
    struct walker w = {
        .start = AT_FDCWD,
        .make = make,
        .follow = true,
        .err = err,
    };
    char within[PATH_MAX];
    int fd = open_quickly(NULL, AT_FDCWD, name, DIRECTORY);
    if (fd >= 0)
        return fd;
    /* What has a slash behind it is a directory. */
    if (*name == '\0' || strlen(name) + 1 >= sizeof within)
        return walker_refuse(&w, *name ? ENAMETOOLONG : ENOENT);
    strcpy(stpcpy(within, name), "/");
    return walker_go(&w, within) ? -1 : w.fd;
}

int root_open(struct root *root, const char *name, bool prefixed,
              struct err *err)
{
    *root = (struct root){ .name = name, .prefixed = prefixed };
    pthread_mutex_init(&root->making, NULL);
    int fd = open_directory(name, false, err);
    atomic_store(&root->fd, fd);
    return fd < 0 && errno != ENOENT ? -1 : 0;
}

int root_open_walked(struct root *root, const char *name, enum root_links links,
                     bool kept, struct err *err)
{
    *root = (struct root){
        .name = name,
        .prefixed = true,
        .links = links,
        .reopened = !kept,
    };
    pthread_mutex_init(&root->making, NULL);
    int fd = open_directory(name, false, err);
    atomic_store(&root->fd, kept ? fd : -1);
    if (fd >= 0 && !kept)
        close(fd);
    return fd < 0 ? -1 : 0;
}

/* Makes the directory, unless it is there. */
static int make_root(struct root *root, struct err *err)
{
    pthread_mutex_lock(&root->making);
    int fd = atomic_load(&root->fd);
    if (fd < 0) {
        fd = open_directory(root->name, true, err);
        atomic_store(&root->fd, fd);
    }
    pthread_mutex_unlock(&root->making);
    return fd < 0 ? -1 : 0;
}

void root_close(struct root *root)
{
    int fd = atomic_exchange(&root->fd, -1);
    if (fd >= 0)
        close(fd);
    pthread_mutex_destroy(&root->making);
}

/* Takes the root off a name.
 * Returns where what is left starts, which leave_root() takes back, or -1 with
 * the reason. */
static int enter_root(struct root *root, const char **name, bool make,
                      struct err *err)
{
    struct walker w = { .root = root, .err = err };
    if (!root)
        return AT_FDCWD;
    if (root->prefixed) {
        size_t n = strlen(root->name);
        if (strncmp(*name, root->name, n) != 0 ||
            (n && root->name[n - 1] != '/' && (*name)[n] != '/'))
            return walker_refuse_outside(&w);
        *name += n + strspn(*name + n, "/");
    }
    if (root->reopened)
        return open_directory(root->name, false, err);
    int fd = atomic_load(&root->fd);
    if (fd >= 0)
        return fd;
    if (!make)
        return walker_refuse(&w, ENOENT);
    return make_root(root, err) ? -1 : atomic_load(&root->fd);
}

/* Leaves errno alone. */
static void leave_root(const struct root *root, int start)
{
    int why = errno;
    if (root && root->reopened)
        close(start);
    errno = why;
}

/* ---- Names -------------------------------------------------------------- */

/* Whether a link as the last component is left to the system. */
static bool takes_link(const struct root *root, int flags)
{
    return root->links == ROOT_LINKS_TO_FILE && !(flags & O_NOFOLLOW);
}

/* A name without links before its last component. */
static int open_by_directory(const struct root *root, int start,
                             const char *name, int flags)
{
    const char *base;
    int directory = open_directory_quickly(root, start, name, &base);
    if (directory < 0)
        return -1;
    int fd = openat(directory, base, flags | O_CLOEXEC);
    close(directory);
    return fd;
}

/* Opens what a name leads to from a root, in steps. */
static int open_by_steps(const struct root *root, int start, const char *name,
                         int flags, struct err *err)
{
    bool to_system = takes_link(root, flags);
    struct walker w = {
        .root = root,
        .start = start,
        .follow = !(flags & O_NOFOLLOW) && !to_system,
        .err = err,
    };
    if (walker_go(&w, name))
        return -1;
    int fd = openat(w.fd, *w.base ? w.base : ".",
                    flags | (to_system ? 0 : O_NOFOLLOW) | O_CLOEXEC);
    if (fd < 0)
        walker_refuse(&w, errno);
    int why = errno;
    close(w.fd);
    errno = why;
    return fd;
}

static int open_within(const struct root *root, int start, const char *name,
                       int flags, struct err *err)
{
    int fd = open_quickly(root, start, name, flags);
    if (fd < 0 && takes_link(root, flags))
        fd = open_by_directory(root, start, name, flags);
    return fd < 0 ? open_by_steps(root, start, name, flags, err) : fd;
}

int resolve_open(struct root *root, const char *name, int flags,
                 struct err *err)
{
    if (!root) {
        struct walker w = { .err = err };
        int fd = open(name, flags | O_CLOEXEC);
        return fd < 0 ? walker_refuse(&w, errno) : fd;
    }
    int start = enter_root(root, &name, false, err);
    if (start < 0)
        return -1;
    int fd = open_within(root, start, name, flags, err);
    leave_root(root, start);
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

/* Says what stands at the end of the way. */
static int look(struct walker *w, struct location *location)
{
    *location = (struct location){ .directory = w->fd, .magic = w->magic };
    strcpy(location->base, *w->base ? w->base : ".");
    bool by_link = w->magic && !S_ISREG(w->opened.st_mode);
    if (by_link)
        location->st = w->opened;
    location->exists = by_link || fstatat(w->fd, location->base, &location->st,
                                          AT_SYMLINK_NOFOLLOW) == 0;
    if (!location->exists && errno != ENOENT)
        return walker_refuse(w, errno);
    if (location->exists && S_ISLNK(location->st.st_mode) && !by_link)
        return walker_refuse(w, ELOOP);
    if (w->magic && !by_link &&
        (!location->exists || location->st.st_dev != w->opened.st_dev ||
         location->st.st_ino != w->opened.st_ino))
        return walker_refuse(w, ENOENT);
    return 0;
}

static int find(const struct root *root, int start, const char *name, bool make,
                struct location *location, struct err *err)
{
    struct walker w = {
        .root = root,
        .start = start,
        .make = make,
        .follow = true,
        .err = err,
    };
    if (find_quickly(root, start, name, location))
        return 0;
    if (walker_go(&w, name)) {
        if (errno == ENOENT && !make)
            return fail(err, "its directory does not exist");
        return -1;
    }
    if (look(&w, location) == 0)
        return 0;
    close(w.fd);
    return -1;
}

int resolve_file(struct root *root, const char *name, bool make,
                 struct location *location, struct err *err)
{
    int start = enter_root(root, &name, make, err);
    if (start < 0 && start != AT_FDCWD)
        return -1;
    int status = find(root, start, name, make, location, err);
    leave_root(root, start);
    return status;
}
