/* A file without a name, for cells that are more than memory is to hold: what
 * codecs/ needs of one, which opens no files. */
#ifndef CODECS_BASE_SCRATCH_H
#define CODECS_BASE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All functions return 0, or -1 with the reason. Several threads may write and
 * read at a time. */
struct scratch {
    /* Makes the file if there is none, with room for `size` bytes, whose
     * content is undefined but for those that were written: fails at once if
     * the disk is too full for them. */
    int (*begin)(void *context, uint64_t size, struct err *err);
    int (*write)(void *context, uint64_t at, const void *data, size_t size,
                 struct err *err);
    int (*read)(void *context, uint64_t at, void *data, size_t size,
                struct err *err);
    /* Maps the first `size` bytes, which nobody may write to then, to be freed
     * by bytes_free(). NULL for a part of a file. */
    int (*map)(void *context, uint64_t size, struct bytes *bytes,
               struct err *err);
    void *context;
    uint64_t memory; /* bytes that who writes or reads should work with */
};

/* What lies behind the first bytes of a scratch file, which others use. */
struct scratch_part {
    const struct scratch *of;
    uint64_t from;
};

/* Returns a part as a scratch file of its own. The part must stay. */
struct scratch scratch_part_access(struct scratch_part *part);

#ifdef __cplusplus
}
#endif
#endif
