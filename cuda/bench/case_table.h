/* The cases of the literature and of the libraries, and the sweep over shapes
 * of blocks. */
#ifndef CUDA_BENCH_CASE_TABLE_H
#define CUDA_BENCH_CASE_TABLE_H

#include "cuda/bench/kernel_case.h"

size_t case_table_count(void);
const struct kernel_case *case_table_get(size_t i);

#endif
