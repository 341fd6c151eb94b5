/* Turning the entropy-coded data of JPEG pictures, to the same or to samples,
 * without decoding them on the CPU: the main header of cuda/jpeg/.
 *
 * What comes in is a batch of scans, of any sizes, tables, samplings and
 * restart intervals, each as the bytes between its header and the marker behind
 * it, with the types of codecs/jpeg/entropy and one of the eight turns; what
 * goes out is the data of the turned scans, byte for byte what the coder of
 * codecs/jpeg/entropy writes; or the samples that libjpeg makes of them,
 * turned, as a file has them. The room knows nothing of files, of segments and
 * of metadata.
 *
 * What is odd about a scan is not said here: it is refused, and the coder on
 * the CPU, which refuses it as well, knows the reason. */
#ifndef CUDA_JPEG_SCAN_ENGINE_H
#define CUDA_JPEG_SCAN_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/base/err.h"
#include "codecs/image/scan_turner.h"
#include "codecs/image/xform.h"
#include "codecs/jpeg/entropy/entropy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The data of each scan begins at a multiple of so many bytes. */
enum { SCAN_ALIGNMENT = 16 };

enum scan_result {
    SCAN_REFUSED, /* it is damaged, or does not suit: a case for the CPU */
    SCAN_TURNED,
};

/* One scan of one picture: a picture of several scans is several jobs. Or the
 * picture of a PNG or an array (cuda/png/). */
struct scan_job {
    /* What is to be turned, but for its data. If the Huffman tables of `to`
     * lack a code that is needed, they get the codes that they lack as far as
     * to->most lets them. Else, and with `optimize`, they are replaced by the
     * shortest ones. The caps of `samples` are set. */
    struct scan_turn of;
    size_t at, size; /* of the data in the input: of a scan up to the marker
                        behind it, as marker_find() finds its end */

    /* What became of it, set by run(). */
    enum scan_result result;
    size_t out, out_size; /* of the data of `to`, or of samples, in the output
                           */
};

/* What a device turns: scans of JPEG; or pictures of PNG, to the same, to
 * arrays, and of arrays. Each kind has its own engines. */
enum scan_kind {
    SCAN_KIND_JPEG,
    SCAN_KIND_PNG,
    SCAN_KIND_FROM_PNG,
    SCAN_KIND_TO_PNG,
    SCAN_KINDS
};

struct scan_engine_opts {
    enum scan_kind kind;
    int device;      /* its number, from 0 */
    size_t input;    /* bytes of the data that a batch may have */
    size_t output;   /* bytes of samples that a batch may make */
    uint64_t vram;   /* bytes of the device's memory that may be used; 0: a
                        quarter of what is free */
    double *seconds; /* SCAN_KERNELS sums (scan_device.h), to which the times of
                        kernels are added; NULL: they are not timed */
};

/* One batch at a time: its input, its output, and memory on a device. An engine
 * is used by one thread at a time, but several may fill the input. */
struct scan_engine {
    uint8_t *input;        /* where the data of a batch goes; it stays there */
    size_t room;           /* bytes of it */
    const uint8_t *output; /* where the turned data is, until the next run() */
};

/* All functions that can fail return 0, or -1 with the reason in `err`. */
struct scan_engine_type {
    /* Finds how many devices there are, which may take long: it starts the
     * driver. */
    int (*devices)(unsigned *count, struct err *err);
    /* Opens an engine, which the caller closes. */
    int (*open)(struct scan_engine **engine,
                const struct scan_engine_opts *opts, struct err *err);
    /* Turns all scans of a batch, and waits until that is done. If it fails the
     * device has failed, or memory: no job has a result. */
    int (*run)(struct scan_engine *engine, struct scan_job *jobs, size_t n,
               struct err *err);
    /* Fine with NULL. */
    void (*close)(struct scan_engine *engine);
};

/* In a build with CUDA. */
extern const struct scan_engine_type scan_engine_cuda;

#ifdef __cplusplus
}
#endif
#endif
