/* The plan of the components of a batch that go through samples. */
#ifndef CUDA_JPEG_SAMPLES_PLAN_H
#define CUDA_JPEG_SAMPLES_PLAN_H

#include "codecs/image/scan_turner.h"
#include "cuda/jpeg/scan_samples.h"

struct samples_plan {
    struct samples_component *component; /* with room for all */
    uint32_t components, tiles, to_tiles, unit_tiles;
    uint64_t samples, units; /* bytes, coefficients */
    uint64_t blocks, values; /* that are made */
};

/* Adds the components of a scan that go through samples; its blocks and values
 * begin at those numbers. No blocks are made of the samples if of->to is NULL.
 * Those that are made are counted from 0 on. */
void samples_plan_add(struct samples_plan *plan, const struct scan_turn *of,
                      uint32_t picture, uint64_t block, uint64_t value);

#endif
