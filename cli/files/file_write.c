/* Writes files, so that they are there whole or not at all. */
#include "cli/files/file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/files/pending.h"
#include "cli/files/temporary.h"

/* A file on its way to its place. */
struct writing {
    const char *name; /* as the user has it */
    struct location place;
    struct bytes file;
    const struct write_opts *opts;
    char backup[NAME_MAX + 1]; /* what the old file is called then; "": it goes
                                */
    struct err *err;
};

static int write_all(int fd, struct bytes file, struct err *err)
{
    size_t at = 0;
    while (at < file.size) {
        ssize_t n = write(fd, file.data + at, file.size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_system(err, "cannot be written");
        at += (size_t)n;
    }
    return 0;
}

/* ---- What it hands on --------------------------------------------------- */

static bool is_source(const struct stat *old, const struct permissions *source)
{
    return source && S_ISREG(old->st_mode) &&
           source->st.st_dev == old->st_dev && source->st.st_ino == old->st_ino;
}

static int give_times(int fd, const struct stat *source, struct err *err)
{
    struct timespec times[2] = { source->st_atim, source->st_mtim };
    if (futimens(fd, times))
        return fail(err, "its times cannot be set: %s", strerror(errno));
    return 0;
}

/* What is replaced hands on who may do what with it, and its extended
 * attributes. */
static int take_place(const struct writing *w, int fd)
{
    const struct write_opts *opts = w->opts;
    struct permissions old = { 0 };
    int status = attributes_hand_on(w->place.directory, w->place.base, fd, &old,
                                    opts->warnings, w->err);
    if (status == 0 && !opts->preserve)
        status = permissions_give(&old, fd, PERMISSIONS_NARROW, opts->warnings, w->err);
    permissions_free(&old);
    return status;
}

/* An output that is lost in a power cut can be made again, unless it replaces
 * its source. */
static int keep_source_safe(const struct writing *w, int fd)
{
    if (!w->place.exists || !is_source(&w->place.st, w->opts->source) ||
        fsync(fd) == 0 || errno == EINVAL || errno == EROFS)
        return 0;
    return fail_system(w->err, "cannot be written");
}

/* The mode that a file is made with. What is about to get another one may be
 * read by nobody else till then. */
static mode_t first_mode(const struct writing *w)
{
    return w->place.exists || w->opts->preserve ? 0600 : w->opts->mode;
}

/* Writes a file that nobody knows of yet, and gives it what goes with it. */
static int fill(const struct writing *w, int fd)
{
    const struct write_opts *opts = w->opts;
    const struct permissions *source = opts->source;
    if (write_all(fd, w->file, w->err) ||
        (w->place.exists && take_place(w, fd)) ||
        (opts->preserve &&
         permissions_give(source, fd, PERMISSIONS_AS_CP, opts->warnings, w->err)) ||
        (opts->preserve && give_times(fd, &source->st, w->err)))
        return -1;
    return keep_source_safe(w, fd);
}

/* ---- Into its place ----------------------------------------------------- */

/* Of two programs that shall not clobber, the kernel lets one. Where its file
 * system knows no such renaming, a link never replaces either. */
static int rename_fresh(int directory, const char *from, const char *to)
{
    if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (linkat(directory, from, directory, to, 0))
        return -1;
    return unlinkat(directory, from, 0);
}

static bool is_same(int directory, const char *a, const char *b)
{
    struct stat one, two;
    return fstatat(directory, a, &one, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(directory, b, &two, AT_SYMLINK_NOFOLLOW) == 0 &&
           one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/* Renames the temporary file to its name, over the old one if there is one.
 * Where a file system knows no links, as on a camera's card, the old one is
 * renamed before: for that instant there is only it, under its new name. */
static int rename_over(int directory, const char *from, const char *to,
                       const char *backup)
{
    if (!*backup || linkat(directory, to, directory, backup, 0) == 0)
        return renameat(directory, from, directory, to);
    if (errno == EEXIST) {
        /* A run that was ended here has left it: it is the old file itself. */
        if (is_same(directory, to, backup))
            return renameat(directory, from, directory, to);
        errno = EEXIST;
        return -1;
    }
    if ((errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) ||
        rename_fresh(directory, to, backup))
        return -1;
    if (renameat(directory, from, directory, to) == 0)
        return 0;
    int why = errno;
    (void)renameat(directory, backup, directory, to);
    errno = why;
    return -1;
}

/* Says that there is a file with the name of the backup, by what the user calls
 * it unless a link leads elsewhere. */
static int refuse_backup(const struct writing *w)
{
    const char *slash = strrchr(w->name, '/');
    const char *base = slash ? slash + 1 : w->name;
    bool link = strcmp(base, w->place.base) != 0;
    return fail(w->err, "the backup %.*s%s exists already",
                link ? 0 : (int)(base - w->name), w->name, w->backup);
}

/* Gives the pending file its name. */
static enum written settle(struct writing *w, struct pending *pending)
{
    enum written status = WRITTEN;
    struct pending_file *file = pending_lock(pending);
    bool fresh = w->opts->no_clobber;
    if ((fresh ? rename_fresh(file->directory, file->name, w->place.base)
               : rename_over(file->directory, file->name, w->place.base,
                             w->backup)) == 0)
        *file->name = '\0';
    else if (fresh && errno == EEXIST)
        status = WRITTEN_EXISTS;
    else if (*w->backup && errno == EEXIST)
        status = (enum written)refuse_backup(w);
    else
        status = (enum written)fail_system(w->err, "cannot be put in place");
    pending_unlock(pending);
    return status;
}

/* ---- A new file --------------------------------------------------------- */

/* Gives a file without a name its first one. False: by errno. */
static bool link_unnamed(int fd, const struct location *place)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, link, place->directory, place->base,
                  AT_SYMLINK_FOLLOW) == 0;
}

/* A new file is made without a name, where the file system can do that, and
 * named when it is whole: nothing has to be removed, whatever ends us, and the
 * directory changes once and not three times. *cannot: it is to be made in the
 * other way. */
static enum written write_unnamed(struct writing *w, bool *cannot)
{
    const struct write_opts *opts = w->opts;
    enum written written = WRITTEN_NOT;
    int fd = openat(w->place.directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC,
                    first_mode(w));
    *cannot = fd < 0;
    if (fd < 0)
        return WRITTEN_NOT;
    if (fill(w, fd) == 0) {
        if (link_unnamed(fd, &w->place))
            written = WRITTEN;
        else if (errno == EEXIST && opts->no_clobber)
            written = WRITTEN_EXISTS;
        else
            *cannot = true;
    }
    if (close(fd) && written == WRITTEN) {
        unlinkat(w->place.directory, w->place.base, 0);
        written = (enum written)fail_system(w->err, "cannot be written");
    }
    return written;
}

/* ---- A file in its place ------------------------------------------------ */

static int name_backup(struct writing *w)
{
    if (!w->place.exists || !w->opts->backup)
        return 0;
    int n = snprintf(w->backup, sizeof w->backup, "%s%s", w->place.base,
                     w->opts->backup);
    return n < (int)sizeof w->backup
               ? 0
               : fail(w->err, "%s", strerror(ENAMETOOLONG));
}

static enum written write_beside(struct writing *w, struct pending *pending)
{
    int fd = temporary_open(w->place.directory, first_mode(w), pending);
    if (fd < 0)
        return (enum written)fail_system(w->err,
                                         "cannot be written beside its place");
    int status = fill(w, fd);
    /* The lock goes with the last descriptor. (Without another one, as there are
     * too many, there is none for the instant of renaming.) */
    int locked = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (close(fd) && status == 0)
        status = fail_system(w->err, "cannot be written");
    enum written written = status ? WRITTEN_NOT : settle(w, pending);
    if (written != WRITTEN)
        temporary_remove(pending);
    if (locked >= 0)
        close(locked);
    return written;
}

static enum written replace(struct writing *w)
{
    bool cannot = true;
    if (!w->place.exists) {
        enum written new = write_unnamed(w, &cannot);
        if (!cannot)
            return new;
    }
    if (name_backup(w))
        return WRITTEN_NOT;
    struct pending *pending = pending_take();
    if (!pending)
        return (enum written)fail(w->err, "no memory for its name");
    enum written written = write_beside(w, pending);
    pending_give(pending);
    return written;
}

static enum written write_to(int fd, struct bytes file, struct err *err)
{
    if (fd < 0)
        return (enum written)fail_system(err, "cannot be written");
    int status = write_all(fd, file, err);
    if (close(fd) && status == 0)
        status = fail_system(err, "cannot be written");
    return (enum written)status;
}

/* What nobody asked to be replaced stays, whatever names it has got since the
 * names were looked at. */
static int spare_source(const struct stat *old, const struct write_opts *opts,
                        struct err *err)
{
    if (opts->replaces_source || !is_source(old, opts->source))
        return 0;
    return fail(err, "it is the input itself; %s", opts->to_replace);
}

static enum written write_to_stdout(struct bytes file,
                                    const struct write_opts *opts,
                                    struct err *err)
{
    struct stat st;
    if (fstat(STDOUT_FILENO, &st) == 0 && spare_source(&st, opts, err))
        return WRITTEN_NOT;
    return write_to(dup(STDOUT_FILENO), file, err);
}

static enum written write_there(struct writing *w)
{
    const struct location *place = &w->place;
    bool regular = place->exists && S_ISREG(place->st.st_mode);
    int flags = O_WRONLY | O_CLOEXEC | (place->magic ? 0 : O_NOFOLLOW);
    if (place->exists && S_ISDIR(place->st.st_mode))
        return (enum written)fail(w->err, "is a directory");
    if (w->opts->regular && (place->magic || (place->exists && !regular)))
        return (enum written)fail(w->err, "not a regular file");
    if (place->exists && spare_source(&place->st, w->opts, w->err))
        return WRITTEN_NOT;
    if (place->exists && !regular)
        return write_to(openat(place->directory, place->base, flags), w->file,
                        w->err);
    return replace(w);
}

enum written file_write(const char *name, struct bytes file,
                        const struct write_opts *opts, struct err *err)
{
    struct writing w = { .name = name, .file = file, .opts = opts, .err = err };
    if (strcmp(name, "-") == 0 ||
        (!opts->regular && strcmp(name, "/dev/stdout") == 0))
        return write_to_stdout(file, opts, err);
    if (opts->no_clobber && file_exists(opts->root, name))
        return WRITTEN_EXISTS;
    if (resolve_file(opts->root, name, opts->make_directories, &w.place, err))
        return WRITTEN_NOT;
    left_behind_remove(opts->left, w.place.directory);
    enum written written = write_there(&w);
    close(w.place.directory);
    return written;
}
