/* How filters and coders are tried. */
#include "codecs/png/idat_bands.h"

#include <string.h>

#include "codecs/deflate/deflate_block.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"
#include "codecs/deflate/optimal.h"
#include "codecs/png/filter.h"

enum {
    SAMPLE = 16 << 10, /* bytes of a band, to see whether matches help there */
    STRIP = 32 << 10,  /* bytes of rows, to try filters and coders, at most */
    STRIP_LEAST = 8 << 10,
    STRIPS_SHARE = 32, /* of the picture is in strips, unless they are small */
    STRIPS_SHARE_QUICK = 128, /* the same where speed counts most */
    STRIPS_SHARE_MOST = 4, /* there are fewer if they were such a share, but */
    STRIPS_LEAST = 4,      /* at least so many */
    STRIP_BEFORE = 16 << 10, /* bytes to which matches of a strip may refer;
                                of the first one, to all that they will */
    FEW = 2,                 /* strips, that all candidates are tried on */
    PARTS = 3,               /* of a band, on which filters are tried where */
    PART = 64 << 10,         /* size counts, each of so many bytes, behind */
    PART_BEFORE = 8 << 10,   /* so many to which matches may refer */
    HOPELESS = 10, /* a filter is tried no further that makes parts larger by */
    HOPELESS_LEAST = 256, /* such a share, and so many bytes */
};

/* ---- Coders ------------------------------------------------------------- */

static const enum lz77_search searches[CODERS] = {
    [CODER_PIXELS] = LZ77_PIXELS,
    [CODER_LONG] = LZ77_LONG,
    [CODER_ALL] = LZ77_THREE,
};

static bool is_quick(const struct idat_bands *b)
{
    return b->level < IDAT_LZ77_FROM;
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
    if (coder == CODER_LITERALS)
        return is_quick(b)
                   ? literal_block_deflate_quickly(out, f.rows, f.size, final)
                   : literal_block_deflate(out, f.rows, f.size, final);
    if (!is_quick(b))
        return lz77_deflate(scratch->lz77, out, f.rows, f.before, f.size, final,
                            searches[coder]);
    return b->flate->deflate(scratch->deflater, out, flate_bound(f.size),
                             f.rows, f.before, f.size, final);
}

/* Returns how many bits that would be, without the headers of blocks, if they
 * can be told apart. */
static size_t try_coder(const struct idat_bands *b,
                        struct idat_scratch *scratch, enum coder coder,
                        struct filtered f, struct symbol_costs *costs)
{
    if (coder == CODER_LITERALS)
        return literal_block_estimate(f.rows, f.size);
    if (!is_quick(b))
        return lz77_estimate(scratch->lz77, f.rows, f.before, f.size,
                             searches[coder], costs);
    const size_t made = deflate_by(b, scratch, coder, f, scratch->trial, true);
    return made ? 8 * made : SIZE_MAX;
}

/* Returns whether matches save enough: more than chance makes of a sample, as
 * Huffman codes alone are faster to write and to read. */
