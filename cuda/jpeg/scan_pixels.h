/* Pictures that become samples: what the components of scan_samples.h have
 * becomes pixels, as codecs/jpeg/arithmetic.h says, and these an array, as
 * cuda/gpu/arrays.h says. */
#ifndef CUDA_JPEG_SCAN_PIXELS_H
#define CUDA_JPEG_SCAN_PIXELS_H

#include "codecs/jpeg/arithmetic.h"
#include "cuda/gpu/arrays.h"
#include "cuda/jpeg/scan_samples.h"

enum { PIXELS_CHANNELS = 3 };

/* What a picture becomes. */
struct pixels_picture {
    uint32_t component; /* the first of its components */
    bool to_rgb;
    struct upsampling upsampling[PIXELS_CHANNELS];
    struct pixel_array array; /* of no tiles if it becomes a scan */
};

struct pixels_shared {
    struct array_plane plane[PIXELS_CHANNELS];
};

/* Each thread makes pixels of a square, in the order in which they are stored.
 */
SCAN_INLINE void pixels_load(const struct samples_params *p,
                             const struct pixels_picture *of,
                             const struct array_place *at, unsigned thread,
                             struct pixels_shared *shared)
{
    for (unsigned i = thread; i < ARRAY_CELLS; i += ARRAY_THREADS) {
        uint8_t color[PIXELS_CHANNELS] = { 0, 0, 0 };
        uint32_t x, y;
        unsigned place;
        if (!array_source(at, i, &place, &x, &y))
            continue;
        for (unsigned c = 0; c < of->array.channels; c++) {
            const struct samples_component *from =
                &p->component[of->component + c];
            color[c] = upsample_at(p->samples + from->samples,
                                   (size_t)from->columns * SAMPLES_SIDE,
                                   &of->upsampling[c], x, y);
        }
        if (of->to_rgb) {
            const uint8_t luma = color[0], cb = color[1], cr = color[2];
            color[0] = ycc_red(luma, cr);
            color[1] = ycc_green(luma, cb, cr);
            color[2] = ycc_blue(luma, cb);
        }
        for (unsigned c = 0; c < PIXELS_CHANNELS; c++)
            shared->plane[c].byte[place] = color[c];
    }
}

#endif
