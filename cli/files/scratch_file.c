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
    struct temporary *temporary =
        fd >= 0 ? NULL : temporary_open(directory, NULL, -1, O_RDWR, 0600, &fd);
    if (temporary)
        temporary_end(temporary);
    return fd;
}

const char *scratch_file_apart(void)
{
    const char *name = getenv("TMPDIR");
    return name && *name ? name : "/tmp";
}

/* Makes a file beside the output; or elsewhere, since that may be a device or a
 * pipe, beside which there are no files. Returns a descriptor, or -1 with the
 * reason. */
static int make_file(const struct scratch_file *at, mode_t mode,
                     struct err *err)
{
    struct location place;
    int fd = -1;
    if (strcmp(at->beside, "-") != 0 &&
        resolve_file(at->root, at->beside, RESOLVE_NEAREST, &place, err) == 0) {
        fd = make_in(place.directory, mode);
        close(place.directory);
    }
    if (fd >= 0)
        return fd;
    int directory =
        open(scratch_file_apart(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0)
        fd = make_in(directory, 0);
    if (fd < 0)
        fail_system(err, "a temporary file cannot be made");
    if (directory >= 0)
        close(directory);
    return fd;
}

/* ---- Mapped files ---------------------------------------------------------*/

static int make(void *context, uint64_t size, struct scratch_map *file,
                struct err *err)
{
    struct scratch_file *beside = context;
    const off_t end = (off_t)size;
    if (size > SIZE_MAX / 2) /* on 32 bits */
        return fail_unread(err,
                           "its temporary file is more than can be mapped");
    file->fd = make_file(beside, 0, err);
    if (file->fd < 0)
        return -1;
    /* Not all file systems can set room aside, and not all systems let a
     * process: then writing will tell. */
    const bool refused = fallocate(file->fd, 0, 0, end) != 0;
    if ((refused && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG ||
                     errno == EIO)) ||
        ftruncate(file->fd, end) || !bytes_map(&file->bytes, file->fd, size)) {
        scratch_fail(err);
        close(file->fd);
        return -1;
    }
    beside->mapped += size;
    return 0;
}

struct scratch scratch_access(struct scratch_file *file, uint64_t memory)
{
    return (struct scratch){ make, file, memory };
}

/* ---- A file for the output ------------------------------------------------*/

bool scratch_file_make_output(struct scratch_file *file)
{
    struct location place;
    struct err unheard;
    if (file->mode == 0 || strcmp(file->beside, "-") == 0 ||
        resolve_file(file->root, file->beside, RESOLVE_NEAREST, &place,
                     &unheard))
        return false;
    const bool regular = !place.exists || S_ISREG(place.st.st_mode);
    file->fd = regular && !place.magic
                   ? make_unnamed(place.directory, file->mode)
                   : -1;
    close(place.directory);
    file->made = file->is_output = file->fd >= 0;
    return file->made;
}

int scratch_file_replace(void *context, uint64_t at, const void *data,
                         size_t size, struct err *err)
{
    const struct scratch_file *file = context;
    const struct scratch_map to = { .fd = file->fd };
    if (scratch_write(&to, at, data, size, err) == 0)
        return 0;
    return file->is_output ? fail_system(err, "the output cannot be written")
                           : -1;
}

int scratch_file_append(void *context, struct bytes *bytes, struct err *err)
{
    struct scratch_file *file = context;
    if (!file->made) {
        file->fd = make_file(file, file->mode, err);
        file->made = file->fd >= 0;
    }
    if (!file->made ||
        scratch_file_replace(file, file->size, bytes->data, bytes->size, err))
        return -1;
    file->size += bytes->size;
    bytes->size = 0;
    return 0;
}

void scratch_file_close(struct scratch_file *file)
{
    if (file->made)
        close(file->fd);
    file->made = false;
    file->size = 0;
}
