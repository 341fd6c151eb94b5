/* Temporary files, for what is more than memory is to hold: what codecs/ needs
 * of them, which opens no files. */
#ifndef CODECS_BASE_SCRATCH_H
#define CODECS_BASE_SCRATCH_H

#include <stdint.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A temporary file without a name, mapped to be read. It is written by calls,
 * not through the mapping: they say if the disk is full, and no page is cleared
 * before it is written. */
struct scratch_map {
    struct bytes bytes; /* 0 where nothing was written. They are mapped
                           privately, which on Linux shows what is written as
                           long as nobody writes through the mapping. Who has
                           read some calls bytes_unload(): they are memory */
    int fd;
};

/* All functions return 0, or -1 with the reason. */

struct scratch {
    /* Makes a file of `size` bytes, at least one; fails at once if the disk is
     * too full for them, where the system can tell. */
    int (*make)(void *context, uint64_t size, struct scratch_map *file,
                struct err *err);
    void *context;
    uint64_t memory; /* bytes that who writes or reads should work with */
};

/* Writes bytes of the file. Several threads may. */
int scratch_write(const struct scratch_map *file, uint64_t at, const void *data,
                  size_t size, struct err *err);

/* Fails with the reason of the system, since a temporary file cannot be
 * written. */
int scratch_fail(struct err *err);

/* Removes the file. */
void scratch_close(struct scratch_map *file);

#ifdef __cplusplus
}
#endif
#endif
