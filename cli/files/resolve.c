/* Opens what a name leads to. */
#include "cli/files/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- Names without links ------------------------------------------------
 *
 * path_walk_open() follows no link at all, which is enough for nearly all
 * names. path_walk() goes through a name one component at a time and follows
 * links itself. No system call does what that is needed for: to check who owns
 * a link in the middle of a name, to make missing directories, and to find the
 * directory of the file that a link leads to. Each directory is held by a
 * descriptor, so one that is replaced by a link meanwhile is not entered. */

enum { DIRECTORY = O_PATH | O_DIRECTORY | O_CLOEXEC }; /* flags of open() */

/* Return -1 and set the reason and errno: to an errno, and for a name that
 * leads out of its root. */
static int path_walk_fail(struct err *err, int why)
{
    errno = why;
    return fail_system(err, NULL);
}

static int path_walk_fail_outside(struct err *err, const char *root)
{
    fail_unread(err, "its name leads out of %s", root);
    errno = EXDEV;
    return -1;
}

/* Opens a name that leads through no links. The flags create nothing. Returns a
 * descriptor; on failure -1 and sets errno: ELOOP if only path_walk() can tell,
 * EXDEV if the name leaves its root. */
static int path_walk_open(const struct path_rules *rules, int directory,
                          const char *name, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
        .resolve = RESOLVE_NO_SYMLINKS | (rules->root ? RESOLVE_BENEATH : 0),
    };
    long fd = -1;
    errno = ENOSYS;
    if (!rules->avoid_openat2)
        fd = syscall(SYS_openat2, directory, name, &how, sizeof how);
    /* Kernels before 5.6 lack it, and sandboxes forbid it; EAGAIN is for ".."
     * while something was renamed. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
        errno = ELOOP;
    return (int)fd;
}

/* ---- Directories on the way --------------------------------------------- */

struct path_walk {
    const struct path_rules *rules;
    int directory; /* where a relative name starts */
    bool make;     /* make missing directories */
    bool nearest;  /* end at the first of them, which is `base` then */
    bool follow;   /* follow the last component, too, if it is a link */
    struct err *err;
    /* The result, whose directory the caller closes. The last component need
     * not exist; "" if the name ends in a directory, which is that of the
     * result. With `magic` it was a link in /proc to something open, which is
     * `st`. */
    struct location at;
    /* Used on the way: */
    unsigned links;       /* followed so far */
    bool last;            /* nothing comes after `base` */
    char trail[PATH_MAX]; /* the way from the root to `fd`, without links */
    char rest[PATH_MAX];  /* what is left of the name, */
    const char *next;     /* from here on */
};

/* Makes an opened directory the one that was reached. */
static int reach(struct path_walk *w, int fd)
{
    if (fd < 0)
        return path_walk_fail(w->err, errno);
    if (w->at.directory >= 0)
        close(w->at.directory);
    w->at.directory = fd;
    return 0;
}

/* Goes to where the name starts. */
static int begin(struct path_walk *w)
{
    *w->trail = '\0';
    if (*w->next != '/')
        return reach(w, openat(w->directory, ".", DIRECTORY));
    if (w->rules->root)
        return path_walk_fail_outside(w->err, w->rules->root);
    return reach(w, open("/", DIRECTORY));
}

/* Puts some text before what is left of the name. */
static int put_before_rest(struct path_walk *w, const char *text, size_t n)
{
    size_t left = strlen(w->next);
    if (n + left >= sizeof w->rest)
        return path_walk_fail(w->err, ENAMETOOLONG);
    memmove(w->rest + n, w->next, left + 1);
    memcpy(w->rest, text, n);
    w->next = w->rest;
    return 0;
}

/* Within a root the parent is reached by going down again from the root: the
 * directory that was reached may have been moved elsewhere. */
static int go_up(struct path_walk *w)
{
    if (!w->rules->root)
        return reach(w, openat(w->at.directory, "..", DIRECTORY));
    if (*w->trail == '\0')
        return path_walk_fail_outside(w->err, w->rules->root);
    const char *slash = strrchr(w->trail, '/');
    size_t n = slash ? (size_t)(slash - w->trail) : 0;
    return put_before_rest(w, n ? w->trail : "./", n ? n + 1 : 2) || begin(w)
               ? -1
               : 0;
}

