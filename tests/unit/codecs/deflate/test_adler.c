/* Adler-32 against the one of zlib. */
#include "codecs/deflate/adler.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/support/test.h"

enum { SIZE = 1 << 16 };
#define LARGEST (65520u << 16 | 65520u)

static void check(const uint8_t *data, size_t size, uint32_t from)
{
    uint32_t want = (uint32_t)adler32(from, data, (uInt)size);
    CHECK(adler_add(from, data, size) == want, "%zu bytes from %x", size, from);
}

static void check_sizes(const uint8_t *data)
{
    for (size_t size = 0; size < 200; size++)
        check(data + size % 3, size, 1);
    for (size_t size = 200; size < SIZE; size += size / 50) {
        check(data, size, 1);
        check(data, size, LARGEST);
    }
}

TEST(noise)
{
    uint8_t *data = malloc(SIZE);
    uint64_t state = 1;
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)(test_random(&state) >> 40);
    check_sizes(data);
    free(data);
}

/* The sums become as large as they can. */
TEST(large_bytes)
{
    uint8_t *data = malloc(SIZE);
    memset(data, 255, SIZE);
    check_sizes(data);
    free(data);
}
