/* The frames of two animated PNGs, one by one. */
#ifndef CODECS_COMPARE_FRAMES_H
#define CODECS_COMPARE_FRAMES_H

#include "codecs/codec.h"

/* Where and how the frames of two animations differ; "" where they do not. */
struct frames_difference {
    char text[80];
};

/* Returns those of `turns`, 1 << turn, or-ed, that also make each frame of a
 * that of b: its samples, its place and how it is shown. If none is left the
 * reason is that of the first frame for which none was. Fails, with `turns` as
 * they were, if a frame cannot be decoded. The pictures were decoded from PNG,
 * not portable, as stored, and so are the frames, by these options. */
int frames_compare(unsigned *turns, struct frames_difference *difference,
                   const struct image *a, const struct image *b,
                   const struct load_opts *opts, struct err *err);

#endif
