/* The strips and tiles of a TIFF picture, coded by libtiff on several threads.
 *
 * Samples are bits that are moved: a pixel is a few cells of a picture
 * (codecs/image), whatever its samples mean. Where chroma is subsampled and
 * stays so, what is called a pixel here is a block of luma with its chroma. */
#ifndef CODECS_TIFF_STRIPS_H
#define CODECS_TIFF_STRIPS_H

#include "codecs/image/row_sink.h"
#include "codecs/tiff/directory.h"
#include "codecs/tiff/libtiff.h"

/* Reads how the picture of a directory lies in the file, and the shape of img:
 * size, cells and planes, without a meaning. */
int strips_open(struct tiff_strips *s, struct image *img,
                const struct directories *all, const struct directory *dir,
                struct err *err);

/* Puts luma in the order that it has after a turn. */
void strips_turn_blocks(struct tiff_strips *s, enum xform t);

/* Computes cells and cut of what coding, size and size of the parts say; a part
 * of width 0 is a strip. */
int strips_measure(struct tiff_strips *s, struct err *err);

/* Reads the picture into img, which has its shape, and turns it. Without a
 * sink it is read and not kept. */
int strips_read(const struct tiff_strips *s, struct row_sink *sink,
                struct err *err);

/* Appends the parts of img, and sets where they are and their sizes: arrays of
 * as many as there are, which the caller frees. */
struct parts {
    uint64_t *at, *size;
    uint64_t count;
};
int strips_write(struct tiff_writer *w, struct parts *parts,
                 const struct tiff_strips *s, const struct image *img,
                 struct err *err);

/* Reads the picture as 8 bits of red, green, blue and alpha, as libtiff shows
 * it, into img, which has such planes. */
int strips_read_rgba(const struct tiff_strips *s, const struct image *img,
                     unsigned orientation, struct err *err);

#endif
