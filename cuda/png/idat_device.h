/* The order of a batch of PNG pictures, on any device that
 * cuda/jpeg/scan_device.h describes. */
#ifndef CUDA_PNG_IDAT_DEVICE_H
#define CUDA_PNG_IDAT_DEVICE_H

#include "cuda/jpeg/scan_device.h"
#include "cuda/png/idat_picture.h"

/* The kernels, in their order. */
enum idat_kernel {
    IDAT_INFLATE, /* a block a picture */
    IDAT_CHECK_ADLER,
    IDAT_UNDO,
    IDAT_MOVE, /* a square of pixels */
    IDAT_TRY,  /* a choice of filters and a strip of a picture */
    IDAT_CHOOSE,
    IDAT_FILTER,    /* some rows */
    IDAT_SUM,       /* a band */
    IDAT_MATCHES,   /* the same */
    IDAT_CODES,     /* the same */
    IDAT_PLACE,     /* a picture */
    IDAT_EMIT,      /* a band */
    IDAT_CHECK,     /* the same */
    IDAT_CHECK_ROWS /* some rows */
};
enum { IDAT_KERNELS = IDAT_CHECK_ROWS + 1 };

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
