/* Opens names without trusting the links in them. */
#include "cli/files/path_walk.h"

#include <errno.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* As many links as the kernel follows on the way to one file. */
enum { LINKS_MAX = 40 };

int path_walk_fail(struct err *err, int why)
{
    errno = why;
    return fail_system(err, NULL);
}

int path_walk_fail_outside(struct err *err, const char *root)
{
    fail_unread(err, "its name leads out of %s", root);
    errno = EXDEV;
    return -1;
}

/* ---- Names without links ------------------------------------------------ */

int path_walk_open(const struct path_rules *rules, int directory,
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

/* Makes an opened directory the one that was reached. */
static int reach(struct path_walk *w, int fd)
{
    if (fd < 0)
        return path_walk_fail(w->err, errno);
    if (w->fd >= 0)
        close(w->fd);
    w->fd = fd;
    return 0;
}

/* Goes to where the name starts. */
static int begin(struct path_walk *w)
{
    *w->trail = '\0';
    if (*w->next != '/')
        return reach(w, openat(w->directory, ".", PATH_WALK_DIRECTORY));
    if (w->rules->root)
        return path_walk_fail_outside(w->err, w->rules->root);
    return reach(w, open("/", PATH_WALK_DIRECTORY));
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
        return reach(w, openat(w->fd, "..", PATH_WALK_DIRECTORY));
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
    if (n + 1 + strlen(w->base) >= sizeof w->trail)
        return path_walk_fail(w->err, ENAMETOOLONG);
    if (n)
        w->trail[n++] = '/';
    strcpy(w->trail + n, w->base);
    return reach(w, openat(w->fd, w->base, PATH_WALK_DIRECTORY | O_NOFOLLOW));
}

/* ---- Links -------------------------------------------------------------- */

/* The rule of fs.protected_symlinks for directories that all may write to,
 * which the kernel applies to the last component only, and only if it is told
 * to. */
static bool may_follow(const struct stat *directory, const struct stat *link)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    return (directory->st_mode & shared) != shared ||
           link->st_uid == geteuid() || link->st_uid == directory->st_uid;
}

static int check_link(struct path_walk *w, const struct stat *link)
{
    struct stat directory;
    if (++w->links > LINKS_MAX)
        return path_walk_fail(w->err, ELOOP);
    if (fstat(w->fd, &directory))
        return path_walk_fail(w->err, errno);
    if (may_follow(&directory, link))
        return 0;
    fail_unread(w->err,
                "%s is a link that another user put into a directory "
                "that all may write to; it is not followed",
                w->base);
    errno = EACCES;
    return -1;
}

/* Puts what a link says in its place. */
static int follow_link(struct path_walk *w, const struct stat *link)
{
    char text[PATH_MAX];
    if (check_link(w, link))
        return -1;
    ssize_t n = readlinkat(w->fd, w->base, text, sizeof text);
    if (n < 0)
        return path_walk_fail(w->err, errno);
    if (put_before_rest(w, text, (size_t)n))
        return -1;
    return *text == '/' ? begin(w) : 0;
}

/* Returns whether the link is the last component and stands in /proc: then it
 * leads to something that is open, which need not have a name. */
static bool is_magic(const struct path_walk *w)
{
    struct statfs fs;
    return w->last && fstatfs(w->fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* ---- The walk ----------------------------------------------------------- */

enum step { STEP_FAILED = -1, STEP_ON, STEP_THERE };

static enum step step_link(struct path_walk *w, const struct stat *st)
{
    if (w->rules->refuse_links) {
        fail_unread(w->err, "%s has become a link, which is not followed",
                    w->base);
        errno = ELOOP;
        return STEP_FAILED;
    }
    if (is_magic(w)) {
        if (w->rules->root)
            return (enum step)path_walk_fail(w->err, ELOOP);
        if (fstatat(w->fd, w->base, &w->opened, 0))
            return (enum step)path_walk_fail(w->err, errno);
        w->magic = true;
        if (!S_ISREG(w->opened.st_mode))
            return STEP_THERE;
    }
    return follow_link(w, st) ? STEP_FAILED : STEP_ON;
}

/* Looks at the component, and makes a directory that is missing. */
static int look(struct path_walk *w, struct stat *st)
{
    int status = fstatat(w->fd, w->base, st, AT_SYMLINK_NOFOLLOW);
    if (status == 0 || errno != ENOENT || !w->make || w->last)
        return status;
    if (mkdirat(w->fd, w->base, 0777) == 0)
        w->made++;
    else if (errno != EEXIST)
        return -1;
    return fstatat(w->fd, w->base, st, AT_SYMLINK_NOFOLLOW);
}

/* Ends the walk at a component that cannot be looked at. It is where the walk
 * was to go if it is missing, and the last one or a directory not to be made.
 */
static enum step step_missing(struct path_walk *w, int why)
{
    if (why == ENOENT && (w->last || w->nearest))
        return STEP_THERE;
    path_walk_fail(w->err, why);
    if (w->make && !w->last)
        fail(w->err, "its directory cannot be made: %s", strerror(why));
    return STEP_FAILED;
}

static enum step step(struct path_walk *w)
{
    struct stat st;
    if (strcmp(w->base, ".") == 0)
        return STEP_ON;
    if (strcmp(w->base, "..") == 0)
        return go_up(w) ? STEP_FAILED : STEP_ON;
    if (look(w, &st))
        return step_missing(w, errno);
    if (S_ISLNK(st.st_mode) && (!w->last || w->follow))
        return step_link(w, &st);
    if (w->last)
        return STEP_THERE;
    if (!S_ISDIR(st.st_mode))
        return (enum step)path_walk_fail(w->err, ENOTDIR);
    return go_down(w) ? STEP_FAILED : STEP_ON;
}

/* Copies the first component of a name, and moves *name behind it. Of one that
 * is too long so much is copied that the kernel says so. Returns false if there
 * is none. */
static bool take_component(const char **name, char base[PATH_WALK_BASE])
{
    *name += strspn(*name, "/");
    size_t n = strcspn(*name, "/");
    size_t copied = n < PATH_WALK_BASE ? n : PATH_WALK_BASE - 1;
    memcpy(base, *name, copied);
    base[copied] = '\0';
    *name += n;
    return n > 0;
}

static int walk_all(struct path_walk *w)
{
    enum step status = begin(w) ? STEP_FAILED : STEP_ON;
    while (status == STEP_ON) {
        if (!take_component(&w->next, w->base))
            return 0;
        w->last = *w->next == '\0';
        status = step(w);
    }
    return status == STEP_FAILED ? -1 : 0;
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
    w->fd =
        path_walk_open(w->rules, w->directory, w->rest, PATH_WALK_DIRECTORY);
    if (w->fd < 0)
        return false;
    strcpy(w->base, base);
    if (!w->follow ||
        (fstatat(w->fd, base, &st, AT_SYMLINK_NOFOLLOW) ? errno == ENOENT
                                                        : !S_ISLNK(st.st_mode)))
        return true;
    close(w->fd);
    return false;
}

int path_walk(struct path_walk *w, const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n >= sizeof w->rest)
        return path_walk_fail(w->err, n ? ENAMETOOLONG : ENOENT);
    if (go_at_once(w, name))
        return 0;
    w->fd = -1;
    memcpy(w->rest, name, n + 1);
    w->next = w->rest;
    if (walk_all(w) == 0)
        return 0;
    int why = errno;
    if (w->fd >= 0)
        close(w->fd);
    errno = why;
    return -1;
}
