/* The kernels that turn scans. */
#include "cuda/jpeg/scan_kernels.h"

#include "cuda/gpu/phase_kernels.h"
#include "cuda/jpeg/scan_device.h"

#define PHASE_PARAMS struct scan_params
SCAN_KERNELS_TABLE(PHASE_KERNEL)
PHASE_LAUNCHER(scan_kernels_launch, SCAN_KERNELS_TABLE)
