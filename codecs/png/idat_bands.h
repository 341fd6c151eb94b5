/* The rows of a PNG that is not interlaced, in bands. idat_choice.c filters and
 * deflates them, and idat_write.c makes chunks of what comes out.
 *
 * Each band is deflated on its own, ends at a byte, and only the last one holds
 * a final block, so that they join to one stream. A row is filtered against the
 * one above also across bands, and matches may reach back across them.
 */
#ifndef CODECS_PNG_IDAT_BANDS_H
#define CODECS_PNG_IDAT_BANDS_H

#include <pthread.h>
#include <stdatomic.h>

#include "codecs/codec.h"
#include "codecs/deflate/block_split.h"

/* What levels from 0 to 9 mean: stored; by a library, as fast as possible;
 * matches by lz77.h; as small as possible, by optimal.h. */
enum { IDAT_LZ77_FROM = 3, IDAT_SIZE_FROM = 7 };

/* Memory that one thread works with. Of those that deflate it has what the
 * level needs. */
struct idat_scratch {
    struct idat_scratch *next;
    uint8_t *raw[2];   /* rows */
    uint8_t *filtered; /* rows that matches may refer to, then a band */
    uint8_t *out;      /* room for a deflated band and `around` more bytes */
    uint8_t *trial;
    void *deflater;
    struct lz77 *lz77;
    struct optimal *optimal;
};

/* How bytes can be coded, from the fastest way to the slowest. */
enum coder { CODER_LITERALS, CODER_PIXELS, CODER_LONG, CODER_ALL, CODERS };

/* Strips of a picture, and filters that are tried on them. */
enum { IDAT_STRIPS = 8, IDAT_TRIED = 4 };

/* How large a strip becomes by each filter and coder. */
struct strip_sizes {
    size_t of[IDAT_TRIED][CODERS];
};

struct idat_bands {
    const struct image *img;
    struct row_source rows; /* of it */
    int level;
    const struct flate *flate; /* which deflates where lz77.c does not */
    size_t row;                /* bytes, with the filter's type */
    unsigned pixel;
    uint32_t count;    /* bands */
    uint32_t per_band; /* rows of a band */
    uint32_t before;   /* rows before a band that matches may refer to */
    size_t filtered_size, out_size, trial_size;
    uint8_t *filter;               /* the choice of filter.h for each band */
    const struct account *account; /* whose time ends the work, too; or NULL */
    atomic_bool failed; /* memory or time has run out: no thread goes on */

    pthread_mutex_t lock;
    struct idat_scratch *unused; /* the scratch memory that no thread has */

    struct strip_sizes strip[IDAT_STRIPS];
    unsigned order[IDAT_STRIPS];                   /* places of the strips */
    struct symbol_costs costs[IDAT_TRIED][CODERS]; /* at the end of one */
    unsigned left[IDAT_TRIED]; /* coders tried with each filter: bits */
    unsigned best;             /* of the filters that were tried */
    enum coder coder;          /* of all bands, */
    bool mixed;                /* unless they differ in what it saves */
};

/* Cuts img into bands for a level from 0 to 9, which the threads of the pool of
 * `opts` share. Buffers for output get `around` bytes more than a band needs.
 * Returns whether there was memory. */
bool idat_bands_open(struct idat_bands *b, const struct image *img, int level,
                     size_t around, const struct save_opts *opts);
void idat_bands_close(struct idat_bands *b);

/* Holds n rows from y on, those before them that matches may refer to, and the
 * one above these, which filters refer to. Returns -1 with the reason if they
 * cannot be read. */
int idat_bands_hold(struct idat_bands *b, uint32_t y, uint32_t n,
                    struct err *err);

/* Calls work(context, i) for each band i, by several threads, while the rows
 * that the band needs are held. Fails as idat_bands_hold() does. */
int idat_bands_run(struct idat_bands *b, void (*work)(void *context, size_t i),
                   void *context, struct err *err);

/* Returns the number of rows of band i. */
uint32_t idat_bands_rows(const struct idat_bands *b, size_t i);

/* Lends scratch memory to a thread. Returns NULL, and sets `failed`, if there
 * is no memory for it, if the time is over, or if that was so before. */
struct idat_scratch *idat_bands_take(struct idat_bands *b);
void idat_bands_give(struct idat_bands *b, struct idat_scratch *scratch);

/* Filters n rows from y on to `out`, all by one choice of filter.h, or
 * each by that of its band. */
enum { IDAT_FILTER_OF_BAND = -1 };
void idat_bands_filter(const struct idat_bands *b, struct idat_scratch *scratch,
                       int chosen, uint32_t y, uint32_t n, uint8_t *out);

/* ---- How bands are filtered and deflated ----------------------------------*/

/* How the bands of a PNG are filtered and deflated: by what is tried.
 *
 * The filter is chosen for all bands before any is deflated, since matches
 * refer to what the rows before a band have become. Where size counts, one is
 * chosen for each band, by what optimal.h would make of parts of it.
 *
 * Else strips of the picture are filtered and coded in each way that is left:
 * two of them in all ways, the others in those that may be the best. The best
 * is the smallest, but what takes longer must save more. It is for all bands;
 * but where matches help in some strips alone, a part of each band is asked
 * whether they do there. */

/* Chooses the filter of each band. Returns -1 with the reason if rows cannot be
 * read. */
int idat_choice_make(struct idat_bands *b, struct err *err);

/* Filters and deflates band i to `out`. Returns the number of bytes, or 0 on
 * failure, and sets *filtered to its filtered rows in the scratch memory. */
size_t idat_choice_deflate(const struct idat_bands *b,
                           struct idat_scratch *scratch, uint32_t i,
                           uint8_t *out, const uint8_t **filtered);

#endif
