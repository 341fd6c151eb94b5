/* Files without a name, for what memory need not hold. */
#include "cli/files/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/temporary.h"

/* Makes a file without a name in a directory. Returns a descriptor, or -1 and
 * sets errno. */
static int make_unnamed(int directory, mode_t mode)
{
    const int flags = O_TMPFILE | O_RDWR | O_CLOEXEC;
    return mode ? openat(directory, ".", flags, mode)
                : openat(directory, ".", flags | O_EXCL, 0600);
}

/* The same, or makes one that loses its name at once, where the file system
 * cannot do that. */
static int make_in(int directory, mode_t mode)
{
    int fd = make_unnamed(directory, mode);
    if (fd >= 0)
        return fd;
    struct temporary *temporary =
        temporary_open(directory, NULL, O_RDWR, 0600, &fd);
    if (!temporary)
        return -1;
    temporary_end(temporary);
    return fd;
}

static int make_beside(const struct scratch_file *file, struct err *err)
{
    struct location place;
    if (strcmp(file->beside, "-") == 0 ||
        resolve_nearest(file->root, file->beside, &place, err))
        return -1;
    int fd = make_in(place.directory, file->mode);
    close(place.directory);
    return fd;
}

const char *scratch_file_apart(void)
{
    const char *name = getenv("TMPDIR");
    return name && *name ? name : "/tmp";
}

/* The output may be a device or a pipe, beside which there are no files. */
static int make_apart(void)
{
    int directory =
        open(scratch_file_apart(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -1;
    int fd = make_in(directory, 0);
    int why = errno;
    close(directory);
    errno = why;
    return fd;
}

static int make_file(struct scratch_file *file, struct err *err)
{
    if (file->made)
        return 0;
    file->fd = make_beside(file, err);
    if (file->fd < 0)
        file->fd = make_apart();
    if (file->fd < 0)
        return fail_system(err, "a temporary file cannot be made");
    file->made = true;
    return 0;
}

bool scratch_file_make_output(struct scratch_file *file)
{
    struct location place;
    struct err unheard;
    if (file->mode == 0 || strcmp(file->beside, "-") == 0 ||
        resolve_nearest(file->root, file->beside, &place, &unheard))
        return false;
    const bool regular = !place.exists || S_ISREG(place.st.st_mode);
    file->fd = regular && !place.magic
                   ? make_unnamed(place.directory, file->mode)
                   : -1;
    close(place.directory);
    file->made = file->is_output = file->fd >= 0;
    return file->made;
}

static int fail_writing(const struct scratch_file *file, struct err *err)
{
    return fail_system(err, file->is_output
                                ? "the output cannot be written"
                                : "it is more than --max-memory, and its "
                                  "temporary file cannot be written");
}

/* Returns whether there is no room. Not all file systems can set it aside, and
 * not all systems let a process: then writing will tell. */
static bool means_no_room(int why)
{
    return why == ENOSPC || why == EDQUOT || why == EFBIG || why == EIO;
}

static int begin(void *context, uint64_t size, struct err *err)
{
    struct scratch_file *file = context;
    if (make_file(file, err))
        return -1;
    file->size = size > file->size ? size : file->size;
    return fallocate(file->fd, 0, 0, (off_t)size) && means_no_room(errno)
               ? fail_writing(file, err)
               : 0;
}

static int write_at(void *context, uint64_t at, const void *data, size_t size,
                    struct err *err)
{
    const struct scratch_file *file = context;
    const uint8_t *from = data;
    for (size_t done = 0; done < size;) {
        ssize_t n = TEMP_FAILURE_RETRY(
            pwrite(file->fd, from + done, size - done, (off_t)(at + done)));
        if (n < 0)
            return fail_writing(file, err);
        done += (size_t)n;
    }
    return 0;
}

static int read_at(void *context, uint64_t at, void *data, size_t size,
                   struct err *err)
{
    const struct scratch_file *file = context;
    uint8_t *to = data;
    for (size_t done = 0; done < size;) {
        ssize_t n = TEMP_FAILURE_RETRY(
            pread(file->fd, to + done, size - done, (off_t)(at + done)));
        if (n == 0)
            errno = EIO;
        if (n <= 0)
            return fail_system(err, "its temporary file cannot be read");
        done += (size_t)n;
    }
    return 0;
}

static int map(void *context, uint64_t size, struct bytes *bytes,
               struct err *err)
{
    const struct scratch_file *file = context;
    if (bytes_map(bytes, file->fd, size))
        return 0;
    return fail_system(err, "its temporary file cannot be read");
}

struct scratch scratch_file_access(struct scratch_file *file, uint64_t memory)
{
    return (struct scratch){ begin, write_at, read_at, map, file, memory };
}

int scratch_file_append(struct scratch_file *file, struct bytes *bytes,
                        struct err *err)
{
    if (make_file(file, err) ||
        write_at(file, file->size, bytes->data, bytes->size, err))
        return -1;
    file->size += bytes->size;
    bytes->size = 0;
    return 0;
}

int scratch_file_replace(struct scratch_file *file, uint64_t at,
                         const void *data, size_t size, struct err *err)
{
    return write_at(file, at, data, size, err);
}

int scratch_file_map(struct scratch_file *file, struct bytes *bytes,
                     struct err *err)
{
    return map(file, file->size, bytes, err);
}

void scratch_file_close(struct scratch_file *file)
{
    if (file->made)
        close(file->fd);
    file->made = false;
    file->size = 0;
}
