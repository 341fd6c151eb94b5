/* The order of a batch, what is copied, launched and decided, on any device;
 * and what it needs of a device: memory, copies, and launches of the kernels. A
 * test on the host is such a device as well. */
#ifndef CUDA_JPEG_SCAN_DEVICE_H
#define CUDA_JPEG_SCAN_DEVICE_H

#include "codecs/base/err.h"
#include "cuda/jpeg/scan_engine.h"
#include "cuda/jpeg/scan_picture.h"

/* The kernels, in their order. A sum has a block of threads a picture. */
enum scan_kernel {
    SCAN_UNSTUFF_COUNT, /* a block a chunk */
    SCAN_UNSTUFF_SUM,
    SCAN_UNSTUFF,
    SCAN_SEEK, /* a block a tile of subsequences */
    SCAN_JOIN, /* a thread a tile */
    SCAN_COUNTS_SUM,
    SCAN_WRITE,        /* a block a tile */
    SCAN_SAMPLES,      /* a block a tile of SAMPLES_BLOCKS blocks, */
    SCAN_UNITS,        /* of those of them by which steps are judged, */
    SCAN_CAP,          /* a component, */
    SCAN_BLOCKS,       /* a tile of what is made, */
    SCAN_PIXELS,       /* a tile of ARRAY_SIDE x ARRAY_SIDE pixels */
    SCAN_MEASURE_TILE, /* a block a tile of the turned scan */
    SCAN_BITS_SUM,
    SCAN_COUNT_TILE,
    SCAN_EMIT_TILE,
    SCAN_STUFF_COUNT, /* a block a chunk of the turned scan */
    SCAN_STUFF_SUM,
    SCAN_STUFF,
};
enum {
    SCAN_KERNELS = SCAN_STUFF + 1,
    SCAN_JOIN_THREADS = 32,
    SCAN_JOIN_ROUNDS = 4, /* in which a tile may learn from the one before */
};

/* Memory that a batch needs. */
enum scan_memory {
    SCAN_TABLES,         /* of the host: what goes to the device first, */
    SCAN_SECOND,         /* and then */
    SCAN_RESULTS,        /* of the host: what comes back */
    SCAN_CAPS,           /* the same, of steps */
    SCAN_OUTPUT,         /* of the host: the turned data; */
    SCAN_OUTPUT_SAMPLES, /* the same of a batch that makes samples, behind it */
    SCAN_ON_DEVICE,      /* what is needed from the beginning to the end, */
    SCAN_MAKING,         /* for tables that are made, */
    SCAN_LATER,          /* and once the sizes of the turned scans are known */
};
enum { SCAN_MEMORIES = SCAN_LATER + 1 };

/* All functions take the device's context. Those that can fail return 0, or -1
 * with the reason in `err`. All but the first and the last enqueue. */
struct scan_device {
    void *context;
    /* Returns memory of at least that size, a multiple of 256 bytes; what it
     * held may be lost. NULL, with the reason in `err`, if there is none. */
    void *(*memory)(void *context, enum scan_memory which, size_t size,
                    struct err *err);
    /* Copies from the host to the device, or back. */
    int (*copy)(void *context, void *to, const void *from, size_t size,
                struct err *err);
    int (*clear)(void *context, void *memory, size_t size, struct err *err);
    /* Starts a kernel of so many blocks, of enum scan_kernel with struct
     * scan_params, or of another kind of engine; `codes`: entries that a block
     * of it has room for in its shared memory. */
    int (*launch)(void *context, unsigned kernel, uint32_t blocks,
                  uint32_t codes, const void *params, struct err *err);
    int (*wait)(void *context, struct err *err);
};

#ifdef __cplusplus
extern "C" {
#endif

/* Turns the jobs that suit and fit into `memory` bytes of the device. Their
 * data is in `input`; what they have become is in memory of the device
 * for output, which *output is set to. Returns 0, or -1 with the reason in
 * `err`. */
int scan_turn(const struct scan_device *device, const uint8_t *input,
              struct scan_job *jobs, size_t n, uint64_t memory,
              const uint8_t **output, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
