/* Sequential files with Huffman codes, read without libjpeg, or offered to a
 * device that turns their scans (scan_turner.h), also where some or all of
 * their components go through samples, or where they become samples. */
#ifndef CODECS_JPEG_READ_SEQUENTIAL_H
#define CODECS_JPEG_READ_SEQUENTIAL_H

#include "codecs/codec.h"
#include "codecs/jpeg/parameters.h"

/* Reads a picture as its plan says, whose parameters and shape are in its img.
 * Where it may be turned on its way it stays coded, or blocks, which are turned
 * as they are written, and where samples are made of them, blocks; else these
 * become planes. Pixels only a device makes here, which `to_rgb` converts
 * components to RGB for: then img has PIXELS_DEVICE, packed as the plan says.
 *
 * Returns 1, and sets *behind to the bytes after the end of the picture; 0 if
 * libjpeg has to read the file, or to tell what is wrong with it; or -1 without
 * memory, or beyond the limits. */
int read_sequential(struct reader *reader, bool to_rgb, size_t *behind,
                    struct err *err);

/* Offers a picture to the device of the plan, in the representation of that:
 * its data has been found, p->coded, and p->turned is {0}. Returns whether it
 * is turned there. */
bool read_sequential_offer(const struct jpeg_parameters *p,
                           const struct decode_plan *plan);

#endif
