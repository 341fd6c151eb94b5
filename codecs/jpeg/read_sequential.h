/* Sequential files with Huffman codes, read without libjpeg, or offered to a
 * device that turns their scans (scan_turner.h), also where some or all of
 * their components go through samples, or where they become samples. */
#ifndef CODECS_JPEG_READ_SEQUENTIAL_H
#define CODECS_JPEG_READ_SEQUENTIAL_H

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

/* Reads the samples of the pixels, which are those of libjpeg; on one thread
 * that is left to it, which is faster. Where the plan has a turner they are
 * turned on their way. If the plan has a device that takes the picture, that
 * makes the samples, packed as the plan says: then img->made is where they will
 * be. */
enum sequential_verdict read_sequential_pixels(struct sequential_reading *r,
                                               struct err *err);

/* Reads the coefficients, as the plan says. Where the picture may be turned on
 * its way they stay coded, or blocks, which are turned as they are written, and
 * where samples are made of them, blocks; else they become planes. */
enum sequential_verdict read_sequential(struct sequential_reading *r,
                                        struct err *err);

/* Offers a picture to the device of the plan, in the representation of that:
 * its data has been found, p->coded, and p->turned is {0}. Returns whether it
 * is turned there. */
bool read_sequential_offer(const struct jpeg_parameters *p,
                           const struct decode_plan *plan);

#endif
