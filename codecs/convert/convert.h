/* Makes a picture fit a format that cannot hold it as it is.
 *
 * Conversions that lose nothing are done unasked: a palette becomes its colors,
 * gray becomes RGB, samples are scaled to the full range of a larger cell,
 * floats become value / maxval. Those that lose something must be asked for.
 * With a depth samples are scaled to its full range: 1 bit becomes 0 or 255. */
#ifndef CODECS_CONVERT_CONVERT_H
#define CODECS_CONVERT_CONVERT_H

#include "codecs/codec.h"

struct convert_opts {
    unsigned depth;              /* 8, 16 or 32 (float); 0: none is asked for */
    bool background;             /* lay a picture with alpha on a color */
    uint8_t over[3];             /* the red, green and blue of that */
    const struct limits *limits; /* of the converted picture; NULL: none */
    struct mem mem;              /* for the cells of the converted picture */
    struct warnings *warnings;
};

/* Makes img a picture that `to` can hold, with the depth that is asked for.
 * Sets *converted to whether its samples were changed. On failure img is as it
 * was. */
int convert_to_fit(struct image *img, const struct codec *to,
                   const struct convert_opts *opts, bool *converted,
                   struct err *err);

/* Makes both pictures ones of the same kind: colors of palettes, of gray where
 * the other one is RGB, alpha if one has transparency, and samples of the
 * larger depth. Fails if that cannot be, as of CMYK and RGB; then either may
 * have been converted. */
int convert_to_same(struct image *a, struct image *b,
                    const struct convert_opts *opts, struct err *err);

#endif
