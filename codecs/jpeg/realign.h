/* Moves the blocks of components so that a turn leaves them whole.
 *
 * A turn that mirrors an axis brings the rest of the last blocks, which lies
 * beyond the picture, to the front. Where a component is not a whole number of
 * its blocks there, its samples are computed and moved to the end of these
 * blocks before the turn, and their coefficients are computed anew, with the
 * same steps. Other components need not go through samples. */
#ifndef CODECS_JPEG_REALIGN_H
#define CODECS_JPEG_REALIGN_H

#include "codecs/base/err.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

/* Moves a JPEG of coefficients that is to be turned by `turn`. They stand in
 * planes; without cells they are those that its parameters have, which may have
 * been read transposed for img->turned. Each component is a whole number of its
 * samples along the axes that run backwards. Several threads share the work;
 * the result does not depend on them. Returns -1 without memory, or if a
 * coefficient becomes too large. */
int realign_image(const struct image *img, enum xform turn,
                  struct thread_pool *pool, struct err *err);

#endif
