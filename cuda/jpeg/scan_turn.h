/* The order of a batch: what is copied, launched and decided, on any device. */
#ifndef CUDA_JPEG_SCAN_TURN_H
#define CUDA_JPEG_SCAN_TURN_H

#include "cuda/jpeg/scan_device.h"
#include "cuda/jpeg/scan_engine.h"

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
