/* Entropy-coded data: finding its markers, and joining it at any bit. */
#include "codecs/jpeg/splice.h"

#include <string.h>

#include "codecs/base/byte_order.h"

size_t splice_unstuff(uint8_t *data, size_t size)
{
    const uint8_t *from = data, *end = data + size;
    uint8_t *to = data;
    while (from < end) {
        const uint8_t *full = memchr(from, 0xff, (size_t)(end - from));
        size_t run = (size_t)((full ? full + 1 : end) - from);
        memmove(to, from, run);
        to += run;
        from += run;
        if (full && from < end)
            from++; /* the 0 */
    }
    return (size_t)(to - data);
}

const uint8_t *splice_next_marker(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (p = memchr(p, 0xff, (size_t)(end - p))) && p + 1 < end) {
        if (p[1])
            return p;
        p += 2;
    }
    return NULL;
}

void splice_number_restarts(uint8_t *data, size_t size, uint64_t first)
{
    enum { RST0 = 0xd0 };
    const uint8_t *p = data, *end = data + size;
    for (; (p = splice_next_marker(p, end)); p += 2)
        data[p - data + 1] = (uint8_t)(RST0 + first++ % 8);
}

static uint64_t word_at(const uint8_t *p, unsigned shift)
{
    uint64_t word = read_be64(p);
    return shift ? word << shift | p[8] >> (8 - shift) : word;
}

/* The 8 bits from bit `at` on. */
static unsigned byte_at(const struct bit_span *bits, uint64_t at)
{
    const uint8_t *p = bits->data + at / 8;
    return read_be16(p) >> (8 - at % 8) & 255;
}

static bool has_full_byte(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101;
    return ((~word - ones) & word & ones << 7) != 0;
}

static uint8_t *put_byte(uint8_t *to, unsigned byte)
{
    *to++ = (uint8_t)byte;
    if (byte == 0xff)
        *to++ = 0;
    return to;
}

/* Returns the byte that begins with bits of `before`, and skips the others. */
static unsigned first_byte(struct bit_span *bits, const struct bit_span *before,
                           unsigned phase)
{
    unsigned head = byte_at(before, before->to - phase) >> (8 - phase);
    unsigned byte = head << (8 - phase) | byte_at(bits, bits->from) >> phase;
    bits->from += 8 - phase;
    return byte;
}

/* Makes the byte that ends with ones. Returns false if no bits are left for it.
 */
static bool last_byte(const struct bit_span *bits, unsigned *byte)
{
    uint64_t left = (bits->to - bits->from) % 8;
    if (left)
        *byte = byte_at(bits, bits->to - left) | 0xff >> left;
    return left > 0;
}

size_t splice_size(struct bit_span bits, const struct bit_span *before,
                   unsigned phase, bool last)
{
    unsigned byte;
    size_t size = 0, i = 0;
    if (phase)
        size += 1 + (first_byte(&bits, before, phase) == 0xff);
    size_t whole = (size_t)((bits.to - bits.from) / 8);
    const uint8_t *p = bits.data + bits.from / 8;
    size += whole;
    for (; i + 8 <= whole; i += 8) {
        uint64_t word = word_at(p + i, bits.from % 8);
        for (; has_full_byte(word); word >>= 8)
            size += (word & 255) == 0xff;
    }
    for (; i < whole; i++)
        size += byte_at(&bits, bits.from + 8 * i) == 0xff;
    if (last && last_byte(&bits, &byte))
        size += 1 + (byte == 0xff);
    return size;
}

void splice(uint8_t *to, struct bit_span bits, const struct bit_span *before,
            unsigned phase, bool last)
{
    unsigned byte;
    size_t i = 0;
    if (phase)
        to = put_byte(to, first_byte(&bits, before, phase));
    size_t whole = (size_t)((bits.to - bits.from) / 8);
    const uint8_t *p = bits.data + bits.from / 8;
    for (; i + 8 <= whole; i += 8) {
        uint64_t word = word_at(p + i, bits.from % 8);
        if (has_full_byte(word)) {
            for (int k = 56; k >= 0; k -= 8)
                to = put_byte(to, word >> k & 255);
        } else {
            write_be64(to, word);
            to += 8;
        }
    }
    for (; i < whole; i++)
        to = put_byte(to, byte_at(&bits, bits.from + 8 * i));
    if (last && last_byte(&bits, &byte))
        put_byte(to, byte);
}
