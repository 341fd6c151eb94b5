/* The memory of bands, and their filtered rows. */
#include "codecs/png/idat_bands.h"

#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/memory.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/deflate_block.h"
#include "codecs/deflate/lz77.h"
#include "codecs/deflate/optimal.h"
#include "codecs/png/filter_choice.h"
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

/* Returns how many bands can be held at a time, with the rows above them. */
static uint32_t bands_at_a_time(const struct idat_bands *b)
{
    const uint32_t rows = row_source_most(&b->rows), above = b->before + 1;
    if (!b->img->store)
        return b->count;
    uint32_t n = rows > above ? (rows - above) / b->per_band : 0;
    return n ? n : 1;
}

int idat_bands_run(struct idat_bands *b, void (*work)(void *context, size_t i),
                   void *context, struct err *err)
{
    struct bands_run run = { work, context, 0 };
    for (uint32_t n; run.first < b->count; run.first += n) {
        n = bands_at_a_time(b);
        n = n < b->count - run.first ? n : b->count - run.first;
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
        .continuous = img->color != COLOR_INDEXED && image_bits(img) >= 8,
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
