/* The order of a batch, what is copied, launched and decided, on any device;
 * and what it needs of a device: memory, copies, and launches of the kernels. A
 * test on the host is such a device as well. */
#ifndef CUDA_JPEG_SCAN_DEVICE_H
#define CUDA_JPEG_SCAN_DEVICE_H

#include "codecs/base/err.h"
#include "cuda/jpeg/scan_engine.h"
#include "cuda/jpeg/scan_picture.h"

/* The kernels, in their order (cuda/gpu/phase_kernels.h): those of scan_stuff.h
 * have a block a chunk, others a block a tile of subsequences, of samples, of
 * the array or of the turned scan. A sum has a block a picture; a tile is
 * joined by a thread, and a component has a block for its cap. */
#define SCAN_KERNELS_TABLE(X)                                                  \
    X(SCAN_UNSTUFF_COUNT, scan_unstuff_count, SCAN_THREADS, phase_nothing,     \
      "count stuffing")                                                        \
    X(SCAN_UNSTUFF_SUM, scan_unstuff_sum, SCAN_THREADS, phase_nothing,         \
      "sum of stuffing")                                                       \
    X(SCAN_UNSTUFF, scan_unstuff, SCAN_THREADS, unstuff_shared,                \
      "remove stuffing")                                                       \
    X(SCAN_SEEK, scan_seek_tile, SCAN_TILE, scan_tile, "synchronize")          \
    X(SCAN_JOIN, scan_join_tiles, SCAN_JOIN_THREADS, phase_nothing,            \
      "join tiles")                                                            \
    X(SCAN_COUNTS_SUM, scan_counts_sum, SCAN_THREADS, phase_nothing,           \
      "sum of blocks")                                                         \
    X(SCAN_WRITE, scan_write_tile, SCAN_TILE, scan_tile, "decode")             \
    X(SCAN_SAMPLES, scan_decode_samples, SAMPLES_THREADS, samples_shared,      \
      "inverse DCT")                                                           \
    X(SCAN_UNITS, scan_make_units, SAMPLES_THREADS, samples_shared,            \
      "sampled DCT")                                                           \
    X(SCAN_CAP, scan_find_cap, SAMPLES_THREADS, phase_nothing, "choose steps") \
    X(SCAN_BLOCKS, scan_make_blocks, SAMPLES_THREADS, samples_shared,          \
      "forward DCT")                                                           \
    X(SCAN_PIXELS, scan_make_pixels, ARRAY_THREADS, pixels_shared, "pixels")   \
    X(SCAN_MEASURE_TILE, scan_measure_tile, SCAN_THREADS, scan_coder,          \
      "measure")                                                               \
    X(SCAN_BITS_SUM, scan_bits_sum, SCAN_THREADS, phase_nothing,               \
      "sum of bits")                                                           \
    X(SCAN_COUNT_TILE, scan_count_tile, SCAN_THREADS, scan_counter,            \
      "count symbols")                                                         \
    X(SCAN_EMIT_TILE, scan_emit_tile, SCAN_THREADS, scan_coder, "encode")      \
    X(SCAN_STUFF_COUNT, scan_stuff_count, SCAN_THREADS, stuff_chunk,           \
      "count 0xff")                                                            \
    X(SCAN_STUFF_SUM, scan_stuff_sum, SCAN_THREADS, phase_nothing,             \
      "sum of 0xff")                                                           \
    X(SCAN_STUFF, scan_stuff, SCAN_THREADS, stuff_chunk, "stuff")

#define SCAN_KERNEL_NUMBER(kernel, function, threads, shared, what) kernel,
#define SCAN_KERNEL_NAME(kernel, function, threads, shared, what)   what,
enum scan_kernel { SCAN_KERNELS_TABLE(SCAN_KERNEL_NUMBER) SCAN_KERNELS };

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
    /* Starts a kernel of so many blocks, if there are any: of enum scan_kernel
     * with struct scan_params, or of another kind of engine; `less`: bytes at
     * the end of what a block shares that it does without. */
    int (*launch)(void *context, unsigned kernel, uint32_t blocks,
                  uint32_t less, const void *params, struct err *err);
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
