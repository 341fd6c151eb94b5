/* The one clock: all that asks for the time asks here. */
#ifndef CODECS_BASE_CLOCK_H
#define CODECS_BASE_CLOCK_H

#include <time.h>

static inline struct timespec clock_read(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t;
}

/* Seconds since some time in the past, to measure how long something takes. */
static inline double now(void)
{
    const struct timespec t = clock_read(CLOCK_MONOTONIC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The time in so many milliseconds, for pthread_cond_clockwait() with
 * CLOCK_MONOTONIC. */
static inline struct timespec clock_after(long milliseconds)
{
    struct timespec t = clock_read(CLOCK_MONOTONIC);
    t.tv_nsec += milliseconds % 1000 * 1000000;
    t.tv_sec += milliseconds / 1000 + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

#endif
