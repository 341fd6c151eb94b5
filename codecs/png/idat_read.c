/* Reads the samples of a PNG: inflates them into a ring of slots of some rows
 * each, undoes the filters from there into the bands of the row sink, and has
 * these turned. The rows of an interlaced picture come in up to seven passes.
 *
 * All steps go on in order, and each is done by one thread at a time; so two
 * threads are kept busy, and a single one alternates, with the slots still in
 * its cache. Each thread does whatever can be done: nothing waits for a thread
 * that the system does not start. */
#include "codecs/base/memory.h"
#include "codecs/png/png.h"

#include <pthread.h>
#include <string.h>

#include "codecs/deflate/flate.h"
#include "codecs/png/chunk.h"
#include "codecs/png/filter.h"
#include "codecs/png/pass_rows.h"
#include "codecs/png/scanline.h"

enum {
    SLOTS = 4,        /* at most */
    SLOT = 128 << 10, /* bytes of a slot, or else one row: all of them stay in
                         a cache of level 2 */
};

enum idat_step { INFLATE, UNFILTER, TURN, STEPS };

/* What the chunks IDAT hold. */
struct idat_stream {
    const struct flate *flate;
    void *inflater;
    struct bytes idats;         /* the chunks that are left */
    struct bytes_passed passed; /* of all */
    const uint8_t *rest;        /* of the chunk that is being inflated */
    size_t rest_size;
    bool ended;
};

struct idat_pass {
    size_t row;          /* bytes, with the filter's type */
    uint32_t per_slot;   /* rows */
    uint32_t first, end; /* slots */
};

/* How the rows of all passes lie in slots, and those that are in memory. */
struct idat_slots {
    struct idat_pass pass[ADAM7_PASSES];
    uint32_t count;   /* of the picture */
    uint32_t in_ring; /* of them: as many as fit into */
    uint8_t *ring;
    size_t size; /* bytes of each */
};

struct idat_reader {
    struct pass_rows rows;
    unsigned pixel; /* bytes of a pixel */
    struct idat_stream stream;
    struct idat_slots slots;
    uint8_t *prior; /* the last row whose filter was undone; zeros above the
                       first one of a pass */

    pthread_mutex_t lock;
    pthread_cond_t change;
    uint32_t inflated, unfiltered; /* slots that are done */
    bool busy[STEPS];              /* a thread does this */
    bool failed;
};

/* ---- Inflating ---------------------------------------------------------- */

/* Returns whether the CRC of a chunk, which may be all of a file, is right. */
static bool is_sound(struct idat_stream *s, const struct chunk *chunk)
{
    const uint8_t *at = chunk->type, *end = chunk->data + chunk->size;
    uint32_t crc = 0;
    for (size_t n; at < end; at += n) {
        n = (size_t)(end - at) < SLOT ? (size_t)(end - at) : SLOT;
        crc = s->flate->crc32(crc, at, n);
        bytes_pass(&s->passed, at);
    }
    return crc == read_be32(end);
}

/* Goes to the next chunk, whose CRC must be right. */
static bool next_chunk(struct idat_stream *s)
{
    struct chunk chunk;
    if (!chunk_next(&chunk, &s->idats) || !is_sound(s, &chunk))
        return false;
    s->rest = chunk.data;
    s->rest_size = chunk.size;
    return true;
}

/* Inflates up to *size bytes, fewer if the stream ends. Returns false if it is
 * damaged. A library that has taken all of a chunk may hold bytes of it back
 * until there is room: so the next chunk has to come only if nothing does. */
static bool inflate_some(struct idat_stream *s, uint8_t *out, size_t *size)
{
    struct flate_io io = { .out = out, .out_size = *size };
    while (io.out_size && !s->ended) {
        const size_t room = io.out_size;
        if (!s->rest && !next_chunk(s))
            return false;
        io.in = s->rest;
        io.in_size = s->rest_size;
        enum flate_status status = s->flate->inflate(s->inflater, &io);
        if (status == FLATE_BAD)
            return false;
        s->ended = status == FLATE_END;
        s->rest = io.in;
        s->rest_size = io.in_size;
        bytes_pass(&s->passed, s->rest);
        if (io.out_size == room && !s->ended && s->rest_size == 0 &&
            !next_chunk(s))
            return false;
    }
    *size -= io.out_size;
    return true;
}

