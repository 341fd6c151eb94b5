/* Turning the planes of a picture: the main header of cuda/.
 *
 * What comes in is a picture (codecs/image) and one of the eight turns, what
 * goes out is the turned picture. A backend does it, on the CPU (cuda/cpu) or
 * on GPUs (cuda/gpu); backend_choose.h finds one by its name. Nothing here
 * knows files, formats, metadata or what cells mean, but for blocks of
 * coefficients, which are turned inside as well. */
#ifndef CUDA_BACKEND_H
#define CUDA_BACKEND_H

#include <stdbool.h>

#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/image/xform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One worker's stream and memory on a device. A lane is used by one thread at a
 * time; it grows to what its largest picture needs and keeps it. */
struct lane;

/* How a lane is opened. {0}: on the first device, as is best there. */
struct lane_opts {
    const int *device; /* the devices to use, by number, from 0 */
    unsigned ndevices; /* how many of them; LANE_ALL_DEVICES: all there are */
    uint64_t vram;     /* bytes of each device's memory that may be used; 0:
                          most of what is free */
    uint64_t keep;     /* bytes of the host's memory that lanes which share the
                          devices may keep together for pictures; 0: some */
    /* The number of this lane, from 0, and how many lanes share the devices and
     * their memory: then it uses one of the devices. workers 0: it is alone,
     * and uses all of them. */
    unsigned worker, workers;
};
enum { LANE_ALL_DEVICES = -1 };

struct backend {
    const char *name; /* "cpu", "cuda" */
    /* Returns 0 if it can be used on this machine, else -1 and the reason. */
    int (*probe)(struct err *why_not);
    /* Describes in `text` the i-th device that it can use, as "NVIDIA H200, 140
     * GiB, compute capability 9.0", or the vector instructions of the CPU.
     * Returns false if there are only i devices. */
    bool (*describe)(unsigned i, char *text, size_t room);
    /* Opens a lane, which the caller closes. */
    int (*open)(struct lane **lane, const struct lane_opts *opts,
                struct err *err);
    /* Returns the memory that this lane reads and writes fastest. It must be
     * freed before the lane is closed. */
    struct mem (*memory)(struct lane *lane);
    /* Turns every plane of src into dst, which has the shape that image_like()
     * gave for t and does not overlap src. dst is complete on return. The
     * threads of the pool may be kept busy; NULL: the caller's alone. */
    int (*apply)(struct lane *lane, struct image *dst, const struct image *src,
                 enum xform t, struct thread_pool *pool, struct err *err);
    void (*close)(struct lane *lane);
    /* Whether dst and src may be parts of pictures, and several threads may use
     * a lane at a time. */
    bool parts;
};

extern const struct backend backend_cpu;
extern const struct backend backend_cuda; /* in a build with CUDA */

#ifdef __cplusplus
}
#endif
#endif
