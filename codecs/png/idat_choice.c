/* How filters and searches are tried. */
#include "codecs/png/idat_bands.h"

#include <string.h>

#include "codecs/deflate/deflate_block.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"
#include "codecs/deflate/optimal.h"
#include "codecs/png/filter.h"

enum {
    STRIP = 24 << 10, /* bytes of rows, to try filters and coders, at most */
    STRIP_LEAST = 8 << 10,
    STRIPS_SHARE_MOST = 4, /* there are fewer if they were such a share, but */
    STRIPS_LEAST = 4,      /* at least so many */
    STRIP_BEFORE = 16 << 10, /* bytes to which matches of a strip may refer */
    LOST = 15,      /* a candidate is tried no further that is larger by such */
    LOST_LEAST = 5, /* thousandths, and of a bit for each byte */
    WORTH_THREE = 50, /* the slowest coder must save such a share */
    ROOM_MOST = 1125, /* the same if it is then smaller than by libpng */
    PARTS = 3,        /* of a band, on which filters are tried where size */
    PART = 64 << 10,  /* counts, each of so many bytes, behind */
    PART_BEFORE = 8 << 10, /* so many to which matches may refer */
    HOPELESS = 10, /* a filter is tried no further that makes parts larger by */
    HOPELESS_LEAST = 256, /* such a share, and so many bytes */
};

/* The filters that are best for most pictures, and two that for some repeat
 * more: the same letter in the next row, the same edge in the next column. */
static const uint8_t tried[IDAT_TRIED] = { FILTER_LEAST_SUM, FILTER_NONE,
                                           FILTER_UP, FILTER_SUB };

/* How coders search. The library of the lowest levels stands for LZ77_LONG. */
static const enum lz77_search searches[CODERS] = {
    [CODER_PIXELS] = LZ77_PIXELS,
    [CODER_LONG] = LZ77_LONG,
    [CODER_THREE] = LZ77_THREE,
};
enum { FIRST = 1 << CODER_LITERALS | 1 << CODER_LONG, ALL = (1 << CODERS) - 1 };

/* What is tried, on which share of the picture; and by how many thousandths it
 * may become larger than the smallest if that is faster. */
static const struct trials {
    unsigned filters, coders, part, tolerance;
} quick = { 2, FIRST, 128, 50 }, usual = { IDAT_TRIED, ALL, 64, 4 };

static const struct trials *trials_of(const struct idat_bands *b)
{
    return b->level < IDAT_LZ77_FROM ? &quick : &usual;
}

/* Rows that are filtered, and the bytes before them that matches may refer to.
 */
struct filtered {
    const uint8_t *rows;
    size_t before, size;
};

/* Deflates by a coder, in the way that is fast enough for the level. */
static size_t deflate_by(const struct idat_bands *b,
                         struct idat_scratch *scratch, enum coder coder,
                         struct filtered f, uint8_t *out, bool final)
{
    const bool is_quick = b->level < IDAT_LZ77_FROM;
    if (coder == CODER_LITERALS)
        return is_quick
                   ? literal_block_deflate_quickly(out, f.rows, f.size, final)
                   : literal_block_deflate(out, f.rows, f.size, final);
    if (scratch->deflater)
        return flates[0]->deflate(scratch->deflater, out, flate_bound(f.size),
                                  f.rows, f.before, f.size, final);
    return lz77_deflate(scratch->lz77, out, f.rows, f.before, f.size, final,
                        is_quick ? LZ77_PIXELS : searches[coder]);
}

/* Returns how many bits that would be, without the headers of blocks, if they
 * can be told apart. */
static size_t try_coder(const struct idat_bands *b,
                        struct idat_scratch *scratch, enum coder coder,
                        struct filtered f)
{
    if (coder == CODER_LITERALS)
        return literal_block_estimate(f.rows, f.size);
    if (!scratch->deflater)
        return lz77_estimate(scratch->lz77, f.rows, f.before, f.size,
                             trials_of(b) == &quick ? LZ77_PIXELS
                                                    : searches[coder]);
    const size_t made = deflate_by(b, scratch, coder, f, scratch->trial, true);
    return made ? 8 * made : SIZE_MAX / 2 / IDAT_STRIPS;
}

/* ---- Strips ------------------------------------------------------------- */