static const struct idat_pass *pass_of(const struct idat_reader *r,
                                       uint32_t slot)
{
    const struct idat_pass *pass = r->slots.pass;
    while (slot >= pass->end)
        pass++;
    return pass;
}

/* Returns the number of rows in a slot, and sets *first to the first of them in
 * its pass. */
static uint32_t rows_of(const struct idat_reader *r,
                        const struct idat_pass *pass, uint32_t slot,
                        uint32_t *first)
{
    *first = (slot - pass->first) * pass->per_slot;
    uint32_t left = r->rows.pass[pass - r->slots.pass].height - *first;
    return left < pass->per_slot ? left : pass->per_slot;
}

static uint8_t *slot_at(const struct idat_reader *r, uint32_t slot)
{
    return r->slots.ring + slot % r->slots.in_ring * r->slots.size;
}

static bool inflate_slot(struct idat_reader *r)
{
    const uint32_t slot = r->inflated;
    const struct idat_pass *pass = pass_of(r, slot);
    uint32_t first;
    size_t want = rows_of(r, pass, slot, &first) * pass->row, size = want;
    struct idat_stream *s = &r->stream;
    if (!inflate_some(s, slot_at(r, slot), &size) || size != want)
        return false;
    if (slot + 1 < r->slots.count)
        return true;
    /* The stream must end here, and the chunks with it. */
    uint8_t more;
    size = 1;
    return inflate_some(s, &more, &size) && size == 0 && s->ended &&
           s->rest_size == 0 && s->idats.size == 0;
}

/* ---- Undoing filters ----------------------------------------------------- */

static bool unfilter_slot(struct idat_reader *r)
{
    const uint32_t slot = r->unfiltered;
    const struct idat_pass *pass = pass_of(r, slot);
    const size_t size = pass->row - 1;
    uint32_t first, n = rows_of(r, pass, slot, &first);
    uint8_t *row = slot_at(r, slot);
    const uint8_t *prior = r->prior;
    struct err err; /* libpng gives the reason */
    if (first == 0)
        memset(r->prior, 0, size);
    for (uint32_t i = 0; i < n; i++, row += pass->row) {
        if (!filter_undo_row(row[0], row + 1, prior, size, r->pixel) ||
            pass_rows_put(&r->rows, (unsigned)(pass - r->slots.pass), first + i,
                          row + 1, &err))
            return false;
        prior = row + 1;
    }
    memcpy(r->prior, prior, size); /* the slot is about to be reused */
    return slot + 1 < r->slots.count || pass_rows_end(&r->rows, &err) == 0;
}

/* ---- All steps ----------------------------------------------------------- */

static bool turn_waiting(struct idat_reader *r)
{
    struct err err; /* libpng gives the reason */
    return row_sink_turn_waiting(r->rows.rows, &err) == 0;
}

static bool can_do(const struct idat_reader *r, enum idat_step step)
{
    const uint32_t ready = r->inflated - r->unfiltered;
    return !r->busy[step] &&
           (step == INFLATE
                ? r->inflated < r->slots.count && ready < r->slots.in_ring
            : step == UNFILTER ? ready > 0
                               : row_sink_has_waiting(r->rows.rows));
}

/* Does a step without the lock. To be woken takes a thread about as long as a
 * slot, so those that wait are woken for half of the ring. Until then the
 * thread that has done this step finds more of the same to do. */
static void do_step(struct idat_reader *r, enum idat_step step)
{
    static bool (*const work[STEPS])(
        struct idat_reader *) = { inflate_slot, unfilter_slot, turn_waiting };
    r->busy[step] = true;
    pthread_mutex_unlock(&r->lock);
    const bool right = work[step](r);
    pthread_mutex_lock(&r->lock);
    r->busy[step] = false;
    r->failed = r->failed || !right;
    if (step == INFLATE) /* a step reads its own count without the lock */
        r->inflated++;
    else if (step == UNFILTER)
        r->unfiltered++;
    const uint32_t ready = r->inflated - r->unfiltered;
    if (r->failed || step == TURN || row_sink_has_waiting(r->rows.rows) ||
        (step == INFLATE ? ready >= (r->slots.in_ring + 1) / 2 ||
                               r->inflated == r->slots.count
                         : ready <= r->slots.in_ring / 2))
        pthread_cond_broadcast(&r->change);
}

