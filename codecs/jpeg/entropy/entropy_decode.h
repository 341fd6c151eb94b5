/* Entropy-coded data to lists of blocks. */
#ifndef CODECS_JPEG_ENTROPY_ENTROPY_DECODE_H
#define CODECS_JPEG_ENTROPY_ENTROPY_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/jpeg/entropy/entropy.h"

enum { ENTROPY_PARTS = 64 };

/* The blocks of a scan, in the order in which it codes them. */
struct entropy_blocks {
    struct entropy_block *block;
    size_t count;
    uint16_t *values[ENTROPY_PARTS]; /* of struct entropy_block.part */
    unsigned parts;
};

/* Decodes the data of a scan, which begins behind its header, and sets *used to
 * its bytes, up to the marker behind it. With `transposes` each block is given
 * transposed. Several threads share the work; the result does not depend on
 * them.
 *
 * Returns 0; or -1 without memory, or if anything is odd about the data: a code
 * that no table has, more coefficients than a block has, bytes that are missing
 * or left over, restart markers that are wrong. What it is, whoever reads the
 * file with libjpeg can tell. The blocks are to be freed in any case. */
int entropy_decode(struct entropy_blocks *blocks,
                   const struct entropy_scan *scan, const uint8_t *data,
                   size_t size, size_t *used, bool transposes,
                   struct thread_pool *pool, struct err *err);

/* Fine on {0}, and twice. */
void entropy_blocks_free(struct entropy_blocks *blocks);

#endif
