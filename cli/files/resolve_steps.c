/* Walks the way that a name leads, a component at a time. */
#include "cli/files/resolve_steps.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* As many links as the kernel follows on the way to one file. */
enum { LINKS = 40 };

int walker_refuse(struct walker *w, int why)
{
    errno = why;
    return fail(w->err, "%s", strerror(why));
}

int walker_refuse_outside(struct walker *w)
{
    fail(w->err, "its name leads out of %s", w->root->name);
    errno = EXDEV;
    return -1;
}

/* ---- A step ------------------------------------------------------------- */

/* Takes fd for the directory that was reached. */
static int reach(struct walker *w, int fd)
{
    if (fd < 0)
        return walker_refuse(w, errno);
    if (w->fd >= 0)
        close(w->fd);
    w->fd = fd;
    return 0;
}

static int begin(struct walker *w)
{
    bool absolute = *w->rest == '/';
    w->ntrail = 0;
    if (absolute && w->root)
        return walker_refuse_outside(w);
    return reach(w, absolute ? open("/", DIRECTORY)
                             : openat(w->start, ".", DIRECTORY));
}

/* ".." within a root: down again from there, by what are no links, as the
 * directory that was reached may have been moved elsewhere. */
static int go_up_within(struct walker *w)
{
    if (w->ntrail == 0)
        return walker_refuse_outside(w);
    w->trail[w->ntrail] = '\0';
    char *slash = strrchr(w->trail, '/');
    w->ntrail = slash ? (size_t)(slash - w->trail) : 0;
    w->trail[w->ntrail] = '\0';
    if (reach(w, openat(w->start, ".", DIRECTORY)))
        return -1;
    for (char *at = w->trail; *at;) {
        char *end = strchrnul(at, '/');
        char was = *end;
        *end = '\0';
        int status = reach(w, openat(w->fd, at, DIRECTORY | O_NOFOLLOW));
        *end = was;
        if (status)
            return -1;
        at = end + (was == '/');
    }
    return 0;
}

static int go_up(struct walker *w)
{
    return w->root ? go_up_within(w) : reach(w, openat(w->fd, "..", DIRECTORY));
}

/* Takes an opened directory for the one that was reached. */
static int go_down(struct walker *w, int fd)
{
    size_t n = strlen(w->base);
    if (w->ntrail + n + 2 > sizeof w->trail) {
        close(fd);
        return walker_refuse(w, ENAMETOOLONG);
    }
    if (w->ntrail)
        w->trail[w->ntrail++] = '/';
    memcpy(w->trail + w->ntrail, w->base, n);
    w->ntrail += n;
    return reach(w, fd);
}

/* ---- Links -------------------------------------------------------------- */

/* The rule for directories that all may write to, as of fs.protected_symlinks.
 */
static bool may_follow(const struct stat *directory, const struct stat *link)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    return (directory->st_mode & shared) != shared ||
           link->st_uid == geteuid() || link->st_uid == directory->st_uid;
}

/* Puts what a link says before what is left of the name. */
static int put_before_rest(struct walker *w, const char *text, size_t n)
{
    size_t rest = w->last ? 0 : strlen(w->rest) + 1;
    if (n == 0)
        return walker_refuse(w, ENOENT);
    if (n + rest + 1 > sizeof w->rest)
        return walker_refuse(w, ENAMETOOLONG);
    memmove(w->rest + n + 1, w->rest, rest ? rest : 1);
    w->rest[n] = rest ? '/' : '\0';
    memcpy(w->rest, text, n);
    return 0;
}

/* The walk that found the name met none here. */
static int refuse_link(struct walker *w)
{
    fail(w->err, "%s has become a link, which is not followed", w->base);
    errno = ELOOP;
    return -1;
}

/* Follows an opened link, which is in the directory that was reached. */
static int follow_link(struct walker *w, int link, const struct stat *st)
{
    char text[PATH_MAX];
    struct stat directory;
    if (++w->links > LINKS)
        return walker_refuse(w, ELOOP);
    if (fstat(w->fd, &directory))
        return walker_refuse(w, errno);
    if (!may_follow(&directory, st)) {
        fail(w->err,
             "%s is a link that another user put into a directory "
             "that all may write to; it is not followed",
             w->base);
        errno = EACCES;
        return -1;
    }
    ssize_t n = readlinkat(link, "", text, sizeof text);
    if (n < 0)
        return walker_refuse(w, errno);
    if (put_before_rest(w, text, (size_t)n))
        return -1;
    return *w->rest == '/' ? begin(w) : 0;
}

