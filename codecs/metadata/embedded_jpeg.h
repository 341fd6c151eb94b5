/* A JPEG file within a picture's metadata, or behind it: turned so that it lies
 * as the picture does. */
#ifndef CODECS_METADATA_EMBEDDED_JPEG_H
#define CODECS_METADATA_EMBEDDED_JPEG_H

#include "codecs/codec.h"

struct embedded_jpeg {
    const struct image *outer; /* the picture, as it is after its turn */
    struct limits limits;
    unsigned tag; /* the orientation that is told of the inner one elsewhere,
                     1..8; 0: what it tells itself */
    enum fit {
        FIT_ANY,   /* of whatever shape it is */
        FIT_SIDE,  /* broad if the picture is broad, high if it is high */
        FIT_SHAPE, /* of the picture's shape, within a few percent */
    } fit;
    bool view; /* more than a thumbnail: trimmed as the picture was, and what
                  loses something is said, or is a failure: save->edge */
    enum xform turned; /* set: the turn that was taken */
    bool refused;      /* set: it failed since --edge asks for that */
};

/* Pictures within another one may always have so many pixels. */
enum { PIXELS_MIN = 1 << 20 };

/* What all of them together may cost, in pixels of scans: as much as the scans
 * of the picture itself may, or of one of PIXELS_MIN. Each takes from
 * save->allowance what its scans are. */
uint64_t embedded_jpeg_allowance(const struct image *outer);

/* Makes `out`, which is empty, the turned file, saved as `save` says. A picture
 * with a tag of its own is laid as it is shown, by its tag, beside the picture
 * as that is shown by its own; one without a tag is turned as the picture was.
 * Where there is nothing to do it is copied, without a look at its pixels.
 * Fails if it cannot be read or does not fit; `out` may hold a part then. */
int embedded_jpeg_turn(struct bytes *out, struct bytes file,
                       struct embedded_jpeg *inner,
                       const struct save_opts *save, struct err *err);

/* The turn that this takes for one of width x height whose tag is `tag`, or 0
 * if it has none; `fold`: tags say 1 from now on. */
enum xform embedded_jpeg_choose(const struct image *outer, unsigned tag,
                                bool fold, uint32_t width, uint32_t height);

#endif
