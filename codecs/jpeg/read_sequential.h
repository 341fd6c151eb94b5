/* Sequential files with Huffman codes, read without libjpeg, or offered to a
 * device that turns their scans (scan_turner.h), also where some or all of
 * their components go through samples, or where they become samples. */
#ifndef CODECS_JPEG_READ_SEQUENTIAL_H
#define CODECS_JPEG_READ_SEQUENTIAL_H

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/image/rows.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/parameters.h"

/* A file that is read: its parameters and its shape are in img. */
struct sequential_reading {
    struct image *img;
    struct bytes file;
    const struct decode_plan *plan;
    const struct load_opts *opts;
    bool to_rgb;   /* convert pixels to RGB, else give components as they are */
    size_t behind; /* set to the bytes after the end of the picture */
};

enum sequential_verdict {
    SEQUENTIAL_READ,
    SEQUENTIAL_OTHER,  /* libjpeg has to read the file, or to tell what is wrong
                          with it */
    SEQUENTIAL_FAILED, /* without memory, or beyond the limits */
};

/* Reads a picture as the plan says. Where it may be turned on its way it stays
 * coded, or blocks, which are turned as they are written, and where samples are
 * made of them, blocks; else these become planes.
 *
 * The samples of pixels are those of libjpeg; on one thread that is left to it,
 * which is faster. Where the plan has a turner they are turned on their way. If
 * a device takes the picture it makes the samples, packed as the plan says:
 * then img has PIXELS_DEVICE. */
enum sequential_verdict read_sequential(struct sequential_reading *r,
                                        struct err *err);

/* Offers a picture to the device of the plan, in the representation of that:
 * its data has been found, p->coded, and p->turned is {0}. Returns whether it
 * is turned there. */
bool read_sequential_offer(const struct jpeg_parameters *p,
                           const struct decode_plan *plan);

/* ---- Pixels (pixels.c) ----
 *
 * From coefficients to the samples of pixels, without libjpeg, whose samples
 * these are, bit for bit: the integer transform (dct.h), "fancy" upsampling,
 * and YCbCr to RGB (arithmetic.h). */

/* Returns whether a picture of such components can be read so. */
bool pixels_suit(const struct sequential *s);

/* Sets how component i is upsampled. Returns false if it cannot be. */
bool pixels_upsampling(struct upsampling *u, const struct sequential *s,
                       unsigned i);

/* Writes the picture, of which `s` has the blocks, to the rows of a sink, whose
 * picture has a plane for each component. Three components are converted to RGB
 * if `to_rgb`. Several threads share the work; the result does not depend on
 * them. *exact becomes false where coefficients are so large that decoders
 * differ in what they make of them. Returns -1 without memory, or if a turner
 * fails. */
int pixels_read(const struct row_sink *rows, const struct sequential *s,
                bool to_rgb, bool *exact, struct thread_pool *pool,
                struct err *err);

#endif
