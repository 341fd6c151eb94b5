/* Reads the samples of a PNG whose chunks IDAT can be inflated side by side:
 * those that begin with a block at a byte, and refer to nothing before them. No
 * PNG says which do, so each chunk is tried, on its own, if one of the first is
 * such: one that refers to what is before it fails within its first bytes, and
 * waits for the inflater that has read the chunk before. What a trial makes
 * counts only if the chunk before it, in the same way, has ended with a block
 * at a byte: then it is what any inflater makes. The checksum of the whole
 * stream is compared in the end.
 *
 * The rows are unfiltered in order, by one thread at a time, and their bands
 * turned by another, while others inflate. Chunks stay no farther ahead of it
 * than a window of some. */
#include "codecs/base/memory.h"
#include "codecs/png/png.h"

#include <pthread.h>
#include <string.h>
#include <zlib.h>

#include "codecs/deflate/adler.h"
#include "codecs/deflate/flate.h"
#include "codecs/png/chunk.h"
#include "codecs/png/filter.h"
#include "codecs/png/scanline.h"

enum {
    STREAM_HEAD = 2,
    CHECKSUM = 4,
    PARTS_LEAST = 4,
    RAW_LEAST = 64 << 10, /* bytes of rows in a chunk, on average */
    RAW_MOST = 4 << 20,
    ROOM = 640 << 10,     /* bytes for what a chunk becomes, at first */
    ROOM_MOST = 10 << 20, /* of a chunk that is more than twice RAW_MOST */
    FIRST = 8,        /* chunks of which one must refer to nothing before it, as
                         of those that we write */
    PROBE = 16 << 10, /* bytes that it becomes, as far as that is looked at */
    TRIALS = 32, /* that fail before all chunks are believed to refer back: one
                    of some bytes may seem sound by chance */
};

struct part_buffer {
    uint8_t *data;
    size_t room;
};

struct idat_part {
    struct chunk chunk;
    struct part_buffer buffer; /* of what it becomes */
    enum {
        PART_UNTRIED,
        PART_BUSY,
        PART_DEPENDS, /* a trial has failed */
        PART_INFLATED,
    } state;
    bool sound;     /* its CRC is right */
    void *inflater; /* which has read all that is before it; or NULL */
    size_t size;    /* bytes that it has become */
    uint32_t adler; /* of them */
};

struct parts_reader {
    struct row_sink *rows;
    const struct flate *flate;
    struct bytes_passed passed; /* of the chunks */
    struct idat_part *part;
    size_t parts, window;

    /* Those that no part has: as many as the window has parts, some without
     * data. The one that was used last is the first to be used again. */
    struct part_buffer *buffer;
    size_t buffers;

    pthread_mutex_t lock; /* of the states, buffers, and what follows */
    pthread_cond_t change;
    size_t split; /* parts whose rows are in the sink */
    size_t trials, successes;
    bool splitting, turning, failed;

    /* Of the thread that splits. */
    unsigned pixel; /* bytes */
    size_t row;     /* bytes, with the filter's type */
    uint8_t *line;  /* a row that parts share, as far as it is there */
    size_t in_line;
    uint8_t *prior; /* the last row of the part before; zeros at first */
    uint32_t y;
    uint32_t adler;
};

/* ---- Inflating a part ---------------------------------------------------- */

/* Makes room for more. Nothing that encoders make becomes so large. */
static bool grow(struct part_buffer *buffer)
{
    size_t room = buffer->room ? 2 * buffer->room : ROOM;
    uint8_t *data =
        room > ROOM_MOST ? NULL : memory_realloc(buffer->data, room);
    if (!data)
        return false;
    *buffer = (struct part_buffer){ data, room };
    return true;
}

