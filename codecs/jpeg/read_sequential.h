/* Sequential files with Huffman codes, read without libjpeg. */
#ifndef CODECS_JPEG_READ_SEQUENTIAL_H
#define CODECS_JPEG_READ_SEQUENTIAL_H

#include "codecs/codec.h"
#include "codecs/jpeg/parameters.h"

enum sequential_verdict {
    SEQUENTIAL_READ,
    SEQUENTIAL_OTHER,  /* libjpeg has to read the file, or to tell what is wrong
                          with it */
    SEQUENTIAL_FAILED, /* without memory, or beyond the limits */
};

/* Reads the samples of the pixels of a file whose parameters and shape are in
 * img, converted to RGB or the components as they are. They are those of
 * libjpeg. Where the plan has a turner they are turned on their way. Sets
 * *behind to the bytes after the end of the picture. */
enum sequential_verdict read_sequential_pixels(struct image *img,
                                               struct bytes file, bool to_rgb,
                                               const struct decode_plan *plan,
                                               const struct load_opts *opts,
                                               size_t *behind, struct err *err);

/* Has the samples made by the device of the plan, packed as it says, if there
 * is one that takes the picture: then img->made is where they will be. Sets
 * *behind in the same way. */
enum sequential_verdict
read_sequential_elsewhere(struct image *img, struct bytes file, bool to_rgb,
                          const struct decode_plan *plan,
                          const struct load_opts *opts, size_t *behind,
                          struct err *err);

/* Reads the coefficients of a file whose parameters and shape are in img, as
 * the plan says. Where the picture may be turned on its way they stay coded, or
 * blocks, which are turned as they are written, and where samples are made of
 * them, blocks; else they become planes. Sets
 * *behind to the bytes after the end of the picture. */
enum sequential_verdict read_sequential(struct image *img, struct bytes file,
                                        const struct decode_plan *plan,
                                        const struct load_opts *opts,
                                        size_t *behind, struct err *err);

/* ---- Pictures for a device ----------------------------------------------- */

/* Offers the picture whose parameters these are, and whose data has been found,
 * p->coded, in the representation of the plan: p->turned is {0}. Returns
 * whether it is turned there. */
bool offer_picture(const struct jpeg_parameters *p,
                   const struct decode_plan *plan);

/* Offers a picture of one scan, which is to become samples: img->made says how
 * they are packed. Returns whether it is turned there: then img has its shape
 * after the turn, and img->made is where they will be. */
bool offer_samples(struct image *img, bool to_rgb,
                   const struct decode_plan *plan);

#endif
