/* Writes files, so that they are there whole or not at all. */
#include "cli/files/file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/files/path.h"
#include "cli/files/temporary.h"

struct file_draft {
    const char *name; /* as the user gave it */
    struct write_opts opts;
    struct location place;
    char backup[NAME_MAX + 1];   /* the name that the old file gets; "": none */
    unsigned warned;             /* so often before the file was written */
    struct temporary *temporary; /* NULL: the file has been closed */
    int fd;
    enum written written;
    struct err *err;
};

static int write_all(int fd, struct bytes file, struct err *err)
{
    const size_t most = bytes_are_mapped(file) ? 8 << 20 : SIZE_MAX;
    struct bytes_passed passed = bytes_passed_begin(file);
    size_t at = 0;
    while (at < file.size) {
        size_t more = file.size - at < most ? file.size - at : most;
        ssize_t n = TEMP_FAILURE_RETRY(write(fd, file.data + at, more));
        if (n < 0)
            return fail_system(err, "cannot be written");
        at += (size_t)n;
        bytes_pass(&passed, file.data + at);
    }
    return 0;
}

/* ---- Permissions and attributes ----------------------------------------- */

static bool is_source(const struct stat *old, const struct permissions *source)
{
    return source && S_ISREG(old->st_mode) &&
           source->st.st_dev == old->st_dev && source->st.st_ino == old->st_ino;
}

/* Returns the mode that a file is made with. One that is about to get another
 * mode may be read by nobody else until then. */
static mode_t first_mode(const struct file_draft *w)
{
    return w->place.exists || w->opts.preserve ? 0600 : w->opts.mode;
}

/* Gives a file that nobody sees yet its permissions and attributes, those of
 * the one that it replaces or of its source. Warnings of one that could not be
 * named, which this one stands for, go. Before the source is replaced the bytes
 * are on the disk: other outputs can be made again after a power cut. */
static int give_attributes(const struct file_draft *w, int fd)
{
    const struct write_opts *opts = &w->opts;
    const struct permissions *source = opts->source;
    struct permissions old = { 0 };
    int status = 0;
    if (opts->warnings)
        opts->warnings->count = w->warned;
    if (w->place.exists)
        status = attributes_copy(w->place.directory, w->place.base, fd, &old,
                                 opts->warnings, w->err);
    if (status == 0 && w->place.exists && !opts->preserve)
        status = permissions_give(&old, fd, PERMISSIONS_NARROW, opts->warnings,
                                  w->err);
    permissions_free(&old);
    if (status == 0 && opts->preserve) {
        struct timespec times[2] = { source->st.st_atim, source->st.st_mtim };
        status = permissions_give(source, fd, PERMISSIONS_AS_CP, opts->warnings,
                                  w->err);
        if (status == 0 && futimens(fd, times))
            status =
                fail(w->err, "its times cannot be set: %s", strerror(errno));
    }
    if (status == 0 && w->place.exists && is_source(&w->place.st, source) &&
        fsync(fd) && errno != EINVAL && errno != EROFS)
        status = fail_system(w->err, "cannot be written");
    return status;
}

static int fill(const struct file_draft *w, struct bytes file, int fd)
{
    return write_all(fd, file, w->err) || give_attributes(w, fd) ? -1 : 0;
}

/* ---- Into its place ----------------------------------------------------- */

/* Renames a file to a name that must not exist; of two programs that do so, the
 * kernel lets one. On file systems without such a renaming, link() never
 * replaces either. */
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

/* Renames the temporary file to its name, over the old one if there is one. On
 * file systems without hard links, as on a camera's card, the old one is first
 * renamed to its backup: for an instant there is only that. */
