/* Writes bits into a DEFLATE stream, starting with the lowest bit of the first
 * byte (RFC 1951, 3.1.1). */
#ifndef CODECS_DEFLATE_BIT_WRITER_H
#define CODECS_DEFLATE_BIT_WRITER_H

#include "codecs/base/byte_order.h"

struct bit_writer {
    uint8_t *out;   /* next byte to write; 8 bytes are stored at a time */
    uint64_t held;  /* bits that are not stored yet, the first one lowest */
    unsigned count; /* number of held bits; at most 7 between calls */
};

/* Writes the low `count` bits of `bits`, at most 56; those above must be 0. */
static inline void bit_writer_put(struct bit_writer *b, uint64_t bits,
                                  unsigned count)
{
    b->held |= bits << b->count;
    b->count += count;
    write_le64(b->out, b->held);
    b->out += b->count / 8;
    b->held >>= b->count & ~7u;
    b->count &= 7;
}

/* Fills up the current byte with zeros. */
static inline void bit_writer_align(struct bit_writer *b)
{
    if (b->count)
        bit_writer_put(b, 0, 8 - b->count);
}

#endif
