/* The samples of a PNG that is not interlaced: inflated into a ring of slots,
 * each of some rows, and out of it unfiltered into the planes.
 *
 * Both go on in order, and each can be done by one thread at a time; so two
 * threads are kept busy, and a single one takes turns, with the slots still in
 * its cache. Whoever comes does what there is to do: nothing waits for a thread
 * that the system does not start. */
#include "codecs/png/png.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/deflate/flate.h"
#include "codecs/png/filter.h"
#include "codecs/png/scanline.h"

enum {
    SLOTS = 4, /* at most */
    SLOT = 128 << 10, /* bytes: so that all of them stay in a cache of level 2.
                         A slot is at least a row */
};

struct idat_reader {
    struct row_sink *rows;
    uint32_t height;
    unsigned pixel; /* bytes of one */
    const struct flate *flate;
    void *inflater;
    struct idats idats;
    const uint8_t *run; /* what is left of the chunk that is inflated */
    size_t run_size;
    bool ended;       /* the stream has */

    size_t row;        /* bytes, with the filter's type */
    uint32_t per_slot; /* rows */
    uint32_t slots;    /* that the picture takes */
    uint32_t in_ring;  /* of them */
    uint8_t *ring;
    uint8_t *prior; /* the last row that was unfiltered; zeros at first */

    pthread_mutex_t lock;
    pthread_cond_t change;
    uint32_t inflated, unfiltered; /* slots */
    bool inflating, unfiltering, failed;
};

/* ---- Inflating ---------------------------------------------------------- */

/* Takes the next chunk, whose CRC has to be right. */
static bool next_run(struct idat_reader *r)
{
    const uint8_t *p = r->idats.at;
    if (r->idats.size == 0)
        return false;
    size_t size = idat_size(p);
    uint32_t crc = r->flate->crc32(0, p + 4, size + 4);
    if (crc != read_be32(p + 8 + size))
        return false;
    r->run = p + 8;
    r->run_size = size;
    r->idats.at += size + 12;
    r->idats.size -= size + 12;
    return true;
}

/* Inflates up to `size` bytes, fewer if the stream ends. False: it is bad. */
static bool inflate_some(struct idat_reader *r, uint8_t *out, size_t *size)
{
    struct flate_io io = { .out = out, .out_size = *size };
    while (io.out_size && !r->ended) {
        if (r->run_size == 0 && !next_run(r))
            return false;
        io.in = r->run;
        io.in_size = r->run_size;
        enum flate_status status = r->flate->inflate(r->inflater, &io);
        if (status == FLATE_BAD)
            return false;
        r->ended = status == FLATE_END;
        r->run = io.in;
        r->run_size = io.in_size;
    }
    *size -= io.out_size;
    return true;
}

/* Behind the last row there is the end of the stream and nothing else. */
static bool at_end(struct idat_reader *r)
{
    uint8_t more;
    size_t size = 1;
    return inflate_some(r, &more, &size) && size == 0 && r->ended &&
           r->run_size == 0 && r->idats.size == 0;
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

/* ---- Unfiltering -------------------------------------------------------- */

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

/* Does one step without the lock. */
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

/* The first to come prefers to inflate and the second to unfilter, so that each
 * has its tables at hand. */
static void take_part(void *context, size_t i)
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

/* Distances reach back as far as the stream's header says, at most 32 KiB (RFC
 * 1950, 2.2), and not every library checks that. */
static bool fits_window(const struct idat_reader *r)
{
    const uint8_t *p = r->idats.at;
    if (idat_size(p) < 2)
        return false;
    unsigned bits = 8 + (p[8] >> 4);
    return bits == 15 ||
           (bits < 15 && r->row * r->height <= (size_t)1 << bits);
}

bool idat_read(struct row_sink *rows, struct idats idats,
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
    };
    r.per_slot = r.row < SLOT ? (uint32_t)(SLOT / r.row) : 1;
    r.slots = (r.height - 1) / r.per_slot + 1;
    r.in_ring = r.slots < SLOTS ? r.slots : SLOTS;
    if (!fits_window(&r))
        return false;
    r.inflater = flate->inflate_open();
    r.ring = malloc(r.in_ring * r.per_slot * r.row);
    r.prior = calloc(r.row, 1);
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.change, NULL);
    if (r.inflater && r.ring && r.prior)
        thread_pool_run(pool, take_part, &r, 2);
    pthread_cond_destroy(&r.change);
    pthread_mutex_destroy(&r.lock);
    free(r.prior);
    free(r.ring);
    flate->inflate_close(r.inflater);
    return !r.failed && r.unfiltered == r.slots;
}
