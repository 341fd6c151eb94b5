/* Reads the samples of a PNG that is not interlaced: inflates them into a ring
 * of slots of some rows each, and undoes the filters from there into the
 * planes.
 *
 * Both steps go on in order, and each is done by one thread at a time; so two
 * threads are kept busy, and a single one alternates, with the slots still in
 * its cache. Each thread does whatever can be done: nothing waits for a thread
 * that the system does not start. */
#include "codecs/png/png.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/deflate/flate.h"
#include "codecs/png/chunk.h"
#include "codecs/png/filter.h"
#include "codecs/png/scanline.h"

enum {
    SLOTS = 4,        /* at most */
    SLOT = 128 << 10, /* bytes of a slot, or else one row: all of them stay in
                         a cache of level 2 */
};

struct idat_reader {
    struct row_sink *rows;
    uint32_t height;
    unsigned pixel; /* bytes of a pixel */
    const struct flate *flate;
    void *inflater;
    struct png_range idats;
    const uint8_t *rest; /* of the chunk that is being inflated */
    size_t rest_size;
    bool ended; /* the stream has ended */

    size_t row;        /* bytes, with the filter's type */
    uint32_t per_slot; /* rows */
    uint32_t slots;    /* of the picture */
    uint32_t in_ring;  /* of them: as many as fit into */
    uint8_t *ring;
    uint8_t *prior; /* the last row whose filter was undone; zeros at first */

    pthread_mutex_t lock;
    pthread_cond_t change;
    uint32_t inflated, unfiltered; /* slots that are done */
    bool inflating, unfiltering, failed;
};

/* ---- Inflating ---------------------------------------------------------- */

/* Goes to the next chunk, whose CRC must be right. */
static bool next_chunk(struct idat_reader *r)
{
    struct chunk chunk;
    if (!chunk_find(&chunk, r->idats.at, r->idats.size) ||
        !chunk_is_sound(&chunk))
        return false;
    r->rest = chunk.data;
    r->rest_size = chunk.size;
    r->idats.at += chunk.size + CHUNK_AROUND;
    r->idats.size -= chunk.size + CHUNK_AROUND;
    return true;
}

/* Inflates up to *size bytes, fewer if the stream ends. Returns false if it is
 * damaged. */
static bool inflate_some(struct idat_reader *r, uint8_t *out, size_t *size)
{
    struct flate_io io = { .out = out, .out_size = *size };
    while (io.out_size && !r->ended) {
        if (r->rest_size == 0 && !next_chunk(r))
            return false;
        io.in = r->rest;
        io.in_size = r->rest_size;
        enum flate_status status = r->flate->inflate(r->inflater, &io);
        if (status == FLATE_BAD)
            return false;
        r->ended = status == FLATE_END;
        r->rest = io.in;
        r->rest_size = io.in_size;
    }
    *size -= io.out_size;
    return true;
}

/* Returns whether the stream ends here, and the chunks with it. */
static bool at_end(struct idat_reader *r)
{
    uint8_t more;
    size_t size = 1;
    return inflate_some(r, &more, &size) && size == 0 && r->ended &&
           r->rest_size == 0 && r->idats.size == 0;
}

static uint32_t rows_of(const struct idat_reader *r, uint32_t slot)
{
    uint32_t left = r->height - slot * r->per_slot;
    return left < r->per_slot ? left : r->per_slot;
}

static uint8_t *slot_at(const struct idat_reader *r, uint32_t slot)
{
    return r->ring + slot % r->in_ring * r->per_slot * r->row;
}

static bool inflate_slot(struct idat_reader *r, uint32_t slot)
{
    size_t want = rows_of(r, slot) * r->row, size = want;
    return inflate_some(r, slot_at(r, slot), &size) && size == want &&
           (slot + 1 < r->slots || at_end(r));
}

/* ---- Undoing filters ----------------------------------------------------- */