static int go_down(struct path_walk *w)
{
    size_t n = strlen(w->trail);
    if (n + 1 + strlen(w->at.base) >= sizeof w->trail)
        return path_walk_fail(w->err, ENAMETOOLONG);
    if (n)
        w->trail[n++] = '/';
    strcpy(w->trail + n, w->at.base);
    return reach(w,
                 openat(w->at.directory, w->at.base, DIRECTORY | O_NOFOLLOW));
}

/* ---- Links -------------------------------------------------------------- */

/* As many links as the kernel follows on the way to one file. */
enum { LINKS_MAX = 40 };

/* Puts what a link says in its place. In directories that all may write to the
 * rule of fs.protected_symlinks holds, which the kernel applies to the last
 * component only, and only if it is told to. */
static int follow_link(struct path_walk *w, const struct stat *link)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    char text[PATH_MAX];
    struct stat directory;
    if (++w->links > LINKS_MAX)
        return path_walk_fail(w->err, ELOOP);
    if (fstat(w->at.directory, &directory))
        return path_walk_fail(w->err, errno);
    if ((directory.st_mode & shared) == shared && link->st_uid != geteuid() &&
        link->st_uid != directory.st_uid) {
        fail_unread(w->err,
                    "%s is a link that another user put into a directory "
                    "that all may write to; it is not followed",
                    w->at.base);
        errno = EACCES;
        return -1;
    }
    ssize_t n = readlinkat(w->at.directory, w->at.base, text, sizeof text);
    if (n < 0)
        return path_walk_fail(w->err, errno);
    if (put_before_rest(w, text, (size_t)n))
        return -1;
    return *text == '/' ? begin(w) : 0;
}

/* ---- The walk ----------------------------------------------------------- */

enum step { STEP_FAILED = -1, STEP_ON, STEP_THERE };

/* A link that is the last component and stands in /proc leads to something that
 * is open, which need not have a name. */
static enum step step_link(struct path_walk *w, const struct stat *st)
{
    struct statfs fs;
    if (w->rules->refuse_links) {
        fail_unread(w->err, "%s has become a link, which is not followed",
                    w->at.base);
        errno = ELOOP;
        return STEP_FAILED;
    }
    if (w->last && fstatfs(w->at.directory, &fs) == 0 &&
        fs.f_type == PROC_SUPER_MAGIC) {
        if (w->rules->root)
            return (enum step)path_walk_fail(w->err, ELOOP);
        if (fstatat(w->at.directory, w->at.base, &w->at.st, 0))
            return (enum step)path_walk_fail(w->err, errno);
        w->at.magic = true;
        if (!S_ISREG(w->at.st.st_mode))
            return STEP_THERE;
    }
    return follow_link(w, st) ? STEP_FAILED : STEP_ON;
}

/* Goes on by a component, and makes a directory that is missing. The walk ends
 * at one that cannot be looked at, which is where it was to go if it is
 * missing, and the last one or a directory not to be made. */
static enum step step(struct path_walk *w)
{
    struct stat st;
    if (strcmp(w->at.base, ".") == 0)
        return STEP_ON;
    if (strcmp(w->at.base, "..") == 0)
        return go_up(w) ? STEP_FAILED : STEP_ON;
    int why = fstatat(w->at.directory, w->at.base, &st, AT_SYMLINK_NOFOLLOW)
                  ? errno
                  : 0;
    if (why == ENOENT && w->make && !w->last) {
        const bool made = mkdirat(w->at.directory, w->at.base, 0777) == 0;
        w->at.made += made;
        why = made || errno == EEXIST ? 0 : errno;
        if (why == 0 &&
            fstatat(w->at.directory, w->at.base, &st, AT_SYMLINK_NOFOLLOW))
            why = errno;
    }
    if (why == ENOENT && (w->last || w->nearest))
        return STEP_THERE;
    if (why) {
        path_walk_fail(w->err, why);
        if (w->make && !w->last)
            fail(w->err, "its directory cannot be made: %s", strerror(why));
        return STEP_FAILED;
    }
    if (S_ISLNK(st.st_mode) && (!w->last || w->follow))
        return step_link(w, &st);
    if (w->last)
        return STEP_THERE;
    if (!S_ISDIR(st.st_mode))
        return (enum step)path_walk_fail(w->err, ENOTDIR);
    return go_down(w) ? STEP_FAILED : STEP_ON;
}

