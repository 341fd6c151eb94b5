/* The samples of a PNG that is not interlaced, filtered and deflated in bands
 * of rows, by several threads: each band is a chunk IDAT.
 *
 * A band ends at a byte, and only the last one holds a final block, so that
 * they join to one zlib stream; adler32_combine() makes its checksum. A row is
 * filtered against the one above also across bands, and matches may reach back
 * across them.
 *
 * Two choices are made. How rows are filtered is chosen for all bands before
 * any is deflated, for matches refer to what the rows before a band have
 * become: by strips of the picture, or, where size counts, by the whole of each
 * band. Then for each band how it is coded: after filters a photograph has next
 * to no matches, so that Huffman codes alone do, at twice the speed and more; a
 * screenshot is made of matches. Where speed counts most these are what ISA-L
 * finds, else what lz77.c does, and where size counts the smallest of that
 * and of what zlib does. */
#include "codecs/png/png.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "codecs/base/byte_order.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/literal_block.h"
#include "codecs/deflate/lz77.h"
#include "codecs/png/filter.h"
#include "codecs/png/scanline.h"

enum {
    BAND = 512 << 10,     /* bytes of a band, but at least a row */
    LARGE_BAND = 2 << 20, /* where size counts */
    SAMPLE = 16 << 10,    /* of a band, to choose how it is coded */
    STRIP = 64 << 10,     /* of rows, to choose how they are filtered */
    STRIPS = 8,
    LZ77_FROM = 3,  /* the level from which on lz77.c looks */
    SIZE_FROM = 7,  /* the level from which on size counts, not time */
    CHUNK_HEAD = 8, /* a chunk's length and type */
    STREAM_HEAD = 2,
    CHECKSUM = 4,
};

/* How rows are filtered: by one of the five, or each by that with the smallest
 * sum. */
enum { FILTER_ADAPTIVE = FILTER_TYPES, FILTER_CHOICES };

/* What one thread works with. */
struct scratch {
    struct scratch *next;
    uint8_t *raw[2];   /* rows */
    uint8_t *filtered; /* rows that matches may refer to, then a band */
    uint8_t *out;      /* a chunk */
    uint8_t *trial;
    void *deflater;
    struct lz77 *lz77;
};

/* What a band becomes. A state is entered by whoever has done what it says, when
 * it is done. The file is whole if each band is BAND_WRITTEN: no counter stands
 * for that. */
struct band {
    enum { BAND_AWAITED, BAND_KEPT, BAND_WRITTEN } state;
    uint8_t *chunk; /* of BAND_KEPT */
    size_t size;    /* of the chunk, without its CRC */
    uint32_t crc, adler;
    size_t raw;
};

/* What bytes come to when they are deflated, about; and whether by matches. */
struct trial {
    size_t size;
    bool repeats;
};

struct idat_writer {
    const struct image *img;
    const struct flate *flate; /* that deflates where lz77.c does not */
    const struct flate *fast;  /* that makes checksums */
    int level;
    size_t row; /* bytes, with the filter's type */
    unsigned pixel;
    uint32_t per_band, before; /* rows: of a band, and before it, that are worth
                                  to refer to */
    uint32_t bands;
    size_t filtered_size, out_size, trial_size;

    pthread_mutex_t lock;
    struct scratch *scratches; /* those that no thread works with */
    struct bytes *file;
    uint8_t *filter;    /* of each band: fixed before the first is made */
    struct band *band;  /* their states under the lock, as what follows */
    uint32_t next;      /* the band whose turn it is to be appended */
    uint32_t adler;     /* of those before it */
    atomic_bool failed; /* so that nobody goes on */

    struct trial plain[STRIPS], adaptive[STRIPS];
    bool repeats;    /* some strip does, as it is going to be filtered */
    bool sampled_all; /* the strip was the only band, all of it: no sample of
                  that can tell more */
};

/* ---- Scratch memory
 * -------------------------------------------------------------- */

