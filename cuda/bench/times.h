/* What all that is timed has in common: a clock, and the median. */
#ifndef CUDA_BENCH_TIMES_H
#define CUDA_BENCH_TIMES_H

#include <stdlib.h>
#include <time.h>

/* Seconds, from some moment on. */
static inline double times_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int times_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the samples, of which there is one at least: the first is then the
 * least. */
static inline double times_median(double *sample, size_t n)
{
    qsort(sample, n, sizeof *sample, times_compare);
    return sample[n / 2];
}

#endif
