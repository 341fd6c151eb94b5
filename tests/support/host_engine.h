/* Engines that turn batches of coded scans by the kernels of cuda/jpeg/, and
 * PNG pictures by those of cuda/png/, on the host, and fail as they are told
 * to. */
#ifndef TESTS_SUPPORT_HOST_ENGINE_H
#define TESTS_SUPPORT_HOST_ENGINE_H

#include <stdatomic.h>

#include "cuda/jpeg/scan_engine.h"

extern const struct scan_engine_type host_engine;

/* What it is to do, and what it has done; for all engines together. */
struct host_engine_plan {
    unsigned devices;     /* how many there seem to be */
    unsigned refuse;      /* each so manieth scan; 0: none */
    size_t input_most;    /* bytes for which there is memory; 0: any number */
    atomic_int runs_left; /* until it fails; negative: it never does */
    atomic_bool fail_memory; /* then for want of memory, once */
    unsigned together; /* a batch waits until so many have begun, or 5 s */
    /* What it has done. */
    atomic_uint opened, closed, runs, scans, most;
    atomic_bool apart;   /* one has waited so long */
    atomic_size_t input; /* bytes with which engines were opened, together */
};
extern struct host_engine_plan host_engine_plan;

/* One device that does not fail. */
void host_engine_reset(void);

#endif
