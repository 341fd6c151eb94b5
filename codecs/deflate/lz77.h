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
struct lz77;

/* NULL: no memory. */
struct lz77 *lz77_new(void);
void lz77_free(struct lz77 *m);

/* The most bytes that lz77_deflate() writes for `size` bytes, and those
 * behind them that it may overwrite. */
size_t lz77_bound(size_t size);

/* Deflates `size` bytes that follow `before` bytes in memory, which matches may
 * refer to, and returns how many bytes that made. They end at a byte: the last
 * block is the final one of the stream, or is followed by an empty stored one.
 * What is written depends on nothing but these arguments. */
size_t lz77_deflate(struct lz77 *m, uint8_t *out, const uint8_t *data,
                    size_t before, size_t size, bool final);

#endif