static void scratch_free(struct scratch *scratch, const struct idat_writer *w)
{
    if (!scratch)
        return;
    w->flate->deflate_close(scratch->deflater);
    lz77_free(scratch->lz77);
    free(scratch->raw[0]);
    free(scratch->raw[1]);
    free(scratch->filtered);
    free(scratch->out);
    free(scratch->trial);
    free(scratch);
}

/* Between these levels lz77.c does it alone. */
static bool needs_library(const struct idat_writer *w)
{
    return w->level < LZ77_FROM || w->level >= SIZE_FROM;
}

static struct scratch *scratch_new(const struct idat_writer *w)
{
    struct scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return NULL;
    scratch->raw[0] = malloc(w->row);
    scratch->raw[1] = malloc(w->row);
    scratch->filtered = malloc(w->filtered_size);
    scratch->out = malloc(w->out_size);
    scratch->trial = malloc(w->trial_size);
    scratch->lz77 = lz77_new();
    scratch->deflater =
        needs_library(w) ? w->flate->deflate_open(w->level) : NULL;
    if (scratch->raw[0] && scratch->raw[1] && scratch->filtered &&
        scratch->out && scratch->trial && scratch->lz77 &&
        (scratch->deflater || !needs_library(w)))
        return scratch;
    scratch_free(scratch, w);
    return NULL;
}

/* NULL: there is no memory for one, and the writing has failed. */
static struct scratch *scratch_take(struct idat_writer *w)
{
    pthread_mutex_lock(&w->lock);
    struct scratch *scratch = w->scratches;
    if (scratch)
        w->scratches = scratch->next;
    pthread_mutex_unlock(&w->lock);
    if (!scratch)
        scratch = scratch_new(w);
    if (!scratch)
        atomic_store(&w->failed, true);
    return scratch;
}

static void scratch_give(struct idat_writer *w, struct scratch *scratch)
{
    pthread_mutex_lock(&w->lock);
    scratch->next = w->scratches;
    w->scratches = scratch;
    pthread_mutex_unlock(&w->lock);
}

/* ---- Filtering ---------------------------------------------------------- */

/* Filters `n` rows from y on to `out`, each as its band is, or all by one. */
enum { AS_ITS_BAND = -1 };
static void filter_rows(const struct idat_writer *w, struct scratch *scratch,
                        int how, uint32_t y, uint32_t n, uint8_t *out)
{
    uint8_t *row = scratch->raw[0], *prior = scratch->raw[1];
    if (y == 0)
        memset(prior, 0, w->row - 1);
    else if (n)
        scanline_join(w->img, y - 1, prior);
    for (; n > 0; n--, y++, out += w->row) {
        unsigned filter = how == AS_ITS_BAND ? w->filter[y / w->per_band]
                                             : (unsigned)how;
        scanline_join(w->img, y, row);
        if (filter == FILTER_ADAPTIVE)
            filter_row(out, row, prior, w->row - 1, w->pixel);
        else
            filter_row_with(filter, out, row, prior, w->row - 1, w->pixel);
        uint8_t *keep = prior;
        prior = row;
        row = keep;
    }
}

static uint32_t rows_of_band(const struct idat_writer *w, size_t i)
{
    uint32_t left = w->img->height - (uint32_t)i * w->per_band;
    return left < w->per_band ? left : w->per_band;
}

/* ---- Choosing ----------------------------------------------------------- */

/* Deflates with matches, by what is fast enough for the level. */
static size_t match(const struct idat_writer *w, struct scratch *scratch,
                    uint8_t *out, const uint8_t *data, size_t before,
                    size_t size, bool final)
{
    if (w->level >= LZ77_FROM)
        return lz77_deflate(scratch->lz77, out, data, before, size, final);
    return w->flate->deflate(scratch->deflater, out, flate_bound(size), data,
                             before, size, final);
}

/* Matches are taken if they make `size` bytes smaller by 2.5 % at least: codes
 * alone are faster to write and to read. */
