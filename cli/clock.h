/* What time it is, for what takes time. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <time.h>

static inline double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds since some time in the past. */
static inline double now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

#endif
