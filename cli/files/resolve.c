/* Opens what a name leads to. */
#include "cli/files/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/files/path.h"

/* A walk goes through a name one component at a time, and follows links itself.
 * No system call does what that is needed for: to check who owns a link in the
 * middle of a name, to make missing directories, and to find the directory of
 * the file that a link leads to. Each directory is held by a descriptor, so one
 * that is replaced by a link meanwhile is not entered. */

enum { DIRECTORY = O_PATH | O_DIRECTORY | O_CLOEXEC }; /* flags of open() */

/* Return -1 and set the reason and errno: to an errno, and for a name that
 * leads out of its root. */
static int fail_errno(struct err *err, int why)
{
    errno = why;
    return fail_system(err, NULL);
}

static int fail_outside(struct err *err, const struct root *root)
{
    fail_unread(err, "its name leads out of %s", root->name);
    errno = EXDEV;
    return -1;
}

static void close_only(int fd)
{
    int why = errno;
    close(fd);
    errno = why;
}

struct path_walk {
    const struct root *root; /* NULL: the name may lead anywhere */
    int start;               /* where a relative name starts */
    bool make;               /* make missing directories */
    bool nearest;            /* end at the first of them, which is `base` */
    bool follow;             /* the last component, too, if it is a link */
    struct err *err;
    struct location at; /* what was reached, and in the end the result */
    /* Used on the way: */
    unsigned links;       /* followed so far */
    struct stat opened;   /* what a link of /proc has led to */
    char trail[PATH_MAX]; /* the way from the root to `at`, without links */
    char rest[PATH_MAX];  /* what is left of the name, */
    const char *next;     /* from here on; "": `base` is the last component */
};

/* ---- Directories on the way --------------------------------------------- */

/* Makes an opened directory the one that was reached. */
static int reach(struct path_walk *w, int fd)
{
    if (fd < 0)
        return fail_errno(w->err, errno);
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
        return reach(w, openat(w->start, ".", DIRECTORY));
    if (w->root)
        return fail_outside(w->err, w->root);
    return reach(w, open("/", DIRECTORY));
}

/* Puts some text before what is left of the name. */
static int put_before_rest(struct path_walk *w, const char *text, size_t n)
{
    size_t left = strlen(w->next);
    if (n + left >= sizeof w->rest)
        return fail_errno(w->err, ENAMETOOLONG);
    memmove(w->rest + n, w->next, left + 1);
    memcpy(w->rest, text, n);
    w->next = w->rest;
    return 0;
}

/* ---- Links -------------------------------------------------------------- */

enum step { STEP_FAILED = -1, STEP_ON, STEP_THERE };

/* As many links as the kernel follows on the way to one file. */
enum { LINKS_MAX = 40 };

/* Puts what a link says in its place. One that is the last component and stands
 * in /proc leads to something that is open, which need not have a name. In
 * directories that all may write to the rule of fs.protected_symlinks holds,
 * which the kernel applies to the last component only, and only if it is told
 * to. */
static enum step follow_link(struct path_walk *w)
{
    const struct stat link = w->at.st;
    const mode_t shared = S_ISVTX | S_IWOTH;
    struct stat directory;
    struct statfs fs;
    char text[PATH_MAX];
    if (w->root && w->root->links != ROOT_LINKS_INSIDE) {
        fail_unread(w->err, "%s has become a link, which is not followed",
                    w->at.base);
        errno = ELOOP;
        return STEP_FAILED;
    }
    if (!*w->next && fstatfs(w->at.directory, &fs) == 0 &&
        fs.f_type == PROC_SUPER_MAGIC) {
        if (w->root)
            return (enum step)fail_errno(w->err, ELOOP);
        if (fstatat(w->at.directory, w->at.base, &w->at.st, 0))
            return (enum step)fail_errno(w->err, errno);
        w->at.magic = true;
        w->opened = w->at.st;
        if (!S_ISREG(w->at.st.st_mode))
            return STEP_THERE;
    }
    if (++w->links > LINKS_MAX)
        return (enum step)fail_errno(w->err, ELOOP);
    if (fstat(w->at.directory, &directory))
        return (enum step)fail_errno(w->err, errno);
    if ((directory.st_mode & shared) == shared && link.st_uid != geteuid() &&
        link.st_uid != directory.st_uid) {
        fail_unread(w->err,
                    "%s is a link that another user put into a directory "
                    "that all may write to; it is not followed",
                    w->at.base);
        errno = EACCES;
        return STEP_FAILED;
    }
    ssize_t n = readlinkat(w->at.directory, w->at.base, text, sizeof text);
    if (n < 0)
        return (enum step)fail_errno(w->err, errno);
    if (put_before_rest(w, text, (size_t)n))
        return STEP_FAILED;
    return *text == '/' ? (enum step)begin(w) : STEP_ON;
}

/* ---- The walk ----------------------------------------------------------- */

static bool look(struct path_walk *w)
{
    w->at.exists = fstatat(w->at.directory, w->at.base, &w->at.st,
                           AT_SYMLINK_NOFOLLOW) == 0;
    return w->at.exists;
}

