/* Temporary files that are mapped. */
#include "codecs/base/scratch.h"

#include <errno.h>
#include <unistd.h>

int scratch_fail(struct err *err)
{
    return fail_system(err, "it is more than --max-memory, and its temporary "
                            "file cannot be written");
}

int scratch_write(const struct scratch_map *file, uint64_t at, const void *data,
                  size_t size, struct err *err)
{
    const uint8_t *from = data;
    for (size_t done = 0; done < size;) {
        ssize_t n = TEMP_FAILURE_RETRY(
            pwrite(file->fd, from + done, size - done, (off_t)(at + done)));
        if (n < 0)
            return scratch_fail(err);
        done += (size_t)n;
    }
    return 0;
}

void scratch_close(struct scratch_map *file)
{
    bytes_free(&file->bytes);
    close(file->fd);
}
