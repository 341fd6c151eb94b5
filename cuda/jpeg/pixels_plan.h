/* The plan of the pictures of a batch that become samples. */
#ifndef CUDA_JPEG_PIXELS_PLAN_H
#define CUDA_JPEG_PIXELS_PLAN_H

#include "codecs/base/bytes.h"
#include "codecs/jpeg/entropy/scan_turner.h"
#include "cuda/jpeg/scan_pixels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* {0} is empty. */
struct pixels_plan {
    struct bytes pictures; /* struct pixels_picture each */
    uint32_t tiles;
    uint64_t bytes; /* of all samples, and of what lies between them */
};

uint32_t pixels_plan_count(const struct pixels_plan *plan);
const struct pixels_picture *pixels_plan_picture(const struct pixels_plan *plan,
                                                 uint32_t i);

/* Adds a picture, whose components, from this one on, go through samples.
 * Returns false without memory. */
bool pixels_plan_add(struct pixels_plan *plan, uint32_t picture,
                     uint32_t component, const struct scan_pixels *pixels,
                     enum xform turn);

/* Writes which picture each tile is of. */
void pixels_plan_tiles(const struct pixels_plan *plan, uint32_t *tile);

void pixels_plan_free(struct pixels_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
