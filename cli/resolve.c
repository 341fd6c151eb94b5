/* Finds files by the directories that their names lead through. */
#include "cli/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/resolve_steps.h"

/* ---- What needs no walking ---------------------------------------------- */

/* A name without links; -1 also if there are some. (RESOLVE_NO_SYMLINKS keeps
 * from magic links, too.) A process may be kept from calling openat2() by
 * EPERM; then, as in all other cases, it is the walker that says why not. */
static int open_quickly(const struct root *root, const char *name, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                   (root ? RESOLVE_BENEATH : 0),
    };
    if (root && root->stepwise)
        return -1;
    return (int)syscall(SYS_openat2, walker_start(root), name, &how,
                        sizeof how);
}

/* Finds the directory and the last component of a name without links. */
static bool find_quickly(const struct root *root, const char *name,
                         struct location *location)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    size_t n = (size_t)(base - name);
    if (!*base || strlen(base) > NAME_MAX || strcmp(base, ".") == 0 ||
        strcmp(base, "..") == 0 || n >= sizeof directory)
        return false;
    memcpy(directory, name, n);
    strcpy(directory + n, n ? "" : ".");
    int fd = open_quickly(root, directory, DIRECTORY);
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
    struct walker w = { .make = make, .follow = true, .err = err };
    char within[PATH_MAX];
    int fd = open_quickly(NULL, name, DIRECTORY);
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

/* Takes the root off a name, and sees that there is one. */
static int enter_root(struct root *root, const char **name, bool make,
                      struct err *err)
{
    struct walker w = { .root = root, .err = err };
    if (!root)
        return 0;
    if (root->prefixed) {
        size_t n = strlen(root->name);
        if (strncmp(*name, root->name, n) != 0 ||
            (n && root->name[n - 1] != '/' && (*name)[n] != '/'))
            return walker_refuse_outside(&w);
        *name += n + strspn(*name + n, "/");
    }
    if (atomic_load(&root->fd) >= 0)
        return 0;
    return make ? make_root(root, err) : walker_refuse(&w, ENOENT);
}

/* ---- Names -------------------------------------------------------------- */

int resolve_open(struct root *root, const char *name, int flags,
                 struct err *err)
{
    struct walker w = {
        .root = root,
        .follow = !(flags & O_NOFOLLOW),
        .err = err,
    };
    if (enter_root(root, &name, false, err))
        return -1;
    int fd =
        root ? open_quickly(root, name, flags) : open(name, flags | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    if (!root)
        return walker_refuse(&w, errno);
    if (walker_go(&w, name))
        return -1;
    fd = openat(w.fd, *w.base ? w.base : ".", flags | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        walker_refuse(&w, errno);
    int why = errno;
    close(w.fd);
    errno = why;
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

int resolve_file(struct root *root, const char *name, bool make,
                 struct location *location, struct err *err)
{
    struct walker w = {
        .root = root,
        .make = make,
        .follow = true,
        .err = err,
    };
    if (enter_root(root, &name, make, err))
        return -1;
    if (find_quickly(root, name, location))
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
