/* Deflates the content of a member, which may come in pieces, by several
 * threads. What comes out does not depend on the pieces. */
#ifndef CODECS_NPY_ZIP_DEFLATE_H
#define CODECS_NPY_ZIP_DEFLATE_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"

struct zip_deflate {
    struct thread_pool *pool; /* threads that deflate; NULL: the caller's */
    const struct account *account; /* whose time ends that; or NULL */
    struct bytes held;             /* content that waits for more */
    size_t window; /* bytes before it that matches may refer to */
};

/* Appends to `out` what more content becomes, or what waits is held. The last
 * piece ends the stream. */
int zip_deflate(struct zip_deflate *d, struct bytes *out, struct bytes content,
                bool last, struct err *err);

/* Frees what is held. Fine on {0}. */
void zip_deflate_end(struct zip_deflate *d);

#endif