/* Goes into a directory, or makes it, or follows the link to it. */
static enum step step_down(struct path_walk *w)
{
    const size_t n = strlen(w->trail);
    int fd = openat(w->at.directory, w->at.base, DIRECTORY | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT && w->make) {
        if (mkdirat(w->at.directory, w->at.base, 0777) == 0 || errno == EEXIST)
            fd = openat(w->at.directory, w->at.base, DIRECTORY | O_NOFOLLOW);
    }
    if (fd >= 0) {
        if ((size_t)snprintf(w->trail + n, sizeof w->trail - n, "%s%s",
                             n ? "/" : "", w->at.base) < sizeof w->trail - n)
            return (enum step)reach(w, fd);
        close(fd);
        return (enum step)fail_errno(w->err, ENAMETOOLONG);
    }
    const int why = errno;
    w->at.exists = false;
    if (why == ENOENT && w->nearest)
        return STEP_THERE;
    if (why == ENOTDIR || why == ELOOP)
        return look(w) && S_ISLNK(w->at.st.st_mode)
                   ? follow_link(w)
                   : (enum step)fail_errno(w->err, ENOTDIR);
    fail_errno(w->err, why);
    if (w->make)
        fail(w->err, "its directory cannot be made: %s", strerror(why));
    return STEP_FAILED;
}

/* Within a root the parent is reached by going down again from the root: the
 * directory that was reached may have been moved elsewhere. */
static enum step step(struct path_walk *w)
{
    const char *slash = strrchr(w->trail, '/');
    const size_t up = slash ? (size_t)(slash - w->trail) : 0;
    if (strcmp(w->at.base, ".") == 0)
        return STEP_ON;
    if (strcmp(w->at.base, "..") != 0 && *w->next)
        return step_down(w);
    if (strcmp(w->at.base, "..") != 0) {
        if (!look(w) && errno != ENOENT)
            return (enum step)fail_errno(w->err, errno);
        return w->at.exists && S_ISLNK(w->at.st.st_mode) && w->follow
                   ? follow_link(w)
                   : STEP_THERE;
    }
    if (w->root && *w->trail == '\0')
        return (enum step)fail_outside(w->err, w->root);
    if (w->root)
        return put_before_rest(w, up ? w->trail : "./", up ? up + 1 : 2)
                   ? STEP_FAILED
                   : (enum step)begin(w);
    w->trail[up] = '\0';
    return (enum step)reach(w, openat(w->at.directory, "..", DIRECTORY));
}

/* Walks to the last component of a name, which need not exist: w->at is where
 * that is, and the caller closes its directory. Of a name that ends in a
 * directory `base` is ".". Returns 0; on failure -1, and sets the reason and
 * errno. */
static int walk(struct path_walk *w, const char *name)
{
    size_t n = strlen(name);
    w->at = (struct location){ .directory = -1 };
    if (n == 0 || n >= sizeof w->rest)
        return fail_errno(w->err, n ? ENAMETOOLONG : ENOENT);
    memcpy(w->rest, name, n + 1);
    w->next = w->rest;
    enum step status = (enum step)begin(w);
    while (status == STEP_ON) {
        w->next += strspn(w->next, "/");
        n = strcspn(w->next, "/");
        if (n == 0) {
            strcpy(w->at.base, ".");
            w->at.exists = fstat(w->at.directory, &w->at.st) == 0;
            status = STEP_THERE;
            break;
        }
        /* Of one that is too long so much that the kernel says so. */
        snprintf(w->at.base, sizeof w->at.base, "%.*s", (int)n, w->next);
        w->next += n;
        status = step(w);
    }
    if (status == STEP_FAILED && w->at.directory >= 0)
        close_only(w->at.directory);
    return status == STEP_THERE ? 0 : -1;
}

/* ---- Roots -------------------------------------------------------------- */

/* Opens a directory, which is made if `make`. */
static int open_directory(const char *name, bool make, struct err *err)
{
    struct path_walk w = { .start = AT_FDCWD, .make = make, .err = err };
    char with_slash[PATH_MAX]; /* a name that ends in one is a directory's */
    if (*name == '\0')
        return fail_errno(err, ENOENT);
    if (strlen(name) + 1 >= sizeof with_slash)
        return fail_errno(err, ENAMETOOLONG);
    strcpy(stpcpy(with_slash, name), "/");
    return walk(&w, with_slash) ? -1 : w.at.directory;
}

int root_open(struct root *root, const char *name, enum root_links links,
              bool kept, struct err *err)
{
    *root = (struct root){ .name = name, .prefixed = true, .links = links };
    pthread_mutex_init(&root->making, NULL);
    int fd = open_directory(name, false, err);
    atomic_store(&root->fd, kept ? fd : -1);
    if (fd >= 0 && !kept)
        close(fd);
    return fd < 0 && (links != ROOT_LINKS_INSIDE || errno != ENOENT) ? -1 : 0;
}

void root_close(struct root *root)
{
    int fd = atomic_exchange(&root->fd, -1);
    if (fd >= 0)
        close(fd);
    pthread_mutex_destroy(&root->making);
}

