/* Files, whole: read into memory, and written whole or not at all. */
#include "cli/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/signals.h"

/* ---- Reading ----------------------------------------------------------- */

/* One read() into what room there is. 0: the end, or an error if *status. */
static size_t read_some(int fd, struct bytes *file, int *status,
                        struct err *err)
{
    ssize_t n;
    do
        n = read(fd, file->data + file->size, file->capacity - file->size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        *status = fail(err, "%s", strerror(errno));
    else
        file->size += (size_t)n;
    return n > 0 ? (size_t)n : 0;
}

/* Enough of a file to tell what it is; and what is taken at a time of one that
 * has no size, as a pipe. */
enum { HEAD = 4096, STEP = 1 << 16 };

static int read_all(int fd, const struct read_opts *opts, struct bytes *file,
                    struct timespec *mtime, struct err *err)
{
    struct stat st;
    int status = 0;
    if (fstat(fd, &st))
        return fail(err, "%s", strerror(errno));
    *mtime = st.st_mtim;
    if (S_ISDIR(st.st_mode))
        return fail(err, "it is a directory");
    if (opts->regular && !S_ISREG(st.st_mode))
        return fail(err, "it is no regular file");
    if (!bytes_reserve(file, HEAD))
        return fail(err, "no memory for the file");
    while (file->size < HEAD && read_some(fd, file, &status, err))
        continue;
    if (status == 0 && file->size && !opts->wanted(*file))
        return fail(err, "not a picture of a format known here");
    /* One more byte than there is, so that the end is seen without growing. */
    size_t room = STEP, size = (size_t)st.st_size + 1;
    if (S_ISREG(st.st_mode) && st.st_size >= 0 && size > file->size &&
        size <= opts->limit)
        room = size - file->size;
    do {
        if (file->size > opts->limit)
            return fail(err, "the file is larger than --max-memory allows");
        if (file->size == file->capacity && !bytes_reserve(file, room))
            return fail(err, "no memory for the file");
        room = STEP;
    } while (read_some(fd, file, &status, err));
    return status;
}

/* To open a FIFO waits for somebody to write to it. */
int file_read(const char *name, const struct read_opts *opts,
              struct bytes *file, struct timespec *mtime, struct err *err)
{
    bool standard = strcmp(name, "-") == 0;
    int flags = O_RDONLY | O_CLOEXEC | (opts->regular ? O_NONBLOCK : 0);
    int fd = standard ? STDIN_FILENO : open(name, flags);
    if (fd < 0)
        return fail(err, "%s", strerror(errno));
    int status = read_all(fd, opts, file, mtime, err);
    if (!standard)
        close(fd);
    if (status)
        bytes_free(file);
    return status;
}

static bool is_input(const struct stat *old, const char *input)
{
    struct stat st;
    return stat(input, &st) == 0 && st.st_dev == old->st_dev &&
           st.st_ino == old->st_ino;
}

uint64_t file_size(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size
                                                       : 0;
}

bool file_is_newer(const char *name, const char *than)
{
    struct stat a, b;
    if (stat(name, &a) || stat(than, &b))
        return false;
    return a.st_mtim.tv_sec != b.st_mtim.tv_sec
               ? a.st_mtim.tv_sec > b.st_mtim.tv_sec
               : a.st_mtim.tv_nsec >= b.st_mtim.tv_nsec;
}

bool file_is_same(const char *name, const char *other)
{
    struct stat st;
    return stat(name, &st) == 0 && is_input(&st, other);
}

void file_prefetch(const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
    close(fd);
}

/* ---- Writing ----------------------------------------------------------- */

bool file_exists(const char *name)
{
    struct stat st;
    return strcmp(name, "-") != 0 && lstat(name, &st) == 0 &&
           !S_ISDIR(st.st_mode);
}

static int write_all(int fd, struct bytes file, struct err *err)
{
    size_t at = 0;
    while (at < file.size) {
        ssize_t n = write(fd, file.data + at, file.size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, "cannot be written: %s", strerror(errno));
        at += (size_t)n;
    }
    return 0;
}

/* The name of the directory, with its slash, of a name. */
static void directory_of(const char *name, char *directory)
{
    const char *slash = strrchr(name, '/');
    size_t n = slash ? (size_t)(slash - name) + 1 : 0;
    memcpy(directory, name, n);
    directory[n] = '\0';
}

/* Follows symbolic links to the name that is to be replaced, which need not
 * exist. */
static int follow_links(const char *name, char *path, struct err *err)
{
    char link[PATH_MAX];
    if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
        return fail(err, "%s", strerror(ENAMETOOLONG));
    for (int i = 0; i < 40; i++) {
        ssize_t n = readlink(path, link, sizeof link - 1);
        if (n < 0)
            return 0;
        link[n] = '\0';
        char directory[PATH_MAX];
        directory_of(path, directory);
        if (*link == '/')
            *directory = '\0';
        size_t m = strlen(directory);
        if (m + (size_t)n >= PATH_MAX)
            return fail(err, "%s", strerror(ENAMETOOLONG));
        memcpy(path, directory, m);
        memcpy(path + m, link, (size_t)n + 1);
    }
    return fail(err, "%s", strerror(ELOOP));
}

/* Makes the directories that a name stands in. */
static int make_directories(const char *path, struct err *err)
{
    char name[PATH_MAX];
    size_t n = strlen(path); /* below PATH_MAX: follow_links() */
    for (size_t i = 1; i < n; i++) {
        if (path[i] != '/')
            continue;
        memcpy(name, path, i);
        name[i] = '\0';
        if (mkdir(name, 0777) && errno != EEXIST)
            return fail(err, "its directory cannot be made: %s",
                        strerror(errno));
    }
    return 0;
}

/* A name that nothing has, in the directory of `path`. */
static int name_beside(const char *path, char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    uint8_t random[12];
    directory_of(path, name);
    size_t n = strlen(name);
    if (n + 32 > PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -1;
    n += (size_t)sprintf(name + n, ".gimgxf-");
    for (size_t i = 0; i < sizeof random; i++)
        name[n++] = letters[random[i] & 31];
    name[n] = '\0';
    return 0;
}

/* Opens a new file in the directory of `path`, whose name is pending then. */
static int open_beside(const char *path, mode_t mode, struct pending *pending)
{
    int fd = -1;
    for (int tries = 0; tries < 100; tries++) {
        char name[PATH_MAX];
        if (name_beside(path, name))
            break;
        char *place = pending_lock(pending);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0)
            strcpy(place, name);
        pending_unlock(pending);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    return fd;
}

static int give_times(int fd, const char *of, struct err *err)
{
    struct stat st;
    if (stat(of, &st))
        return fail(err, "no times to preserve: %s", strerror(errno));
    struct timespec times[2] = { st.st_atim, st.st_mtim };
    if (futimens(fd, times))
        return fail(err, "its times cannot be set: %s", strerror(errno));
    return 0;
}

/* What is replaced hands on its owner and group, where we may set them, and its
 * mode: in this order, since a new owner clears bits of the mode. What a group
 * may do is not left to another one, which may do what others may. An output that is lost in a power cut can
 * be made again, unless it replaces the input. */
static int take_place_of(int fd, const struct stat *old, const char *input,
                         struct err *err)
{
    mode_t mode = old->st_mode & 07777;
    if (fchown(fd, old->st_uid, old->st_gid) &&
        fchown(fd, (uid_t)-1, old->st_gid) && getegid() != old->st_gid)
        mode &= ~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3;
    if (fchmod(fd, mode))
        return fail(err, "its mode cannot be kept: %s", strerror(errno));
    if (is_input(old, input) && fsync(fd) && errno != EINVAL && errno != EROFS)
        return fail(err, "cannot be written: %s", strerror(errno));
    return 0;
}

/* Of two programs that shall not clobber, the kernel lets one. Where its file
 * system knows no such renaming, a link never replaces either. */
static int rename_fresh(const char *from, const char *path)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, path))
        return -1;
    return unlink(from);
}