static struct trial try_matches(const struct idat_writer *w,
                                struct scratch *scratch, const uint8_t *data,
                                size_t before, size_t size)
{
    size_t codes = literal_block_estimate(data, size);
    size_t matches =
        match(w, scratch, scratch->trial, data, before, size, true);
    bool better = matches && matches < codes - codes / 40;
    return (struct trial){ better ? matches : codes, better };
}

static struct trial try_filter(const struct idat_writer *w,
                               struct scratch *scratch, int filter, uint32_t y,
                               uint32_t n)
{
    filter_rows(w, scratch, filter, y, n, scratch->filtered);
    return try_matches(w, scratch, scratch->filtered, 0, n * w->row);
}

static uint32_t strip_rows(const struct idat_writer *w)
{
    uint32_t n = w->row < STRIP ? (uint32_t)(STRIP / w->row) : 1;
    return n < w->img->height ? n : w->img->height;
}

/* Tries on a strip what most pictures want: no filter, or all. */
static void try_strip(void *context, size_t i)
{
    struct idat_writer *w = context;
    uint32_t n = strip_rows(w), last = w->img->height - n;
    struct scratch *scratch = scratch_take(w);
    if (!scratch)
        return;
    uint32_t y = (uint32_t)(last * i / (STRIPS - 1));
    w->plain[i] = try_filter(w, scratch, FILTER_NONE, y, n);
    w->adaptive[i] = try_filter(w, scratch, FILTER_ADAPTIVE, y, n);
    scratch_give(w, scratch);
}

/* Chooses for all bands by strips, which are spread over the picture; of a
 * small one the first is the whole. */
static void choose_by_strips(struct idat_writer *w, struct thread_pool *pool)
{
    bool whole = strip_rows(w) == w->img->height;
    size_t plain = 0, adaptive = 0;
    thread_pool_run(pool, try_strip, w, whole ? 1 : STRIPS);
    for (int i = 0; i < STRIPS; i++) {
        plain += w->plain[i].size;
        adaptive += w->adaptive[i].size;
    }
    const struct trial *chosen = plain < adaptive ? w->plain : w->adaptive;
    for (int i = 0; i < STRIPS; i++)
        w->repeats = w->repeats || chosen[i].repeats;
    w->sampled_all =
        whole && w->bands == 1 && w->img->height * w->row <= SAMPLE;
    for (uint32_t i = 0; i < w->bands; i++)
        w->filter[i] = plain < adaptive ? FILTER_NONE : FILTER_ADAPTIVE;
}

/* Chooses for a band by trying all on all of it. */
static void choose_for_band(void *context, size_t i)
{
    struct idat_writer *w = context;
    size_t least = SIZE_MAX;
    struct scratch *scratch = scratch_take(w);
    if (!scratch)
        return;
    for (int filter = 0; filter < FILTER_CHOICES; filter++) {
        size_t size = try_filter(w, scratch, filter, (uint32_t)i * w->per_band,
                                 rows_of_band(w, i))
                          .size;
        if (size < least) {
            least = size;
            w->filter[i] = (uint8_t)filter;
        }
    }
    scratch_give(w, scratch);
}

/* Nothing that is not compressed has to be filtered. */
static void choose_filters(struct idat_writer *w, struct thread_pool *pool)
{
    if (w->level >= SIZE_FROM)
        thread_pool_run(pool, choose_for_band, w, w->bands);
    else if (w->level > 0)
        choose_by_strips(w, pool);
}

/* ---- Bands -------------------------------------------------------------- */

/* Deflates by all that there is, and keeps what is smallest. */
static size_t deflate_smallest(const struct idat_writer *w,
                               struct scratch *scratch, uint8_t *out,
                               const uint8_t *data, size_t before, size_t size,
                               bool final)
{
    size_t made = w->flate->deflate(scratch->deflater, out, flate_bound(size),
                                    data, before, size, final);
    size_t other =
        lz77_deflate(scratch->lz77, scratch->trial, data, before, size, final);
    if (other < made)
        memcpy(out, scratch->trial, other);
    made = other < made ? other : made;
    return literal_block_estimate(data, size) < made
               ? literal_block_deflate(out, data, size, final)
               : made;
}

