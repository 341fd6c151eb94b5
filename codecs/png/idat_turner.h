/* The image data of a PNG that is turned elsewhere, by a device that inflates
 * and deflates that of many pictures at once.
 *
 * Whoever reads a file offers the data of its chunks IDAT, and says what
 * picture they hold. What is made of them has the pixels that idat_read() and
 * idat_write() make at the level LEVEL_FAST, but not the same bytes. */
#ifndef CODECS_PNG_IDAT_TURNER_H
#define CODECS_PNG_IDAT_TURNER_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/base/bytes.h"
#include "codecs/image/xform.h"

struct idat_turn {
    enum xform turn;
    uint32_t width, height; /* before the turn */
    unsigned pixel;         /* bytes, whole ones */
    bool any_size;      /* it may also become larger than the CPU makes it, as
                           pictures do that repeat much */
    struct bytes coded; /* borrowed: what the chunks hold, one after the
                           other, a zlib stream with a window of 32 KiB */
};

struct idat_turner {
    /* Begins to turn, and reads `coded` before it returns. Returns where the
     * stream of the turned picture will be, empty until it is made; or NULL if
     * it does not turn it: then whoever asks has to. If it begins and fails
     * later, the file is to be read again without it: whoever gave the turner
     * is told. */
    const struct bytes *(*begin)(void *context, const struct idat_turn *turn);
    void *context;
};

/* A picture of more bytes is turned on the CPU. */
enum { IDAT_TURN_MOST = 1 << 26 };

#endif