/* Whether an opened link is the last one and one of /proc, which leads to
 * something that is open, and need not have a name. */
static bool is_magic(const struct walker *w, int link)
{
    struct statfs fs;
    return w->last && fstatfs(link, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

enum step { STEP_FAILED = -1, STEP_ON, STEP_THERE };

static enum step step_link(struct walker *w, int link, const struct stat *st)
{
    if (w->root && w->root->links != ROOT_LINKS_INSIDE)
        return (enum step)refuse_link(w);
    if (is_magic(w, link)) {
        if (w->root)
            return (enum step)walker_refuse(w, ELOOP);
        if (fstatat(w->fd, w->base, &w->opened, 0))
            return (enum step)walker_refuse(w, errno);
        w->magic = true;
        if (!S_ISREG(w->opened.st_mode))
            return STEP_THERE;
    }
    return follow_link(w, link, st) ? STEP_FAILED : STEP_ON;
}

/* ---- The way ------------------------------------------------------------ */

/* Takes a component from what is left. Returns false if there is none. */
static bool take_component(struct walker *w, size_t *length)
{
    const char *at = w->rest + strspn(w->rest, "/");
    size_t n = *length = strcspn(at, "/");
    if (n > NAME_MAX)
        return true;
    memcpy(w->base, at, n);
    w->base[n] = '\0';
    w->last = at[n] == '\0';
    memmove(w->rest, at + n, strlen(at + n) + 1);
    return n > 0;
}

/* Opens the component as what it is, be it a link; -1 by errno. A directory
 * that is missing is made. */
static int open_component(struct walker *w, struct stat *st)
{
    int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(w->fd, w->base, flags);
    if (fd < 0 && errno == ENOENT && w->make && !w->last) {
        if (mkdirat(w->fd, w->base, 0777) && errno != EEXIST)
            return -1;
        fd = openat(w->fd, w->base, flags);
    }
    if (fd >= 0 && fstat(fd, st)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A component that cannot be opened by errno: unless it is missing and the
 * last one, this is the end of the way. */
static enum step step_missing(struct walker *w)
{
    int why = errno;
    if (why == ENOENT && w->last)
        return STEP_THERE;
    if (w->make && !w->last) {
        fail(w->err, "its directory cannot be made: %s", strerror(why));
        errno = why;
        return STEP_FAILED;
    }
    return (enum step)walker_refuse(w, why);
}

static enum step step(struct walker *w)
{
    struct stat st;
    enum step status = STEP_THERE;
    if (strcmp(w->base, ".") == 0)
        return STEP_ON;
    if (strcmp(w->base, "..") == 0)
        return go_up(w) ? STEP_FAILED : STEP_ON;
    int fd = open_component(w, &st);
    if (fd < 0)
        return step_missing(w);
    if (!w->last && S_ISDIR(st.st_mode))
        return go_down(w, fd) ? STEP_FAILED : STEP_ON;
    if (S_ISLNK(st.st_mode) && (!w->last || w->follow))
        status = step_link(w, fd, &st);
    else if (!w->last)
        status = (enum step)walker_refuse(w, ENOTDIR);
    close(fd);
    return status;
}

/* Walks to the directory that the last component stands in, which is `base`
 * then; "" if the name ends in a directory. */
static int walk_all(struct walker *w)
{
    enum step status = STEP_ON;
    size_t n = 0;
    if (begin(w))
        return -1;
    while (status == STEP_ON && take_component(w, &n))
        status =
            n > NAME_MAX ? (enum step)walker_refuse(w, ENAMETOOLONG) : step(w);
    if (status == STEP_ON)
        *w->base = '\0';
    return status == STEP_FAILED ? -1 : 0;
}

int walker_go(struct walker *w, const char *name)
{
    size_t n = strlen(name);
    w->fd = -1;
    if (n == 0)
        return walker_refuse(w, ENOENT);
    if (n >= sizeof w->rest)
        return walker_refuse(w, ENAMETOOLONG);
    memcpy(w->rest, name, n + 1);
    if (walk_all(w) == 0)
        return 0;
    int why = errno;
    if (w->fd >= 0)
        close(w->fd);
    errno = why;
    return -1;
}
