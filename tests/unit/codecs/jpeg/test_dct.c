/* One row or column at a time, as on a GPU, the transform gives what it gives
 * for eight of them. */
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/dct.h"

#include <stdbool.h>
#include <string.h>

#include "tests/support/test.h"

static unsigned draw(void)
{
    static uint64_t state = 1;
    return (unsigned)(test_random(&state) >> 40);
}

static void transpose(uint32_t block[8][8])
{
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < y; x++) {
            uint32_t other = block[y][x];
            block[y][x] = block[x][y];
            block[x][y] = other;
        }
}

/* A pass over each row, and over each column. */
static void pass(uint32_t block[8][8], void (*of_eight)(uint32_t v[8]))
{
    for (int y = 0; y < 8; y++)
        of_eight(block[y]);
    transpose(block);
}

static void inverse_first(uint32_t v[8])
{
    dct_inverse_pass(v, DCT_FIRST_PASS);
}

static void inverse_last(uint32_t v[8])
{
    dct_inverse_pass(v, DCT_INVERSE_LAST_PASS);
}

static void forward_first(uint32_t v[8])
{
    dct_forward_pass(v, DCT_FIRST_PASS);
}

static void forward_last(uint32_t v[8])
{
    dct_forward_pass(v, DCT_FORWARD_LAST_PASS);
}

/* Columns first, then rows. */
static void inverse(uint8_t samples[64], const int16_t coefficient[64],
                    const uint16_t step[64])
{
    uint32_t block[8][8];
    for (int k = 0; k < 64; k++)
        block[k / 8][k % 8] = (uint32_t)(coefficient[k] * (int64_t)step[k]);
    transpose(block);
    pass(block, inverse_first);
    pass(block, inverse_last);
    transpose(block);
    for (int k = 0; k < 64; k++)
        samples[k] = dct_sample((int32_t)block[k / 8][k % 8]);
}

/* Rows first, then columns. */
static void forward(int16_t coefficient[64], const uint8_t samples[64],
                    const struct dct_rounding *rounding)
{
    uint32_t block[8][8];
    for (int k = 0; k < 64; k++)
        block[k / 8][k % 8] = samples[k] - (uint32_t)DCT_MIDDLE;
    pass(block, forward_first);
    pass(block, forward_last);
    for (int k = 0; k < 64; k++)
        coefficient[k] = dct_quantize((int32_t)block[k / 8][k % 8],
                                      rounding->step[k], rounding->least[k]);
}

static bool inverse_is_same(int bits, unsigned steps)
{
    int16_t coefficient[64];
    uint16_t step[64];
    uint8_t is[64], want[64];
    for (int k = 0; k < 64; k++) {
        coefficient[k] = (int16_t)((int)(draw() % (2u << bits)) - (1 << bits));
        step[k] = (uint16_t)(1 + draw() % steps);
    }
    dct_inverse(want, 8, coefficient, step);
    inverse(is, coefficient, step);
    return memcmp(is, want, sizeof is) == 0;
}

static bool forward_is_same(unsigned steps)
{
    struct dct_rounding rounding;
    int16_t is[64], want[64];
    uint8_t samples[64];
    for (int k = 0; k < 64; k++) {
        samples[k] = (uint8_t)draw();
        rounding.step[k] = (uint16_t)(1 + draw() % steps);
        rounding.least[k] = (int32_t)(draw() % (8 * steps));
    }
    dct_forward(want, samples, 8, &rounding);
    forward(is, samples, &rounding);
    return memcmp(is, want, sizeof is) == 0;
}

TEST(inverse_of_one_row_at_a_time)
{
    for (int i = 0; i < 20000; i++) {
        unsigned steps = 1 + draw() % 255;
        CHECK(inverse_is_same(i % 11, steps), "block %d differs", i);
        CHECK(inverse_is_same(15, 65535), "hostile block %d differs", i);
    }
}

TEST(forward_of_one_row_at_a_time)
{
    for (int i = 0; i < 20000; i++) {
        unsigned steps = 1 + draw() % 255;
        CHECK(forward_is_same(steps), "block %d differs", i);
        CHECK(forward_is_same(65535), "block %d of long steps differs", i);
    }
}
