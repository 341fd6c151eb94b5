/* Sequential files with Huffman codes, written without libjpeg. */
#ifndef CODECS_JPEG_WRITE_SEQUENTIAL_H
#define CODECS_JPEG_WRITE_SEQUENTIAL_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/codec.h"
#include "codecs/jpeg/samples.h"

/* Appends to the file, which is empty, all that a JPEG file begins with before
 * its tables: SOI, what c is set to write of JFIF and Adobe, and the segments
 * of img. Returns -1 without memory. */
int write_sequential_headers(struct bytes *file, const j_compress_ptr c,
                             const struct image *img, struct err *err);

/* Appends a picture whose meta says how it is coded, from its first table to
 * EOI: the blocks of its meta, or of its planes. */
int write_sequential_own(struct bytes *file, const struct image *img,
                         const struct save_opts *opts, struct err *err);

/* Appends the coefficients in the planes of img, or if that is NULL, those of
 * the samples, as c is set to write them, from the first table to EOI. Both
 * return -1 without memory, or if libjpeg has to write the picture, or to tell
 * why it cannot. */
int write_sequential_coded(struct bytes *file, const j_compress_ptr c,
                           const struct image *img,
                           const struct samples *samples, bool extended,
                           struct thread_pool *pool, struct err *err);

#endif