/* Takes the root off a name that begins with it, and makes the directory,
 * unless another thread has. Returns the descriptor from which the rest of the
 * name starts, or -1 with the reason and errno. */
static int enter(struct root *root, const char **name, bool make,
                 struct err *err)
{
    if (root->prefixed) {
        size_t n = strlen(root->name);
        if (strncmp(*name, root->name, n) != 0 ||
            (n && root->name[n - 1] != '/' && (*name)[n] != '/'))
            return fail_outside(err, root);
        *name += n + strspn(*name + n, "/");
    }
    int fd = atomic_load(&root->fd);
    if (fd >= 0)
        return fd;
    if (root->links != ROOT_LINKS_INSIDE)
        return open_directory(root->name, false, err);
    if (!make)
        return fail_errno(err, ENOENT);
    pthread_mutex_lock(&root->making);
    fd = atomic_load(&root->fd);
    if (fd < 0) {
        fd = open_directory(root->name, true, err);
        atomic_store(&root->fd, fd);
    }
    pthread_mutex_unlock(&root->making);
    return fd;
}

/* Walks from a root, unless that is NULL. */
static int walk_from(struct path_walk *w, struct root *root, const char *name)
{
    w->root = root;
    w->start = root ? enter(root, &name, w->make, w->err) : AT_FDCWD;
    if (root && w->start < 0)
        return -1;
    int status = walk(w, name);
    if (root && w->start != atomic_load(&root->fd))
        close_only(w->start);
    return status;
}

/* ---- What is there ------------------------------------------------------ */

/* With ROOT_LINKS_TO_FILE the last link is the system's to follow. */
int resolve_open(struct root *root, const char *name, int flags,
                 struct err *err)
{
    const bool to_system =
        root && root->links == ROOT_LINKS_TO_FILE && !(flags & O_NOFOLLOW);
    struct path_walk w = { .follow = !(flags & O_NOFOLLOW) && !to_system,
                           .err = err };
    if (root && walk_from(&w, root, name))
        return -1;
    const int fd =
        root ? openat(w.at.directory, w.at.base,
                      flags | (to_system ? 0 : O_NOFOLLOW) | O_CLOEXEC)
             : open(name, flags | O_CLOEXEC);
    if (root)
        close_only(w.at.directory);
    return fd < 0 ? fail_errno(err, errno) : fd;
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

/* ---- Canonical names ----------------------------------------------------- */

/* Appends components to a canonical name, which are none of links. */
static void add_components(struct path_text *path, const char *name)
{
    while (*(name += strspn(name, "/"))) {
        const size_t n = strcspn(name, "/");
        const bool dots = n <= 2 && memcmp(name, "..", n) == 0;
        if (dots && n == 2)
            path->text[path->length =
                           path_split(path->text, path->length).ndirectory] =
                '\0';
        if (!dots && (path->length != 1 || *path->text != '/'))
            path_text_add(path, "/", 1);
        if (!dots)
            path_text_add(path, name, n);
        name += n;
    }
}

/* What cannot be walked, such as a loop of links, cannot be opened either, so
 * it does not matter which name it has. */
int resolve_canonical(struct path_text *path, const char *name, size_t length,
                      struct err *err)
{
    struct path_walk w = { .nearest = true, .follow = true, .err = err };
    struct path_text whole;
    path_text_set(&whole, "");
    if (*name != '/' || !length) {
        if (!getcwd(whole.text, sizeof whole.text))
            return fail(err, "the current directory has no name: %s",
                        strerror(errno));
        whole.length = strlen(whole.text);
        path_text_add(&whole, "/", 1);
    }
    path_text_add(&whole, name, length);
    if (!whole.cut && walk(&w, whole.text) == 0)
        close(w.at.directory);
    path_text_set(path, "/");
    if (!whole.cut) {
        add_components(path, w.trail);
        add_components(path, w.at.base);
        add_components(path, w.next);
    }
    return whole.cut || path->cut ? fail(err, "%.*s...: the name is too long",
                                         length < 200 ? (int)length : 200, name)
                                  : 0;
}

/* ---- Files to write ----------------------------------------------------- */

int resolve_file(struct root *root, const char *name, enum resolve_missing way,
                 struct location *location, struct err *err)
{
    struct path_walk w = { .make = way == RESOLVE_MAKE,
                           .nearest = way == RESOLVE_NEAREST,
                           .follow = true,
                           .err = err };
    const bool missing = w.nearest && root &&
                         root->links == ROOT_LINKS_INSIDE &&
                         atomic_load(&root->fd) < 0;
    const int status =
        missing ? walk_from(&w, NULL, root->name) : walk_from(&w, root, name);
    *location = w.at;
    if (status)
        return errno == ENOENT && !w.make
                   ? fail(err, "its directory does not exist")
                   : -1;
    /* The open file may have lost its name, and another may have it. */
    if (!w.at.magic || !S_ISREG(w.opened.st_mode) ||
        (w.at.exists && w.at.st.st_dev == w.opened.st_dev &&
         w.at.st.st_ino == w.opened.st_ino))
        return 0;
    close(w.at.directory);
    return fail_errno(err, ENOENT);
}
