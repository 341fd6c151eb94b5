/* What `gimgxf bench` runs on a GPU: the kernels of the literature on the
 * transpose, the libraries, and ours. The cases are rows of one table
 * (kernel_cases.cu); gpu_bed.cu is the bed that runs and verifies them, beside
 * plain copies; libraries.cu calls what NVIDIA has. This header also
 * has what all beds share, those of cli/bench too: a bed runs cases of one
 * kind, one round at a time, and its caller times and counts. The room prints
 * nothing and knows nothing of files. */
#ifndef CUDA_BENCH_KERNEL_SUITE_H
#define CUDA_BENCH_KERNEL_SUITE_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/base/err.h"
#include "codecs/image/image.h"

#ifdef __cplusplus
extern "C" {
#endif

enum suite_origin {
    SUITE_PUBLISHED, /* does what its source prints, faults included */
    SUITE_MEANT,     /* the same idea, right for all sizes */
    SUITE_LIBRARY,
    SUITE_OURS,
};

struct suite_shape {
    uint32_t width, height; /* of the source, in cells */
};

/* Cases of one source, which stand together. */
struct suite_section {
    const char *name;                 /* what --only calls it, in a word */
    const char *source;               /* its title */
    const struct suite_shape *shapes; /* where they are timed; {0} ends it */
};

enum {
    SUITE_ROUNDS = 1000, /* of a case, at most */
    SUITE_PARTS = 20,
    SUITE_TIMES = 2 + SUITE_PARTS,
};

/* What a launch does with a plane. */
struct suite_work {
    enum cell cell;
    enum xform turn; /* what it is said to do */
};

/* What works on it; 0 is none, or not for us to choose. */
struct suite_workers {
    unsigned block_x, block_y; /* threads of a block of a GPU */
    unsigned threads;          /* of the CPU */
};

/* A case, as it is shown. */
struct suite_entry {
    const struct suite_section *section;
    const char *name; /* NULL: the name of the turn */
    const char *note; /* what one has to know about it; may be NULL */
    enum suite_origin origin;
    bool wrong; /* it is known not to do its work, as the note says */
    struct suite_work work;
    struct suite_workers by;
    const struct suite_shape *shapes; /* as of a section */
    const char *const *parts; /* names of what it consists of; NULL: none */
};

/* The most lanes of a warp that meet at one bank of shared memory with
 * different words: 1 is free of conflicts, 0 without such memory. */
struct suite_banks {
    unsigned put, get;
};

/* Seconds of a launch, and the median of the baseline in turns with it. */
struct suite_times {
    double median, min, max, copy;
    unsigned rounds; /* 0: nothing was timed */
};

struct suite_result {
    const char *left_out; /* why it was not run; NULL: it was */
    uint64_t bytes;       /* of a launch, read plus written */
    unsigned files;       /* JPEG files of a launch, shown instead of bytes */
    unsigned launches;    /* of a round */
    bool in_l2;           /* source and result fit into it, and stay there */
    struct suite_banks banks;
    uint64_t cells, wrong;    /* that were checked, and that were not right */
    struct suite_times times; /* set by who runs the rounds */
};

/* Where cases run. */
struct suite_place {
    int device;
    bool timed; /* else each case is launched once, to be checked or profiled */
};

/* A bed runs one case at a time. All functions that can fail return 0; on
 * failure -1, with the reason in `err`: then later cases will fail as well. */
struct suite_bed_type {
    unsigned rounds; /* how many are good here */
    /* Makes a bed, whose end the caller calls. Returns NULL on failure. */
    void *(*begin)(const struct suite_place *place, struct err *err);
    void (*end)(void *bed);
    /* Gives case i. Returns false if there are only i. */
    bool (*entry)(const void *bed, size_t i, struct suite_entry *entry);
    /* Makes ready case i for a source of this shape, which must be closed in
     * any case. Sets result->left_out, and nothing else is to be called, if it
     * is not defined for the shape or needs what the machine does not have. */
    int (*open)(void *bed, size_t i, struct suite_shape shape,
                struct suite_result *result, struct err *err);
    /* Runs it, and its baseline. Gives the seconds of a launch of either, and
     * of its parts. */
    int (*round)(void *bed, double seconds[SUITE_TIMES], struct err *err);
    /* Runs it once more, over garbage, and counts the cells that are wrong. */
    int (*check)(void *bed, struct suite_result *result, struct err *err);
    void (*close)(void *bed);
};

struct kernel_suite {
    struct suite_bed_type bed;
    /* Describes a device in words, and counts all. Fails if it cannot be used.
     */
    int (*describe)(int device, int *count, char text[400], struct err *err);
};

extern const struct kernel_suite kernel_suite_cuda; /* in a build with CUDA */

#ifdef __cplusplus
}
#endif
#endif
