/* A file without a name, for cells that are more than memory is to hold: what
 * codecs/ needs of one, which opens no files. */
#ifndef CODECS_BASE_SCRATCH_H
#define CODECS_BASE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All functions return 0, or -1 with the reason. Several threads may write and
 * read at a time. */
struct scratch {
    /* Makes the file if there is none, with room for `size` bytes whose content
     * is undefined: fails at once if the disk is too full for them. */
    int (*begin)(void *context, uint64_t size, struct err *err);
    int (*write)(void *context, uint64_t at, const void *data, size_t size,
                 struct err *err);
    int (*read)(void *context, uint64_t at, void *data, size_t size,
                struct err *err);
    void *context;
    uint64_t memory; /* bytes that who writes or reads should work with */
};

#ifdef __cplusplus
}
#endif
#endif