static int rename_over(int directory, const char *from, const char *to,
                       const char *backup)
{
    if (!*backup || linkat(directory, to, directory, backup, 0) == 0)
        return renameat(directory, from, directory, to);
    if (errno == EEXIST) {
        /* A run that was killed here left it: it is the old file itself. */
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

/* Says that the backup exists, by the name that the user gave, unless a link
 * leads elsewhere. */
static int refuse_backup(const struct file_draft *w)
{
    const char *slash = strrchr(w->name, '/');
    const char *base = slash ? slash + 1 : w->name;
    bool link = strcmp(base, w->place.base) != 0;
    return fail(w->err, "the backup %.*s%s exists already",
                link ? 0 : (int)(base - w->name), w->name, w->backup);
}

/* Renames the temporary file to its name. */
static int rename_to_place(struct file_draft *w)
{
    int status = WRITTEN;
    struct temporary_place *file = temporary_lock(w->temporary);
    bool fresh = w->opts.no_clobber;
    if ((fresh ? rename_fresh(file->directory, file->name, w->place.base)
               : rename_over(file->directory, file->name, w->place.base,
                             w->backup)) == 0)
        *file->name = '\0';
    else if (fresh && errno == EEXIST)
        status = WRITTEN_EXISTS;
    else if (*w->backup && errno == EEXIST)
        status = refuse_backup(w);
    else
        status = fail_system(w->err, "cannot be renamed to its name");
    temporary_unlock(w->temporary);
    return status;
}

/* ---- A file in its place ------------------------------------------------ */

static int name_backup(struct file_draft *w)
{
    if (!w->place.exists || !w->opts.backup)
        return 0;
    int n = snprintf(w->backup, sizeof w->backup, "%s%s", w->place.base,
                     w->opts.backup);
    return n < (int)sizeof w->backup
               ? 0
               : fail(w->err, "%s", strerror(ENAMETOOLONG));
}

/* Says which directory is not writable, unless a link leads elsewhere. */
static int refuse_directory(const struct file_draft *w)
{
    const struct path path = path_split(w->name, strlen(w->name));
    struct err text;
    if (errno != EACCES && errno != EPERM && errno != EROFS)
        return fail_system(w->err, "cannot be written");
    if (strlen(w->place.base) != path.nbase ||
        memcmp(w->place.base, path.base, path.nbase) != 0)
        return fail_system(w->err, "its directory is not writable");
    const int why = errno;
    fail(&text, "the directory %.*s is not writable",
         path.ndirectory ? (int)path.ndirectory : 1,
         path.ndirectory ? path.directory : ".");
    errno = why;
    return fail_system(w->err, text.text);
}

/* Makes a temporary file, or makes one of a file without a name. */
static bool open_beside(struct file_draft *w, int unnamed)
{
    w->temporary = temporary_open(w->place.directory, w->place.base, unnamed,
                                  O_WRONLY, first_mode(w), &w->fd);
    return w->temporary;
}

/* Closes a file that has all its bytes, unless `status` says otherwise, and
 * renames it. Its lock goes with the last descriptor. */
static enum written close_beside(struct file_draft *w, int status)
{
    int locked = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
    if (close(w->fd) && status == 0)
        status = fail_system(w->err, "cannot be written");
    int written = status ? WRITTEN_NOT : rename_to_place(w);
    temporary_end(w->temporary);
    w->temporary = NULL;
    if (locked >= 0)
        close(locked);
    return (enum written)written;
}

/* Gives a file its name, or makes it a temporary one, if it can. Returns
 * whether the file is in its place, or may not be; sets w->written. */
static bool name_unnamed(struct file_draft *w, int unnamed)
{
    const struct location *place = &w->place;
    if (!place->exists &&
        temporary_give_name(unnamed, place->directory, place->base))
        w->written = WRITTEN;
    else if (!place->exists && errno == EEXIST && w->opts.no_clobber)
        w->written = WRITTEN_EXISTS;
    else
        return open_beside(w, unnamed);
    return true;
}

/* A file is made without a name where the file system can do that, unless there
 * is such a one, and gets its name when it is whole; or, over another file, a
 * temporary one just before it is renamed: whatever ends the program, nothing
 * is left but in that instant, and a directory changes once and not three
 * times. Where it cannot be named it is written again. */
static enum written replace(struct file_draft *w, struct bytes file)
{
    const int *made = w->opts.unnamed;
    int unnamed = made
                      ? fcntl(*made, F_DUPFD_CLOEXEC, 0)
                      : openat(w->place.directory, ".",
                               O_TMPFILE | O_WRONLY | O_CLOEXEC, first_mode(w));
    if (name_backup(w) || (unnamed >= 0 && (made ? give_attributes(w, unnamed)
                                                 : fill(w, file, unnamed)))) {
        if (unnamed >= 0)
            close(unnamed);
        return WRITTEN_NOT;
    }
    const bool named = unnamed >= 0 && name_unnamed(w, unnamed);
    if (unnamed >= 0 && close(unnamed) && w->written == WRITTEN) {
        unlinkat(w->place.directory, w->place.base, 0);
        fail_system(w->err, "cannot be written");
        return WRITTEN_NOT;
    }
    if (named)
        return w->temporary ? close_beside(w, 0) : w->written;
    if (!open_beside(w, -1))
        return (enum written)refuse_directory(w);
    return close_beside(w, fill(w, file, w->fd));
}

static int write_to(int fd, struct bytes file, struct err *err)
{
    if (fd < 0)
        return fail_system(err, "cannot be written");
    int status = write_all(fd, file, err);
    if (close(fd) && status == 0)
        status = fail_system(err, "cannot be written");
    return status;
}

/* Refuses to replace the source if nobody asked for that, whatever names it was
 * given since the names were compared. */
static int spare_source(const struct stat *old, const struct write_opts *opts,
                        struct err *err)
{
    if (opts->replaces_source || !is_source(old, opts->source))
        return 0;
    return fail(err, "it is the input itself; %s", opts->to_replace);
}

/* Fails if what stands there is not to be written to. */
static int check_place(const struct file_draft *w)
{
    const struct location *place = &w->place;
    bool regular = !place->exists || S_ISREG(place->st.st_mode);
    if (place->exists && S_ISDIR(place->st.st_mode))
        return fail(w->err, "is a directory");
    if (w->opts.regular && (place->magic || !regular))
        return fail(w->err, "not a regular file");
    return place->exists ? spare_source(&place->st, &w->opts, w->err) : 0;
}

/* Finds the place of a file. Returns 0, or -1 with the reason: then there is
 * nothing to end. */
static int begin(struct file_draft *w, const char *name,
                 const struct write_opts *opts, struct err *err)
{
    *w = (struct file_draft){
        .name = name,
        .opts = *opts,
        .warned = opts->warnings ? opts->warnings->count : 0,
        .written = WRITTEN_NOT,
        .err = err,
    };
    return resolve_file(opts->root, name, !opts->stays, &w->place, err);
}

static void end(struct file_draft *w)
{
    if (w->temporary) {
        temporary_end(w->temporary);
        close(w->fd);
    }
    close(w->place.directory);
}

enum written file_write(const char *name, struct bytes file,
                        const struct write_opts *opts, struct err *err)
{
    struct file_draft w;
    struct stat st;
    const struct location *place = &w.place;
    if (strcmp(name, "-") == 0)
        return fstat(STDOUT_FILENO, &st) == 0 && spare_source(&st, opts, err)
                   ? WRITTEN_NOT
                   : (enum written)write_to(dup(STDOUT_FILENO), file, err);
    if (opts->no_clobber && file_exists(opts->root, name))
        return WRITTEN_EXISTS;
    if (begin(&w, name, opts, err))
        return WRITTEN_NOT;
    const bool allowed = check_place(&w) == 0;
    if (allowed && place->exists && !S_ISREG(place->st.st_mode)) {
        int flags = O_WRONLY | O_CLOEXEC | (place->magic ? 0 : O_NOFOLLOW);
        w.written = (enum written)write_to(
            openat(place->directory, place->base, flags), file, err);
    } else if (allowed) {
        const bool replaces = place->exists && place->st.st_size > 0 &&
                              !is_source(&place->st, opts->source);
        w.written = replace(&w, file);
        if (replaces && w.written == WRITTEN)
            w.written = WRITTEN_OVER;
    }
    end(&w);
    return w.written;
}

/* ---- In pieces ---------------------------------------------------------- */

int file_draft_begin(struct file_draft **draft, const char *name,
                     const struct write_opts *opts, struct err *err)
{
    struct file_draft *w = malloc(sizeof *w);
    if (!w)
        return fail_memory(err, "no memory for a file");
    if (begin(w, name, opts, err)) {
        free(w);
        return -1;
    }
    if (check_place(w) || name_backup(w) ||
        (!open_beside(w, -1) && refuse_directory(w))) {
        file_draft_end(w);
        return -1;
    }
    *draft = w;
    return 0;
}

int file_draft_put(struct file_draft *draft, uint64_t at, struct bytes piece,
                   struct err *err)
{
    while (piece.size) {
        ssize_t n = TEMP_FAILURE_RETRY(
            pwrite(draft->fd, piece.data, piece.size, (off_t)at));
        if (n < 0)
            return fail_system(err, "cannot be written");
        at += (size_t)n;
        piece.data += n;
        piece.size -= (size_t)n;
    }
    return 0;
}

enum written file_draft_settle(struct file_draft *draft, struct err *err)
{
    draft->err = err;
    draft->written = close_beside(draft, give_attributes(draft, draft->fd));
    return draft->written;
}

void file_draft_end(struct file_draft *draft)
{
    if (draft)
        end(draft);
    free(draft);
}
