/* LZW as GIF has it. */
#include "codecs/gif/lzw.h"

#include <string.h>

enum { CODES = 4096, WIDTH_MAX = 12, SUB_BLOCK = 255 };

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

struct code_reader {
    const uint8_t *at, *end;
    uint64_t bits;
    unsigned count; /* of these */
    unsigned left;  /* bytes of this sub-block */
};

/* Returns the next code; CODES if there is none. */
static inline unsigned next_code(struct code_reader *r, unsigned width)
{
    while (r->count < width) {
        if (r->left == 0) {
            r->left = r->at < r->end ? *r->at++ : 0;
            if (r->left == 0) {
                r->end = r->at; /* the empty one comes once */
                return CODES;
            }
        }
        if (r->at == r->end)
            return CODES;
        r->bits |= (uint64_t)*r->at++ << r->count;
        r->count += 8;
        r->left--;
    }
    const unsigned code = (unsigned)(r->bits & ((1u << width) - 1));
    r->bits >>= width;
    r->count -= width;
    return code;
}

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
static enum lzw_end read_codes(uint8_t *pixels, size_t n, struct code_reader *r,
                               unsigned bits, size_t *got)
{
    struct string strings[CODES];
    const unsigned clear = 1u << bits;
    unsigned next = clear + 2, width = bits + 1;
    struct string last = { 0, 0 }; /* none behind a clear code */
    size_t done = 0;
    *got = 0;
    while (done < n) {
        const unsigned code = next_code(r, width);
        if (code == CODES || code == clear + 1)
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
        struct string s = { 0, 1 };
        if (code > clear)
            s = strings[code];
        if (s.length > n - done)
            s.length = (uint32_t)(n - done);
        if (pixels && code < clear)
            pixels[done] = (uint8_t)code;
        else if (pixels)
            copy_string(pixels, s.at, done, s.length, n - done);
        last = (struct string){ (uint32_t)done, s.length };
        *got = done += s.length;
        if (next >> width && width < WIDTH_MAX)
            width++;
    }
    return LZW_WHOLE;
}

enum lzw_end lzw_read(uint8_t *pixels, size_t n, struct lzw_coded coded,
                      size_t *got, size_t *left)
{
    struct code_reader r = { .at = coded.data, .end = coded.data + coded.size };
    const enum lzw_end end = read_codes(pixels, n, &r, coded.bits, got);
    next_code(&r, WIDTH_MAX); /* the end code, and what fills its byte */
    *left = 0;
    while (r.at < r.end && (r.left || *r.at)) {
        const size_t size = r.left ? r.left : *r.at++,
                     there = (size_t)(r.end - r.at);
        *left += size < there ? size : there;
        r.at += size < there ? size : there;
        r.left = 0;
    }
    return end;
}

/* ---- Writing ------------------------------------------------------------ */

/* Strings by their last pixel and the code of what is before it: (code << 8 |
 * pixel) << 12 | the code of the string. */
enum { SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS };
#define NO_STRING UINT32_MAX

struct lzw_writer {
    struct bytes *out;
    size_t block; /* where the size of this sub-block stands */
    uint64_t bits;
    unsigned count, width;
    unsigned next; /* the code of the next string */
    uint32_t slot[SLOTS];
};

static bool put_code(struct lzw_writer *w, unsigned code)
{
    w->bits |= (uint64_t)code << w->count;
    for (w->count += w->width; w->count >= 8; w->count -= 8) {
        struct bytes *out = w->out;
        if (out->size - w->block > SUB_BLOCK) {
            if (!bytes_reserve(out, SUB_BLOCK + 2))
                return false;
            out->data[w->block] = SUB_BLOCK;
            w->block = out->size++;
        }
        out->data[out->size++] = (uint8_t)w->bits;
        w->bits >>= 8;
    }
    return true;
}

static void forget_strings(struct lzw_writer *w, unsigned bits)
{
    memset(w->slot, 0xff, sizeof w->slot);
    w->width = bits + 1;
    w->next = (1u << bits) + 2;
}

/* Returns the slot of a string, or the free one that is its. */
static inline uint32_t *find_string(struct lzw_writer *w, uint32_t key)
{
    uint32_t i = key * 0x9e3779b1u >> (32 - SLOT_BITS);
    while (w->slot[i] != NO_STRING && w->slot[i] >> WIDTH_MAX != key)
        i = (i + 1) % SLOTS;
    return &w->slot[i];
}

/* Ends a string that has no code, since a pixel follows for which there is
 * none. */
static bool end_string(struct lzw_writer *w, uint32_t *slot, uint32_t key,
                       unsigned bits)
{
    if (!put_code(w, key >> 8))
        return false;
    if (w->next == CODES) {
        if (!put_code(w, 1u << bits))
            return false;
        forget_strings(w, bits);
        return true;
    }
    if (w->next >> w->width)
        w->width++;
    *slot = key << WIDTH_MAX | w->next++;
    return true;
}

/* The end code, and what is left in bits. */
static bool end_codes(struct lzw_writer *w, uint32_t code, unsigned bits)
{
    struct bytes *out = w->out;
    if (!put_code(w, code))
        return false;
    if (w->next < CODES && w->next >> w->width)
        w->width++;
    if (!put_code(w, (1u << bits) + 1))
        return false;
    w->width = (8 - w->count % 8) % 8;
    if (!put_code(w, 0))
        return false;
    out->data[w->block] = (uint8_t)(out->size - w->block - 1);
    return bytes_append(out, "", 1);
}

bool lzw_write(struct bytes *out, struct lzw_rows rows, unsigned bits)
{
    struct lzw_writer w = { .out = out };
    if (!bytes_reserve(out, SUB_BLOCK + 2))
        return false;
    w.block = out->size++;
    forget_strings(&w, bits);
    if (!put_code(&w, 1u << bits))
        return false;
    uint32_t code = NO_STRING; /* of the string so far */
    for (uint32_t i = 0; i < rows.height; i++) {
        const uint32_t y = rows.interlaced ? lzw_row(i, rows.height) : i;
        const uint8_t *row = rows.data + y * rows.stride;
        uint32_t x = 0;
        if (i == 0)
            code = row[x++];
        for (; x < rows.width; x++) {
            const uint32_t key = code << 8 | row[x];
            uint32_t *slot = find_string(&w, key);
            if (*slot != NO_STRING) {
                code = *slot % CODES;
                continue;
            }
            if (!end_string(&w, slot, key, bits))
                return false;
            code = row[x];
        }
    }
    return end_codes(&w, code, bits);
}
