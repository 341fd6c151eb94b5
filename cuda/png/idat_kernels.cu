/* The kernels that turn PNG pictures. */
#include "cuda/gpu/phase_kernels.h"
#include "cuda/png/idat_code.h"
#include "cuda/png/idat_device.h"
#include "cuda/png/idat_inflate.h"

#define PHASE_PARAMS struct idat_params
IDAT_KERNELS_TABLE(PHASE_KERNEL)
PHASE_LAUNCHER(idat_kernels_launch, IDAT_KERNELS_TABLE)
