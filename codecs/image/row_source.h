/* Gives the rows of a picture while it is written: from its planes; or from its
 * bands, some hundred at a time, which may be converted on their way. The
 * counterpart of row_sink.h. */
#ifndef CODECS_IMAGE_ROW_SOURCE_H
#define CODECS_IMAGE_ROW_SOURCE_H

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

struct row_source {
    const struct image *img;
    struct thread_pool *pool; /* reads; NULL: the caller's thread */
    struct image window;      /* some rows of it, where it has bands */
    struct image stored;      /* the same as in its bands, where they differ */
    uint32_t begin, end;      /* these */
};

/* Opens the rows of img, none of which are held if it has bands. */
struct row_source row_source_open(const struct image *img,
                                  struct thread_pool *pool);

/* Returns how many rows can be held at a time: all that are in memory. */
uint32_t row_source_most(const struct row_source *rows);

/* Holds the rows from `begin` up to `end`, which may be more than most. */
int row_source_hold(struct row_source *rows, uint32_t begin, uint32_t end,
                    struct err *err);

/* Holds row y, and as many of those that are next upwards, or downwards if the
 * row below it was held. */
int row_source_reach(struct row_source *rows, uint32_t y, struct err *err);

/* Returns the picture that has row y, which is held, as its row *row. Several
 * threads may ask. */
static inline const struct image *row_source_at(const struct row_source *rows,
                                                uint32_t y, uint32_t *row)
{
    bool stored = image_has_bands(rows->img);
    *row = stored ? y - rows->begin : y;
    return stored ? &rows->window : rows->img;
}

/* Frees what is not img's. Fine on {0}. */
void row_source_close(struct row_source *rows);

#endif
