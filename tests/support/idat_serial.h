/* The kernels of cuda/png/ on the host: all blocks of a launch one after the
 * other. */
#ifndef TESTS_SUPPORT_IDAT_SERIAL_H
#define TESTS_SUPPORT_IDAT_SERIAL_H

#include "cuda/png/idat_device.h"

/* Runs all blocks of a launch, whose memory is that of the host. */
void idat_serial_launch(enum idat_kernel kernel, uint32_t blocks,
                        const struct idat_params *p);

#endif
