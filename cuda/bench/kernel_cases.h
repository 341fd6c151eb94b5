/* All cases of the suite. */
#ifndef CUDA_BENCH_KERNEL_CASES_H
#define CUDA_BENCH_KERNEL_CASES_H

#include "cuda/bench/kernel_case.h"

/* Returns how many cases there are; case i; the bank conflicts of case i. */
size_t kernel_cases_count(void);
const struct kernel_case *kernel_cases_get(size_t i);
struct suite_banks kernel_cases_banks(size_t i);

#endif
