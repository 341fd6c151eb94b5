/* LZW: a string of bytes that has come before is a code, of up to 12 bits. */
#include "codecs/base/lzw.h"

#include <string.h>

#include "codecs/base/byte_order.h"

/* ---- Reading ------------------------------------------------------------ */

/* A string is what it was when it came first: a place among the bytes. */
struct lzw_string {
    uint32_t at, length;
};

/* Copies a string to the bytes right behind it or later: those of the last one
 * and their first byte, where it is used before it is there. */
static inline void copy_string(uint8_t *bytes, size_t at, size_t to, size_t n,
                               size_t room)
{
    uint64_t eight;
    if (n <= sizeof eight && room >= sizeof eight && at + n <= to) {
        memcpy(&eight, bytes + at, sizeof eight);
        memcpy(bytes + to, &eight, sizeof eight);
    } else if (at + n <= to) {
        memcpy(bytes + to, bytes + at, n);
    } else {
        memcpy(bytes + to, bytes + at, n - 1);
        bytes[to + n - 1] = bytes[at + n - 1];
    }
}

/* For bytes of 1 bit codes get wider right behind a clear code. What begins
 * without one is no TIFF of today. */
enum lzw_end lzw_read(uint8_t *to, size_t n, struct bytes codes, unsigned bits,
                      bool tiff, size_t *got, size_t *left)
{
    struct lzw_string strings[LZW_CODES], last = { 0, 0 }; /* none at first */
    const unsigned clear = 1u << bits;
    unsigned next = clear + 2, width = bits + 1;
    size_t done = 0, at = 0; /* bytes and bits */
    *left = *got = 0;
    if (n > UINT32_MAX) /* strings are not found there */
        return LZW_WRONG;
    for (; done < n; *got = done) {
        const uint8_t *p = codes.data + at / 8;
        const unsigned code =
            tiff ? read_be32(p) << at % 8 >> (32 - width)
                 : read_le32(p) >> at % 8 & ((1u << width) - 1);
        if (tiff && at == 0 && code != clear)
            return LZW_WRONG;
        at += width;
        if (at > 8 * codes.size || code == clear + 1)
            return LZW_SHORT;
        if (code == clear) {
            next = clear + 2;
            width = bits + 1;
            last.length = 0;
            continue;
        }
        if (last.length && next < LZW_CODES)
            strings[next++] = (struct lzw_string){ last.at, last.length + 1 };
        if (code >= next || (code < clear && code > UINT8_MAX))
            return LZW_WRONG;
        const size_t length = code > clear ? strings[code].length : 1,
                     fits = length < n - done ? length : n - done;
        if (to && code < clear)
            to[done] = (uint8_t)code;
        else if (to)
            copy_string(to, strings[code].at, done, fits, n - done);
        last = (struct lzw_string){ (uint32_t)done, (uint32_t)fits };
        done += fits;
        if ((next + tiff) >> width && width < LZW_CODE_BITS)
            width++;
    }
    /* The end code may follow, and what fills its byte. */
    const size_t used = (at + LZW_CODE_BITS + 7) / 8;
    *left = codes.size > used ? codes.size - used : 0;
    return LZW_WHOLE;
}

/* ---- Writing ------------------------------------------------------------ */

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
