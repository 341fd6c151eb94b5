/* The order of a batch of PNG pictures, on any device that
 * cuda/jpeg/scan_device.h describes. */
#ifndef CUDA_PNG_IDAT_DEVICE_H
#define CUDA_PNG_IDAT_DEVICE_H

#include "cuda/jpeg/scan_device.h"
#include "cuda/png/idat_picture.h"

/* The kernels, in their order (cuda/gpu/phase_kernels.h): with a block a
 * picture, a square of pixels, a choice of filters and a strip of a picture,
 * some rows, or a band. */
#define IDAT_KERNELS_TABLE(X)                                                  \
    X(IDAT_INFLATE, idat_inflate, INFLATE_THREADS, inflate_shared, "inflate")  \
    X(IDAT_CHECK_ADLER, idat_check_adler, ADLER_THREADS, adler_shared,         \
      "checksum")                                                              \
    X(IDAT_UNDO, idat_undo, UNDO_THREADS, undo_shared, "undo filters")         \
    X(IDAT_MOVE, idat_move, ARRAY_THREADS, move_shared, "move pixels")         \
    X(IDAT_TRY, idat_try_filter, LZ77_THREADS, lz77_shared, "try filters")     \
    X(IDAT_CHOOSE, idat_choose_filter, 1, phase_nothing, "choose filters")     \
    X(IDAT_FILTER, idat_filter, FILTER_THREADS, filter_shared, "filter")       \
    X(IDAT_SUM, idat_sum_band, ADLER_THREADS, adler_shared,                    \
      "checksum of bands")                                                     \
    X(IDAT_MATCHES, idat_find_matches, LZ77_THREADS, lz77_shared,              \
      "find matches")                                                          \
    X(IDAT_CODES, idat_make_codes, CODE_THREADS, code_shared, "make codes")    \
    X(IDAT_PLACE, idat_place, 1, phase_nothing, "place bands")                 \
    X(IDAT_EMIT, idat_emit, EMIT_THREADS, emit_shared, "write bits")           \
    X(IDAT_CHECK, idat_check_band, INFLATE_THREADS, inflate_shared,            \
      "check bits")                                                            \
    X(IDAT_CHECK_ROWS, idat_check_rows, FILTER_THREADS, phase_nothing,         \
      "check filters")

enum idat_kernel { IDAT_KERNELS_TABLE(SCAN_KERNEL_NUMBER) IDAT_KERNELS };

#ifdef __cplusplus
extern "C" {
#endif

/* Turns the jobs, which all have `idat`, as scan_turn() does scans. */
int idat_turn_batch(const struct scan_device *device, const uint8_t *input,
                    struct scan_job *jobs, size_t n, uint64_t memory,
                    const uint8_t **output, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
