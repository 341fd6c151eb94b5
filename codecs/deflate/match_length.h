/* How far two strings of bytes agree: the inner loop of each match finder. */
#ifndef CODECS_DEFLATE_MATCH_LENGTH_H
#define CODECS_DEFLATE_MATCH_LENGTH_H

#include <stdint.h>

#include "codecs/base/byte_order.h"

/* Returns how many of `most` bytes are equal, of which the first `n` are known
 * to be. */
static inline __attribute__((always_inline)) unsigned
match_length(const uint8_t *a, const uint8_t *b, unsigned n, unsigned most)
{
    for (; n + 8 <= most; n += 8) {
        uint64_t differ = read_le64(a + n) ^ read_le64(b + n);
        if (differ)
            return n + (unsigned)__builtin_ctzll(differ) / 8;
    }
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

#endif
