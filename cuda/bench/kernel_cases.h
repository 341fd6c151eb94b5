/* The cases of a GPU: what each is, for which sizes it is defined, and how it
 * is launched; and the libraries of NVIDIA. Functions that return an int
 * return 0; on failure -1, with the reason in `err`. */
#ifndef CUDA_BENCH_KERNEL_CASES_H
#define CUDA_BENCH_KERNEL_CASES_H

#include <cuda_runtime_api.h>

#include "cuda/bench/kernel_suite.h"

/* What one launch turns: a picture in the device's memory. */
struct kernel_task {
    struct image dst, src;
    cudaStream_t stream;
};

/* A kernel of the literature. It takes rows without padding. */
typedef void (*matrix_kernel)(float *dst, const float *src, int width,
                              int height);

struct kernel_case;
typedef int case_launcher(const struct kernel_case *kcase,
                          struct kernel_task *task, struct err *err);

/* How a kernel is launched, and for which sources it is defined. */
enum case_traits {
    COPIES = 1,       /* and does not transpose */
    WRONG = 2,        /* as the note says */
    WHOLE = 4,        /* tiles only */
    SQUARE = 8,       /* sources only */
    OVER_RESULT = 16, /* its tiles are those of the result */
    DYNAMIC = 32,     /* its tile of shared memory is given at launch */
};

struct case_extent {
    unsigned x, y;
};

/* A row of the table: a transpose of floats by a kernel, unless it has a
 * launcher of its own. */
struct kernel_case {
    const struct suite_section *section;
    const char *name;
    matrix_kernel kernel;
    struct case_extent block;     /* threads; 0: one a cell of a row */
    struct case_extent tile = {}; /* cells; 0: a block a row */
    unsigned traits = 0;
    struct suite_banks banks = {};
    unsigned pad = 0; /* words behind each row of its tile in shared memory */
    const char *note = NULL;       /* of a kernel as published; else NULL */
    case_launcher *launch = NULL;  /* NULL: the kernel's */
    enum cell cell = CELL_F32;     /* for such a launcher */
    struct suite_entry entry = {}; /* what the above is shown as */
};

/* Gives case i. Returns false if there are only i. */
bool kernel_cases_get(size_t i, struct kernel_case *kcase);

/* Returns why the case is not defined for a source of this shape; or NULL. */
const char *kernel_cases_undefined(const struct kernel_case *kcase,
                                   struct suite_shape shape);

/* Enqueues one launch on the task's stream. */
int kernel_cases_launch(const struct kernel_case *kcase,
                        struct kernel_task *task, struct err *err);

/* ---- The libraries of NVIDIA (libraries.cu) ------------------------------ */

/* Returns NULL if this launcher finds its library, which it opens, else why
 * not. */
const char *libraries_lack(case_launcher *launch);

/* Enqueue the transpose of one plane on the task's stream. */
case_launcher libraries_geam, libraries_npp;

#endif