/* Whether a band is worth matches, by a sample of it. Where strips were, the
 * sample may refer to what is before it, as the band will: what repeats after
 * more bytes than the sample has is seen only so. */
static bool worth_matches(const struct idat_writer *w, struct scratch *scratch,
                          const uint8_t *rows, size_t before, size_t size)
{
    size_t sample = size < SAMPLE ? size : SAMPLE, at = (size - sample) / 2;
    if (w->sampled_all)
        return w->repeats;
    return try_matches(w, scratch, rows + at, w->repeats ? before + at : 0,
                       sample)
        .repeats;
}

/* Deflates a band to `out`: the rows from y on, which are filtered already,
 * behind room for those that matches may refer to. */
static size_t deflate_band(const struct idat_writer *w, struct scratch *scratch,
                           uint8_t *out, uint8_t *rows, uint32_t y, size_t size,
                           bool final)
{
    uint32_t above = y < w->before ? y : w->before;
    size_t before = above * w->row;
    if (w->level == 0)
        return w->flate->deflate(scratch->deflater, out, flate_bound(size),
                                 rows, 0, size, final);
    if (w->repeats) /* the sample refers to them as well */
        filter_rows(w, scratch, AS_ITS_BAND, y - above, above, rows - before);
    if (w->level < SIZE_FROM && !worth_matches(w, scratch, rows, before, size))
        return literal_block_deflate(out, rows, size, final);
    if (!w->repeats)
        filter_rows(w, scratch, AS_ITS_BAND, y - above, above, rows - before);
    return (w->level < SIZE_FROM ? match : deflate_smallest)(
        w, scratch, out, rows, before, size, final);
}

/* Makes a chunk of a band, at scratch->out. */
static bool make_band(struct idat_writer *w, struct scratch *scratch,
                      uint32_t i)
{
    struct band *band = &w->band[i];
    uint32_t y = i * w->per_band, n = rows_of_band(w, i);
    uint8_t *rows = scratch->filtered + w->before * w->row;
    uint8_t *out = scratch->out + CHUNK_HEAD;
    filter_rows(w, scratch, AS_ITS_BAND, y, n, rows);
    band->raw = n * w->row;
    if (i == 0) { /* deflate, a window of 32 KiB; and a check of these bits */
        *out++ = 0x78;
        *out++ = 0x5e;
    }
    size_t made =
        deflate_band(w, scratch, out, rows, y, band->raw, i + 1 == w->bands);
    band->adler = w->fast->adler32(1, rows, band->raw);
    band->size = (size_t)(out - scratch->out) + made;
    memcpy(scratch->out + 4, "IDAT", 4);
    band->crc = w->fast->crc32(0, scratch->out + 4, band->size - 4);
    return made > 0;
}

/* Appends the chunk of the band whose turn it is; behind the last one, the
 * checksum. False: no memory, and it stays this band's turn. */
static bool append_band(struct idat_writer *w, uint8_t *chunk)
{
    struct band *band = &w->band[w->next];
    uint8_t end[CHECKSUM + 4];
    bool last = w->next + 1 == w->bands;
    size_t more = last ? CHECKSUM : 0;
    uint32_t adler = (uint32_t)adler32_combine(w->adler, band->adler,
                                               (z_off_t)band->raw);
    write_be32(chunk, (uint32_t)(band->size - CHUNK_HEAD + more));
    write_be32(end, adler);
    write_be32(end + more, w->fast->crc32(band->crc, end, more));
    if (!bytes_append(w->file, chunk, band->size) ||
        !bytes_append(w->file, end, more + 4))
        return false;
    band->state = BAND_WRITTEN;
    w->adler = adler;
    w->next++;
    return true;
}

/* Keeps the chunk of a band that is done before its turn. */
static bool keep_band(struct band *band, const uint8_t *chunk)
{
    band->chunk = malloc(band->size);
    if (!band->chunk)
        return false;
    memcpy(band->chunk, chunk, band->size);
    band->state = BAND_KEPT;
    return true;
}

