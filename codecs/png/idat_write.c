/* Writes the samples of a PNG that is not interlaced, by several threads: each
 * band of idat_bands.h is a chunk IDAT, and adler32_combine() makes the
 * checksum of the one zlib stream that they are. */
#include "codecs/png/idat_bands.h"
#include "codecs/png/png.h"

#include <string.h>
#include <zlib.h>

#include "codecs/base/account.h"
#include "codecs/base/memory.h"
#include "codecs/deflate/deflate_block.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"
#include "codecs/deflate/optimal.h"
#include "codecs/png/chunk.h"
#include "codecs/png/filter.h"
#include "codecs/png/scanline.h"

enum {
    BAND = 512 << 10,          /* bytes of a band, which has at least one row */
    LARGE_BAND = 1 << 20,      /* where size counts */
    FILTERED_LEAST = 64 << 10, /* bytes of room, for rows to try filters on */
    DEFLATER = 32 << 20,       /* more than any has */
};

/* ---- Scratch memory ----------------------------------------------------- */

static void scratch_free(const struct idat_bands *b,
                         struct idat_scratch *scratch)
{
    b->flate->deflate_close(scratch->deflater);
    lz77_free(scratch->lz77);
    optimal_free(scratch->optimal);
    memory_free(scratch->raw[0]);
    memory_free(scratch->raw[1]);
    memory_free(scratch->filtered);
    memory_free(scratch->out);
    memory_free(scratch->trial);
    memory_free(scratch);
}

static struct idat_scratch *scratch_new(const struct idat_bands *b)
{
    const bool optimal = b->level >= IDAT_SIZE_FROM;
    const bool lz77 = b->level >= IDAT_LZ77_FROM && !optimal;
    struct idat_scratch *scratch = memory_alloc_zeroed(1, sizeof *scratch);
    if (!scratch)
        return NULL;
    scratch->raw[0] = memory_alloc(b->row);
    scratch->raw[1] = memory_alloc(b->row);
    scratch->filtered = memory_alloc(b->filtered_size);
    scratch->out = memory_alloc(b->out_size);
    scratch->trial = memory_alloc(b->trial_size);
    scratch->lz77 = lz77 ? lz77_new(b->row, b->pixel) : NULL;
    scratch->optimal = optimal ? optimal_new() : NULL;
    scratch->deflater =
        !lz77 && !optimal ? b->flate->deflate_open(b->level) : NULL;
    if (scratch->raw[0] && scratch->raw[1] && scratch->filtered &&
        scratch->out && scratch->trial &&
        (scratch->lz77 || scratch->optimal || scratch->deflater))
        return scratch;
    scratch_free(b, scratch);
    return NULL;
}

struct idat_scratch *idat_bands_take(struct idat_bands *b)
{
    struct err unheard; /* idat_write() asks again */
    if (account_check_time(b->account, &unheard))
        atomic_store(&b->failed, true);
    if (atomic_load(&b->failed))
        return NULL;
    pthread_mutex_lock(&b->lock);
    struct idat_scratch *scratch = b->unused;
    if (scratch)
        b->unused = scratch->next;
    pthread_mutex_unlock(&b->lock);
    if (!scratch)
        scratch = scratch_new(b);
    if (!scratch)
        atomic_store(&b->failed, true);
    return scratch;
}

void idat_bands_give(struct idat_bands *b, struct idat_scratch *scratch)
{
    pthread_mutex_lock(&b->lock);
    scratch->next = b->unused;
    b->unused = scratch;
    pthread_mutex_unlock(&b->lock);
}

/* ---- Filtering ---------------------------------------------------------- */

static void join_row(const struct idat_bands *b, uint32_t y, uint8_t *row)
{
    uint32_t at;
    const struct image *img = row_source_at(&b->rows, y, &at);
    scanline_join(img, at, row);
}

void idat_bands_filter(const struct idat_bands *b, struct idat_scratch *scratch,
                       int chosen, uint32_t y, uint32_t n, uint8_t *out)
{
    uint8_t *row = scratch->raw[0], *prior = scratch->raw[1];
    if (y == 0)
        memset(prior, 0, b->row - 1);
    else if (n)
        join_row(b, y - 1, prior);
    for (; n > 0; n--, y++, out += b->row) {
        unsigned filter = chosen == IDAT_FILTER_OF_BAND
                              ? b->filter[y / b->per_band]
                              : (unsigned)chosen;
        join_row(b, y, row);
        filter_row_by(filter, out, row, prior, b->row - 1, b->pixel,
                      scratch->trial);
        uint8_t *done = row;
        row = prior;
        prior = done;
    }
}

uint32_t idat_bands_rows(const struct idat_bands *b, size_t i)
{
    uint32_t left = b->img->height - (uint32_t)i * b->per_band;
    return left < b->per_band ? left : b->per_band;
}

/* ---- Holding rows -------------------------------------------------------- */

int idat_bands_hold(struct idat_bands *b, uint32_t y, uint32_t n,
                    struct err *err)
{
    const uint32_t above = b->before + 1;
    uint32_t left = b->img->height - y;
    return row_source_hold(&b->rows, y < above ? 0 : y - above,
                           y + (n < left ? n : left), err);
}

