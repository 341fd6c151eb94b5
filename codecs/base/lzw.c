/* LZW: a string of bytes that has come before is a code, of up to 12 bits. */
#include "codecs/base/lzw.h"

#include <string.h>

#include "codecs/base/byte_order.h"

enum { NO_CODE = LZW_CODES };

static inline uint8_t *put_code(struct lzw_writer *w, uint8_t *to,
                                unsigned code)
{
    w->held = w->high_first ? w->held << w->width | code
                            : w->held | (uint64_t)code << w->have;
    w->have += w->width;
    if (w->have < 32)
        return to;
    w->have -= 32;
    if (w->high_first) {
        write_be32(to, (uint32_t)(w->held >> w->have));
    } else {
        write_le32(to, (uint32_t)w->held);
        w->held >>= 32;
    }
    return to + 4;
}

/* Forgets all strings, once there are as many codes as all readers take. */
static uint8_t *clear(struct lzw_writer *w, uint8_t *to)
{
    const unsigned code = 1u << w->bits;
    to = put_code(w, to, code);
    memset(w->place, 0, sizeof w->place);
    w->width = w->bits + 1;
    w->next = code + 2;
    return to;
}

static inline bool is_full(const struct lzw_writer *w)
{
    return w->next == LZW_CODES - 3 * w->early;
}

void lzw_begin(struct lzw_writer *w, unsigned bits, bool tiff)
{
    w->high_first = tiff;
    w->early = tiff;
    w->bits = bits;
    w->width = bits + 1;
    w->code = NO_CODE;
    w->have = 0;
    w->held = 0;
}

bool lzw_put(struct lzw_writer *w, struct bytes *to, const uint8_t *from,
             size_t n)
{
    /* 12 bits for each, and codes that clear, or wait. */
    if (!bytes_reserve(to, n + n / 2 + n / 1024 + 16))
        return false;
    uint8_t *end = to->data + to->size;
    unsigned code = w->code;
    size_t i = 0;
    if (code == NO_CODE && n) {
        end = clear(w, end);
        code = from[i++];
    }
    for (; i < n; i++) {
        const uint32_t key = code << 8 | from[i];
        /* Of the code, which has just been loaded, as little is computed as
         * can be: that is what takes the time. */
        uint32_t at = code ^ from[i] * 0x9e3779b1u >> (32 - LZW_HASH_BITS);
        while (w->place[at] && w->string[w->place[at]] != key)
            at = (at + 1) & ((1 << LZW_HASH_BITS) - 1);
        if (w->place[at]) {
            code = w->place[at];
            continue;
        }
        end = put_code(w, end, code);
        code = from[i];
        if (is_full(w)) {
            end = clear(w, end);
            continue;
        }
        w->width += (w->next + w->early) >> w->width;
        w->place[at] = (uint16_t)w->next;
        w->string[w->next++] = key;
    }
    w->code = code;
    to->size = (size_t)(end - to->data);
    return true;
}

bool lzw_end(struct lzw_writer *w, struct bytes *to)
{
    if (!bytes_reserve(to, 16))
        return false;
    uint8_t *end = put_code(w, to->data + to->size, w->code);
    if (is_full(w))
        end = clear(w, end);
    else
        w->width += (w->next + w->early) >> w->width;
    end = put_code(w, end, (1u << w->bits) + 1);
    if (w->high_first)
        write_be32(end, (uint32_t)(w->held << (32 - w->have)));
    else
        write_le32(end, (uint32_t)w->held);
    to->size = (size_t)(end - to->data) + (w->have + 7) / 8;
    return true;
}