static bool unfilter_slot(struct idat_reader *r, uint32_t slot)
{
    uint8_t *row = slot_at(r, slot);
    const uint8_t *prior = r->prior;
    uint32_t y = slot * r->per_slot, end = y + rows_of(r, slot), at;
    struct err err; /* libpng gives the reason */
    for (; y < end; y++, row += r->row) {
        const struct image *to = row_sink_at(r->rows, y, &at);
        if (!filter_undo_row(row[0], row + 1, prior, r->row - 1, r->pixel))
            return false;
        scanline_split(to, at, row + 1);
        if (row_sink_done(r->rows, y, &err))
            return false;
        prior = row + 1;
    }
    memcpy(r->prior, prior, r->row - 1); /* the slot is about to be reused */
    return true;
}

/* ---- Both --------------------------------------------------------------- */

/* Does one step, without the lock. */
static void step(struct idat_reader *r, bool *busy, uint32_t *done,
                 bool (*work)(struct idat_reader *r, uint32_t slot))
{
    uint32_t slot = *done;
    *busy = true;
    pthread_mutex_unlock(&r->lock);
    bool right = work(r, slot);
    pthread_mutex_lock(&r->lock);
    *busy = false;
    if (right)
        *done = slot + 1;
    else
        r->failed = true;
    pthread_cond_broadcast(&r->change);
}

/* The first thread prefers to inflate and the second to undo filters, so that
 * each has its tables in its cache. */
static void read_slots(void *context, size_t i)
{
    struct idat_reader *r = context;
    pthread_mutex_lock(&r->lock);
    while (!r->failed && r->unfiltered < r->slots) {
        bool can_inflate = !r->inflating && r->inflated < r->slots &&
                           r->inflated - r->unfiltered < r->in_ring;
        bool can_unfilter = !r->unfiltering && r->unfiltered < r->inflated;
        if (can_inflate && (i == 0 || !can_unfilter))
            step(r, &r->inflating, &r->inflated, inflate_slot);
        else if (can_unfilter)
            step(r, &r->unfiltering, &r->unfiltered, unfilter_slot);
        else
            pthread_cond_wait(&r->change, &r->lock);
    }
    pthread_mutex_unlock(&r->lock);
}

/* Returns whether no distance can reach back farther than the header of the
 * stream says, at most 32 KiB (RFC 1950, 2.2), which not every library checks.
 */
static bool fits_window(const struct idat_reader *r)
{
    struct chunk chunk;
    if (!chunk_find(&chunk, r->idats.at, r->idats.size) || chunk.size < 2)
        return false;
    unsigned bits = 8 + (chunk.data[0] >> 4);
    return bits == 15 || (bits < 15 && r->row * r->height <= (size_t)1 << bits);
}

bool idat_read(struct row_sink *rows, struct png_range idats,
               const struct flate *flate, struct thread_pool *pool)
{
    uint32_t row;
    const struct image *img = row_sink_at(rows, 0, &row);
    struct idat_reader r = {
        .rows = rows,
        .height = rows->height,
        .pixel = scanline_pixel(img),
        .flate = flate,
        .idats = idats,
        .row = scanline_size(img) + 1,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .change = PTHREAD_COND_INITIALIZER,
    };
    r.per_slot = r.row < SLOT ? (uint32_t)(SLOT / r.row) : 1;
    r.slots = (r.height - 1) / r.per_slot + 1;
    r.in_ring = r.slots < SLOTS ? r.slots : SLOTS;
    if (!fits_window(&r))
        return false;
    r.inflater = flate->inflate_open(false);
    r.ring = malloc(r.in_ring * r.per_slot * r.row);
    r.prior = calloc(r.row, 1);
    if (r.inflater && r.ring && r.prior)
        thread_pool_run(pool, read_slots, &r, 2);
    free(r.prior);
    free(r.ring);
    flate->inflate_close(r.inflater);
    return !r.failed && r.unfiltered == r.slots;
}
