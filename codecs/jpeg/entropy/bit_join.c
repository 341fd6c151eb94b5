/* Bits that several threads have coded, joined to the bytes of a scan. */
#include "codecs/jpeg/entropy/bit_join.h"

#include <stdbool.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/entropy/huffman_table.h"

static bool has_ff(uint64_t bytes)
{
    uint64_t inverse = ~bytes;
    return ((inverse - UINT64_C(0x0101010101010101)) & bytes &
            UINT64_C(0x8080808080808080)) != 0;
}

/* Writes whole bytes, stuffed, and returns where they end. */
ENTROPY_INLINE uint8_t *stuff(uint8_t *to, uint64_t bytes, unsigned n)
{
    if (n == 8 && !has_ff(bytes)) {
        write_be64(to, bytes);
        return to + 8;
    }
    for (; n; n--, bytes <<= 8) {
        *to++ = (uint8_t)(bytes >> 56);
        if (to[-1] == 0xff)
            *to++ = 0;
    }
    return to;
}

/* Appends the first n bits of a word, all others of which are 0. */
ENTROPY_INLINE void join_word(struct bit_join *join, uint64_t word, unsigned n)
{
    join->left |= word >> join->count;
    join->count += n;
    if (join->count < 64)
        return;
    join->to = stuff(join->to, join->left, 8);
    join->count -= 64;
    join->left = join->count ? word << (n - join->count) : 0;
}

void bit_join_append(struct bit_join *join, const uint8_t *from, uint64_t bits)
{
    for (; bits >= 64; bits -= 64, from += 8)
        join_word(join, read_be64(from), 64);
    if (bits)
        join_word(join, read_be64(from) & UINT64_MAX << (64 - bits),
                  (unsigned)bits);
}

void bit_join_end(struct bit_join *join)
{
    join->to = stuff(join->to, join->left | UINT64_MAX >> join->count,
                     (join->count + 7) / 8);
    join->left = join->count = 0;
}
