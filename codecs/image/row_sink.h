/* Takes the rows of a picture while it is read. They go into its planes as they
 * are; or, some hundred at a time, into the planes of the turned picture, or
 * into its bands (bands.h). Then the picture is never in memory as its file
 * stores it, and each band of rows is turned while it is in a cache. */
#ifndef CODECS_IMAGE_ROW_SINK_H
#define CODECS_IMAGE_ROW_SINK_H

#include <stdatomic.h>

#include "codecs/image/image.h"

/* Bands come one after the other, and in memory all but one at an end of the
 * picture are this high. So where rows become columns each begins at a whole
 * IMAGE_STRIDE of the turned picture's rows, and ends at one or with them. */
enum { BAND_ROWS = IMAGE_STRIDE };

struct row_sink {
    struct image *img;
    const struct turner *turner; /* NULL: rows stay as they are */
    enum xform t;
    uint32_t height;     /* of the picture as stored */
    uint32_t step;       /* rows from a band to the next */
    uint32_t begin, end; /* rows of the band that is being filled */
    uint32_t first;      /* the first row that `band` has */
    uint32_t room;       /* how many rows it has */
    struct image band;
    const struct scratch *scratch; /* where the bands of img are; or NULL */
    bool tight;                    /* there is no room for a second band */
    /* The second one, or no pixels. While `waiting`, its rows are complete, and
     * are for row_sink_turn_waiting() to turn. */
    struct image second;
    uint32_t second_begin, second_end;
    atomic_bool waiting;
};

struct row_sink_opts {
    enum xform t;
    const struct turner
        *turner; /* turns rows by t; NULL: they stay as stored */
    const struct limits *limits; /* which image_check() has looked at; NULL:
                                    there is memory for the picture */
    struct mem mem;              /* where its pixels go */
    bool in_passes; /* rows do not come in order, nor each at once: in memory
                       the picture is there as stored, too */
};

/* Gives img, which has the size and the kind of the picture as stored, its
 * pixels, of the kind that image_choose_pixels() tells. Where they are turned,
 * as bands always are, its size changes, and img->turned says so. */
int row_sink_open(struct row_sink *rows, struct image *img,
                  const struct row_sink_opts *opts, struct err *err);

/* Returns the picture that takes row y of the file, as its row *row. Rows come
 * in order, unless they come in passes. */
const struct image *row_sink_at(const struct row_sink *rows, uint32_t y,
                                uint32_t *row);

/* Called for each row in order when it is complete: turns its band, if that is.
 */
int row_sink_done(struct row_sink *rows, uint32_t y, struct err *err);

/* Gets a second band, so that one is filled while the other is turned. From
 * then on row_sink_done() leaves a complete band for row_sink_turn_waiting(),
 * unless one waits already. Does nothing where bands are not turned, or without
 * memory for it. */
void row_sink_open_second(struct row_sink *rows);

/* Returns whether a complete band waits. */
bool row_sink_has_waiting(const struct row_sink *rows);

/* Turns it. One thread may, while another fills the sink. */
int row_sink_turn_waiting(struct row_sink *rows, struct err *err);

/* Several threads may take a band each, in any order: returns how many there
 * are. Without a turner they are bands of img itself. */
size_t row_sink_bands(const struct row_sink *rows);

/* Makes `band` a sink for the i-th band alone, of the rows from *begin up to
 * *end of the file; `rows` must stay. On failure there is nothing to close. */
int row_sink_open_band(struct row_sink *band, const struct row_sink *rows,
                       size_t i, uint32_t *begin, uint32_t *end,
                       struct err *err);

/* Frees what is not img's. Fine on {0}. */
void row_sink_close(struct row_sink *rows);

#endif
