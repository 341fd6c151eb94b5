/* The samples of components, of which blocks of coefficients are made, and
 * which are made of them (codecs/jpeg/arithmetic.h). */
#ifndef CODECS_JPEG_SAMPLES_H
#define CODECS_JPEG_SAMPLES_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/dct.h"
#include "codecs/jpeg/entropy/sequential.h"

/* The samples of a component. */
struct samples {
    bool wanted;        /* else the component is left alone */
    bool transposed;    /* each block by itself is transposed */
    struct plane plane; /* CELL_U8; block 0, 0 begins with its first sample */
    uint16_t step[64];
    struct dct_rounding rounding;
};

/* Returns how coefficients are rounded to these steps: with a dead zone, or to
 * the nearest multiples. A coefficient whose step is 0 is 0 whatever it is. */
struct dct_rounding samples_rounding(const uint16_t step[64], bool dead_zone);

/* The blocks of a picture stand in `planes` of CELL_DCT, or if that is NULL or
 * has no cells, in the scans of `coded`. */

/* Computes the samples, one array element for each component. A plane may end
 * within its last blocks, and has room for them in its rows. */
void samples_decode(const struct samples *samples, const struct image *planes,
                    const struct sequential *coded, struct thread_pool *pool);

/* Computes the coefficients. Beyond its end a plane is repeated up to whole
 * blocks. The scans of `coded` get blocks if they have none, else they are
 * replaced, which can be done once. Returns -1 without memory, or if one
 * becomes too large. */
int samples_encode(const struct samples *samples, const struct image *planes,
                   struct sequential *coded, struct thread_pool *pool,
                   struct err *err);

/* Finds the cap of the steps of component `number`, as arithmetic.h says.
 * Returns 0 without memory. */
unsigned samples_find_cap(const struct plane *plane, const uint16_t step[64],
                          unsigned number);

/* ---- Blocks that a turn leaves whole ------------------------------------- */

/* A turn that mirrors an axis brings the rest of the last blocks, which lies
 * beyond the picture, to the front. Where a component is not a whole number of
 * its blocks there, its samples are computed and moved to the end of these
 * blocks before the turn, and their coefficients are computed anew, with the
 * same steps. Other components need not go through samples.
 *
 * Moves a JPEG of coefficients that is to be turned by `turn`. They stand in
 * planes; without cells they are those that its parameters have, which may have
 * been read transposed for img->turned. Each component is a whole number of its
 * samples along the axes that run backwards. Several threads share the work;
 * the result does not depend on them. Returns -1 without memory, or if a
 * coefficient becomes too large. */
int samples_realign(const struct image *img, enum xform turn,
                    struct thread_pool *pool, struct err *err);

/* ---- Chroma in full resolution along an axis ----------------------------- */

/* Chooses the axes along which all components get full resolution, when the
 * first width x height pixels of a file are turned by t and blocks lie
 * elsewhere after it: those that do not end with a whole sample of each
 * component. This counts for an axis that does not run backwards as well: it
 * may do so the next time, and the file would grow then. */
void samples_choose_full(j_decompress_ptr d, uint32_t width, uint32_t height,
                         enum xform t, bool *across, bool *down);

/* Spreads samples that were read over planes that are larger than what the file
 * stores, as libjpeg does to show them. */
void samples_fill(j_decompress_ptr d, const struct image *img);

/* ---- Pixels of other formats --------------------------------------------- */

/* Makes `made`, which is {0}, what c is set to write of img: YCbCr of RGB, else
 * colors as they are. Components have the sampling of the first one, or half as
 * many columns and rows. */
int samples_of_pixels(struct image *made, const struct image *img,
                      const struct jpeg_compress_struct *c,
                      struct thread_pool *pool, struct err *err);

#endif
