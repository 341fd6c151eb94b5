/* Bits on their way into a stream of deflate: the first one is the lowest of
 * the first byte (RFC 1951, 3.1.1). */
#ifndef CODECS_DEFLATE_BIT_WRITER_H
#define CODECS_DEFLATE_BIT_WRITER_H

#include "codecs/base/byte_order.h"

struct bit_writer {
    uint8_t *out;   /* where the next go; 8 bytes are stored at a time */
    uint64_t held;  /* bits that are not out yet, the first one lowest */
    unsigned count; /* how many; at most 7 between calls */
};

/* At most 57 bits at a time; those above them are 0. */
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

/* Fills the byte that has begun with zeros. */
static inline void bit_writer_align(struct bit_writer *b)
{
    if (b->count)
        bit_writer_put(b, 0, 8 - b->count);
}

#endif
