/* What engines on a GPU share: a stream, page-locked memory, and memory of the
 * device, for any kernels whose batches run as scan_device.h says. */
#ifndef CUDA_JPEG_SCAN_ENGINE_GPU_H
#define CUDA_JPEG_SCAN_ENGINE_GPU_H

#include <cuda_runtime_api.h>

#include "cuda/jpeg/scan_device.h"

/* What an engine runs. */
struct scan_work {
    /* As scan_turn(). */
    int (*turn)(const struct scan_device *device, const uint8_t *input,
                struct scan_job *jobs, size_t n, uint64_t memory,
                const uint8_t **output, struct err *err);
    /* Prepares the kernels on the current device. */
    cudaError_t (*prepare)(void);
    /* Enqueues a kernel: see struct scan_device. */
    cudaError_t (*launch)(unsigned kernel, uint32_t blocks, uint32_t codes,
                          const void *params, cudaStream_t stream);
    const char *what; /* it does, for messages */
    bool overlays; /* what is made takes the place of the input, which has room
                      for a quarter more: to page-lock memory takes long */
    unsigned each; /* bytes of the device that a full batch takes for each byte
                      of samples, which it has from the beginning: to take more
                      later waits for the whole device. 0: as batches need */
};

/* The functions of struct scan_engine_type, of which open() also takes what the
 * engine runs. */
int scan_engine_gpu_devices(unsigned *count, struct err *err);
int scan_engine_gpu_open(struct scan_engine **engine,
                         const struct scan_engine_opts *opts,
                         const struct scan_work *work, struct err *err);
uint8_t *scan_engine_gpu_input(struct scan_engine *engine, size_t *room);
int scan_engine_gpu_run(struct scan_engine *engine, struct scan_job *jobs,
                        size_t n, struct err *err);
const uint8_t *scan_engine_gpu_output(struct scan_engine *engine);
void scan_engine_gpu_close(struct scan_engine *engine);

#endif
