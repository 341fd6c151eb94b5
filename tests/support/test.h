/* What all tests in C are made of: TEST(), CHECK() and a seeded random source.
 *
 *     TEST(nothing_is_left)
 *     {
 *         CHECK(list.count == 0, "%zu entries are left", list.count);
 *     }
 *
 * A test of many cases is one loop over a table of them. test_case() names the
 * one that is tested, so that what fails says which it was:
 *
 *     for (size_t i = 0; i < COUNT(cases); i++) {
 *         test_case("%s", cases[i].name);
 *         REQUIRE(list_open(&list, cases[i].text) == 0, "it is not opened");
 *         CHECK(list.count == cases[i].count, "%zu entries", list.count);
 *     }
 *
 * A test program is a file of such tests. Its main() is in test_main.c:
 *
 *     test_x            runs all tests, in the order of the file
 *     test_x WORD...    runs those whose names contain one of the words
 *
 * It prints a line for each test, and in the end "N passed, N failed", tests,
 * which tests/run reads. The exit status is 0 if every check passed, 1 if one
 * failed or a test checked nothing, 2 if no test has a name as asked for. A
 * test that ends the program, by a signal or by exit(), is named in a line
 * "FAIL ...".
 *
 * The tests run in a child process: in gdb, `set follow-fork-mode child`. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/must.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};

/* Of the running test, how many checks there were and how many failed. CHECK()
 * and REQUIRE() alone count them. */
extern unsigned test_checks, test_failures;

void test_add(struct test *test);
void test_add_set_up(void (*set_up)(void));
void test_add_tear_down(void (*tear_down)(void));

/* Says that the running test, or a part of it, cannot run here, and why. Such a
 * test may check nothing. */
void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define TEST(test_name)                                                        \
    static void test_##test_name(void);                                        \
    __attribute__((constructor)) static void add_test_##test_name(void)        \
    {                                                                          \
        static struct test test = { #test_name, test_##test_name, NULL };      \
        test_add(&test);                                                       \
    }                                                                          \
    static void test_##test_name(void)

/* What runs once before all tests of a program, and once after them. */
#define TEST_SET_UP()                                                          \
    static void set_up(void);                                                  \
    __attribute__((constructor)) static void add_set_up(void)                  \
    {                                                                          \
        test_add_set_up(set_up);                                               \
    }                                                                          \
    static void set_up(void)

#define TEST_TEAR_DOWN()                                                       \
    static void tear_down(void);                                               \
    __attribute__((constructor)) static void add_tear_down(void)               \
    {                                                                          \
        test_add_tear_down(tear_down);                                         \
    }                                                                          \
    static void tear_down(void)

/* Names the case that is tested from now on, until the next one or the end of
 * the test: what fails says it. */
void test_case(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Counts; says where and what if it does not hold. A test goes on after. */
#define CHECK(condition, ...)                                                  \
    do {                                                                       \
        (void)TEST_FAILS(condition, __VA_ARGS__);                              \
    } while (0)

/* The same, but the test ends where what follows would make no sense. Not for
 * threads that a test starts. */
#define REQUIRE(condition, ...)                                                \
    do {                                                                       \
        if (TEST_FAILS(condition, __VA_ARGS__))                                \
            test_end();                                                        \
    } while (0)

/* What they are made of. */
#define TEST_FAILS(condition, ...)                                             \
    (test_checks++,                                                            \
     !(condition) && (test_fail(__FILE__, __LINE__, #condition),               \
                      printf(__VA_ARGS__), putchar('\n'), true))
bool test_run(void (*run)(void)); /* returns whether it was skipped */
void test_fail(const char *file, int line, const char *condition);
_Noreturn void test_end(void);

/* xorshift64* (Vigna 2016, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled"): the same numbers in every run. */
static inline uint64_t test_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

#endif