/* Renames the pending file to its name, over the old one if there is one.
 * Where a file system knows no links, as on a camera's card, the old one is
 * renamed before: for that instant there is only it, under its new name. */
static int rename_over(const char *from, const char *path, const char *backup)
{
    struct stat old, kept;
    if (!*backup)
        return rename(from, path);
    if (link(path, backup) == 0)
        return rename(from, path);
    if (errno == EEXIST) {
        /* A run that was ended here has left it: it is the old file itself. */
        bool same = stat(path, &old) == 0 && stat(backup, &kept) == 0 &&
                    old.st_dev == kept.st_dev && old.st_ino == kept.st_ino;
        errno = EEXIST;
        return same ? rename(from, path) : -1;
    }
    if ((errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) ||
        rename_fresh(path, backup))
        return -1;
    if (rename(from, path) == 0)
        return 0;
    int why = errno;
    (void)rename(backup, path);
    errno = why;
    return -1;
}

/* Gives the pending file its name. */
static enum written settle(struct pending *pending, const char *path,
                           const char *backup, const struct write_opts *opts,
                           struct err *err)
{
    enum written status = WRITTEN;
    char *name = pending_lock(pending);
    if ((opts->no_clobber ? rename_fresh(name, path)
                          : rename_over(name, path, backup)) == 0)
        *name = '\0';
    else if (opts->no_clobber && errno == EEXIST)
        status = WRITTEN_EXISTS;
    else if (*backup && errno == EEXIST)
        status = (enum written)fail(err, "the backup %s exists already",
                                    backup);
    else
        status = (enum written)fail(err, "cannot be put in place: %s",
                                    strerror(errno));
    pending_unlock(pending);
    return status;
}

