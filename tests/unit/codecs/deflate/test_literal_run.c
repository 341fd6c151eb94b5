/* Runs of literals: each way to write them that this CPU has gives the bits
 * that one code after the other gives. */
#include "codecs/deflate/literal_run.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

enum { MOST = 1000, ROOM = MOST * LITERAL_LIMIT / 8 + 16 };

/* Makes codes of `least` to `most` bits. They need not form a prefix code. */
static void make_codes(uint32_t code[256], unsigned least, unsigned most,
                       uint64_t *state)
{
    for (unsigned i = 0; i < 256; i++) {
        unsigned bits = least + test_random(state) % (most - least + 1);
        code[i] = (uint32_t)(test_random(state) >> (64 - bits)) << 8 | bits;
    }
}

/* Writes codes bit by bit, behind `at` bits. Returns the number of all bits. */
static size_t expect(uint8_t *out, size_t at, const uint32_t *code,
                     const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        for (unsigned bit = 0; bit < (code[data[i]] & 255); bit++, at++)
            if (code[data[i]] >> (8 + bit) & 1)
                out[at / 8] |= (uint8_t)(1 << at % 8);
    return at;
}

static void check(const struct literal_runs *runs, const uint32_t *code,
                  const uint8_t *data, size_t size, unsigned held)
{
    uint8_t out[ROOM] = { 0 }, want[ROOM] = { 0 };
    struct bit_writer b = { .out = out };
    bit_writer_put(&b, (1u << held) - 1, held);
    want[0] = (uint8_t)((1u << held) - 1);
    size_t bits = expect(want, held, code, data, size);
    runs->put(&b, code, data, size);
    CHECK((size_t)(b.out - out) * 8 + b.count == bits, "%s, %zu bytes: %zu",
          runs->name, size, bits);
    bit_writer_align(&b);
    CHECK(memcmp(out, want, (bits + 7) / 8) == 0, "%s, %zu bytes after %u bits",
          runs->name, size, held);
}

static void check_lengths(const struct literal_runs *runs, unsigned least,
                          unsigned most)
{
    uint64_t state = least * 100 + most;
    uint32_t code[256];
    uint8_t data[MOST];
    make_codes(code, least, most, &state);
    for (size_t i = 0; i < MOST; i++)
        data[i] = (uint8_t)(test_random(&state) >> 40);
    for (unsigned size = 0; size < MOST; size += 1 + size / 7)
        check(runs, code, data, size, size % 8);
}

TEST(lengths)
{
    for (size_t i = 0; literal_runs[i]; i++) {
        if (!literal_runs[i]->usable()) {
            test_skip("%s: not on this CPU", literal_runs[i]->name);
            continue;
        }
        for (unsigned most = 1; most <= LITERAL_LIMIT; most++)
            for (unsigned least = 1; least <= most; least++)
                check_lengths(literal_runs[i], least, most);
    }
}
