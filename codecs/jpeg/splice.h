/* Entropy-coded data of JPEG (T.81, F.1.2.3): finding its markers, and joining
 * it at any bit. In a file each byte 0xff of it is stuffed, which means
 * followed by a 0, and its last byte is filled up with ones. */
#ifndef CODECS_JPEG_SPLICE_H
#define CODECS_JPEG_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Removes the stuffing in place. Returns how many bytes are left. */
size_t splice_unstuff(uint8_t *data, size_t size);

/* Returns the next marker, which is not a stuffed byte; NULL if there is none.
 */
const uint8_t *splice_next_marker(const uint8_t *p, const uint8_t *end);

/* Numbers the restart markers from `first` on, modulo 8. The data has no other
 * markers. */
void splice_number_restarts(uint8_t *data, size_t size, uint64_t first);

/* Some bits of bytes without stuffing, the high bit of each byte first. */
struct bit_span {
    const uint8_t *data; /* 8 bytes behind the last one can be read */
    uint64_t from, to;   /* positions of bits */
};

/* Returns how many bytes splice() writes. */
size_t splice_size(struct bit_span bits, const struct bit_span *before,
                   unsigned phase, bool last);

/* Writes at least 8 bits as whole bytes, and stuffs them. The first byte begins
 * with the last `phase` bits of `before`, 0 to 7. Bits at the end that do not
 * fill a byte are left out, or filled up with ones if this is the `last` span.
 */
void splice(uint8_t *to, struct bit_span bits, const struct bit_span *before,
            unsigned phase, bool last);

#endif
