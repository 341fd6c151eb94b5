/* The rows of a PNG that is not interlaced, in bands: how they are filtered and
 * deflated. idat_write.c makes chunks of what comes out.
 *
 * Each band is deflated on its own, ends at a byte, and only the last one holds
 * a final block, so that they join to one stream. A row is filtered against the
 * one above also across bands, and matches may reach back across them.
 *
 * Two choices are made. The filter is chosen for all bands before any is
 * deflated, since matches refer to what the rows before a band have become: by
 * strips of the picture, or, where size counts, by the whole of each band. The
 * strips also tell which matches are worth looking for. Whether any are is
 * asked of a part of each band: many photographs have next to none, so that
 * Huffman codes alone do, at twice the speed and more; screenshots are made of
 * matches. Matches are found by ISA-L where speed counts most, else by lz77.c;
 * where size counts, the smallest of what lz77.c, zlib and Huffman codes alone
 * make is taken. */
#ifndef CODECS_PNG_IDAT_BANDS_H
#define CODECS_PNG_IDAT_BANDS_H

#include <pthread.h>
#include <stdatomic.h>

#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"

/* Memory that one thread works with. */
struct idat_scratch {
    struct idat_scratch *next;
    uint8_t *raw[2];   /* rows */
    uint8_t *filtered; /* rows that matches may refer to, then a band */
    uint8_t *out;      /* room for a deflated band and `around` more bytes */
    uint8_t *trial;
    void *deflater;
    struct lz77 *lz77;
};

/* How bytes can be coded, and about how large they become so. */
enum coder { CODER_LITERALS, CODER_LONG, CODER_SHORT, CODERS };
struct coder_sizes {
    size_t of[CODERS];
};

enum { IDAT_STRIPS = 8 };

struct idat_bands {
    const struct image *img;
    int level;
    const struct flate *flate; /* which deflates where lz77.c does not */
    size_t row;                /* bytes, with the filter's type */
    unsigned pixel;
    bool continuous;   /* samples near each other are similar, as those of a
                          palette are not: filters may help */
    uint32_t count;    /* bands */
    uint32_t per_band; /* rows of a band */
    uint32_t before;   /* rows before a band that matches may refer to */
    size_t filtered_size, out_size, trial_size;
    uint8_t *filter;    /* of each band */
    atomic_bool failed; /* memory has run out: no thread goes on */

    pthread_mutex_t lock;
    struct idat_scratch *unused; /* the scratch memory that no thread has */

    struct coder_sizes plain[IDAT_STRIPS], adaptive[IDAT_STRIPS];
    enum coder matches; /* which matches are looked for */
    bool repeats;       /* they are worth it in a strip */
    bool only_repeats;  /* and in all strips they save much */
    bool whole_sampled; /* a strip was all of the picture: no sample tells more
                         */
};

/* Cuts img into bands for a level from 0 to 9. Buffers for output get `around`
 * bytes more than a band needs. Returns whether there was memory. */
bool idat_bands_open(struct idat_bands *b, const struct image *img, int level,
                     size_t around);
void idat_bands_close(struct idat_bands *b);

/* Chooses the filter of each band. */
void idat_bands_choose(struct idat_bands *b, struct thread_pool *pool);

/* Returns the number of rows of band i. */
uint32_t idat_bands_rows(const struct idat_bands *b, size_t i);

/* Lends scratch memory to a thread. Returns NULL, and sets `failed`, if there
 * is no memory for it, or that was so before. */
struct idat_scratch *idat_bands_take(struct idat_bands *b);
void idat_bands_give(struct idat_bands *b, struct idat_scratch *scratch);

/* Filters and deflates band i to `out`. Returns the number of bytes, or 0 on
 * failure, and sets *filtered to its filtered rows in the scratch memory. */
size_t idat_bands_deflate(const struct idat_bands *b,
                          struct idat_scratch *scratch, uint32_t i,
                          uint8_t *out, const uint8_t **filtered);

#endif