/* Some bands, from `first` on. */
struct bands_run {
    void (*work)(void *context, size_t i);
    void *context;
    uint32_t first;
};

static void run_band(void *context, size_t i)
{
    const struct bands_run *run = context;
    run->work(run->context, run->first + i);
}

int idat_bands_run(struct idat_bands *b, void (*work)(void *context, size_t i),
                   void *context, struct err *err)
{
    const uint32_t rows = row_source_most(&b->rows), above = b->before + 1;
    struct bands_run run = { work, context, 0 };
    uint32_t most = rows > above ? (rows - above) / b->per_band : 0;
    most = !image_has_bands(b->img) ? b->count : most ? most : 1;
    for (uint32_t n; run.first < b->count; run.first += n) {
        n = most < b->count - run.first ? most : b->count - run.first;
        if (idat_bands_hold(b, run.first * b->per_band, n * b->per_band, err))
            return -1;
        thread_pool_run(b->rows.pool, run_band, &run, n);
    }
    return 0;
}

/* ---- The whole ---------------------------------------------------------- */

/* Returns what all threads may take for scratch memory at a time, so that a
 * picture is not refused where there are more of them. */
static size_t threads_scratch(const struct idat_bands *b)
{
    const size_t threads = thread_pool_threads(b->rows.pool);
    return (threads < b->count ? threads : b->count) *
           (2 * b->row + b->filtered_size + b->out_size + b->trial_size +
            DEFLATER);
}