static uint32_t strip_rows(const struct idat_bands *b)
{
    size_t share = b->img->height * b->row / (IDAT_STRIPS * trials_of(b)->part);
    size_t strip = share > STRIP         ? STRIP
                   : share < STRIP_LEAST ? STRIP_LEAST
                                         : share;
    uint32_t n = b->row < strip ? (uint32_t)(strip / b->row) : 1;
    return n < b->img->height ? n : b->img->height;
}

/* Returns how many strips there are: only one of a small picture. */
static unsigned count_strips(const struct idat_bands *b)
{
    const uint32_t height = b->img->height, rows = strip_rows(b);
    unsigned n = IDAT_STRIPS;
    if (height / STRIPS_LEAST < rows)
        return 1;
    while (n > STRIPS_LEAST && height / n < rows * STRIPS_SHARE_MOST)
        n--;
    return n;
}

/* A strip is in the middle of its share. */
static uint32_t strip_at(const struct idat_bands *b, unsigned i)
{
    const uint32_t last = b->img->height - strip_rows(b);
    return (uint32_t)((uint64_t)last * (2 * i + 1) / (2 * count_strips(b)));
}

/* A round of trials: of some coders on some strips, a bit for each. */
struct trial_round {
    struct idat_bands *bands;
    unsigned strips, coders;
};

/* Tries what is left of a filter on a strip. Matches may refer to some of what
 * is before it: many repeat what is farther than a strip is long. Those of the
 * first strips, to all that they will. */
static void try_filter(void *context, size_t i)
{
    const struct trial_round *round = context;
    struct idat_bands *b = round->bands;
    const unsigned k = i % IDAT_TRIED, strip = (unsigned)i / IDAT_TRIED;
    const uint32_t y = strip_at(b, strip), n = strip_rows(b);
    const unsigned coders = b->left[k] & round->coders;
    const uint32_t most = coders == 1u << CODER_LITERALS ? 0
                          : b->first >> strip & 1
                              ? b->before
                              : (uint32_t)((STRIP_BEFORE - 1) / b->row + 1);
    const uint32_t above = y < most ? y : most;
    const size_t before = above * b->row;
    struct idat_scratch *scratch =
        coders && round->strips >> strip & 1 ? idat_bands_take(b) : NULL;
    if (!scratch)
        return;
    const struct filtered f = { scratch->filtered + before, before,
                                n * b->row };
    idat_bands_filter(b, scratch, tried[k], y - above, above + n,
                      scratch->filtered);
    for (unsigned coder = 0; coder < CODERS; coder++)
        if (coders >> coder & 1)
            b->strip[strip].of[k][coder] =
                try_coder(b, scratch, (enum coder)coder, f);
    idat_bands_give(b, scratch);
}

/* Tries what is left of some coders; the strips of a picture in bands one by
 * one. */
static int try_strips(struct idat_bands *b, unsigned strips, unsigned coders,
                      struct err *err)
{
    struct trial_round round = { b, strips, coders };
    const unsigned n = count_strips(b);
    if (!image_has_bands(b->img)) {
        thread_pool_run(b->rows.pool, try_filter, &round, n * IDAT_TRIED);
        return 0;
    }
    for (unsigned strip = 0; strip < n; strip++) {
        round.strips = strips & 1u << strip;
        if (!round.strips)
            continue;
        if (idat_bands_hold(b, strip_at(b, strip), strip_rows(b), err))
            return -1;
        thread_pool_run(b->rows.pool, try_filter, &round, n * IDAT_TRIED);
    }
    return 0;
}

/* Returns the bits of some strips by a filter and a coder; SIZE_MAX: no longer
 * tried. */
static size_t sum_of_strips(const struct idat_bands *b, unsigned strips,
                            unsigned k, unsigned coder)
{
    size_t bits = 0;
    for (unsigned i = 0; i < IDAT_STRIPS; i++)
        bits += strips >> i & 1 ? b->strip[i].of[k][coder] : 0;
    return b->left[k] >> coder & 1 ? bits : SIZE_MAX;
}

/* Returns the least bits of some strips by some coders, a bit for each, and
 * sets *best to the filter. */
