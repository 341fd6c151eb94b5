/* How fast the bus between the host and its GPUs is when both directions are
 * busy. */
#ifndef CUDA_BENCH_BUS_H
#define CUDA_BENCH_BUS_H

#include "cuda/bench/kernel_suite.h"

/* bus_open(), bus_measure() and bus_close() of struct kernel_suite. */
int bus_open(struct suite_bus **bus, const int *device, unsigned ndevices,
             size_t bytes, struct err *err);
int bus_measure(struct suite_bus *bus, double rate[2], struct err *err);
void bus_close(struct suite_bus *bus);

#endif
