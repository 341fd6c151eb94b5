/* Reads files into memory, or line by line, and looks at what is there. */
#include "cli/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codecs/deflate/flate.h"
#include "codecs/image/limit.h"

/* ---- Reading ------------------------------------------------------------ */

/* Reads once into the room that there is. Returns the bytes; 0 at the end, or
 * on failure, with *status set. */
static size_t read_some(int fd, struct bytes *file, int *status,
                        struct err *err)
{
    ssize_t n = TEMP_FAILURE_RETRY(
        read(fd, file->data + file->size, file->capacity - file->size));
    if (n < 0)
        *status = fail_system(err, NULL);
    else
        file->size += (size_t)n;
    return n > 0 ? (size_t)n : 0;
}

/* Bytes that are enough to tell what a file is; bytes that are read at a time
 * if it has no size, like a pipe. */
enum { HEAD = 4096, STEP = 1 << 16 };

static int read_all(int fd, const struct read_opts *opts, struct bytes *file,
                    struct stat *st, struct err *err)
{
    const struct limits limits = { .bytes = opts->limit };
    int status = 0;
    if (fstat(fd, st))
        return fail_system(err, NULL);
    if (S_ISDIR(st->st_mode))
        return fail_unread(err, opts->served
                                    ? "a directory, not a regular file"
                                    : "a directory; --recursive (-r) takes the "
                                      "pictures in it");
    const bool regular = S_ISREG(st->st_mode);
    const uint64_t size = regular ? (uint64_t)st->st_size : 0;
    if (opts->regular && !regular)
        return fail_unread(err, "not a regular file");
    if (opts->reserve)
        opts->reserve(opts->reserve_context, size);
    if (!bytes_reserve(file, HEAD))
        return fail_memory(err, "no memory for the file");
    while (file->size < HEAD && read_some(fd, file, &status, err))
        continue;
    if (status == 0 && file->size && opts->check)
        status = opts->check(opts->context, *file, err);
    if (status)
        return status;
    if (regular && opts->map_from && size >= opts->map_from) {
        bytes_free(file);
        return bytes_map(file, fd, (size_t)size)
                   ? 0
                   : fail_system(err, "cannot be mapped");
    }
    /* One more byte than there is, so that the end is seen without growing. */
    size_t room = regular && size + 1 > file->size && size < opts->limit
                      ? (size_t)size + 1 - file->size
                      : STEP;
    do {
        /* A file without a size passes the limit as it is read. */
        if (file->size > opts->limit && size > opts->limit)
            return limit_refuse_memory("the file has", size, &limits, err);
        if (file->size > opts->limit)
            return fail_unread(
                err,
                "the file has more than %llu bytes, which --max-memory "
                "allows; a larger --max-memory reads it",
                (unsigned long long)opts->limit);
        if (file->size == file->capacity && !bytes_reserve(file, room))
            return fail_memory(err, "no memory for the file");
        room = STEP;
    } while (read_some(fd, file, &status, err));
    return status;
}

/* O_NONBLOCK: to open a FIFO would wait until somebody writes to it. */
int file_read(const char *name, const struct read_opts *opts,
              struct bytes *file, struct permissions *permissions,
              struct err *err)
{
    *permissions = (struct permissions){ 0 };
    bool standard = strcmp(name, "-") == 0;
    int flags = O_RDONLY | (opts->regular ? O_NONBLOCK : 0);
    int fd =
        standard ? STDIN_FILENO : resolve_open(opts->root, name, flags, err);
    if (fd < 0)
        return -1;
    int status = read_all(fd, opts, file, &permissions->st, err);
    if (status == 0 && opts->acl)
        status = permissions_read_acl(permissions, fd, err);
    if (!standard)
        close(fd);
    if (status)
        bytes_free(file);
    return status;
}

bool file_checksum(struct root *root, const char *name, uint64_t *size,
                   uint32_t *crc)
{
    enum { CHUNK = 1 << 18 };
    struct err unheard;
    ssize_t n = -1;
    uint8_t *buffer = malloc(CHUNK);
    int fd = resolve_open(root, name, O_RDONLY | O_NONBLOCK, &unheard);
    *size = 0;
    *crc = 0;
    while (buffer && fd >= 0 &&
           (n = TEMP_FAILURE_RETRY(read(fd, buffer, CHUNK))) > 0) {
        *crc = flates[0]->crc32(*crc, buffer, (size_t)n);
        *size += (uint64_t)n;
    }
    if (fd >= 0)
        close(fd);
    free(buffer);
    return n == 0;
}

