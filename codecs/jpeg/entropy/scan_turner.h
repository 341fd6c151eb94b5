/* Scans that are turned elsewhere, by a device that decodes and encodes many of
 * them at once.
 *
 * Whoever reads a file offers the entropy-coded data of its scans, and what
 * they are to become. What is made of them is, byte for byte, what
 * sequential_write() makes. */
#ifndef CODECS_JPEG_ENTROPY_SCAN_TURNER_H
#define CODECS_JPEG_ENTROPY_SCAN_TURNER_H

#include <stdbool.h>

#include "codecs/base/bytes.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/entropy.h"

/* A component that goes through samples, as codecs/jpeg/arithmetic.h says. */
struct scan_samples {
    bool wanted; /* else its blocks are turned as they are */
    uint8_t number,
        table; /* of the component in the picture, and of its steps */
    /* Rows of steps, up to SCAN_STEP_MAX: those of the file, and those of what
     * is made. */
    uint16_t step[64], to_step[64];
    bool refines; /* what is made may have finer steps, and is rounded with a
                     dead zone (arithmetic.h) */
    /* The plane that is made of its samples: so many, before it is turned. */
    uint32_t width, height;
    struct chroma_axis x, y; /* its full resolution; factor 0: it has it */
    uint32_t right, down;    /* by how many samples it is moved; then the first
                                ones repeat the edge */
    enum xform turn; /* of the plane, or if it is none, of the blocks as of
                        others */

    uint32_t cap; /* set by the turner: no step of what is made is larger */
};
enum { SCAN_STEP_MAX = 4096 };

/* A picture that becomes samples, as codecs/jpeg/pixels.c says, turned. */
struct scan_pixels {
    unsigned channels; /* 1 or 3 */
    bool to_rgb;       /* they are YCbCr, and become RGB */
    bool joined;       /* the channels of a pixel are side by side; else there
                          is a plane after the other */
    enum cell cell;    /* CELL_U8; or CELL_F32, of which 1 is 255 */
    uint32_t width, height; /* after the turn */
    size_t stride, size;    /* bytes from a row to the next; and of all */
    struct upsampling upsampling[3];
};

struct idat_turn;

/* One scan of a picture; or all of a PNG (codecs/png/idat_turner.h). */
struct scan_turn {
    const struct idat_turn *idat; /* NULL: it is a scan; else all up to `coded`
                                     is unused */
    const struct entropy_scan *from;
    struct entropy_scan *to; /* the same after the turn, whose tables may be
                                replaced: see sequential_encode_scan() */
    enum xform turn;
    bool optimize;
    struct scan_samples *samples; /* of each component; NULL: none goes through
                                     samples */
    const struct scan_pixels *pixels; /* it becomes these, with the steps of
                                         `samples`, and `to` is NULL; NULL: it
                                         becomes a scan */
    struct bytes coded;  /* borrowed: from behind the header of the scan up to
                            the marker behind it */
    struct bytes turned; /* borrowed: the same of `to`, or samples behind
                            IMAGE_LEAD bytes of room, once it is turned */
};

struct scan_turner {
    /* Begins to turn the scans of a picture, which stay where they are until it
     * is done; `coded` is read before this returns. Returns false if it does
     * not: then whoever asks has to do it. If it begins and fails later, the
     * file is to be read again without it: whoever gave the turner is told. */
    bool (*begin)(void *context, struct scan_turn *scans, unsigned count);
    void *context;
    bool optimize;   /* as struct save_opts will have it */
    bool no_restart; /* the same */
    bool samples; /* it takes components that go through samples, and pictures
                     that become samples */
};

#endif