static bool is_done(const struct idat_reader *r)
{
    return r->failed || (r->unfiltered == r->slots.count &&
                         !row_sink_has_waiting(r->rows.rows));
}

/* The first thread prefers to inflate and the second to undo filters, so that
 * each has its tables in its cache. */
static void read_slots(void *context, size_t i)
{
    static const enum idat_step order[2][STEPS] = {
        { INFLATE, TURN, UNFILTER }, { UNFILTER, TURN, INFLATE }
    };
    struct idat_reader *r = context;
    pthread_mutex_lock(&r->lock);
    while (!is_done(r)) {
        unsigned k = 0;
        while (k < STEPS && !can_do(r, order[i][k]))
            k++;
        if (k < STEPS)
            do_step(r, order[i][k]);
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
    struct bytes idats = r->stream.idats;
    struct chunk chunk;
    if (!chunk_next(&chunk, &idats) || chunk.size < 2)
        return false;
    unsigned bits = 8 + (chunk.data[0] >> 4);
    size_t raw = 0;
    for (unsigned i = 0; i < r->rows.passes; i++)
        raw += r->slots.pass[i].row * r->rows.pass[i].height;
    return bits == 15 || (bits < 15 && raw <= (size_t)1 << bits);
}

/* Cuts the passes into slots. `img` is a picture with the kind of samples. */
static void cut_slots(struct idat_slots *slots, const struct pass_rows *rows,
                      const struct image *img)
{
    struct image one = *img;
    for (unsigned i = 0; i < rows->passes; i++) {
        const struct adam7_pass *of = &rows->pass[i];
        struct idat_pass *pass = &slots->pass[i];
        one.width = of->width;
        pass->row = scanline_size(&one) + 1;
        pass->per_slot = pass->row < SLOT ? (uint32_t)(SLOT / pass->row) : 1;
        if (pass->per_slot > of->height)
            pass->per_slot = of->height;
        pass->first = slots->count;
        pass->end = pass->first + (of->height - 1) / pass->per_slot + 1;
        slots->count = pass->end;
        size_t size = pass->per_slot * pass->row;
        slots->size = size > slots->size ? size : slots->size;
    }
    slots->in_ring = slots->count < SLOTS ? slots->count : SLOTS;
}

bool idat_read(struct row_sink *rows, struct bytes idats,
               const struct flate *flate, struct thread_pool *pool)
{
    uint32_t row;
    const struct image *img = row_sink_at(rows, 0, &row);
    const struct meta *meta = rows->img->meta;
    bool interlaced = meta && meta->interlaced;
    struct err err; /* libpng gives the reason */
    struct idat_reader r = {
        .pixel = scanline_pixel(img),
        .stream = { .flate = flate,
                    .idats = idats,
                    .passed = bytes_passed_begin(idats) },
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .change = PTHREAD_COND_INITIALIZER,
    };
    bool open = pass_rows_open(&r.rows, rows, interlaced, &err) == 0;
    cut_slots(&r.slots, &r.rows, img);
    if (open && fits_window(&r)) {
        r.stream.inflater = flate->inflate_open(false);
        r.slots.ring = memory_alloc(r.slots.in_ring * r.slots.size);
        r.prior = memory_alloc(scanline_size(img) + 1);
    }
    if (r.stream.inflater && r.slots.ring && r.prior) {
        if (thread_pool_threads(pool) > 1)
            row_sink_open_second(rows);
        thread_pool_run(pool, read_slots, &r, 2);
    }
    pass_rows_close(&r.rows);
    memory_free(r.prior);
    memory_free(r.slots.ring);
    flate->inflate_close(r.stream.inflater);
    return !r.failed && r.unfiltered == r.slots.count;
}