/* Inflates all of a part. Returns false if that is impossible. */
static bool inflate_part(const struct parts_reader *r, size_t i, void *inflater)
{
    struct idat_part *part = &r->part[i];
    struct part_buffer *buffer = &part->buffer;
    const bool last = i + 1 == r->parts;
    const size_t skip = i == 0 ? STREAM_HEAD : 0;
    struct flate_io io = {
        .in = part->chunk.data + skip,
        .in_size = part->chunk.size - skip - (last ? CHECKSUM : 0),
    };
    enum flate_status status = FLATE_MORE;
    part->sound = part->sound || chunk_is_sound(&part->chunk);
    if (!part->sound)
        return false;
    for (part->size = 0; status == FLATE_MORE;) {
        if (part->size == buffer->room && !grow(buffer))
            return false;
        io.out = buffer->data + part->size;
        io.out_size = buffer->room - part->size;
        status = r->flate->inflate(inflater, &io);
        part->size = buffer->room - io.out_size;
        if (io.in_size == 0 && io.out_size)
            break;
    }
    part->adler = adler_add(1, buffer->data, part->size);
    return io.in_size == 0 && status == (last ? FLATE_END : FLATE_MORE);
}

static void take_buffer(struct parts_reader *r, struct idat_part *part)
{
    part->buffer = r->buffer[--r->buffers];
}

static void give_buffer(struct parts_reader *r, struct idat_part *part)
{
    r->buffer[r->buffers++] = part->buffer;
    part->buffer = (struct part_buffer){ 0 };
}

/* Brings an inflater that has read all before part i to it. If that was
 * inflated by a trial, it had to begin between blocks. */
static void hand_over(struct parts_reader *r, size_t i, void *inflater)
{
    struct idat_part *part = i < r->parts ? &r->part[i] : NULL;
    if (part && part->state != PART_INFLATED) {
        part->inflater = inflater;
        return;
    }
    if (part && !r->flate->inflate_is_between(inflater))
        r->failed = true;
    r->flate->inflate_close(inflater);
}

/* Inflates a part, without the lock, by the inflater that stands before it or,
 * as a trial, by a new one. */
static void run_part(struct parts_reader *r, size_t i)
{
    struct idat_part *part = &r->part[i];
    void *inflater = part->inflater;
    const bool trial = !inflater;
    part->inflater = NULL;
    part->state = PART_BUSY;
    take_buffer(r, part);
    pthread_mutex_unlock(&r->lock);
    if (trial)
        inflater = r->flate->inflate_open(true);
    bool right = inflater && inflate_part(r, i, inflater);
    pthread_mutex_lock(&r->lock);
    r->trials += trial;
    r->successes += trial && right;
    part->state = right ? PART_INFLATED : PART_DEPENDS;
    if (!right) {
        give_buffer(r, part);
        r->flate->inflate_close(inflater);
        r->failed = r->failed || !trial;
    } else {
        void *before = part->inflater; /* it has come meanwhile */
        part->inflater = NULL;
        if (before)
            hand_over(r, i, before);
        hand_over(r, i + 1, inflater);
    }
}

/* Returns the first part that can be inflated or tried now; if there is none,
 * the number of parts. */
static size_t next_part(const struct parts_reader *r)
{
    const bool tries = r->successes || r->trials < TRIALS;
    for (size_t i = r->split; i < r->parts && i < r->split + r->window; i++) {
        const struct idat_part *part = &r->part[i];
        const bool idle =
            part->state == PART_UNTRIED || part->state == PART_DEPENDS;
        if (idle && (part->inflater || (tries && part->state == PART_UNTRIED)))
            return i;
    }
    return r->parts;
}

/* ---- Splitting its rows -------------------------------------------------- */

static bool put_row(struct parts_reader *r, uint8_t *row, const uint8_t *prior)
{
    struct err err; /* libpng gives the reason */
    uint32_t at;
    if (r->y == r->rows->height ||
        !filter_undo_row(row[0], row + 1, prior, r->row - 1, r->pixel))
        return false;
    const struct image *to = row_sink_at(r->rows, r->y, &at);
    scanline_split(to, at, row + 1);
    return row_sink_done(r->rows, r->y++, &err) == 0;
}

/* Completes the row that the parts before have begun, and puts it away as the
 * prior one. Returns the bytes that it takes of these; SIZE_MAX on failure. */
static size_t end_line(struct parts_reader *r, const uint8_t *data, size_t size)
{
    size_t n = r->row - r->in_line < size ? r->row - r->in_line : size;
    memcpy(r->line + r->in_line, data, n);
    r->in_line += n;
    if (r->in_line < r->row)
        return n;
    r->in_line = 0;
    if (!put_row(r, r->line, r->prior))
        return SIZE_MAX;
    memcpy(r->prior, r->line + 1, r->row - 1);
    return n;
}