/* Leaves the directories to the kernel if no links are among them. Returns
 * false if there may be some, or if the last component is one that is to be
 * followed. */
static bool go_at_once(struct path_walk *w, const char *name)
{
    struct stat st;
    const char *base = strrchr(name, '/');
    base = base ? base + 1 : name;
    size_t n = (size_t)(base - name);
    if (!*base || strlen(base) > NAME_MAX || strcmp(base, ".") == 0 ||
        strcmp(base, "..") == 0)
        return false;
    memcpy(w->rest, name, n);
    strcpy(w->rest + n, n ? "" : ".");
    w->at.directory =
        path_walk_open(w->rules, w->directory, w->rest, DIRECTORY);
    if (w->at.directory < 0)
        return false;
    strcpy(w->at.base, base);
    if (!w->follow || (fstatat(w->at.directory, base, &st, AT_SYMLINK_NOFOLLOW)
                           ? errno == ENOENT
                           : !S_ISLNK(st.st_mode)))
        return true;
    close(w->at.directory);
    return false;
}

/* Walks to the last component of a name. Returns 0; on failure -1, and sets the
 * reason and errno. */
static int path_walk(struct path_walk *w, const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n >= sizeof w->rest)
        return path_walk_fail(w->err, n ? ENAMETOOLONG : ENOENT);
    if (go_at_once(w, name))
        return 0;
    w->at.directory = -1;
    memcpy(w->rest, name, n + 1);
    w->next = w->rest;
    enum step status = begin(w) ? STEP_FAILED : STEP_ON;
    while (status == STEP_ON) {
        w->next += strspn(w->next, "/");
        n = strcspn(w->next, "/");
        if (n == 0)
            return 0;
        /* Of one that is too long so much that the kernel says so. */
        snprintf(w->at.base, sizeof w->at.base, "%.*s", (int)n, w->next);
        w->next += n;
        w->last = *w->next == '\0';
        status = step(w);
    }
    if (status == STEP_THERE)
        return 0;
    int why = errno;
    if (w->at.directory >= 0)
        close(w->at.directory);
    errno = why;
    return -1;
}

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
    int fd = path_walk_open(&none, AT_FDCWD, name, DIRECTORY);
    if (fd >= 0)
        return fd;
    if (*name == '\0')
        return path_walk_fail(err, ENOENT);
    if (strlen(name) + 1 >= sizeof with_slash)
        return path_walk_fail(err, ENAMETOOLONG);
    strcpy(stpcpy(with_slash, name), "/");
    return path_walk(&walk, with_slash) ? -1 : walk.at.directory;
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
    int fd = openat(walk.at.directory, *walk.at.base ? walk.at.base : ".",
                    flags | (to_system ? 0 : O_NOFOLLOW) | O_CLOEXEC);
    if (fd < 0)
        path_walk_fail(err, errno);
    int why = errno;
    close(walk.at.directory);
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

/* Walks, and looks at what stands where that has ended. */
static int find(struct path_walk *walk, const char *name,
                struct location *location)
{
    struct location *at = &walk->at;
    int why = 0;
    walk->follow = true;
    if (path_walk(walk, name)) {
        location->made = at->made;
        return errno == ENOENT && !walk->make
                   ? fail(walk->err, "its directory does not exist")
                   : -1;
    }
    const struct stat opened = at->st;
    const bool by_link = at->magic && !S_ISREG(opened.st_mode);
    if (!*at->base)
        strcpy(at->base, ".");
    at->exists = by_link || fstatat(at->directory, at->base, &at->st,
                                    AT_SYMLINK_NOFOLLOW) == 0;
    if (!at->exists && errno != ENOENT)
        why = errno;
    else if (at->exists && S_ISLNK(at->st.st_mode) && !by_link)
        why = ELOOP;
    /* The open file may have lost its name, and another may have it. */
    else if (at->magic && !by_link &&
             (!at->exists || at->st.st_dev != opened.st_dev ||
              at->st.st_ino != opened.st_ino))
        why = ENOENT;
    *location = *at;
    if (!why)
        return 0;
    close(at->directory);
    return path_walk_fail(walk->err, why);
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
