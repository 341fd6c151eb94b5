/* LZW as GIF and TIFF have it: what is written is read again, of any number of
 * bits and of any length, and what is not sound is refused. */
#include "codecs/base/lzw.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "tests/support/test.h"

enum { SIZE = 20000, BEHIND = 4 };

static void encode(struct bytes *codes, const uint8_t *from, size_t n,
                   unsigned bits, bool tiff)
{
    static struct lzw_writer w;
    *codes = (struct bytes){ 0 };
    lzw_begin(&w, bits, tiff);
    /* In two parts, as rows come. */
    must(lzw_put(&w, codes, from, n / 3) &&
         lzw_put(&w, codes, from + n / 3, n - n / 3) && lzw_end(&w, codes) &&
         bytes_reserve(codes, BEHIND));
    memset(codes->data + codes->size, 0, BEHIND);
}

/* Of noise the codes run out many times, and of few values strings are long. */
static void fill(uint8_t *bytes, unsigned bits)
{
    unsigned state = bits;
    for (size_t i = 0; i < SIZE; i++) {
        state = state * 1103515245u + 12345;
        bytes[i] = i < SIZE / 2 ? (uint8_t)(state >> 16 & ((1u << bits) - 1))
                                : (uint8_t)(i / 700 & 3);
    }
}

TEST(what_is_written_is_read)
{
    static uint8_t from[SIZE], to[SIZE];
    const size_t sizes[] = { 1, 2, 255, 3838, 3839, 3840, 8000, SIZE };
    for (unsigned bits = 2; bits <= 8; bits++) {
        fill(from, bits);
        for (unsigned i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
            const size_t n = sizes[i / 2];
            struct bytes codes;
            size_t got, left;
            encode(&codes, from, n, bits, i % 2);
            memset(to, 0xee, n);
            CHECK(lzw_read(to, n, codes, bits, i % 2, &got, &left) ==
                          LZW_WHOLE &&
                      got == n && left == 0 && memcmp(to, from, n) == 0,
                  "%zu of %zu of %u bits", got, n, bits);
            CHECK(lzw_read(NULL, n + 1, codes, bits, i % 2, &got, &left) ==
                          LZW_SHORT &&
                      got == n,
                  "%zu, %zu", got, n);
            bytes_free(&codes);
        }
    }
}

/* Places of strings have 32 bits. */
TEST(four_gigabytes_are_refused)
{
    const uint8_t one[] = { 7 };
    struct bytes codes;
    size_t got, left;
    encode(&codes, one, 1, 8, true);
    CHECK(lzw_read(NULL, UINT32_MAX, codes, 8, true, &got, &left) == LZW_SHORT,
          "%zu", got);
    const size_t more = UINT32_MAX + (size_t)1; /* of 32 bits: none */
    CHECK(!more ||
              lzw_read(NULL, more, codes, 8, true, &got, &left) == LZW_WRONG,
          "%zu", got);
    bytes_free(&codes);
}