static size_t least_of_strips(const struct idat_bands *b, unsigned strips,
                              unsigned coders, unsigned *best)
{
    size_t least = SIZE_MAX;
    for (unsigned k = 0; k < IDAT_TRIED; k++)
        for (unsigned coder = 0; coder < CODERS; coder++)
            if (coders >> coder & 1 &&
                sum_of_strips(b, strips, k, coder) < least) {
                least = sum_of_strips(b, strips, k, coder);
                *best = k;
            }
    return least;
}

/* Drops the candidates of these coders that are much larger than the best on
 * each of the first strips, and filters of which none is left. */
static void drop_lost(struct idat_bands *b, unsigned coders, size_t lost)
{
    unsigned kept[IDAT_TRIED] = { 0 }, best;
    for (unsigned i = 0; i < IDAT_STRIPS; i++) {
        if (!(b->first >> i & 1))
            continue;
        size_t most = least_of_strips(b, 1u << i, coders, &best);
        most += most * lost / 1000 + strip_rows(b) * b->row * LOST_LEAST / 1000;
        for (unsigned k = 0; k < IDAT_TRIED; k++)
            for (unsigned coder = 0; coder < CODERS; coder++)
                if (coders >> coder & 1 &&
                    sum_of_strips(b, 1u << i, k, coder) <= most)
                    kept[k] |= 1u << coder;
    }
    for (unsigned k = 0; k < IDAT_TRIED; k++)
        b->left[k] = kept[k] ? kept[k] | (b->left[k] & ~coders) : 0;
}

/* Chooses the strip of each half that becomes the largest without matches as
 * the first ones: there a choice matters most. */
static int choose_first(struct idat_bands *b, unsigned n, struct err *err)
{
    b->left[0] = 1u << CODER_LITERALS;
    if (try_strips(b, (1u << n) - 1, 1u << CODER_LITERALS, err))
        return -1;
    for (unsigned half = 0; half < 2; half++) {
        unsigned most = half * n / 2;
        for (unsigned i = most; i < (half + 1) * n / 2; i++)
            if (b->strip[i].of[0][CODER_LITERALS] >
                b->strip[most].of[0][CODER_LITERALS])
                most = i;
        b->first |= 1u << most;
    }
    return 0;
}

/* Chooses one filter and one coder for all bands, by strips, which are spread
 * over the picture; if that is small, the only strip is all of it. The first
 * ones show which filters are worth further trials, then which coders; and how
 * large the best may become to be still smaller than what libpng makes. */
static int choose_by_strips(struct idat_bands *b, struct err *err)
{
    const struct trials *t = trials_of(b);
    const unsigned n = count_strips(b), all = (1u << n) - 1;
    const unsigned libpng = b->img->color == COLOR_INDEXED;
    unsigned best = 0, coder = CODER_LITERALS;
    if (choose_first(b, n, err))
        return -1;
    for (unsigned k = 0; k < t->filters; k++)
        b->left[k] = t->coders;
    if (try_strips(b, b->first, FIRST, err))
        return -1;
    drop_lost(b, FIRST, LOST);
    b->left[libpng] |= t->coders & 1 << CODER_THREE;
    if (try_strips(b, b->first, ALL & ~FIRST, err))
        return -1;
    size_t most = 1000 + t->tolerance;
    const size_t other = sum_of_strips(b, b->first, libpng, CODER_THREE);
    /* What becomes very small is written fast, and told less exactly. */
    const bool large = other < SIZE_MAX && other > strip_rows(b) * b->row;
    if (large) {
        size_t room =
            other * 990 / (least_of_strips(b, b->first, ALL, &best) + 1);
        room = room < ROOM_MOST ? room : ROOM_MOST;
        most = most > room ? most : room;
    }
    drop_lost(b, ALL, most - 1000 < LOST ? LOST : most - 1000);
    if (try_strips(b, all & ~b->first, ALL, err))
        return -1;
    const size_t faster =
        least_of_strips(b, all, ALL & ~(1 << CODER_THREE), &best);
    size_t least = least_of_strips(b, all, ALL, &best);
    if (large && faster - faster / WORTH_THREE <= least)
        least = faster;
    most = least / 1000 * most + 1000;
    while (least_of_strips(b, all, 1u << coder, &best) > most)
        coder++;
    b->coder = (enum coder)coder;
    memset(b->filter, tried[best], b->count);
    return 0;
}