bool idat_bands_open(struct idat_bands *b, const struct image *img, int level,
                     size_t around, const struct save_opts *opts)
{
    size_t band = level < IDAT_SIZE_FROM ? BAND : LARGE_BAND;
    size_t row = scanline_size(img) + 1;
    *b = (struct idat_bands){
        .img = img,
        .rows = row_source_open(img, opts->pool),
        .level = level,
        .flate = level > 0 && level < IDAT_LZ77_FROM ? flates[0] : &flate_zlib,
        .row = row,
        .pixel = scanline_pixel(img),
        .per_band = row < band ? (uint32_t)(band / row) : 1,
        .before = (uint32_t)((FLATE_WINDOW - 1) / row + 1),
        .account = opts->account,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    if (b->per_band > img->height) /* as each frame of a small animation */
        b->per_band = img->height;
    b->count = (img->height - 1) / b->per_band + 1;
    b->filtered_size = (b->before + b->per_band) * row;
    if (b->filtered_size < FILTERED_LEAST)
        b->filtered_size = FILTERED_LEAST;
    b->out_size = around + literal_block_quick_room(b->per_band * row);
    b->trial_size = flate_bound(b->filtered_size);
    memory_plan(threads_scratch(b));
    b->filter = memory_alloc_zeroed(b->count, 1);
    return b->filter;
}

void idat_bands_close(struct idat_bands *b)
{
    while (b->unused) {
        struct idat_scratch *scratch = b->unused;
        b->unused = scratch->next;
        scratch_free(b, scratch);
    }
    row_source_close(&b->rows);
    memory_unplan(threads_scratch(b));
    memory_free(b->filter);
}

/* ---- Chunks of the bands --------------------------------------------------*/

enum { STREAM_HEAD = 2, CHECKSUM = 4 };

/* The chunk of a band. Its state is set by the thread that has done what it
 * says, once it is done. The file is complete if each chunk is CHUNK_WRITTEN.
 */
struct band_chunk {
    enum { CHUNK_AWAITED, CHUNK_KEPT, CHUNK_WRITTEN } state;
    uint8_t *kept; /* its bytes, while it is CHUNK_KEPT */
    size_t size;   /* of the chunk, without its CRC */
    uint32_t crc, adler;
};

struct idat_writer {
    struct idat_bands bands;
    pthread_mutex_t lock;     /* of what follows */
    struct band_chunk *chunk; /* of each band */
    uint32_t next;            /* the band whose turn it is to be appended */
    bool appending;           /* a thread does so, or has failed to */

    /* Of the thread that appends. */
    struct bytes *file;
    const struct save_opts *opts;
    uint32_t adler; /* of the bands before the next one */
    bool refused;   /* flushing has failed, for this reason */
    struct err *err;
};

static size_t band_size(const struct idat_writer *w, size_t i)
{
    return idat_bands_rows(&w->bands, i) * w->bands.row;
}

/* Makes the chunk of a band in scratch->out. Returns whether that was possible.
 */
static bool make_chunk(struct idat_writer *w, struct idat_scratch *scratch,
                       uint32_t i)
{
    struct band_chunk *chunk = &w->chunk[i];
    const uint8_t *rows;
    uint8_t *out = scratch->out + CHUNK_HEAD;
    if (i == 0) { /* deflate, a window of 32 KiB; and a check of these bits */
        *out++ = 0x78;
        *out++ = 0x5e;
    }
    size_t made = idat_choice_deflate(&w->bands, scratch, i, out, &rows);
    chunk->adler = flates[0]->adler32(1, rows, band_size(w, i));
    chunk->size = (size_t)(out - scratch->out) + made;
    memcpy(scratch->out + 4, "IDAT", 4);
    chunk->crc = flates[0]->crc32(0, scratch->out + 4, chunk->size - 4);
    return made > 0;
}

/* Appends the chunk of a band; behind the last one, the checksum. Returns false
 * without memory, or if flushing fails. */
static bool append_chunk(struct idat_writer *w, uint32_t i)
{
    const struct band_chunk *chunk = &w->chunk[i];
    uint8_t end[CHECKSUM + 4];
    size_t more = i + 1 == w->bands.count ? CHECKSUM : 0;
    w->adler = (uint32_t)adler32_combine(w->adler, chunk->adler,
                                         (z_off_t)band_size(w, i));
    write_be32(chunk->kept, (uint32_t)(chunk->size - CHUNK_HEAD + more));
    write_be32(end, w->adler);
    write_be32(end + more, flates[0]->crc32(chunk->crc, end, more));
    if (!bytes_append(w->file, chunk->kept, chunk->size) ||
        !bytes_append(w->file, end, more + 4))
        return false;
    w->refused = flush_file(w->opts->flush, w->file, w->err) != 0;
    return !w->refused;
}

/* Appends all chunks whose turn it is, without the lock, so that others go on.
 * One of their buffers becomes that of the scratch memory. */
static bool append_chunks(struct idat_writer *w, struct idat_scratch *scratch)
{
    bool right = true;
    w->appending = true;
    while (right && w->next < w->bands.count &&
           w->chunk[w->next].state == CHUNK_KEPT) {
        struct band_chunk *chunk = &w->chunk[w->next];
        pthread_mutex_unlock(&w->lock);
        right = append_chunk(w, w->next);
        memory_free(scratch->out);
        scratch->out = chunk->kept;
        pthread_mutex_lock(&w->lock);
        chunk->kept = NULL;
        chunk->state = right ? CHUNK_WRITTEN : CHUNK_AWAITED;
        w->next++;
    }
    w->appending = !right; /* nobody goes on after a failure */
    return right;
}

/* Takes the chunk of a band out of the scratch memory, and appends it; or
 * leaves that to the thread that appends, or to one that makes a chunk before
 * it. */
static bool add_chunk(struct idat_writer *w, uint32_t i,
                      struct idat_scratch *scratch)
{
    bool right = true;
    pthread_mutex_lock(&w->lock);
    w->chunk[i].kept = scratch->out;
    w->chunk[i].state = CHUNK_KEPT;
    scratch->out = NULL;
    if (!w->appending)
        right = append_chunks(w, scratch);
    pthread_mutex_unlock(&w->lock);
    if (!scratch->out)
        scratch->out = memory_alloc(w->bands.out_size);
    return right && scratch->out;
}

static void write_band(void *context, size_t i)
{
    struct idat_writer *w = context;
    struct idat_scratch *scratch = idat_bands_take(&w->bands);
    if (!scratch)
        return;
    if (!make_chunk(w, scratch, (uint32_t)i) ||
        !add_chunk(w, (uint32_t)i, scratch))
        atomic_store(&w->bands.failed, true);
    idat_bands_give(&w->bands, scratch);
}

/* Returns whether all chunks are written. If so, sets *adler, unless that is
 * NULL, to the checksum of all rows: made of those of the bands anew, so that
 * it tells whether they were joined rightly. */
static bool is_complete(const struct idat_writer *w, uint32_t *adler)
{
    uLong sum = 1;
    for (uint32_t i = 0; i < w->bands.count; i++) {
        if (w->chunk[i].state != CHUNK_WRITTEN)
            return false;
        sum = adler32_combine(sum, w->chunk[i].adler, (z_off_t)band_size(w, i));
    }
    if (adler)
        *adler = (uint32_t)sum;
    return true;
}

int idat_write(struct bytes *file, const struct image *img, int level,
               const struct save_opts *opts, struct err *err)
{
    struct idat_writer w = { .lock = PTHREAD_MUTEX_INITIALIZER,
                             .file = file,
                             .opts = opts,
                             .adler = 1,
                             .err = err };
    int status = -1;
    bool open =
        idat_bands_open(&w.bands, img, level, CHUNK_HEAD + STREAM_HEAD, opts);
    /* Room for most files at once; pages that are not needed are not touched.
     */
    if (!opts->flush)
        (void)bytes_reserve(file, w.bands.row * img->height / 8 * 7);
    w.chunk = memory_alloc_zeroed(w.bands.count, sizeof *w.chunk);
    if (!open || !w.chunk)
        fail_memory(err, "no memory for the encoded picture");
    else if (idat_choice_make(&w.bands, err) == 0 &&
             idat_bands_run(&w.bands, write_band, &w, err) == 0 && !w.refused &&
             account_check_time(opts->account, err) == 0)
        status = is_complete(&w, opts->adler)
                     ? 0
                     : fail_memory(err, "no memory for the encoded picture");
    for (uint32_t i = 0; w.chunk && i < w.bands.count; i++)
        memory_free(w.chunk[i].kept);
    memory_free(w.chunk);
    idat_bands_close(&w.bands);
    return status;
}
