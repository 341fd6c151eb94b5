/* Lists of blocks to the entropy-coded data of the turned picture. */
#ifndef CODECS_JPEG_ENTROPY_ENTROPY_ENCODE_H
#define CODECS_JPEG_ENTROPY_ENTROPY_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/xform.h"
#include "codecs/jpeg/entropy/entropy_blocks.h"

/* How often each symbol is coded, by table. */
struct entropy_statistics {
    uint64_t dc[ENTROPY_TABLES][256], ac[ENTROPY_TABLES][256];
};

/* Where the blocks of a picture come from: decoded from `scan`, transposed if
 * the turn does so, of components that may have been cut to what `columns` and
 * `rows` of struct entropy_component say now. */
struct entropy_source {
    const struct entropy_blocks *blocks;
    const struct entropy_scan *scan;
    enum xform turn;
};

/* Appends the data of scan `to`: its components are those of the source, after
 * the turn. Several threads share the work; what is written does not depend on
 * them. *bits becomes how many bits it has before they are stuffed; or 0 where
 * a table has no code for a symbol that is needed, and what has been appended
 * is of no use. Returns -1 without memory, or once the time is over. */
int entropy_encode(struct bytes *file, const struct entropy_scan *to,
                   const struct entropy_source *from, uint64_t *bits,
                   struct thread_pool *pool, struct err *err);

/* Counts the symbols that this would code. Returns -1 as that does. */
int entropy_count(struct entropy_statistics *counts,
                  const struct entropy_scan *to,
                  const struct entropy_source *from, struct thread_pool *pool,
                  struct err *err);

#endif
