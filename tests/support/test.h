/* What the tests in C share: CHECK(), a seeded random source, the outcome. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <stdint.h>
#include <stdio.h>

static unsigned test_passed, test_failed;

/* Counts; says where and what if it does not hold. A test goes on after. */
#define CHECK(condition, ...)                                                  \
    do {                                                                       \
        if (condition) {                                                       \
            test_passed++;                                                     \
        } else {                                                               \
            test_failed++;                                                     \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);             \
            printf(__VA_ARGS__);                                               \
            putchar('\n');                                                     \
        }                                                                      \
    } while (0)

/* xorshift64* (Vigna 2016, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled"): the same numbers in every run. */
static inline uint64_t test_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* The last line of a test program, which tests/run reads, and its status. */
static inline int test_end(void)
{
    printf("%u passed, %u failed\n", test_passed, test_failed);
    return test_failed || !test_passed;
}

#endif
