/* Pictures that become samples: what the components of scan_samples.h have
 * becomes pixels, as codecs/jpeg/arithmetic.h says, in the order of the
 * turned picture.
 *
 * A block of threads makes a tile of the turned picture. Neighboring threads
 * read neighboring samples, and then write neighboring ones; between the two,
 * the pixels are in memory that the threads share. There a row of threads that
 * becomes a column finds each of its bytes in another bank. */
#ifndef CUDA_JPEG_SCAN_PIXELS_H
#define CUDA_JPEG_SCAN_PIXELS_H

#include "codecs/image/image.h"
#include "codecs/jpeg/arithmetic.h"
#include "cuda/jpeg/scan_samples.h"

enum {
    PIXELS_SIDE = 64,
    PIXELS_PITCH = PIXELS_SIDE + 4, /* 17 words: rows in other banks */
    PIXELS_THREADS = 256,
    PIXELS_CHANNELS = 3,
};

/* A picture that becomes samples. */
struct pixels_picture {
    uint32_t picture;
    uint32_t component;     /* the first of its components */
    uint32_t tile, columns; /* its first tile, and tiles in a row */
    uint32_t width, height; /* after the turn */
    uint64_t out;           /* where its samples begin */
    /* Bytes to the next cell of a row, row and channel. */
    uint64_t x_step, y_step, channel_step;
    uint8_t channels, turn; /* enum xform */
    bool to_rgb, joined, floats;
    struct upsampling upsampling[PIXELS_CHANNELS];
};

struct pixels_params {
    const struct pixels_picture *picture;
    const uint32_t *tile_picture;
    uint8_t *out;
};

struct pixels_shared {
    uint8_t cell[PIXELS_CHANNELS][PIXELS_SIDE * PIXELS_PITCH];
};

/* A tile: its first pixel, and how many there are. */
struct pixels_place {
    const struct pixels_picture *of;
    uint32_t x, y, width, height;
};

SCAN_INLINE uint32_t pixels_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

SCAN_INLINE struct pixels_place pixels_find(const struct pixels_params *p,
                                            uint32_t tile)
{
    struct pixels_place at;
    at.of = &p->picture[p->tile_picture[tile]];
    at.x = (tile - at.of->tile) % at.of->columns * PIXELS_SIDE;
    at.y = (tile - at.of->tile) / at.of->columns * PIXELS_SIDE;
    at.width = pixels_least(at.of->width - at.x, PIXELS_SIDE);
    at.height = pixels_least(at.of->height - at.y, PIXELS_SIDE);
    return at;
}

/* Sets the channels of pixel x, y of the picture as it is stored. */
SCAN_INLINE void pixels_color(const struct samples_params *p,
                              const struct pixels_picture *of, uint32_t x,
                              uint32_t y, uint8_t color[PIXELS_CHANNELS])
{
    for (unsigned c = 0; c < of->channels; c++) {
        const struct samples_component *from = &p->component[of->component + c];
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
}

/* Each thread makes pixels, in the order in which they are stored. */
SCAN_INLINE void pixels_load(const struct samples_params *p,
                             const struct pixels_place *at, unsigned thread,
                             struct pixels_shared *shared)
{
    const struct pixels_picture *of = at->of;
    const bool transposes = (of->turn & XFORM_TRANSPOSE) != 0;
    for (unsigned i = thread; i < PIXELS_SIDE * PIXELS_SIDE;
         i += PIXELS_THREADS) {
        const unsigned along = i % PIXELS_SIDE, across = i / PIXELS_SIDE;
        const unsigned in_x = transposes ? across : along,
                       in_y = transposes ? along : across;
        uint8_t color[PIXELS_CHANNELS] = { 0, 0, 0 };
        uint32_t x = at->x + in_x, y = at->y + in_y;
        if (in_x >= at->width || in_y >= at->height)
            continue;
        x = of->turn & XFORM_MIRROR_X ? of->width - 1 - x : x;
        y = of->turn & XFORM_MIRROR_Y ? of->height - 1 - y : y;
        pixels_color(p, of, transposes ? y : x, transposes ? x : y, color);
        for (unsigned c = 0; c < PIXELS_CHANNELS; c++)
            shared->cell[c][in_y * PIXELS_PITCH + in_x] = color[c];
    }
}

/* Returns what a sample is as a float: 255 is 1. */
SCAN_INLINE float pixels_float(uint8_t sample)
{
    return (float)sample / 255.0f;
}

/* Stores channel c of a pixel of the tile. */
SCAN_INLINE void pixels_put(const struct pixels_params *p,
                            const struct pixels_place *at,
                            const struct pixels_shared *shared, unsigned c,
                            unsigned x, unsigned y)
{
    const struct pixels_picture *of = at->of;
    const uint8_t sample = shared->cell[c][y * PIXELS_PITCH + x];
    uint8_t *to = p->out + of->out + c * of->channel_step +
                  (at->y + y) * of->y_step + (at->x + x) * of->x_step;
    if (of->floats)
        *(float *)(void *)to = pixels_float(sample);
    else
        *to = sample;
}

/* Each thread stores cells, in the order in which they stand in a file. */
SCAN_INLINE void pixels_store(const struct pixels_params *p,
                              const struct pixels_place *at, unsigned thread,
                              const struct pixels_shared *shared)
{
    const unsigned channels = at->of->channels;
    const unsigned joined = at->of->joined ? channels : 1,
                   planes = at->of->joined ? 1 : channels,
                   row = PIXELS_SIDE * joined;
    for (unsigned plane = 0; plane < planes; plane++)
        for (unsigned i = thread; i < row * PIXELS_SIDE; i += PIXELS_THREADS) {
            const unsigned y = i / row, cell = i % row;
            const unsigned x = cell / joined, c = plane + cell % joined;
            if (x < at->width && y < at->height)
                pixels_put(p, at, shared, c, x, y);
        }
}

#endif
