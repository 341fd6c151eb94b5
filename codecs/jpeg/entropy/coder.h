/* The blocks of a scan, from entropy-coded data and back to it. */
#ifndef CODECS_JPEG_ENTROPY_CODER_H
#define CODECS_JPEG_ENTROPY_CODER_H

#include <stdbool.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/xform.h"
#include "codecs/jpeg/entropy/entropy.h"

enum {
    ENTROPY_PARTS = 64,
    ENTROPY_BLOCK_VALUES = 80, /* values that one block may write */
};

/* The blocks of a scan, in the order in which it codes them. */
struct entropy_blocks {
    struct entropy_block *block;
    size_t count;
    uint16_t *values[2 * ENTROPY_PARTS]; /* of struct entropy_block.part; the
                          second half is of blocks that have been replaced */
    unsigned parts;
    size_t size; /* bytes of the data that they were decoded from; or 0 */
};

/* Fine on {0}, and twice. */
void entropy_blocks_free(struct entropy_blocks *blocks);

/* A list of values, which grows. */
struct entropy_values {
    uint16_t *value;
    size_t count, room;
};

/* Makes room for about so many values. Returns false without memory. */
bool entropy_values_grow(struct entropy_values *list, size_t room);

/* Makes room for those of one more block. Returns false without memory. */
static inline bool entropy_values_reserve(struct entropy_values *list)
{
    return list->count + ENTROPY_BLOCK_VALUES <= list->room ||
           entropy_values_grow(list, list->room * 2);
}

/* Decodes the data of a scan, from behind its header up to the marker behind
 * it. With `transposes` each block is given transposed. Several threads share
 * the work; the result does not depend on them.
 *
 * Returns 0; or -1 without memory, or if anything is odd about the data: a code
 * that no table has, more coefficients than a block has, bytes that are missing
 * or left over, restart markers that are wrong; or once the time of the file is
 * over. What it is, whoever reads the file with libjpeg can tell. The blocks
 * are to be freed in any case. */
int entropy_decode(struct entropy_blocks *blocks,
                   const struct entropy_scan *scan, struct bytes data,
                   bool transposes, struct thread_pool *pool, struct err *err);

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