/* ---- Looking ------------------------------------------------------------ */

bool file_is_newer(struct root *root, const char *name, struct root *than_root,
                   const char *than)
{
    struct stat a, b;
    if (!resolve_stat(root, name, true, &a) ||
        !resolve_stat(than_root, than, true, &b))
        return false;
    return a.st_mtim.tv_sec != b.st_mtim.tv_sec
               ? a.st_mtim.tv_sec > b.st_mtim.tv_sec
               : a.st_mtim.tv_nsec >= b.st_mtim.tv_nsec;
}

bool file_is_same(struct root *root, const char *name, struct root *other_root,
                  const char *other)
{
    struct stat a, b;
    bool there = strcmp(other, "-") == 0
                     ? fstat(STDIN_FILENO, &b) == 0
                     : resolve_stat(other_root, other, true, &b);
    return there && S_ISREG(b.st_mode) && resolve_stat(root, name, true, &a) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool file_is_stream(struct root *root, const char *name)
{
    struct stat st;
    return strcmp(name, "-") == 0 ||
           (resolve_stat(root, name, true, &st) && !S_ISREG(st.st_mode) &&
            !S_ISDIR(st.st_mode));
}

bool file_exists(struct root *root, const char *name)
{
    struct stat st;
    return strcmp(name, "-") != 0 && resolve_stat(root, name, false, &st) &&
           !S_ISDIR(st.st_mode);
}

bool file_put_null(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return false;
    bool done = dup2(null, fd) == fd;
    close(null);
    return done;
}

/* ---- Lines: one buffer that holds the longest ---------------------------- */

enum { LINE_STEP = 1 << 16 };

/* Returns LINE_READ if there is more than before, or the end was reached. What
 * is there has room for a step behind it, and for a NUL. */
static enum line read_more(struct line_reader *lines)
{
    ssize_t n;
    if (lines->polled && !lines->readable)
        return LINE_LATER;
    if (lines->at) {
        lines->size -= lines->at;
        memmove(lines->data, lines->data + lines->at, lines->size);
        lines->at = 0;
    }
    if (lines->room - lines->size <= LINE_STEP) {
        const size_t room = 2 * lines->room + 2 * LINE_STEP;
        char *data = realloc(lines->data, room);
        if (!data)
            return LINE_FAILED;
        lines->data = data;
        lines->room = room;
    }
    lines->readable = false;
    do
        n = read(lines->fd, lines->data + lines->size, LINE_STEP);
    while (n < 0 && (errno == EINTR || (errno == EAGAIN && !lines->polled)));
    if (n < 0)
        return lines->polled && errno == EAGAIN ? LINE_LATER : LINE_FAILED;
    lines->size += (size_t)n;
    lines->ended = n == 0;
    return LINE_READ;
}

enum line line_reader_next(struct line_reader *lines, char **line, size_t *size)
{
    for (;;) {
        size_t left = lines->size - lines->at;
        char *begin = lines->data ? lines->data + lines->at : NULL;
        char *end = left > lines->looked
                        ? memchr(begin + lines->looked, lines->end,
                                 left - lines->looked)
                        : NULL;
        bool whole = end || (lines->ended && left), dropped = lines->dropping;
        if (lines->ended && !left)
            return LINE_NONE;
        lines->looked = whole ? 0 : left;
        if (whole || dropped || left > lines->most) {
            *line = begin;
            *size = end ? (size_t)(end - begin) : left;
            begin[*size] = '\0';
            lines->at += *size + (end != NULL);
            lines->looked = 0;
            lines->dropping = !whole;
            if (!dropped)
                return *size > lines->most ? LINE_TOO_LONG : LINE_READ;
        }
        enum line status = whole ? LINE_READ : read_more(lines);
        if (status != LINE_READ)
            return status;
    }
}

void line_reader_free(struct line_reader *lines)
{
    free(lines->data);
    lines->data = NULL;
}
