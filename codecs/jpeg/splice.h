/* Entropy-coded data of JPEG (T.81, F.1.2.3): markers in it, and how it is
 * joined at any bit. In a file each byte 0xff in it is stuffed, followed by a
 * 0, and the end is filled with ones. */
#ifndef CODECS_JPEG_SPLICE_H
#define CODECS_JPEG_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Removes the stuffing where the bytes are, and returns how many are left. */
size_t splice_unstuff(uint8_t *data, size_t size);

/* Where the next marker stands, which no stuffed byte is; NULL: there is none.
 */
const uint8_t *splice_next_marker(const uint8_t *p, const uint8_t *end);

/* Numbers the restart markers, beside which there are no others, from `first`
 * on: they count from 0 to 7. */
void splice_number_restarts(uint8_t *data, size_t size, uint64_t first);

/* Some bits of plain bytes, the high bit of a byte first. */
struct bit_span {
    const uint8_t *data; /* whose last byte is followed by 8 that may be read */
    uint64_t from, to;   /* which of its bits */
};

/* How many bytes splice() writes. */
size_t splice_size(struct bit_span bits, const struct bit_span *before,
                   unsigned phase, bool last);

/* Writes bits as whole bytes, and stuffs them. The first ones fill up a byte of
 * which `before` has the last `phase` bits, 0 to 7, that come before; those
 * that fill no byte at the end, of which there are fewer than 8, are left out,
 * or with `last` ones are put behind them. There are at least 8 bits. */
void splice(uint8_t *to, struct bit_span bits, const struct bit_span *before,
            unsigned phase, bool last);

#endif
