/* Encodes DEFLATE as small as is reasonable: literals and matches are a
 * shortest path through the bytes, where the length of a step is what it costs
 * in bits. Takes 10 to 30 times as long as lz77.h. flate.h says why it stands
 * beside libraries. */
#ifndef CODECS_DEFLATE_OPTIMAL_H
#define CODECS_DEFLATE_OPTIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of one thread, about 14 MB, for one band after another. */
struct optimal;

/* Returns NULL without memory. */
struct optimal *optimal_new(void);
void optimal_free(struct optimal *o);

/* Deflates `size` bytes to `out`, which has flate_bound(size) bytes, to a band
 * as struct flate has them. Returns the number of bytes written. */
size_t optimal_deflate(struct optimal *o, uint8_t *out, const uint8_t *data,
                       size_t before, size_t size, bool final);

/* Returns about how many bytes that would be, of at most 512 KiB. Takes a
 * quarter of the time. */
size_t optimal_estimate(struct optimal *o, const uint8_t *data, size_t before,
                        size_t size);

#endif
