/* The median of measured times. */
#ifndef CUDA_BENCH_TIMES_H
#define CUDA_BENCH_TIMES_H

#include <stdlib.h>

#include "codecs/base/clock.h"

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