/* Appends the band and those that waited for it, or lets it wait. */
static bool hand_in(struct idat_writer *w, uint32_t i, uint8_t *chunk)
{
    if (i != w->next)
        return keep_band(&w->band[i], chunk);
    if (!append_band(w, chunk))
        return false;
    while (w->next < w->bands && w->band[w->next].state == BAND_KEPT) {
        struct band *band = &w->band[w->next];
        if (!append_band(w, band->chunk))
            return false;
        free(band->chunk);
        band->chunk = NULL;
    }
    return true;
}

static void write_band(void *context, size_t i)
{
    struct idat_writer *w = context;
    struct scratch *scratch = atomic_load(&w->failed) ? NULL : scratch_take(w);
    if (!scratch)
        return;
    bool made = make_band(w, scratch, (uint32_t)i);
    pthread_mutex_lock(&w->lock);
    if (!made || !hand_in(w, (uint32_t)i, scratch->out))
        atomic_store(&w->failed, true);
    pthread_mutex_unlock(&w->lock);
    scratch_give(w, scratch);
}

static bool all_written(const struct idat_writer *w)
{
    for (uint32_t i = 0; i < w->bands; i++)
        if (w->band[i].state != BAND_WRITTEN)
            return false;
    return true;
}

/* The checksum of all rows, by what each band has said of its own: how they
 * were joined has no part in it. */
static uint32_t sum_up(const struct idat_writer *w)
{
    uLong adler = 1;
    for (uint32_t i = 0; i < w->bands; i++)
        adler = adler32_combine(adler, w->band[i].adler,
                                (z_off_t)(rows_of_band(w, i) * w->row));
    return (uint32_t)adler;
}

/* ---- The whole ---------------------------------------------------------- */

static void set_up(struct idat_writer *w)
{
    size_t band = w->level < SIZE_FROM ? BAND : LARGE_BAND;
    w->row = scanline_size(w->img) + 1;
    w->pixel = scanline_pixel(w->img);
    w->per_band = w->row < band ? (uint32_t)(band / w->row) : 1;
    w->bands = (w->img->height - 1) / w->per_band + 1;
    w->before = (uint32_t)((FLATE_WINDOW - 1) / w->row + 1);
    w->filtered_size = (w->before + w->per_band) * w->row;
    if (w->filtered_size < STRIP)
        w->filtered_size = STRIP;
    w->out_size = CHUNK_HEAD + STREAM_HEAD +
                  flate_bound(w->per_band * w->row);
    w->trial_size = flate_bound(w->filtered_size);
    w->adler = 1;
    atomic_init(&w->failed, false);
    pthread_mutex_init(&w->lock, NULL);
}

static void take_down(struct idat_writer *w)
{
    while (w->scratches) {
        struct scratch *scratch = w->scratches;
        w->scratches = scratch->next;
        scratch_free(scratch, w);
    }
    for (uint32_t i = 0; w->band && i < w->bands; i++)
        free(w->band[i].chunk);
    free(w->band);
    free(w->filter);
    pthread_mutex_destroy(&w->lock);
}

int idat_write(struct bytes *file, const struct image *img, int level,
               struct thread_pool *pool, uint32_t *adler, struct err *err)
{
    struct idat_writer w = {
        .img = img,
        .flate = level > 0 && level < LZ77_FROM ? flates[0] : &flate_zlib,
        .fast = flates[0],
        .level = level,
        .file = file,
    };
    set_up(&w);
    /* Room for most at once; what is not needed is never touched. */
    (void)bytes_reserve(file, w.row * img->height / 8 * 7);
    w.band = calloc(w.bands, sizeof *w.band);
    w.filter = calloc(w.bands, 1);
    if (w.band && w.filter) {
        choose_filters(&w, pool);
        thread_pool_run(pool, write_band, &w, w.bands);
    }
    bool whole = w.band && w.filter && all_written(&w);
    if (whole && adler)
        *adler = sum_up(&w);
    take_down(&w);
    return whole ? 0 : fail_memory(err, "no memory to encode it");
}
