/* The cells of a picture in a scratch file instead of in memory.
 *
 * They are written in bands of rows of the picture as its file stores it, in
 * any order, and each band is turned on its way: where rows become columns it
 * is a strip of columns then. They are read in rows of the turned picture. A
 * band lies in the scratch file in one piece, its planes one after the other,
 * their rows without gaps. So some hundred rows of the turned picture are one
 * piece of each plane of a strip, and whatever the turn, the file is written
 * and read in pieces of many kilobytes. */
#ifndef CODECS_IMAGE_CELL_STORE_H
#define CODECS_IMAGE_CELL_STORE_H

#include "codecs/base/scratch.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/image/turner.h"

/* How the cells of a store become those of a picture. It is one block of
 * memory, which image_free() frees. */
struct cell_view {
    struct image stored; /* the cells in the store; the picture owns it */
    /* Converts all of `from`, cells as stored. Several threads may. */
    void (*convert)(struct cell_view *view, const struct image *to,
                    const struct image *from);
};

/* Gives img, which has the shape of the picture as stored, a store in place of
 * cells, and the shape that it has when it is turned by t. image_free() frees
 * the store; the scratch file must stay until then. Its memory must hold two
 * rows, before and after the turn. On failure there is nothing to free. */
int cell_store_open(struct image *img, enum xform t,
                    const struct scratch *scratch, struct err *err);

/* Returns what of its scratch file is behind the cells of img. */
struct scratch_part cell_store_behind(const struct image *img);

/* Returns how many rows of the stored picture a band has, but for the last. */
uint32_t cell_store_band(const struct cell_store *store);

/* Returns whether memory holds two rows of img, which has a store, of whatever
 * cells they become. */
bool cell_store_fits(const struct image *img);

/* Returns how many rows of img may be read at a time. */
uint32_t cell_store_window(const struct image *img);

/* Turns and writes a band of img: all rows of `band`, which are those from
 * `begin` on of the stored picture. Several threads may. */
int cell_store_write(const struct image *img, uint32_t begin,
                     const struct image *band, const struct turner *turner,
                     struct err *err);

/* Reads the rows of img from y on to all rows of `rows`, which has its width.
 */
int cell_store_read(const struct image *img, uint32_t y,
                    const struct image *rows, struct thread_pool *pool,
                    struct err *err);

#endif