static bool split_part(struct parts_reader *r, const struct idat_part *part)
{
    uint8_t *data = part->buffer.data;
    size_t at = r->in_line ? end_line(r, data, part->size) : 0;
    if (at > part->size)
        return false;
    const uint8_t *prior = r->prior;
    for (; part->size - at >= r->row; at += r->row) {
        if (!put_row(r, data + at, prior))
            return false;
        prior = data + at + 1;
    }
    if (prior != r->prior)
        memcpy(r->prior, prior, r->row - 1);
    if (at < part->size)
        end_line(r, data + at, part->size - at);
    r->adler =
        (uint32_t)adler32_combine(r->adler, part->adler, (z_off_t)part->size);
    bytes_pass(&r->passed, part->chunk.data);
    return true;
}

static void split_next(struct parts_reader *r)
{
    struct idat_part *part = &r->part[r->split];
    r->splitting = true;
    pthread_mutex_unlock(&r->lock);
    bool right = split_part(r, part);
    pthread_mutex_lock(&r->lock);
    give_buffer(r, part);
    r->splitting = false;
    r->split++;
    r->failed = r->failed || !right;
}

static void turn_waiting(struct parts_reader *r)
{
    struct err err; /* libpng gives the reason */
    r->turning = true;
    pthread_mutex_unlock(&r->lock);
    bool right = row_sink_turn_waiting(r->rows, &err) == 0;
    pthread_mutex_lock(&r->lock);
    r->turning = false;
    r->failed = r->failed || !right;
}

/* ---- The chunks ---------------------------------------------------------- */

static struct bytes_passed passed_of(struct png_range idats)
{
    return bytes_passed_begin((struct bytes){ (uint8_t *)(uintptr_t)idats.at,
                                              idats.size,
                                              idats.mapped ? SIZE_MAX : 0 });
}

/* ---- All steps ----------------------------------------------------------- */

static bool is_done(const struct parts_reader *r)
{
    return r->failed ||
           (r->split == r->parts && !row_sink_has_waiting(r->rows));
}

/* Does the first step that can be done: of those that one thread does at a
 * time, if possible. Returns whether there was one. */
static bool do_step(struct parts_reader *r)
{
    size_t i;
    if (!r->splitting && r->split < r->parts &&
        r->part[r->split].state == PART_INFLATED)
        split_next(r);
    else if (!r->turning && row_sink_has_waiting(r->rows))
        turn_waiting(r);
    else if ((i = next_part(r)) < r->parts)
        run_part(r, i);
    else
        return false;
    return true;
}

/* What a step makes possible, besides what this thread does next, is enough for
 * one thread more, or two where a band waits. Nothing is left undone if they
 * find something else to do: each looks again before it waits. */
static void read_parts(void *context, size_t thread)
{
    struct parts_reader *r = context;
    (void)thread;
    pthread_mutex_lock(&r->lock);
    while (!is_done(r)) {
        if (!do_step(r)) {
            pthread_cond_wait(&r->change, &r->lock);
            continue;
        }
        pthread_cond_signal(&r->change);
        if (row_sink_has_waiting(r->rows))
            pthread_cond_signal(&r->change);
    }
    pthread_cond_broadcast(&r->change);
    pthread_mutex_unlock(&r->lock);
}

/* Returns how many chunks there are, and finds the sizes of the largest and of
 * the last. */
static size_t count_parts(struct png_range idats, size_t *largest, size_t *last)
{
    struct bytes_passed passed = passed_of(idats);
    struct chunk chunk;
    size_t n = 0;
    *largest = *last = 0;
    for (size_t at = 0; chunk_find(&chunk, idats.at + at, idats.size - at);
         at += chunk.size + CHUNK_AROUND, n++) {
        *last = chunk.size;
        *largest = chunk.size > *largest ? chunk.size : *largest;
        bytes_pass(&passed, chunk.type);
    }
    return n;
}

static bool begins_anew(const struct chunk *chunk, const struct flate *flate)
{
    uint8_t out[PROBE];
    struct flate_io io = { chunk->data, chunk->size, out, sizeof out };
    void *inflater = flate->inflate_open(true);
    bool right = inflater && flate->inflate(inflater, &io) == FLATE_MORE;
    flate->inflate_close(inflater);
    return right;
}

