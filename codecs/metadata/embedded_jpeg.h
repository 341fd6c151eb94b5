/* A JPEG file within a picture's metadata, or behind the picture: turned so
 * that both are shown alike. */
#ifndef CODECS_METADATA_EMBEDDED_JPEG_H
#define CODECS_METADATA_EMBEDDED_JPEG_H

#include "codecs/codec.h"

struct embedded_jpeg {
    const struct image *outer; /* the picture, as it is after its turn */
    struct limits limits;
    unsigned tag; /* the orientation of the inner one, 1..8, where it stands
                     outside of it; 0: the tag that it has itself */
    enum fit {
        FIT_ANY,   /* of whatever shape it is */
        FIT_SIDE,  /* broad if the picture is broad, high if it is high */
        FIT_SHAPE, /* of the picture's shape, within a few percent */
    } fit;
    bool view; /* more than a thumbnail: it is trimmed as the picture was, and
                  a loss is a warning, or a failure, as save->edge asks for */
    enum xform turned; /* set: the turn that was taken */
    bool refused;      /* set: it failed because --edge asks for that */
};

/* Pictures within another one may always have this many pixels. */
enum { PIXELS_MIN = 1 << 20 };

/* Returns how many pixels the scans of all of them may have together: as many
 * as those of the picture itself may, or of one of PIXELS_MIN. The pixels of
 * each scan that is read are taken from save->allowance. */
uint64_t embedded_jpeg_allowance(const struct image *outer);

/* Makes `out`, which is empty, the turned file, saved as `save` says. A picture
 * with a tag of its own is turned as it is shown by that tag; one without is
 * turned as the outer picture was. If there is nothing to do the file is
 * copied, and its pixels are not read. Fails if it cannot be read or does not
 * fit; `out` may hold a part then. */
int embedded_jpeg_turn(struct bytes *out, struct bytes file,
                       struct embedded_jpeg *inner,
                       const struct save_opts *save, struct err *err);

/* Returns the turn for a picture of width x height whose tag is `tag`, 1..8, or
 * 0 for none. `fold`: all tags say 1 afterwards. */
enum xform embedded_jpeg_choose(const struct image *outer, unsigned tag,
                                bool fold, uint32_t width, uint32_t height);

#endif
