/* Turned pictures as arrays of cells, which kernels make of pixels.
 *
 * A block of threads makes a square of the turned picture. Neighboring threads
 * read neighboring pixels, and then write neighboring cells; between the two,
 * the pixels are in memory that the threads share, each byte of them in a plane
 * of its own. There a row of threads that becomes a column finds each of its
 * bytes in another bank. */
#ifndef CUDA_GPU_ARRAYS_H
#define CUDA_GPU_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/image/image.h"
#include "codecs/image/scan_turner.h"
#include "cuda/gpu/phases.h"

enum {
    ARRAY_SIDE = 64,
    ARRAY_PITCH = ARRAY_SIDE + 4, /* 17 words: rows in other banks */
    ARRAY_CELLS = ARRAY_SIDE * ARRAY_SIDE,
    ARRAY_THREADS = 256,
};

/* A picture after its turn, and where its cells are. */
struct pixel_array {
    uint32_t tile, columns; /* its first square, and squares in a row */
    uint32_t width, height;
    uint64_t begin; /* of its cells, and bytes to the next one of a */
    uint64_t x_step, y_step, channel_step; /* row, a column and a pixel */
    uint8_t channels, turn;                /* enum xform */
    uint8_t cell;                          /* enum cell */
    bool joined; /* the channels of a pixel are side by side */
};

/* A byte of each pixel of a square. */
struct array_plane {
    uint8_t byte[ARRAY_SIDE * ARRAY_PITCH];
};

/* A square: its first pixel, and how many there are. */
struct array_place {
    const struct pixel_array *of;
    uint32_t x, y, width, height;
};

PHASE_FN uint32_t array_squares(uint32_t size)
{
    return (size + ARRAY_SIDE - 1) / ARRAY_SIDE;
}

/* Returns what a picture becomes, whose first square is this one and whose
 * cells begin there. */
static inline struct pixel_array array_of(const struct scan_pixels *pixels,
                                          enum xform turn, uint32_t tile,
                                          uint64_t begin)
{
    const size_t cell = cell_size(pixels->cell);
    struct pixel_array a;
    a.tile = tile;
    a.columns = array_squares(pixels->width);
    a.width = pixels->width;
    a.height = pixels->height;
    a.begin = begin;
    a.x_step = pixels->joined ? cell * pixels->channels : cell;
    a.y_step = pixels->stride;
    a.channel_step =
        pixels->joined ? cell : (uint64_t)pixels->stride * pixels->height;
    a.channels = (uint8_t)pixels->channels;
    a.turn = (uint8_t)turn;
    a.cell = (uint8_t)pixels->cell;
    a.joined = pixels->joined;
    return a;
}

/* Returns how many squares it has. */
static inline uint32_t array_tiles(const struct pixel_array *a)
{
    return a->columns * array_squares(a->height);
}

/* Returns where an array goes that stands behind others in memory of the host:
 * at a multiple of IMAGE_STRIDE, behind room for a header. */
static inline uint64_t array_behind(uint64_t end)
{
    return (end + IMAGE_STRIDE - 1) / IMAGE_STRIDE * IMAGE_STRIDE + IMAGE_LEAD;
}

PHASE_FN struct array_place array_find(const struct pixel_array *a,
                                       uint32_t tile)
{
    struct array_place at;
    at.of = a;
    at.x = (tile - a->tile) % a->columns * ARRAY_SIDE;
    at.y = (tile - a->tile) / a->columns * ARRAY_SIDE;
    at.width = word_least(a->width - at.x, ARRAY_SIDE);
    at.height = word_least(a->height - at.y, ARRAY_SIDE);
    return at;
}

/* Finds pixel i of a square, in the order in which they are stored: its place
 * in planes, and its column and row before the turn. Returns false if it is
 * behind the edge of the picture. */
PHASE_FN bool array_source(const struct array_place *at, unsigned i,
                           unsigned *place, uint32_t *column, uint32_t *row)
{
    const struct pixel_array *a = at->of;
    const bool transposes = (a->turn & XFORM_TRANSPOSE) != 0;
    const unsigned along = i % ARRAY_SIDE, across = i / ARRAY_SIDE;
    const unsigned in_x = transposes ? across : along,
                   in_y = transposes ? along : across;
    uint32_t x = at->x + in_x, y = at->y + in_y;
    x = a->turn & XFORM_MIRROR_X ? a->width - 1 - x : x;
    y = a->turn & XFORM_MIRROR_Y ? a->height - 1 - y : y;
    *place = in_y * ARRAY_PITCH + in_x;
    *column = transposes ? y : x;
    *row = transposes ? x : y;
    return in_x < at->width && in_y < at->height;
}

/* Stores a sample of 8 bits, or 16 if it is `wide`, as a cell, as
 * codecs/convert/convert.c does: 255 and 65535 are the highest one, which is 1
 * of floats. */
PHASE_FN void array_put(uint8_t *to, uint8_t cell, uint32_t sample, bool wide)
{
    if (cell == CELL_F32)
        *(float *)(void *)to = (float)sample / (wide ? 65535.0f : 255.0f);
    else if (cell == CELL_U16)
        *(uint16_t *)(void *)to = (uint16_t)(wide ? sample : sample * 257);
    else
        *to = (uint8_t)(wide ? (sample + 128) / 257 : sample);
}

/* Each thread stores cells, in the order in which they stand in a file. Of
 * `wide` samples the first of two planes has the higher bytes. */
PHASE_FN void array_store(uint8_t *out, const struct array_place *at,
                          unsigned thread, const struct array_plane *plane,
                          bool wide)
{
    const struct pixel_array *a = at->of;
    const unsigned joined = a->joined ? a->channels : 1,
                   planes = a->joined ? 1 : a->channels;
    for (unsigned first = 0; first < planes; first++)
        for (unsigned y = thread / ARRAY_SIDE; y < at->height;
             y += ARRAY_THREADS / ARRAY_SIDE)
            for (unsigned cell = thread % ARRAY_SIDE; cell < at->width * joined;
                 cell += ARRAY_SIDE) {
                const unsigned x = cell / joined, c = first + cell % joined;
                const unsigned from = y * ARRAY_PITCH + x;
                const uint32_t sample = wide ? plane[2 * c].byte[from] << 8 |
                                                   plane[2 * c + 1].byte[from]
                                             : plane[c].byte[from];
                array_put(out + a->begin + c * a->channel_step +
                              (at->y + y) * a->y_step + (at->x + x) * a->x_step,
                          a->cell, sample, wide);
            }
}

#endif
