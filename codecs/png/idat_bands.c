/* How the bands of a PNG's samples are filtered and deflated. */
#include "codecs/png/idat_bands.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/deflate/flate.h"
#include "codecs/deflate/literal_block.h"
#include "codecs/deflate/lz77.h"
#include "codecs/png/filter.h"
#include "codecs/png/scanline.h"

enum {
    BAND = 512 << 10,     /* bytes of a band, which has at least one row */
    LARGE_BAND = 2 << 20, /* where size counts */
    SAMPLE = 16 << 10,    /* bytes of a band, to choose its coder */
    STRIP = 64 << 10,     /* bytes of rows, to choose filters, at most */
    STRIP_LEAST = 8 << 10,
    STRIPS_SHARE = 32, /* of the picture is in strips, unless they are small */
    LZ77_FROM = 3,     /* the level from which on lz77.c finds matches */
    SIZE_FROM = 7,     /* the level from which on size counts, not time */
};

/* Rows are filtered by one of the five, or each by the one with the smallest
 * sum. */
enum { FILTER_ADAPTIVE = FILTER_TYPES, FILTER_CHOICES };

/* ---- Scratch memory ----------------------------------------------------- */

static void scratch_free(const struct idat_bands *b,
                         struct idat_scratch *scratch)
{
    b->flate->deflate_close(scratch->deflater);
    lz77_free(scratch->lz77);
    free(scratch->raw[0]);
    free(scratch->raw[1]);
    free(scratch->filtered);
    free(scratch->out);
    free(scratch->trial);
    free(scratch);
}

static struct idat_scratch *scratch_new(const struct idat_bands *b)
{
    bool library = b->level < LZ77_FROM || b->level >= SIZE_FROM;
    struct idat_scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return NULL;
    scratch->raw[0] = malloc(b->row);
    scratch->raw[1] = malloc(b->row);
    scratch->filtered = malloc(b->filtered_size);
    scratch->out = malloc(b->out_size);
    scratch->trial = malloc(b->trial_size);
    scratch->lz77 = lz77_new();
    scratch->deflater = library ? b->flate->deflate_open(b->level) : NULL;
    if (scratch->raw[0] && scratch->raw[1] && scratch->filtered &&
        scratch->out && scratch->trial && scratch->lz77 &&
        (scratch->deflater || !library))
        return scratch;
    scratch_free(b, scratch);
    return NULL;
}

