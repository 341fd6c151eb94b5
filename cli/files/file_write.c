/* Writes files, so that they are there whole or not at all. */
#include "cli/files/file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Renames the temporary file to its name, over the old one if there is one. On
 * file systems without hard links, as on a camera's card, the old one is first
 * renamed to its backup: for an instant there is only that. */
static int rename_over(int directory, const char *from, const char *to,
                       const char *backup)
{
    struct stat one, two;
    if (!*backup || linkat(directory, to, directory, backup, 0) == 0)
        return renameat(directory, from, directory, to);
    if (errno == EEXIST) {
        /* A run that was killed here left it: it is the old file itself. */
        if (fstatat(directory, to, &one, AT_SYMLINK_NOFOLLOW) == 0 &&
            fstatat(directory, backup, &two, AT_SYMLINK_NOFOLLOW) == 0 &&
            one.st_dev == two.st_dev && one.st_ino == two.st_ino)
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

/* Renames the temporary file to its name. A backup that exists is told by the
 * name that the user gave, unless a link leads elsewhere. */
static int rename_to_place(struct file_draft *w)
{
    const char *to = w->place.base, *slash = strrchr(w->name, '/');
    const char *base = slash ? slash + 1 : w->name;
    int status = WRITTEN;
    struct temporary_place *file = temporary_lock(w->temporary);
    bool fresh = w->opts.no_clobber;
    if ((fresh ? rename_fresh(file->directory, file->name, to)
               : rename_over(file->directory, file->name, to, w->backup)) == 0)
        *file->name = '\0';
    else if (fresh && errno == EEXIST)
        status = WRITTEN_EXISTS;
    else if (*w->backup && errno == EEXIST)
        status = fail(w->err, "the backup %.*s%s exists already",
                      strcmp(base, to) == 0 ? (int)(base - w->name) : 0,
                      w->name, w->backup);
    else
        status = fail_system(w->err, "cannot be renamed to its name");
    temporary_unlock(w->temporary);
    return status;
}

/* ---- A file in its place ------------------------------------------------ */

/* What is about to get another mode may be read by nobody else until then. */
static mode_t first_mode(const struct file_draft *w)
{
    return w->place.exists || w->opts.preserve ? 0600 : w->opts.mode;
}

/* Makes a temporary file, or makes one of a file without a name. */
static bool open_beside(struct file_draft *w, int unnamed)
{
    w->temporary = temporary_open(w->place.directory, w->place.base, unnamed,
                                  O_WRONLY, first_mode(w), &w->fd);
    return w->temporary;
}

/* Makes a temporary file. On failure it says which directory is not writable,
 * unless a link leads elsewhere. */
static int begin_beside(struct file_draft *w)
{
    const struct path path = path_split(w->name, strlen(w->name));
    struct err text;
    if (open_beside(w, -1))
        return 0;
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

/* Gives a file that is whole its name; where something is to be replaced, a
 * temporary one, which is renamed. Closes it. Returns false if it can get
 * none. */
static bool name_unnamed(struct file_draft *w, int unnamed)
{
    const struct location *place = &w->place;
    if (!place->exists &&
        temporary_give_name(unnamed, place->directory, place->base)) {
        w->written = WRITTEN;
        if (close(unnamed) == 0)
            return true;
        unlinkat(place->directory, place->base, 0);
        fail_system(w->err, "cannot be written");
        w->written = WRITTEN_NOT;
        return true;
    }
    const bool taken = !place->exists && errno == EEXIST && w->opts.no_clobber;
    const bool beside = !taken && open_beside(w, unnamed);
    close(unnamed);
    if (taken)
        w->written = WRITTEN_EXISTS;
    if (beside)
        w->written = close_beside(w, 0);
    return taken || beside;
}

/* A file is made without a name where the file system can do that, unless there
 * is such a one, and gets its name when it is whole: whatever ends the program,
 * nothing is left but in the instant in which it replaces another one, and a
 * directory changes once and not three times. Where it cannot be named it is
 * written again. */
static enum written replace(struct file_draft *w, struct bytes file)
{
    const int *made = w->opts.unnamed;
    const int unnamed =
        made ? fcntl(*made, F_DUPFD_CLOEXEC, 0)
             : openat(w->place.directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC,
                      first_mode(w));
    if (unnamed >= 0 && ((!made && write_all(unnamed, file, w->err)) ||
                         give_attributes(w, unnamed))) {
        close(unnamed);
        return WRITTEN_NOT;
    }
    if (unnamed >= 0 && name_unnamed(w, unnamed))
        return w->written;
    if (begin_beside(w))
        return WRITTEN_NOT;
    return close_beside(
        w,
        write_all(w->fd, file, w->err) || give_attributes(w, w->fd) ? -1 : 0);
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

/* Finds the place of a file, and the name of its backup. Fails if what stands
 * there is not to be written to. end() is needed after both. */
static int begin(struct file_draft *w, const char *name,
                 const struct write_opts *opts, struct err *err)
{
    const struct location *place = &w->place;
    *w = (struct file_draft){
        .name = name,
        .opts = *opts,
        .place.directory = -1,
        .warned = opts->warnings ? opts->warnings->count : 0,
        .written = WRITTEN_NOT,
        .err = err,
    };
    if (resolve_file(opts->root, name,
                     opts->stays ? RESOLVE_FAIL : RESOLVE_MAKE, &w->place,
                     err)) {
        w->place.directory = -1;
        return -1;
    }
    const bool regular = !place->exists || S_ISREG(place->st.st_mode);
    if (place->exists && S_ISDIR(place->st.st_mode))
        return fail(err, "is a directory");
    if (opts->regular && (place->magic || !regular))
        return fail(err, "not a regular file");
    if (place->exists && spare_source(&place->st, opts, err))
        return -1;
    if (!place->exists || !regular || !opts->backup)
        return 0;
    const int n = snprintf(w->backup, sizeof w->backup, "%s%s", place->base,
                           opts->backup);
    return n < (int)sizeof w->backup ? 0
                                     : fail(err, "%s", strerror(ENAMETOOLONG));
}

static void end(struct file_draft *w)
{
    if (w->temporary) {
        temporary_end(w->temporary);
        close(w->fd);
    }
    if (w->place.directory >= 0)
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
    if (begin(&w, name, opts, err)) {
        end(&w);
        return WRITTEN_NOT;
    }
    if (place->exists && !S_ISREG(place->st.st_mode)) {
        int flags = O_WRONLY | O_CLOEXEC | (place->magic ? 0 : O_NOFOLLOW);
        w.written = (enum written)write_to(
            openat(place->directory, place->base, flags), file, err);
    } else {
        w.written = replace(&w, file);
    }
    if (w.written == WRITTEN && place->exists && place->st.st_size > 0 &&
        !is_source(&place->st, opts->source))
        w.written = WRITTEN_OVER;
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
    if (begin(w, name, opts, err) || begin_beside(w)) {
        file_draft_end(w);
        return -1;
    }
    *draft = w;
    return 0;
}

int file_draft_put(struct file_draft *draft, uint64_t at, struct bytes piece,
                   struct err *err)
{
    const struct scratch_map file = { .fd = draft->fd };
    return scratch_write(&file, at, piece.data, piece.size, err)
               ? fail_system(err, "cannot be written")
               : 0;
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
