/* LZW as GIF has it. */
#include "codecs/base/byte_order.h"
#include "codecs/gif/gif.h"

enum { CODES = 4096, WIDTH_MAX = 12 };

uint32_t lzw_row(uint32_t i, uint32_t height)
{
    const uint32_t eighths = (height + 7) / 8, fourths = (height + 3) / 8,
                   halves = (height + 1) / 4;
    if (i < eighths)
        return 8 * i;
    i -= eighths;
    if (i < fourths)
        return 8 * i + 4;
    i -= fourths;
    return i < halves ? 4 * i + 2 : 2 * (i - halves) + 1;
}

/* ---- Reading ------------------------------------------------------------ */

/* A string is what it was when it came first: a place among the pixels. */
struct string {
    uint32_t at, length;
};

/* Copies a string to the pixels right behind it or later: those of the last one
 * and their first pixel, where it is used before it is there. */
static inline void copy_string(uint8_t *pixels, size_t at, size_t to, size_t n,
                               size_t room)
{
    uint64_t eight;
    if (n <= sizeof eight && room >= sizeof eight && at + n <= to) {
        memcpy(&eight, pixels + at, sizeof eight);
        memcpy(pixels + to, &eight, sizeof eight);
    } else if (at + n <= to) {
        memcpy(pixels + to, pixels + at, n);
    } else {
        memcpy(pixels + to, pixels + at, n - 1);
        pixels[to + n - 1] = pixels[at + n - 1];
    }
}

/* Codes get wider when the next one would not fit; for pixels of 1 bit that is
 * so right behind a clear code. */
enum lzw_end lzw_read(uint8_t *pixels, size_t n, struct bytes codes,
                      unsigned bits, size_t *got, size_t *left)
{
    struct string strings[CODES], last = { 0, 0 }; /* none behind a clear */
    const unsigned clear = 1u << bits;
    unsigned next = clear + 2, width = bits + 1;
    size_t done = 0, at = 0; /* pixels and bits */
    *left = 0;
    for (*got = 0; done < n; *got = done) {
        const uint32_t four = read_le32(codes.data + at / 8) >> at % 8;
        const unsigned code = four & ((1u << width) - 1);
        at += width;
        if (at > 8 * codes.size || code == clear + 1)
            return LZW_SHORT;
        if (code == clear) {
            next = clear + 2;
            width = bits + 1;
            last.length = 0;
            continue;
        }
        if (last.length && next < CODES)
            strings[next++] = (struct string){ last.at, last.length + 1 };
        if (code >= next || (code < clear && code > UINT8_MAX))
            return LZW_WRONG;
        const size_t length = code > clear ? strings[code].length : 1,
                     fits = length < n - done ? length : n - done;
        if (pixels && code < clear)
            pixels[done] = (uint8_t)code;
        else if (pixels)
            copy_string(pixels, strings[code].at, done, fits, n - done);
        last = (struct string){ (uint32_t)done, (uint32_t)fits };
        done += fits;
        if (next >> width && width < WIDTH_MAX)
            width++;
    }
    /* The end code may follow, and what fills its byte. */
    const size_t used = (at + WIDTH_MAX + 7) / 8;
    *left = codes.size > used ? codes.size - used : 0;
    return LZW_WHOLE;
}

/* ---- Writing ------------------------------------------------------------ */

/* Strings by their last pixel and the code of what is before it: (code << 8 |
 * pixel) << 12 | the code of the string. */
enum { SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS };
#define NO_STRING UINT32_MAX

struct lzw_writer {
    uint8_t *to;
    uint64_t held;       /* bits that are not yet written */
    unsigned have;       /* how many; less than 32 */
    unsigned bits, next; /* of a pixel; the code of the next string */
    unsigned width;      /* of a code */
    uint32_t slot[SLOTS];
};

static inline void put_code(struct lzw_writer *w, unsigned code)
{
    w->held |= (uint64_t)code << w->have;
    w->have += w->width;
    if (w->have >= 32) {
        write_le32(w->to, (uint32_t)w->held);
        w->to += 4;
        w->held >>= 32;
        w->have -= 32;
    }
}

static void clear_strings(struct lzw_writer *w)
{
    put_code(w, 1u << w->bits);
    memset(w->slot, 0xff, sizeof w->slot);
    w->width = w->bits + 1;
    w->next = (1u << w->bits) + 2;
}

/* Writes what follows the string `code`, which is NO_STRING at first, and
 * returns the string that is not yet written then. */
static uint32_t put_pixels(struct lzw_writer *w, uint32_t code,
                           const uint8_t *row, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++) {
        const uint32_t key = code << 8 | row[x];
        uint32_t i = key * 0x9e3779b1u >> (32 - SLOT_BITS);
        if (code == NO_STRING) {
            code = row[x];
            continue;
        }
        while (w->slot[i] != NO_STRING && w->slot[i] >> WIDTH_MAX != key)
            i = (i + 1) % SLOTS;
        if (w->slot[i] != NO_STRING) {
            code = w->slot[i] % CODES;
            continue;
        }
        put_code(w, code);
        code = row[x];
        if (w->next == CODES) {
            clear_strings(w);
            continue;
        }
        w->width += w->next >> w->width;
        w->slot[i] = key << WIDTH_MAX | w->next++;
    }
    return code;
}

bool lzw_write(struct bytes *codes, const struct plane *pixels, bool interlaced,
               unsigned bits)
{
    enum { AROUND = 16 }; /* the codes that begin and end, and 4 bytes held */
    struct lzw_writer w = { .bits = bits, .width = bits + 1 };
    uint32_t code = NO_STRING;
    for (uint32_t i = 0; i < pixels->height; i++) {
        const uint32_t y = interlaced ? lzw_row(i, pixels->height) : i;
        if (!bytes_reserve(codes, 2 * (size_t)pixels->width + AROUND))
            return false;
        w.to = codes->data + codes->size;
        if (i == 0)
            clear_strings(&w);
        code = put_pixels(&w, code, plane_row(pixels, y), pixels->width);
        codes->size = (size_t)(w.to - codes->data);
    }
    put_code(&w, code);
    w.width += w.next < CODES && w.next >> w.width;
    put_code(&w, (1u << bits) + 1);
    write_le32(w.to, (uint32_t)w.held);
    codes->size = (size_t)(w.to - codes->data) + (w.have + 7) / 8;
    return true;
}
