/* The rows of a picture, where it is read and where it is written.
 *
 * While a picture is read, a sink takes its rows. They go into its planes as
 * they are; or, some hundred at a time, a band, into the planes of the turned
 * picture: then the picture is never in memory as its file stores it, and each
 * band is turned while it is in a cache. Or the picture is more than memory is
 * to hold (PIXELS_BANDS): then turned bands go into a temporary file that is
 * mapped, each in one piece, its planes one after the other, their rows without
 * gaps. Where rows become columns a band is a strip of columns there, of which
 * some hundred rows of the turned picture are one piece of each plane; so
 * whatever the turn, what is written or read at a time has many kilobytes, and
 * its pages leave memory right afterwards.
 *
 * While a picture is written, a source gives its rows: from its planes; or from
 * that file, some hundred at a time, which may be converted on their way. */
#ifndef CODECS_IMAGE_ROWS_H
#define CODECS_IMAGE_ROWS_H

#include <stdatomic.h>

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

/* ---- Where rows go --------------------------------------------------------
 */

/* Bands come one after the other, and in memory all but one at an end of the
 * picture are this high. So where rows become columns each begins at a whole
 * IMAGE_STRIDE of the turned picture's rows, and ends at one or with them. */
enum { BAND_ROWS = IMAGE_STRIDE };

/* Rows of the picture as stored, on their way to be turned. */
struct row_band {
    struct image img;
    uint32_t first;      /* the first row that it has */
    uint32_t begin, end; /* those that are filled, and turned, together */
};

struct row_sink {
    struct image *img;
    const struct turner *turner; /* NULL: rows stay as they are */
    enum xform t;
    uint32_t height; /* of the picture as stored */
    uint32_t step;   /* rows from a band to the next */
    uint32_t room;   /* how many rows a band has */
    struct row_band band;
    const struct scratch *scratch; /* where the bands of img are; or NULL */
    bool tight;                    /* there is no room for a second band */
    /* The second one, or no pixels. While `waiting`, its rows are complete, and
     * are for row_sink_turn_waiting() to turn. */
    struct row_band second;
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

/* ---- Where rows come from -------------------------------------------------
 */

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

/* Returns whether memory holds two rows of img, which has bands, of whatever
 * cells they become. */
bool row_source_fits(const struct image *img);

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
