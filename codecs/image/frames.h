/* The frames of an animation, each decoded, turned and encoded by itself: what
 * they take together, and threads that make them. */
#ifndef CODECS_IMAGE_FRAMES_H
#define CODECS_IMAGE_FRAMES_H

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

/* Where a frame lies on the canvas. */
struct frame_place {
    uint32_t x, y, width, height;
};

/* Returns the place in the turned canvas, which is width x height then. */
struct frame_place frame_place_turn(struct frame_place place, enum xform t,
                                    uint32_t width, uint32_t height);

/* The most frames that are in work at a time. */
enum { FRAMES_AT_ONCE = 32 };

/* What all frames take. {0} before the first one. */
struct frames_size {
    uint32_t frames;
    uint64_t pixels;
    uint64_t coded;   /* bytes in the file */
    uint64_t cells;   /* bytes, with what pads rows, before and after turns */
    uint64_t most;    /* bytes of memory that the largest one takes */
    unsigned at_once; /* for how many there is memory: frames_check() */
};

/* Adds a frame that has so many bytes in its file, and the planes and cells of
 * `kind`. A pixel takes `of_pixel` bytes of memory beside its cells. */
void frames_add(struct frames_size *size, const struct image *kind,
                uint32_t width, uint32_t height, unsigned of_pixel,
                uint64_t coded);

/* Fails if they take more work than they may. */
int frames_check_work(const struct frames_size *size,
                      const struct account *account, struct err *err);

/* Fails if they are beyond the limits; else decides how many are made at a
 * time. Tells limits->reserve() of their memory, and may wait. */
int frames_check(struct frames_size *size, const struct limits *limits,
                 struct thread_pool *pool, struct err *err);

/* What is done with frame i, from 0 on. */
struct frame_maker {
    /* What must be done in order, before `make`, by one thread. NULL: nothing.
     */
    int (*prepare)(void *context, uint32_t i, struct err *err);
    /* Makes the frame, on any thread. */
    int (*make)(void *context, uint32_t i, struct bytes *made,
                struct warnings *warnings, struct err *err);
    /* Takes what was made, in order; what it leaves is freed. */
    int (*take)(void *context, uint32_t i, struct bytes *made, struct err *err);
    void *context;
    const struct account *account; /* whose time ends it */
};

/* Makes all frames. Fails with the reason of the first one that fails; reasons
 * and warnings name its number. */
int frames_make(const struct frame_maker *maker, const struct frames_size *size,
                struct thread_pool *pool, struct warnings *warnings,
                struct err *err);

/* Turns a frame; what it was is freed. On failure it stays. */
int frame_turn(struct image *frame, const struct turner *turner, enum xform t,
               struct err *err);

#endif