static void give_up(struct pending *pending)
{
    char *name = pending_lock(pending);
    unlink(name);
    *name = '\0';
    pending_unlock(pending);
}

/* Gives a file without a name its first one. False: by errno. */
static bool link_unnamed(int fd, const char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* A new file is made without a name, where the file system can do that, and
 * named when it is whole: nothing has to be removed, whatever ends us, and the
 * directory changes once and not three times. *cannot: it is to be made in the
 * other way. */
static enum written write_unnamed(const char *path, struct bytes file,
                                  const struct write_opts *opts, bool *cannot,
                                  struct err *err)
{
    char directory[PATH_MAX];
    enum written written = WRITTEN_NOT;
    directory_of(path, directory);
    int fd = open(*directory ? directory : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC,
                  0666);
    *cannot = fd < 0;
    if (fd < 0)
        return WRITTEN_NOT;
    if (write_all(fd, file, err) == 0 &&
        (!opts->times_of_input || give_times(fd, opts->input, err) == 0)) {
        if (link_unnamed(fd, path))
            written = WRITTEN;
        else if (errno == EEXIST && opts->no_clobber)
            written = WRITTEN_EXISTS;
        else
            *cannot = true;
    }
    if (close(fd) && written == WRITTEN) {
        unlink(path);
        written = (enum written)fail(err, "cannot be written: %s",
                                     strerror(errno));
    }
    return written;
}

static enum written write_beside(struct pending *pending, const char *path,
                                 const struct stat *old, struct bytes file,
                                 const struct write_opts *opts,
                                 struct err *err)
{
    char backup[PATH_MAX] = "";
    if (old && opts->backup &&
        snprintf(backup, sizeof backup, "%s%s", path, opts->backup) >= PATH_MAX)
        return (enum written)fail(err, "%s", strerror(ENAMETOOLONG));
    /* What others may not read they may not read while it is made; a new file
     * has what the umask leaves. */
    mode_t mode = old ? 0600 : 0666;
    int fd = open_beside(path, mode, pending);
    if (fd < 0 && errno == ENOENT && opts->make_directories) {
        if (make_directories(path, err))
            return WRITTEN_NOT;
        fd = open_beside(path, mode, pending);
    }
    if (fd < 0 && errno == ENOENT)
        return (enum written)fail(err, "its directory does not exist");
    if (fd < 0)
        return (enum written)fail(err, "cannot be written beside its place: %s",
                                  strerror(errno));
    int status = write_all(fd, file, err);
    if (status == 0 && old)
        status = take_place_of(fd, old, opts->input, err);
    if (status == 0 && opts->times_of_input)
        status = give_times(fd, opts->input, err);
    if (close(fd) && status == 0)
        status = fail(err, "cannot be written: %s", strerror(errno));
    enum written written =
        status ? WRITTEN_NOT : settle(pending, path, backup, opts, err);
    if (written != WRITTEN)
        give_up(pending);
    return written;
}

static enum written replace(const char *path, const struct stat *old,
                            struct bytes file, const struct write_opts *opts,
                            struct err *err)
{
    bool cannot = true;
    if (!old) {
        enum written new = write_unnamed(path, file, opts, &cannot, err);
        if (!cannot)
            return new;
    }
    struct pending *pending = pending_take();
    if (!pending)
        return (enum written)fail(err, "no memory for its name");
    enum written written =
        write_beside(pending, path, old, file, opts, err);
    pending_give(pending);
    return written;
}

static enum written write_to(int fd, struct bytes file, struct err *err)
{
    if (fd < 0)
        return (enum written)fail(err, "cannot be written: %s",
                                  strerror(errno));
    int status = write_all(fd, file, err);
    if (close(fd) && status == 0)
        status = fail(err, "cannot be written: %s", strerror(errno));
    return (enum written)status;
}

enum written file_write(const char *name, struct bytes file,
                        const struct write_opts *opts, struct err *err)
{
    char path[PATH_MAX];
    struct stat st;
    if (strcmp(name, "-") == 0 || strcmp(name, "/dev/stdout") == 0)
        return write_to(dup(STDOUT_FILENO), file, err);
    if (opts->no_clobber && file_exists(name))
        return WRITTEN_EXISTS;
    bool exists = stat(name, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return (enum written)fail(err, "it is a directory");
    if (exists && !S_ISREG(st.st_mode) && opts->regular)
        return (enum written)fail(err, "it is no regular file");
    if (exists && !S_ISREG(st.st_mode))
        return write_to(open(name, O_WRONLY | O_CLOEXEC), file, err);
    if (follow_links(name, path, err))
        return WRITTEN_NOT;
    return replace(path, exists ? &st : NULL, file, opts, err);
}
