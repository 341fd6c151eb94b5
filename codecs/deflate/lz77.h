/* Deflate with matches, for rows of pixels and what PNG's filters make of them:
 * as small as zlib's level 6 makes screenshots, several times as fast, and not
 * much larger than codes alone where there are no matches.
 *
 * RFC 1951. */
#ifndef CODECS_DEFLATE_LZ77_H
#define CODECS_DEFLATE_LZ77_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables that one thread works with, for one band after another. */
struct matcher;

/* NULL: no memory. */
struct matcher *matcher_new(void);
void matcher_free(struct matcher *m);

/* The most bytes that matcher_deflate() writes for `size` bytes, and those
 * behind them that it may overwrite. */
size_t matcher_bound(size_t size);

/* Deflates `size` bytes that follow `before` bytes in memory, which matches may
 * refer to, and returns how many bytes that made. They end at a byte: the last
 * block is the final one of the stream, or is followed by an empty stored one.
 * What is written depends on nothing but these arguments. */
size_t matcher_deflate(struct matcher *m, uint8_t *out, const uint8_t *data,
                       size_t before, size_t size, bool final);

#endif
