/* The kernels of cuda/jpeg/ and cuda/png/ on the host: all blocks of a launch
 * one after the other, and of each block all threads, from one barrier to the
 * next. */
#ifndef TESTS_SUPPORT_SCAN_SERIAL_H
#define TESTS_SUPPORT_SCAN_SERIAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs all blocks of a launch, whose memory is that of the host. */
void scan_serial_launch(unsigned kernel, uint32_t blocks, const void *params);
void idat_serial_launch(unsigned kernel, uint32_t blocks, const void *params);

#ifdef __cplusplus
}
#endif
#endif
