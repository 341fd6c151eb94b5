/* Each choice filters rows by the type that it says, or by the one for which
 * they become the simplest. */
#include "codecs/png/filter.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

enum { SIZE = 2000 };

static double entropy(const uint8_t *bytes, size_t size)
{
    double sum = 0;
    for (int value = 0; value < 256; value++) {
        double n = 0;
        for (size_t i = 0; i < size; i++)
            n += bytes[i] == value;
        sum -= n > 0 ? n * log2(n / (double)size) : 0;
    }
    return sum;
}

static double pairs(const uint8_t *bytes, size_t size)
{
    double n = 0;
    for (size_t i = 1; i < size; i++) {
        bool new = true;
        for (size_t k = 1; k < i && new; k++)
            new = bytes[k] != bytes[i] || bytes[k - 1] != bytes[i - 1];
        n += new;
    }
    return n;
}

/* Rows that are simple in one way or another. */
static void make_rows(unsigned kind, uint8_t *row, uint8_t *prior)
{
    uint64_t state = kind + 1;
    for (size_t i = 0; i < SIZE; i++) {
        uint8_t noise = (uint8_t)(test_random(&state) >> 40);
        uint8_t left = i < 3 ? 0 : row[i - 3];
        prior[i] = kind % 3 ? noise : (uint8_t)(i / 9);
        row[i] = (uint8_t)(kind < 3    ? prior[i] + noise % 3
                           : kind < 6  ? left + noise % 5
                           : kind < 9  ? "letters"[i % 7]
                           : kind < 12 ? (left + prior[i]) / 2
                                       : noise);
    }
}

static void check_least(unsigned choice,
                        double (*measure)(const uint8_t *, size_t),
                        const uint8_t *row, const uint8_t *prior)
{
    uint8_t got[1 + SIZE], want[1 + SIZE], spare[1 + SIZE];
    double least = INFINITY;
    filter_row_by(choice, got, row, prior, SIZE, 3, spare);
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        filter_row_with(type, want, row, prior, SIZE, 3);
        least = fmin(least, measure(want + 1, SIZE));
        CHECK(got[0] != type || memcmp(got, want, sizeof got) == 0,
              "choice %u: not filter %u", choice, type);
    }
    double made = measure(got + 1, SIZE);
    CHECK(made <= least + least / 100, "choice %u: %g, not %g", choice, made,
          least);
}

TEST(simplest)
{
    uint8_t row[SIZE], prior[SIZE];
    for (unsigned kind = 0; kind < 15; kind++) {
        make_rows(kind, row, prior);
        check_least(FILTER_LEAST_ENTROPY, entropy, row, prior);
        check_least(FILTER_FEWEST_PAIRS, pairs, row, prior);
    }
}

TEST(given)
{
    uint8_t row[SIZE], prior[SIZE], got[1 + SIZE], want[1 + SIZE];
    make_rows(9, row, prior);
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        filter_row_by(type, got, row, prior, SIZE, 3, NULL);
        filter_row_with(type, want, row, prior, SIZE, 3);
        CHECK(memcmp(got, want, sizeof got) == 0, "filter %u", type);
    }
    filter_row_by(FILTER_LEAST_SUM, got, row, prior, SIZE, 3, NULL);
    filter_row(want, row, prior, SIZE, 3);
    CHECK(memcmp(got, want, sizeof got) == 0, "the least sum");
}
