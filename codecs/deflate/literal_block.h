/* Encodes DEFLATE without matches: bytes by Huffman codes alone, which is ten
 * times as fast as to look for matches. flate.h says why it stands beside
 * libraries. */
#ifndef CODECS_DEFLATE_LITERAL_BLOCK_H
#define CODECS_DEFLATE_LITERAL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/deflate/deflate_block.h"
#include "codecs/deflate/literal_run.h"

/* Deflates `size` bytes to `out`, which has flate_bound(size) bytes, to a band
 * that ends as those of struct flate do. Returns the number of bytes written.
 */
size_t literal_block_deflate(uint8_t *out, const uint8_t *data, size_t size,
                             bool final);

/* The same in half of the time: one code for all, by a share of the bytes.
 * `out` has literal_block_quick_room(size) bytes. */
size_t literal_block_deflate_quickly(uint8_t *out, const uint8_t *data,
                                     size_t size, bool final);

/* Returns how many bytes of room that needs: bytes that were not counted may
 * all have the longest codes. */
static inline size_t literal_block_quick_room(size_t size)
{
    return size / 8 * LITERAL_LIMIT + 4096;
}

/* Returns about how many bytes that would be, without the blocks' headers. */
size_t literal_block_estimate(const uint8_t *data, size_t size);

#endif