static bool is_worth_it(const struct idat_bands *b, size_t matches,
                        size_t literals)
{
    return matches < literals - literals / (is_quick(b) ? 20 : 100);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Strips ------------------------------------------------------------- */

static uint32_t strip_rows(const struct idat_bands *b)
{
    size_t part = is_quick(b) ? STRIPS_SHARE_QUICK : STRIPS_SHARE;
    size_t share = b->img->height * b->row / (IDAT_STRIPS * part);
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
    return (uint32_t)((uint64_t)last * (2 * b->order[i] + 1) /
                      (2 * count_strips(b)));
}

/* ---- What is tried ------------------------------------------------------ */

/* The filters that are best for most pictures, and two that for some repeat
 * more: the same letter in the next row, the same edge in the next column. */
static const uint8_t tried[IDAT_TRIED] = { FILTER_LEAST_SUM, FILTER_NONE,
                                           FILTER_UP, FILTER_SUB };

/* What a candidate must save beside others, in thousandths of its size: matches
 * and filters, and more where speed counts most; and a search, also a share of
 * what its matches save, as its time depends on how many it finds. By the time
 * that they take, 1 % of the size is worth 10 to 20 % of it: CODER_PIXELS takes
 * 1.3 times as long as CODER_LONG where next to nothing repeats and half as
 * long where most does, and CODER_ALL 1.5 times as long in each case. */
enum { WORTH_MATCHES = 8, WORTH_QUICKLY = 50, WORTH_FILTER = 3 };
static const struct {
    unsigned least, share;
} worth[CODERS] = {
    [CODER_PIXELS] = { 1, 0 },
    [CODER_LONG] = { 0, 20 },
    [CODER_ALL] = { 10, 20 },
};

/* Candidates are not tried further that are larger by such thousandths of the
 * best and, as little tells little, of a bit for each byte. */
enum { LOST = 15, LOST_LEAST = 5 };

/* A round of trials: of some coders on some strips. */
struct trial_round {
    struct idat_bands *bands;
    unsigned coders; /* a bit for each */
    unsigned strip;  /* the first one */
};

/* Tries what is left of a filter on a strip. Matches may refer to some of what
 * is before it: many repeat what is farther than a strip is long.
 * The first strip shows what symbols cost, for the later ones. */
static void try_filter(struct idat_bands *b, unsigned coders, unsigned strip,
                       unsigned k)
{
    const uint32_t y = strip_at(b, strip), n = strip_rows(b);
    const uint32_t most = coders == 1u << CODER_LITERALS ? 0
                          : strip == 0
                              ? b->before
                              : (uint32_t)((STRIP_BEFORE - 1) / b->row + 1);
    const uint32_t above = y < most ? y : most;
    const size_t before = above * b->row;
    struct idat_scratch *scratch = coders ? idat_bands_take(b) : NULL;
    if (!scratch)
        return;
    const struct filtered f = { scratch->filtered + before, before,
                                n * b->row };
    idat_bands_filter(b, scratch, tried[k], y - above, above + n,
                      scratch->filtered);
    for (unsigned coder = 0; coder < CODERS; coder++) {
        struct symbol_costs costs = { 0 };
        if (!(coders >> coder & 1))
            continue;
        if (strip >= FEW && coder != CODER_LITERALS) /* it has no costs */
            costs = b->costs[k][coder];
        b->strip[strip].of[k][coder] =
            try_coder(b, scratch, (enum coder)coder, f, &costs);
        if (strip == 0)
            b->costs[k][coder] = costs;
    }
    idat_bands_give(b, scratch);
}

static void try_one(void *context, size_t i)
{
    const struct trial_round *round = context;
    const unsigned k = i % IDAT_TRIED;
    try_filter(round->bands, round->coders & round->bands->left[k],
               round->strip + (unsigned)i / IDAT_TRIED, k);
}

/* Tries what is left of some coders on n strips from `first` on; on those of a
 * picture in bands one by one. */
static int try_strips(struct idat_bands *b, unsigned coders, unsigned first,
                      unsigned n, struct err *err)
{
    struct trial_round round = { b, coders, first };
    if (!image_has_bands(b->img)) {
        thread_pool_run(b->rows.pool, try_one, &round, n * IDAT_TRIED);
        return 0;
    }
    for (; round.strip < first + n; round.strip++) {
        if (idat_bands_hold(b, strip_at(b, round.strip), strip_rows(b), err))
            return -1;
        thread_pool_run(b->rows.pool, try_one, &round, IDAT_TRIED);
    }
    return 0;
}

/* ---- The choice --------------------------------------------------------- */

/* Returns the bits of n strips from `first` on if a coder is used where it
 * saves something, and what it must save beside other candidates. */
static size_t rate(const struct idat_bands *b, unsigned k, unsigned coder,
                   unsigned first, unsigned n)
{
    size_t bits = 0, literals = 0;
    for (unsigned i = first; i < first + n; i++) {
        const size_t *of = b->strip[i].of[k];
        bits += smaller(of[coder], of[CODER_LITERALS]);
        literals += of[CODER_LITERALS];
    }
    size_t must_save = k ? WORTH_FILTER : 0;
    if (coder != CODER_LITERALS)
        must_save += is_quick(b) ? WORTH_QUICKLY : WORTH_MATCHES;
    if (literals > 0)
        must_save += worth[coder].least +
                     worth[coder].share * (literals - bits) / literals;
    return bits + bits * must_save / 1000;
}

/* Finds the best of the candidates that were tried on n strips from `first`
 * on. Returns its bits, with what it must save. */
static size_t find_best(struct idat_bands *b, unsigned coders, unsigned first,
                        unsigned n)
{
    size_t least = SIZE_MAX;
    for (unsigned k = 0; k < IDAT_TRIED; k++)
        for (unsigned coder = 0; coder < CODERS; coder++) {
            if (!((b->left[k] & coders) >> coder & 1))
                continue;
            size_t bits = rate(b, k, coder, first, n);
            if (bits < least) {
                least = bits;
                b->best = k;
                b->coder = (enum coder)coder;
            }
        }
    return least;
}

/* Drops the candidates that are much larger than the best on each of the first
 * n strips. */
static void drop_lost(struct idat_bands *b, unsigned coders, unsigned n)
{
    unsigned kept[IDAT_TRIED] = { 0 };
    for (unsigned i = 0; i < n; i++) {
        size_t most = find_best(b, coders, i, 1);
        most += most * LOST / 1000 + strip_rows(b) * b->row * LOST_LEAST / 1000;
        for (unsigned k = 0; k < IDAT_TRIED; k++)
            for (unsigned coder = 0; coder < CODERS; coder++)
                if ((b->left[k] & coders) >> coder & 1 &&
                    rate(b, k, coder, i, 1) <= most)
                    kept[k] |= 1u << coder;
    }
    for (unsigned k = 0; k < IDAT_TRIED; k++)
        b->left[k] = kept[k] ? kept[k] | (b->left[k] & ~coders) |
                                   1u << CODER_LITERALS /* to be held against */
                             : 0;
}

/* Puts the strip of each half first that becomes the largest without matches:
 * there a choice matters most. */
static int order_strips(struct idat_bands *b, unsigned n, struct err *err)
{
    for (unsigned i = 0; i < n; i++)
        b->order[i] = i;
    b->left[0] = 1u << CODER_LITERALS;
    if (n == 1)
        return 0;
    if (try_strips(b, 1u << CODER_LITERALS, 0, n, err))
        return -1;
    for (unsigned half = 0; half < FEW; half++) {
        unsigned most = half * n / 2;
        for (unsigned i = most; i < (half + 1) * n / 2; i++)
            if (b->strip[i].of[0][CODER_LITERALS] >
                b->strip[most].of[0][CODER_LITERALS])
                most = i;
        for (unsigned i = most; i > half; i--)
            b->order[i] = b->order[i - 1];
        b->order[half] = most;
    }
    return 0;
}

/* Chooses one filter and one coder for all bands, by strips, which are spread
 * over the picture; if that is small, the first strip is all of it. Two strips
 * show which filters are worth further trials, then which coders. */
static int choose_by_strips(struct idat_bands *b, struct err *err)
{
    const unsigned few = 1u << CODER_LITERALS | 1u << CODER_LONG;
    const unsigned all = is_quick(b) ? few : (1u << CODERS) - 1;
    const unsigned n = count_strips(b), first = n > 1 ? FEW : 1;
    if (order_strips(b, n, err))
        return -1;
    for (unsigned k = 0; k < IDAT_TRIED; k++)
        b->left[k] = k < 2 || !is_quick(b) ? all : 0;
    if (try_strips(b, few, 0, first, err))
        return -1;
    drop_lost(b, few, first);
    if (try_strips(b, all & ~few, 0, first, err))
        return -1;
    drop_lost(b, all, first);
    if (n > first && try_strips(b, all, first, n - first, err))
        return -1;
    find_best(b, all, 0, n);
    memset(b->filter, tried[b->best], b->count);
    unsigned repeat = 0;
    for (unsigned i = 0; i < n; i++)
        repeat += is_worth_it(b, b->strip[i].of[b->best][b->coder],
                              b->strip[i].of[b->best][CODER_LITERALS]);
    b->mixed = repeat > 0 && repeat < n && b->count >= n;
    return 0;
}

/* ---- Filters, where size counts ------------------------------------------ */

/* Rows of a picture. */
struct row_range {
    uint32_t y, n;
};

/* Returns about how many bytes rows become once they are filtered, by Huffman
 * codes alone or with matches. */
static size_t try_rows(const struct idat_bands *b, struct idat_scratch *scratch,
                       int filter, struct row_range rows, enum coder coder)
{
    const uint32_t most =
        coder == CODER_LITERALS ? 0 : (uint32_t)(PART_BEFORE / b->row + 1);
    const uint32_t above = rows.y < most ? rows.y : most;
    const size_t before = above * b->row, size = rows.n * b->row;
    uint8_t *filtered = scratch->filtered;
    idat_bands_filter(b, scratch, filter, rows.y - above, above + rows.n,
                      filtered);
    return coder == CODER_LITERALS
               ? literal_block_estimate(filtered, size) / 8
               : optimal_estimate(scratch->optimal, filtered + before, before,
                                  size);
}

/* What becomes of a band by each filter, as far as that was tried. */
struct filter_sizes {
    size_t of[FILTER_CHOICES];
};

static unsigned best_filter(const struct filter_sizes *sizes)
{
    unsigned best = FILTER_NONE;
    for (unsigned filter = 0; filter < FILTER_CHOICES; filter++)
        if (sizes->of[filter] < sizes->of[best])
            best = filter;
    return best;
}

/* Returns a part of a band: the first one is number 0. */
static struct row_range part_of(const struct idat_bands *b, uint32_t band,
                                uint32_t number)
{
    const uint32_t rows = idat_bands_rows(b, band);
    uint32_t n = (uint32_t)(PART / b->row + 1);
    if (n > rows / PARTS)
        n = (rows + PARTS - 1) / PARTS;
    return (struct row_range){
        band * b->per_band + (rows - n) / (PARTS - 1) * number, n
    };
}

/* Chooses the filter of a band by what becomes of parts of it, but for those
 * that are much worse than the best so far. If matches help little, Huffman
 * codes alone show which is best, and are quick to try. */
static void choose_for_band(void *context, size_t i)
{
    struct idat_bands *b = context;
    struct idat_scratch *scratch = idat_bands_take(b);
    struct filter_sizes sizes = { 0 };
    struct row_range part = part_of(b, (uint32_t)i, 0);
    if (!scratch)
        return;
    const size_t literals =
        try_rows(b, scratch, FILTER_LEAST_ENTROPY, part, CODER_LITERALS);
    const size_t matches =
        try_rows(b, scratch, FILTER_LEAST_ENTROPY, part, CODER_ALL);
    const enum coder coder =
        matches < literals - literals / 10 ? CODER_ALL : CODER_LITERALS;
    sizes.of[FILTER_LEAST_SUM] = SIZE_MAX; /* hardly ever the best */
    for (uint32_t number = 0; number < PARTS; number++) {
        const size_t least = sizes.of[best_filter(&sizes)];
        const size_t most = least + least / HOPELESS + HOPELESS_LEAST;
        part = part_of(b, (uint32_t)i, number);
        for (int filter = 0; filter < FILTER_CHOICES; filter++) {
            if (sizes.of[filter] > most)
                sizes.of[filter] = SIZE_MAX;
            else
                sizes.of[filter] += try_rows(b, scratch, filter, part, coder);
        }
    }
    b->filter[i] = (uint8_t)best_filter(&sizes);
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

/* Returns whether matches are worth it for a band, by a part of it. */
static bool is_worth_matches(const struct idat_bands *b,
                             struct idat_scratch *scratch, struct filtered f)
{
    size_t sample = smaller(f.size, SAMPLE), at = (f.size - sample) / 2;
    at -= at % b->row; /* a row's beginning */
    struct symbol_costs costs = b->costs[b->best][b->coder];
    f = (struct filtered){ f.rows + at, f.before + at, sample };
    return is_worth_it(b, try_coder(b, scratch, b->coder, f, &costs),
                       literal_block_estimate(f.rows, sample));
}

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
        return b->flate->deflate(scratch->deflater, out, flate_bound(size),
                                 rows, 0, size, final);
    if (optimal || b->coder != CODER_LITERALS)
        idat_bands_filter(b, scratch, IDAT_FILTER_OF_BAND, y - above, above,
                          rows - before);
    if (optimal)
        return optimal_deflate(scratch->optimal, out, rows, before, size,
                               final);
    const bool match = !b->mixed || is_worth_matches(b, scratch, f);
    return deflate_by(b, scratch, match ? b->coder : CODER_LITERALS, f, out,
                      final);
}
