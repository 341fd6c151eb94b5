/* Bits that several threads have coded, joined to the bytes of a scan. */
#ifndef CODECS_JPEG_ENTROPY_BIT_JOIN_H
#define CODECS_JPEG_ENTROPY_BIT_JOIN_H

#include <stdint.h>

/* What is written, and up to 63 bits that follow it. */
struct bit_join {
    uint8_t *to;
    uint64_t left; /* they, as the highest bits */
    unsigned count;
};

/* Appends bits, whose bytes can be read 8 at a time, and stuffs the bytes that
 * become whole (T.81, F.1.2.3): they are up to twice as many. */
void bit_join_append(struct bit_join *join, const uint8_t *from, uint64_t bits);

/* Fills the last byte with ones. */
void bit_join_end(struct bit_join *join);

#endif
