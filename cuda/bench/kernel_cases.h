/* The steps of the ladder: what each is, and how it is launched. */
#ifndef CUDA_BENCH_KERNEL_CASES_H
#define CUDA_BENCH_KERNEL_CASES_H

#include <cuda_runtime_api.h>

#include "cuda/bench/kernel_suite.h"

struct batch_plan;

/* One pair of pictures in the device's memory, to be turned; or of so many, one
 * behind the other, of which these are the first. */
struct kernel_task {
    struct image dst, src;
    unsigned npictures;
    struct batch_plan *plan; /* the plan of a launch for all; NULL for one picture */
    enum xform turn;
    cudaStream_t stream;
    struct libraries *libraries;
};

/* What the kernels of the literature take: rows without padding. */
typedef void (*matrix_kernel)(float *dst, const float *src, int width,
                              int height);

/* Where lane (tx, ty) of a block finds its word in a tile of shared memory. */
enum pattern {
    PATTERN_NONE,    /* it uses none */
    PATTERN_ROW,     /* ty * pitch + tx */
    PATTERN_COLUMN,  /* tx * pitch + ty */
    PATTERN_REINDEX, /* n % by * pitch + n / by, where n = ty * bx + tx */
};

enum vendor_library { VENDOR_NONE, VENDOR_CUBLAS, VENDOR_NPP };

struct kernel_case {
    struct suite_entry entry;

    /* Where it is defined. */
    bool square;               /* width == height */
    unsigned whole_x, whole_y; /* whole multiples; 0: any size */
    unsigned widest;           /* 0: any */
    enum vendor_library needs;

    /* A kernel, whose blocks take tiles of the source, or of the result; or
     * what enqueues the work on the task's stream. */
    matrix_kernel kernel;
    unsigned tile_x, tile_y;
    bool over_result;
    size_t shared; /* bytes of dynamic shared memory */
    int (*launch)(const struct kernel_case *kcase, const struct kernel_task *task,
                  struct err *err);

    enum pattern put, get; /* to and from shared memory, */
    unsigned pitch;        /* words from one of its rows to the next */
};

/* How many there are, and each. */
size_t kernel_cases_count(void);
const struct kernel_case *kernel_cases_get(size_t i);
struct suite_banks kernel_cases_banks(size_t i);

/* Enqueues one launch. */
int kernel_cases_launch(const struct kernel_case *kcase, const struct kernel_task *task,
                        struct err *err);

/* Libraries are looked for when the first of their functions is asked for. */
struct libraries *libraries_new(void);
void libraries_free(struct libraries *libraries);

/* Whether the library is there: NULL, or why not. */
const char *libraries_lack(struct libraries *libraries, enum vendor_library library);

/* Their transposes of one plane. */
int libraries_geam(const struct kernel_case *kcase, const struct kernel_task *task,
                   struct err *err);
int libraries_npp(const struct kernel_case *kcase, const struct kernel_task *task,
                  struct err *err);

/* 0, or -1 and what went wrong. A launch that was refused also leaves its error
 * to be found by whoever asks next: it is taken away. */
static inline int kernel_cases_check(cudaError_t status, const char *what,
                                     struct err *err)
{
    if (status == cudaSuccess)
        return 0;
    (void)cudaGetLastError();
    return fail(err, "%s: %s", what, cudaGetErrorString(status));
}

#endif
