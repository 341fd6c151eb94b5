/* Entropy-coded data to lists of blocks. */
#ifndef CODECS_JPEG_ENTROPY_ENTROPY_DECODE_H
#define CODECS_JPEG_ENTROPY_ENTROPY_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/jpeg/entropy/entropy_blocks.h"

/* Decodes the data of a scan, which begins behind its header, and sets *used to
 * its bytes, up to the marker behind it. With `transposes` each block is given
 * transposed. Several threads share the work; the result does not depend on
 * them.
 *
 * Returns 0; or -1 without memory, or if anything is odd about the data: a code
 * that no table has, more coefficients than a block has, bytes that are missing
 * or left over, restart markers that are wrong; or once the time of the file is
 * over. What it is, whoever reads the file with libjpeg can tell. The blocks
 * are to be freed in any case. */
int entropy_decode(struct entropy_blocks *blocks,
                   const struct entropy_scan *scan, const uint8_t *data,
                   size_t size, size_t *used, bool transposes,
                   struct thread_pool *pool, struct err *err);

#endif
