/* A clock that leaps, for tests: a library for LD_PRELOAD, which the Makefile
 * builds. Once CLOCK_MONOTONIC has been read so many times, it is an hour
 * later.
 *
 *   HURRIES_AT=N      from the Nth time on; 0: never
 *   HURRIES_COUNT=FD  how often it was read is written there at the end */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static atomic_ulong reads;

static unsigned long number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int (*next)(clockid_t, struct timespec *);
    *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    int status = next(clock, t);
    if (clock == CLOCK_MONOTONIC) {
        const unsigned long at = number_of("HURRIES_AT");
        if (atomic_fetch_add(&reads, 1) + 1 >= at && at)
            t->tv_sec += 3600;
    }
    return status;
}

__attribute__((destructor)) static void say(void)
{
    const int fd = (int)number_of("HURRIES_COUNT");
    if (fd)
        dprintf(fd, "%lu\n", atomic_load(&reads));
}
