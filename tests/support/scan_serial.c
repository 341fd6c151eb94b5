/* The kernels of cuda/jpeg/ and cuda/png/ in plain loops. */
#include "tests/support/scan_serial.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/jpeg/scan_device.h"
#include "cuda/jpeg/scan_kernels.h"
#include "cuda/png/idat_code.h"
#include "cuda/png/idat_device.h"
#include "cuda/png/idat_inflate.h"
#include "tests/support/must.h"

/* What a block of a kernel shares is garbage at first. */
#define CASE(kernel, function, threads, shared, what)                          \
    case kernel: {                                                             \
        struct shared *s = malloc(sizeof *s);                                  \
        must(s);                                                               \
        for (uint32_t i = 0; i < blocks; i++) {                                \
            memset(s, 0xa5, sizeof *s);                                        \
            function(p, i, s);                                                 \
        }                                                                      \
        free(s);                                                               \
        break;                                                                 \
    }

void scan_serial_launch(unsigned kernel, uint32_t blocks, const void *params)
{
    const struct scan_params *p = params;
    switch (kernel) {
        SCAN_KERNELS_TABLE(CASE)
    }
}

void idat_serial_launch(unsigned kernel, uint32_t blocks, const void *params)
{
    const struct idat_params *p = params;
    switch (kernel) {
        IDAT_KERNELS_TABLE(CASE)
    }
}
