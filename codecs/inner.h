/* A JPEG file within a picture's metadata, or behind it: turned so that it lies
 * as the picture does. */
#ifndef CODECS_INNER_H
#define CODECS_INNER_H

#include "codecs/codec.h"

struct inner {
    const struct image *outer; /* the picture, as it is after its turn */
    struct limits limits;
    unsigned tag; /* the orientation that is told of the inner one elsewhere,
                     1..8; 0: what it tells itself */
    enum fit {
        FIT_ANY,   /* of whatever shape it is */
        FIT_SIDE,  /* broad if the picture is broad, high if it is high */
        FIT_SHAPE, /* of the picture's shape, within a few percent */
    } fit;
    enum xform turned; /* set: the turn that was taken */
    bool same;         /* set: there was nothing to do */
    uint64_t pixels;   /* set: how many it has; 0: it could not be read */
};

/* Appends the turned file to `out`, saved as `save` says. A picture with a tag
 * of its own is laid as it is shown, by its tag, beside the picture as that is
 * shown by its own; one without a tag is turned as the picture was. Fails if it
 * cannot be read or does not fit; `out` may hold a part then. */
int inner_turn(struct bytes *out, struct bytes file, struct inner *inner,
               const struct save_opts *save, struct err *err);

/* The turn that this takes for one of width x height whose tag is `tag`, or 0
 * if it has none; `fold`: tags say 1 from now on. */
enum xform inner_choose(const struct image *outer, unsigned tag, bool fold,
                        uint32_t width, uint32_t height);

#endif
