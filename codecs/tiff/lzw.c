/* LZW: codes of 9 to 12 bits, the high bits first, whose width grows one code
 * early. */
#include "codecs/tiff/tiff.h"

#include <string.h>

#include "codecs/base/byte_order.h"

enum {
    CLEAR = 256,
    END = 257,
    FIRST = 258,
    LAST = 4094,    /* as many codes as all readers take */
    HASH_BITS = 15, /* so that the place of a string is seldom taken */
};

struct lzw {
    uint8_t *to;
    uint64_t held;       /* the low bits, which are not yet written */
    unsigned have, bits; /* how many; and of a code */
    unsigned next;       /* the code of the next string */
    uint16_t place[1 << HASH_BITS]; /* the code of a string, or 0 */
    /* Of each code: that of what comes before the last byte, and that byte. */
    uint32_t string[LAST];
};

static void put(struct lzw *z, unsigned code)
{
    z->held = z->held << z->bits | code;
    z->have += z->bits;
    if (z->have >= 32) {
        z->have -= 32;
        write_be32(z->to, (uint32_t)(z->held >> z->have));
        z->to += 4;
    }
}

static void clear(struct lzw *z)
{
    put(z, CLEAR);
    memset(z->place, 0, sizeof z->place);
    z->bits = 9;
    z->next = FIRST;
}

/* Counts a code that has been put. */
static void count(struct lzw *z)
{
    if (++z->next == LAST)
        clear(z);
    else if (z->next >> z->bits)
        z->bits++;
}

size_t lzw_encode(uint8_t *to, const uint8_t *from, size_t size)
{
    struct lzw z = { .to = to, .bits = 9 };
    unsigned code = from[0];
    clear(&z);
    for (size_t i = 1; i < size; i++) {
        const uint32_t key = code << 8 | from[i];
        /* Of the code, which has just been loaded, as little is computed as
         * can be: that is what takes the time. */
        uint32_t at = code ^ from[i] * 0x9e3779b1u >> (32 - HASH_BITS);
        while (z.place[at] && z.string[z.place[at]] != key)
            at = (at + 1) & ((1 << HASH_BITS) - 1);
        if (z.place[at]) {
            code = z.place[at];
            continue;
        }
        put(&z, code);
        z.place[at] = (uint16_t)z.next;
        z.string[z.next] = key;
        code = from[i];
        count(&z);
    }
    put(&z, code);
    count(&z);
    put(&z, END);
    for (; z.have > 0; z.have -= z.have < 8 ? z.have : 8)
        *z.to++ = (uint8_t)(z.have < 8 ? z.held << (8 - z.have)
                                       : z.held >> (z.have - 8));
    return (size_t)(z.to - to);
}
