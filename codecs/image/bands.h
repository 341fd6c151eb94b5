/* The samples of a picture that is more than memory is to hold: in bands, in a
 * temporary file that is mapped.
 *
 * They are written in bands of rows of the picture as its file stores it, in
 * any order, and each band is turned on its way: where rows become columns it
 * is a strip of columns then. They are read in rows of the turned picture. A
 * band lies in the file in one piece, its planes one after the other, their
 * rows without gaps. So some hundred rows of the turned picture are one piece
 * of each plane of a strip; whatever the turn, what is written or read at a
 * time has many kilobytes, and its pages leave memory right afterwards. */
#ifndef CODECS_IMAGE_BANDS_H
#define CODECS_IMAGE_BANDS_H

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

/* Gives img, which has the shape of the picture as stored, bands for its
 * pixels, and the shape that it has when it is turned by t. Memory must hold
 * two rows, before and after the turn. On failure there is nothing to free. */
int bands_open(struct image *img, enum xform t, const struct scratch *scratch,
               struct err *err);

/* Returns whether memory holds two rows of img, which has bands, of whatever
 * cells they become. */
bool bands_fit(const struct image *img);

/* Returns how many rows of img may be read at a time. */
uint32_t bands_window(const struct image *img);

/* Turns and writes a band: all rows of `band`, which are those from `begin` on
 * of the stored picture. Several threads may. */
int bands_write(const struct bands *bands, uint32_t begin,
                const struct image *band, const struct turner *turner,
                struct err *err);

/* Reads the rows from y on, as they are in the file, to all rows of `rows`,
 * which has their width. */
void bands_read(const struct bands *bands, uint32_t y, const struct image *rows,
                struct thread_pool *pool);

#endif
