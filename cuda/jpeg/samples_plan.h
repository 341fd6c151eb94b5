/* The plan of the components of a batch that go through samples. */
#ifndef CUDA_JPEG_SAMPLES_PLAN_H
#define CUDA_JPEG_SAMPLES_PLAN_H

#include "codecs/base/bytes.h"
#include "codecs/image/scan_turner.h"
#include "cuda/jpeg/scan_samples.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The components; {0} is empty. */
struct samples_plan {
    struct bytes components; /* struct samples_component each */
    uint32_t tiles, to_tiles, unit_tiles;
    uint64_t samples, units; /* bytes, coefficients */
    uint64_t blocks, values; /* that are made */
};

uint32_t samples_plan_count(const struct samples_plan *plan);
struct samples_component *
samples_plan_component(const struct samples_plan *plan, uint32_t i);

/* Adds the components of a scan that go through samples; its blocks and values
 * begin at those numbers. No blocks are made of the samples if `to` is NULL.
 * Those that are made are counted from 0 on, until
 * samples_plan_place() adds where they begin. Returns false without memory. */
bool samples_plan_add(struct samples_plan *plan, uint32_t picture,
                      uint64_t block, uint64_t value,
                      const struct entropy_scan *from,
                      const struct entropy_scan *to,
                      const struct scan_samples *samples);
void samples_plan_place(struct samples_plan *plan, uint64_t block,
                        uint64_t value);

void samples_plan_free(struct samples_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
