/* Deflate without matches: bytes coded by how often they occur, and by nothing
 * else. What is left of a photograph after the filters of PNG has next to no
 * matches, and this is ten times as fast as to look for them.
 *
 * RFC 1951, 3.2.3 to 3.2.7. */
#ifndef CODECS_DEFLATE_LITERAL_BLOCK_H
#define CODECS_DEFLATE_LITERAL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes that literal_block_deflate() writes for `size` bytes, and
 * those behind them that it may overwrite. */
size_t literal_block_bound(size_t size);

/* Writes blocks of deflate that hold `size` bytes, and returns how many bytes
 * it wrote. They end at a byte: the last block is the final one of the stream,
 * or is followed by an empty stored block. */
size_t literal_block_deflate(uint8_t *out, const uint8_t *data, size_t size,
                             bool final);

/* About how many bytes that would be, without the blocks' headers. */
size_t literal_block_estimate(const uint8_t *data, size_t size);

#endif