/* ---- Filters, where size counts ------------------------------------------ */

/* Returns about how many bytes a part of a band becomes once it is filtered, by
 * Huffman codes alone or with matches. */
static size_t try_part(const struct idat_bands *b, struct idat_scratch *scratch,
                       int filter, uint32_t band, uint32_t number, bool matches)
{
    const uint32_t rows = idat_bands_rows(b, band);
    uint32_t n = (uint32_t)(PART / b->row + 1);
    if (n > rows / PARTS)
        n = (rows + PARTS - 1) / PARTS;
    const uint32_t y = band * b->per_band + (rows - n) / (PARTS - 1) * number;
    const uint32_t most = matches ? (uint32_t)(PART_BEFORE / b->row + 1) : 0;
    const uint32_t above = y < most ? y : most;
    const size_t before = above * b->row, size = n * b->row;
    uint8_t *filtered = scratch->filtered;
    idat_bands_filter(b, scratch, filter, y - above, above + n, filtered);
    return matches ? optimal_estimate(scratch->optimal, filtered + before,
                                      before, size)
                   : literal_block_estimate(filtered, size) / 8;
}

/* Chooses the filter of a band by what becomes of parts of it, but for those
 * that are much worse than the best so far. If matches help little, Huffman
 * codes alone show which is best, and are quick to try. */
static void choose_for_band(void *context, size_t i)
{
    struct idat_bands *b = context;
    struct idat_scratch *scratch = idat_bands_take(b);
    const uint32_t band = (uint32_t)i;
    size_t sizes[FILTER_CHOICES] = { 0 };
    unsigned best = FILTER_NONE;
    if (!scratch)
        return;
    const size_t literals =
        try_part(b, scratch, FILTER_LEAST_ENTROPY, band, 0, false);
    const bool matches = try_part(b, scratch, FILTER_LEAST_ENTROPY, band, 0,
                                  true) < literals - literals / 10;
    sizes[FILTER_LEAST_SUM] = SIZE_MAX; /* hardly ever the best */
    for (uint32_t number = 0; number < PARTS; number++) {
        const size_t most =
            sizes[best] + sizes[best] / HOPELESS + HOPELESS_LEAST;
        for (int filter = 0; filter < FILTER_CHOICES; filter++)
            sizes[filter] =
                sizes[filter] > most
                    ? SIZE_MAX
                    : sizes[filter] +
                          try_part(b, scratch, filter, band, number, matches);
        best = FILTER_NONE;
        for (unsigned filter = 0; filter < FILTER_CHOICES; filter++)
            best = sizes[filter] < sizes[best] ? filter : best;
    }
    b->filter[i] = (uint8_t)best;
    idat_bands_give(b, scratch);
}

/* Rows that are not compressed need no filter. */
int idat_choice_make(struct idat_bands *b, struct err *err)
{
    if (b->level >= IDAT_SIZE_FROM)
        return idat_bands_run(b, choose_for_band, b, err);
    return b->level > 0 ? choose_by_strips(b, err) : 0;
}

/* ---- Deflating ---------------------------------------------------------- */

size_t idat_choice_deflate(const struct idat_bands *b,
                           struct idat_scratch *scratch, uint32_t i,
                           uint8_t *out, const uint8_t **filtered)
{
    const bool final = i + 1 == b->count;
    const bool optimal = b->level >= IDAT_SIZE_FROM;
    const uint32_t y = i * b->per_band, n = idat_bands_rows(b, i);
    const uint32_t above = i > 0 ? b->before : 0;
    const size_t before = above * b->row, size = n * b->row;
    uint8_t *rows = scratch->filtered + b->before * b->row;
    const struct filtered f = { rows, before, size };
    *filtered = rows;
    idat_bands_filter(b, scratch, IDAT_FILTER_OF_BAND, y, n, rows);
    if (b->level == 0)
        return literal_block_store(out, rows, size, final);
    if (optimal || b->coder != CODER_LITERALS)
        idat_bands_filter(b, scratch, IDAT_FILTER_OF_BAND, y - above, above,
                          rows - before);
    if (optimal)
        return optimal_deflate(scratch->optimal, out, rows, before, size,
                               final);
    return deflate_by(b, scratch, b->coder, f, out, final);
}