/* Returns whether one of the first chunks behind the very first begins anew. */
static bool some_begins_anew(struct png_range idats, const struct flate *flate)
{
    struct chunk chunk;
    size_t at = 0;
    for (size_t i = 0;
         i <= FIRST && chunk_find(&chunk, idats.at + at, idats.size - at);
         i++, at += chunk.size + CHUNK_AROUND)
        if (i > 0 && begins_anew(&chunk, flate))
            return true;
    return false;
}

/* The whole of a stream's head, and of its checksum, must be in one chunk. */
bool idat_parts_suit(struct png_range idats, uint64_t raw,
                     const struct flate *flate)
{
    struct chunk first;
    size_t largest, last, n = count_parts(idats, &largest, &last);
    if (n < PARTS_LEAST || raw / n < RAW_LEAST || raw / n > RAW_MOST ||
        largest > RAW_MOST || last <= CHECKSUM ||
        !chunk_find(&first, idats.at, idats.size) || first.size < STREAM_HEAD)
        return false;
    /* Deflate, with the usual window, without a dictionary. */
    return first.data[0] == 0x78 && read_be16(first.data) % 31 == 0 &&
           !(first.data[1] & 0x20) && some_begins_anew(idats, flate);
}

static bool find_parts(struct parts_reader *r, struct png_range idats)
{
    size_t at = 0;
    for (size_t i = 0; i < r->parts; i++) {
        struct chunk *chunk = &r->part[i].chunk;
        if (!chunk_find(chunk, idats.at + at, idats.size - at))
            return false;
        at += chunk->size + CHUNK_AROUND;
        bytes_pass(&r->passed, chunk->type);
    }
    return at == idats.size;
}

static bool open_reader(struct parts_reader *r, const struct image *img,
                        struct png_range idats)
{
    size_t largest, last;
    r->parts = count_parts(idats, &largest, &last);
    r->part = memory_alloc_zeroed(r->parts, sizeof *r->part);
    r->buffer = memory_alloc_zeroed(r->window, sizeof *r->buffer);
    r->buffers = r->window;
    r->row = scanline_size(img) + 1;
    r->line = memory_alloc(r->row);
    r->prior = memory_alloc_zeroed(r->row, 1);
    if (last <= CHECKSUM || !r->part || !r->buffer || !r->line || !r->prior ||
        !find_parts(r, idats))
        return false;
    r->part[0].inflater = r->flate->inflate_open(true);
    return r->part[0].inflater;
}

static void close_reader(struct parts_reader *r)
{
    for (size_t i = 0; r->part && i < r->parts; i++) {
        r->flate->inflate_close(r->part[i].inflater);
        memory_free(r->part[i].buffer.data);
    }
    for (size_t i = 0; r->buffer && i < r->buffers; i++)
        memory_free(r->buffer[i].data);
    memory_free(r->part);
    memory_free(r->buffer);
    memory_free(r->line);
    memory_free(r->prior);
}

static bool is_whole(const struct parts_reader *r)
{
    const struct chunk *last = &r->part[r->parts - 1].chunk;
    return !r->failed && r->split == r->parts && r->y == r->rows->height &&
           r->in_line == 0 &&
           r->adler == read_be32(last->data + last->size - CHECKSUM);
}

bool idat_parts_read(struct row_sink *rows, struct png_range idats,
                     const struct flate *flate, struct thread_pool *pool)
{
    uint32_t row;
    const struct image *img = row_sink_at(rows, 0, &row);
    const unsigned threads = thread_pool_threads(pool);
    struct parts_reader r = {
        .rows = rows,
        .flate = flate,
        .window = 8 + 4 * (size_t)threads,
        .passed = passed_of(idats),
        .pixel = scanline_pixel(img),
        .adler = 1,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .change = PTHREAD_COND_INITIALIZER,
    };
    bool right = open_reader(&r, img, idats);
    row_sink_open_second(rows);
    if (right)
        thread_pool_run(pool, read_parts, &r, threads);
    right = right && is_whole(&r);
    close_reader(&r);
    return right;
}