struct idat_scratch *idat_bands_take(struct idat_bands *b)
{
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

/* Filters n rows from y on to `out`, all by one filter or FILTER_ADAPTIVE, or
 * each by the one of its band. */
enum { FILTER_OF_BAND = -1 };
static void filter_rows(const struct idat_bands *b,
                        struct idat_scratch *scratch, int chosen, uint32_t y,
                        uint32_t n, uint8_t *out)
{
    uint8_t *row = scratch->raw[0], *prior = scratch->raw[1];
    if (y == 0)
        memset(prior, 0, b->row - 1);
    else if (n)
        scanline_join(b->img, y - 1, prior);
    for (; n > 0; n--, y++, out += b->row) {
        unsigned filter = chosen == FILTER_OF_BAND ? b->filter[y / b->per_band]
                                                   : (unsigned)chosen;
        scanline_join(b->img, y, row);
        if (filter == FILTER_ADAPTIVE)
            filter_row(out, row, prior, b->row - 1, b->pixel);
        else
            filter_row_with(filter, out, row, prior, b->row - 1, b->pixel);
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

/* ---- Choosing ----------------------------------------------------------- */

/* Deflates by a coder, in the way that is fast enough for the level. */
static size_t deflate_by(const struct idat_bands *b,
                         struct idat_scratch *scratch, enum coder coder,
                         uint8_t *out, const uint8_t *data, size_t before,
                         size_t size, bool final)
{
    if (coder == CODER_LITERALS)
        return literal_block_deflate(out, data, size, final);
    if (b->level >= LZ77_FROM)
        return lz77_deflate(scratch->lz77, out, data, before, size, final,
                            coder == CODER_LONG ? LZ77_LONG : LZ77_SHORT);
    return b->flate->deflate(scratch->deflater, out, flate_bound(size), data,
                             before, size, final);
}

static size_t try_coder(const struct idat_bands *b,
                        struct idat_scratch *scratch, enum coder coder,
                        const uint8_t *data, size_t before, size_t size)
{
    if (coder == CODER_LITERALS)
        return literal_block_estimate(data, size);
    size_t made =
        deflate_by(b, scratch, coder, scratch->trial, data, before, size, true);
    return made ? made : SIZE_MAX;
}

/* Matches are worth it if they save at least 1 % of the size, which is more
 * than chance makes of a sample: Huffman codes alone are faster to write and to
 * read. */
static bool are_worth_it(size_t matches, size_t literals)
{
    return matches < literals - literals / 100;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Tries how well n rows from y on can be coded once they are filtered. Matches
 * may refer to what is before them, as they will: many repeat what is farther
 * than a strip is long. */
static struct coder_sizes try_filter(const struct idat_bands *b,
                                     struct idat_scratch *scratch, int filter,
                                     uint32_t y, uint32_t n, int coders)
{
    const uint32_t above = y < b->before ? y : b->before;
    const size_t before = above * b->row;
    struct coder_sizes sizes;
    filter_rows(b, scratch, filter, y - above, above + n, scratch->filtered);
    for (int coder = 0; coder < CODERS; coder++)
        sizes.of[coder] =
            coder < coders
                ? try_coder(b, scratch, (enum coder)coder,
                            scratch->filtered + before, before, n * b->row)
                : SIZE_MAX;
    return sizes;
}

static uint32_t strip_rows(const struct idat_bands *b)
{
    size_t share = b->img->height * b->row / (IDAT_STRIPS * STRIPS_SHARE);
    size_t strip = share > STRIP         ? STRIP
                   : share < STRIP_LEAST ? STRIP_LEAST
                                         : share;
    uint32_t n = b->row < strip ? (uint32_t)(strip / b->row) : 1;
    return n < b->img->height ? n : b->img->height;
}

/* Returns whether matches hardly help, as in a photograph that is filtered. It
 * has none to speak of if it is not filtered, either. */
static bool is_like_noise(const struct coder_sizes *sizes)
{
    return sizes->of[CODER_LONG] >
           sizes->of[CODER_LITERALS] - sizes->of[CODER_LITERALS] / 10;
}

/* Tries on a strip the two choices that are best for most pictures. */
static void try_strip(void *context, size_t i)
{
    struct idat_bands *b = context;
    uint32_t n = strip_rows(b), last = b->img->height - n;
    struct idat_scratch *scratch = idat_bands_take(b);
    if (!scratch)
        return;
    uint32_t y = (uint32_t)(last * i / (IDAT_STRIPS - 1));
    int coders = b->level < LZ77_FROM ? CODER_SHORT : CODERS;
    if (b->continuous) {
        b->adaptive[i] = try_filter(b, scratch, FILTER_ADAPTIVE, y, n, coders);
        if (is_like_noise(&b->adaptive[i]))
            coders = CODER_LONG;
    }
    b->plain[i] = try_filter(b, scratch, FILTER_NONE, y, n, coders);
    idat_bands_give(b, scratch);
}

/* Returns the size of the strips if a coder is used where it is worth it. */
static size_t sum_of_strips(const struct coder_sizes *strip, enum coder coder)
{
    size_t sum = 0;
    for (int i = 0; i < IDAT_STRIPS; i++)
        sum += smaller(strip[i].of[coder], strip[i].of[CODER_LITERALS]);
    return sum;
}

/* Chooses one filter for all bands, and the coder for matches, by strips, which
 * are spread over the picture; if that is small, the first strip is all of it.
 */
static void choose_by_strips(struct idat_bands *b, struct thread_pool *pool)
{
    static const enum coder coders[] = { CODER_LONG, CODER_SHORT };
    bool whole = strip_rows(b) == b->img->height;
    const struct coder_sizes *chosen = NULL;
    size_t least = SIZE_MAX;
    thread_pool_run(pool, try_strip, b, whole ? 1 : IDAT_STRIPS);
    for (int i = b->continuous ? 0 : 2; i < 4; i++) {
        const struct coder_sizes *strip = i < 2 ? b->adaptive : b->plain;
        size_t sum = sum_of_strips(strip, coders[i % 2]);
        /* By chance short matches seem to be the best of a small sample. */
        if (coders[i % 2] == CODER_SHORT)
            sum += sum / 200;
        if (sum < least) {
            least = sum;
            chosen = strip;
            b->matches = coders[i % 2];
        }
    }
    b->only_repeats = true;
    for (int i = 0; chosen && i < (whole ? 1 : IDAT_STRIPS); i++) {
        const size_t *of = chosen[i].of;
        b->repeats |= are_worth_it(of[b->matches], of[CODER_LITERALS]);
        b->only_repeats &= !is_like_noise(&chosen[i]);
    }
    b->whole_sampled =
        whole && b->count == 1 && b->img->height * b->row <= SAMPLE;
    memset(b->filter, chosen == b->plain ? FILTER_NONE : FILTER_ADAPTIVE,
           b->count);
}

/* Chooses the filter of a band by trying each on all of it. */
static void choose_for_band(void *context, size_t i)
{
    struct idat_bands *b = context;
    size_t least = SIZE_MAX;
    struct idat_scratch *scratch = idat_bands_take(b);
    if (!scratch)
        return;
    for (int filter = 0; filter < FILTER_CHOICES; filter++) {
        struct coder_sizes sizes =
            try_filter(b, scratch, filter, (uint32_t)i * b->per_band,
                       idat_bands_rows(b, i), CODERS);
        for (int coder = 0; coder < CODERS; coder++)
            if (sizes.of[coder] < least) {
                least = sizes.of[coder];
                b->filter[i] = (uint8_t)filter;
            }
    }
    idat_bands_give(b, scratch);
}

/* Rows that are not compressed need no filter. */
void idat_bands_choose(struct idat_bands *b, struct thread_pool *pool)
{
    if (b->level >= SIZE_FROM)
        thread_pool_run(pool, choose_for_band, b, b->count);
    else if (b->level > 0)
        choose_by_strips(b, pool);
}

/* ---- Deflating ---------------------------------------------------------- */

/* Deflates by all coders, and keeps the smallest output. */
static size_t deflate_smallest(const struct idat_bands *b,
                               struct idat_scratch *scratch, uint8_t *out,
                               const uint8_t *data, size_t before, size_t size,
                               bool final)
{
    size_t made = b->flate->deflate(scratch->deflater, out, flate_bound(size),
                                    data, before, size, final);
    for (int coder = CODER_LONG; coder < CODERS; coder++) {
        size_t other = deflate_by(b, scratch, (enum coder)coder, scratch->trial,
                                  data, before, size, final);
        if (other < made)
            memcpy(out, scratch->trial, other);
        made = smaller(made, other);
    }
    return literal_block_estimate(data, size) < made
               ? literal_block_deflate(out, data, size, final)
               : made;
}

/* Returns whether matches are worth it for a band, by a part of it. If they
 * were in strips, that may refer to what is before it, as the band will:
 * repetition after more bytes than the part has shows only so. */
static bool is_worth_matches(const struct idat_bands *b,
                             struct idat_scratch *scratch, const uint8_t *rows,
                             size_t before, size_t size)
{
    size_t sample = smaller(size, SAMPLE), at = (size - sample) / 2;
    if (b->whole_sampled || b->only_repeats)
        return b->repeats;
    size_t matches = try_coder(b, scratch, b->matches, rows + at,
                               b->repeats ? before + at : 0, sample);
    size_t literals = literal_block_estimate(rows + at, sample);
    return b->repeats ? matches < literals : are_worth_it(matches, literals);
}

size_t idat_bands_deflate(const struct idat_bands *b,
                          struct idat_scratch *scratch, uint32_t i,
                          uint8_t *out, const uint8_t **filtered)
{
    const bool final = i + 1 == b->count;
    const uint32_t y = i * b->per_band, n = idat_bands_rows(b, i);
    const uint32_t above = y < b->before ? y : b->before;
    const size_t before = above * b->row, size = n * b->row;
    uint8_t *rows = scratch->filtered + b->before * b->row;
    *filtered = rows;
    filter_rows(b, scratch, FILTER_OF_BAND, y, n, rows);
    if (b->level == 0)
        return b->flate->deflate(scratch->deflater, out, flate_bound(size),
                                 rows, 0, size, final);
    if (b->repeats) /* the sample refers to them as well */
        filter_rows(b, scratch, FILTER_OF_BAND, y - above, above,
                    rows - before);
    if (b->level < SIZE_FROM &&
        !is_worth_matches(b, scratch, rows, before, size))
        return literal_block_deflate(out, rows, size, final);
    if (!b->repeats)
        filter_rows(b, scratch, FILTER_OF_BAND, y - above, above,
                    rows - before);
    if (b->level >= SIZE_FROM)
        return deflate_smallest(b, scratch, out, rows, before, size, final);
    return deflate_by(b, scratch, b->matches, out, rows, before, size, final);
}

/* ---- The whole ---------------------------------------------------------- */

bool idat_bands_open(struct idat_bands *b, const struct image *img, int level,
                     size_t around)
{
    size_t band = level < SIZE_FROM ? BAND : LARGE_BAND;
    size_t row = scanline_size(img) + 1;
    *b = (struct idat_bands){
        .img = img,
        .level = level,
        .flate = level > 0 && level < LZ77_FROM ? flates[0] : &flate_zlib,
        .row = row,
        .pixel = scanline_pixel(img),
        .per_band = row < band ? (uint32_t)(band / row) : 1,
        .before = (uint32_t)((FLATE_WINDOW - 1) / row + 1),
        .continuous = img->color != COLOR_INDEXED && image_bits(img) >= 8,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    b->count = (img->height - 1) / b->per_band + 1;
    b->filtered_size = (b->before + b->per_band) * row;
    if (b->filtered_size < STRIP)
        b->filtered_size = STRIP;
    b->out_size = around + flate_bound(b->per_band * row);
    b->trial_size = flate_bound(b->filtered_size);
    b->filter = calloc(b->count, 1);
    return b->filter;
}

void idat_bands_close(struct idat_bands *b)
{
    while (b->unused) {
        struct idat_scratch *scratch = b->unused;
        b->unused = scratch->next;
        scratch_free(b, scratch);
    }
    free(b->filter);
}
