/* How cases are launched: each is the `launch` of a struct kernel_case. */
#ifndef CUDA_BENCH_CASE_LAUNCH_H
#define CUDA_BENCH_CASE_LAUNCH_H

#include "cuda/bench/kernel_case.h"

/* A kernel, a block a tile; a kernel, a block a row; cudaMemcpy; our stage. */
case_launcher case_launch_tiles, case_launch_rows, case_launch_copy,
    case_launch_ours;

#endif
