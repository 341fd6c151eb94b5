/* What many tests open before all of a program and close after them. */
#ifndef TESTS_SUPPORT_POOLS_H
#define TESTS_SUPPORT_POOLS_H

#include "codecs/base/thread_pool.h"
#include "cuda/backend.h"
#include "tests/support/must.h"
#include "tests/support/test.h"

/* Defines `counts`, so many threads each, and `pools` of these, COUNTS of both.
 */
#define TEST_POOLS(...)                                                        \
    static const unsigned counts[] = { __VA_ARGS__ };                          \
    enum { COUNTS = sizeof counts / sizeof *counts };                          \
    static struct thread_pool *pools[COUNTS];                                  \
    TEST_SET_UP()                                                              \
    {                                                                          \
        for (unsigned i = 0; i < COUNTS; i++)                                  \
            must((pools[i] = thread_pool_open(counts[i])) != NULL);            \
    }                                                                          \
    TEST_TEAR_DOWN()                                                           \
    {                                                                          \
        for (unsigned i = 0; i < COUNTS; i++)                                  \
            thread_pool_close(pools[i]);                                       \
    }

/* Defines `lane`, one of the CPU. */
#define TEST_LANE()                                                            \
    static struct lane *lane;                                                  \
    TEST_SET_UP()                                                              \
    {                                                                          \
        const struct lane_opts opts = { 0 };                                   \
        struct err err;                                                        \
        must(backend_cpu.open(&lane, &opts, &err) == 0);                       \
    }                                                                          \
    TEST_TEAR_DOWN()                                                           \
    {                                                                          \
        backend_cpu.close(lane);                                               \
    }

#endif
