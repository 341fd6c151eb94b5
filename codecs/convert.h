/* Makes a picture fit a format that cannot hold it as it is.
 *
 * What loses nothing is done unasked: a palette becomes its colors, gray
 * becomes RGB, samples are scaled to the full range of a larger cell, floats
 * take value / maxval. What loses something must be asked for. A depth that is
 * asked for is had in full: 1 bit becomes 0 or 255. */
#ifndef CODECS_CONVERT_H
#define CODECS_CONVERT_H

#include "codecs/codec.h"

struct convert_opts {
    unsigned depth;         /* 8, 16 or 32 (float); 0: none is asked for */
    bool background;        /* whether there is one, to lay alpha upon */
    uint8_t over[3];        /* its red, green and blue */
    const struct limits *limits; /* of the converted picture; NULL: none */
    struct mem mem;         /* for the cells of the converted picture */
    struct warnings *warnings;
};

/* Makes img something that `to` can hold, or what `depth` asks for, and says in
 * *converted whether that took doing. On failure img is as it was. */
int convert_to_fit(struct image *img, const struct codec *to,
                   const struct convert_opts *opts, bool *converted,
                   struct err *err);

#endif
