/* The stage on the CPU: turns pictures without a GPU.
 *
 * In comes a picture in planes and one of the eight turns; out goes the turned
 * picture; both may be parts of pictures. Any size of picture and any stride is
 * right. The room knows nothing of files and formats, nor of what a cell means,
 * but that DCT blocks are turned inside as well. */
#ifndef CUDA_CPU_CPU_H
#define CUDA_CPU_CPU_H

#include "cuda/backend.h"

/* How a lane of backend_cpu works. */
struct cpu_opts {
    size_t piece;       /* bytes that one thread turns at a time, roughly */
    size_t alone_below; /* pictures of fewer bytes are turned by one thread */
    size_t stream_from; /* pictures of so many bytes bypass the cache */
};

/* Opens a lane of backend_cpu with these options; backend_cpu.open() chooses
 * them itself. The caller closes the lane. Returns 0; on failure -1, with the
 * reason in `err`. */
int cpu_open_with(struct lane **lane, const struct cpu_opts *opts,
                  struct err *err);

#endif
