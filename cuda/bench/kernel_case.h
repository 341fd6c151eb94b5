/* A case of the suite: what it is, where it is defined, and how it is launched.
 */
#ifndef CUDA_BENCH_KERNEL_CASE_H
#define CUDA_BENCH_KERNEL_CASE_H

#include <cuda_runtime_api.h>

#include "cuda/bench/kernel_suite.h"

struct batch_plan;

/* What one launch turns: a picture in the device's memory; or `npictures` of
 * them, which lie one behind the other and of which these are the first. */
struct kernel_task {
    struct image dst, src;
    unsigned npictures;
    struct batch_plan *plan; /* of a launch for all; NULL for one picture */
    enum xform turn;
    cudaStream_t stream;
    struct libraries *libraries;
};

/* A kernel of the literature. It takes rows without padding. */
typedef void (*matrix_kernel)(float *dst, const float *src, int width,
                              int height);

/* Where lane (tx, ty) of a block finds its word in a tile of shared memory. */
enum pattern {
    PATTERN_NONE,    /* it uses none */
    PATTERN_ROW,     /* ty * pitch + tx */
    PATTERN_COLUMN,  /* tx * pitch + ty */
    PATTERN_REINDEX, /* n % by * pitch + n / by, where n = ty * bx + tx */
};

struct kernel_case;

/* Enqueues one launch of a case on the task's stream. Returns 0; on failure -1,
 * with the reason in `err`. */
typedef int case_launcher(const struct kernel_case *kcase,
                          const struct kernel_task *task, struct err *err);

enum vendor_library { VENDOR_NONE, VENDOR_CUBLAS, VENDOR_NPP };

struct kernel_case {
    struct suite_entry entry;

    /* The sizes for which it is defined. */
    bool square;               /* width == height */
    unsigned whole_x, whole_y; /* whole multiples; 0: any size */
    unsigned widest;           /* 0: any */
    enum vendor_library needs;

    /* A kernel whose blocks take tiles of the source, or of the result; NULL if
     * `launch` needs none. */
    matrix_kernel kernel;
    unsigned tile_x, tile_y;
    bool over_result;
    size_t shared; /* bytes of dynamic shared memory */
    case_launcher *launch;

    enum pattern put, get; /* how it writes and reads shared memory */
    unsigned pitch;        /* words from one row of that to the next */
};

#endif
