/* How filters and coders are tried. */
#include "codecs/png/idat_bands.h"

#include <string.h>

#include "codecs/deflate/deflate_block.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"
#include "codecs/deflate/optimal.h"
#include "codecs/png/filter.h"

enum {
    SAMPLE = 16 << 10, /* bytes of a band, to choose its coder */
    STRIP = 32 << 10,  /* bytes of rows, to choose filters, at most */
    STRIP_LEAST = 8 << 10,
    STRIPS_SHARE = 32, /* of the picture is in strips, unless they are small */
    STRIPS_SHARE_QUICK = 128, /* the same where speed counts most */
    PARTS = 3,                /* of a band, on which filters are tried where */
    PART = 64 << 10,          /* size counts, each of so many bytes, behind */
    PART_BEFORE = 8 << 10,    /* so many to which matches may refer */
    HOPELESS = 10, /* a filter is tried no further that makes parts larger by */
    HOPELESS_LEAST = 256, /* such a share, and so many bytes */
};

/* ---- Coders ------------------------------------------------------------- */

/* Two pixels of three bytes, or of four, are what most matches begin with,
 * where they are not long. */
static enum lz77_search search_of(const struct idat_bands *b, enum coder coder)
{
    return coder == CODER_SHORT                    ? LZ77_PIXELS
           : coder == CODER_ALL                    ? LZ77_THREE
           : b->pixel == 1 && b->has_room          ? LZ77_SEVEN_QUICKLY
           : b->pixel <= (b->long_repeats ? 1 : 2) ? LZ77_SEVEN
           : !b->only_repeats                      ? LZ77_SIX
           : b->pixel == 3 && !b->long_repeats     ? LZ77_SIX_QUICKLY
                                                   : LZ77_EIGHT_QUICKLY;
}

/* Deflates by a coder, in the way that is fast enough for the level. */
static size_t deflate_by(const struct idat_bands *b,
                         struct idat_scratch *scratch, enum coder coder,
                         uint8_t *out, const uint8_t *data, size_t before,
                         size_t size, bool final)
{
    if (coder == CODER_LITERALS)
        return b->level < IDAT_LZ77_FROM
                   ? literal_block_deflate_quickly(out, data, size, final)
                   : literal_block_deflate(out, data, size, final);
    if (b->level >= IDAT_LZ77_FROM)
        return lz77_deflate(scratch->lz77, out, data, before, size, final,
                            search_of(b, coder));
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
 * read. Where speed counts most, 5 % must be saved. */
static bool are_worth_it(const struct idat_bands *b, size_t matches,
                         size_t literals)
{
    return matches <
           literals - literals / (b->level < IDAT_LZ77_FROM ? 20 : 100);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Filters, by strips ------------------------------------------------- */

/* The filters that are best for most pictures, and two that for some drawn ones
 * repeat more: the same letter in the next row, the same edge in the next
 * column. */
static const uint8_t tried[IDAT_TRIED] = { FILTER_LEAST_SUM, FILTER_NONE,
                                           FILTER_UP, FILTER_SUB };
enum { TRIED_ADAPTIVE, TRIED_NONE, TRIED_FIRST };

static uint32_t strip_rows(const struct idat_bands *b)
{
    size_t part = b->level < IDAT_LZ77_FROM ? STRIPS_SHARE_QUICK : STRIPS_SHARE;
    size_t share = b->img->height * b->row / (IDAT_STRIPS * part);
    size_t strip = share > STRIP         ? STRIP
                   : share < STRIP_LEAST ? STRIP_LEAST
                                         : share;
    uint32_t n = b->row < strip ? (uint32_t)(strip / b->row) : 1;
    return n < b->img->height ? n : b->img->height;
}

/* Returns whether matches hardly help, as in a photograph that is filtered. It
 * has none to speak of if it is not filtered, either. */
static bool is_like_noise(size_t matches, size_t literals)
{
    return matches > literals - literals / 10;
}

/* Returns how many strips there are: one that is all of a small picture, and
 * fewer of long rows, which are whole in a strip. */
static size_t count_strips(const struct idat_bands *b)
{
    const uint32_t height = b->img->height, share = height / STRIPS_SHARE;
    if (strip_rows(b) == height)
        return 1;
    return b->row < STRIP || share > IDAT_STRIPS ? IDAT_STRIPS
           : share > 1                           ? share
                                                 : 1;
}

static uint32_t strip_at(const struct idat_bands *b, size_t i)
{
    const size_t last = b->img->height - strip_rows(b), n = count_strips(b);
    return (uint32_t)(n > 1 ? last * i / (n - 1) : last / 2);
}

/* Tries a coder on strip i, once a filter is applied. Matches may refer to what
 * is before the strip, as they will: many repeat what is farther than a strip
 * is long. */
static void try_on_strip(struct idat_bands *b, struct idat_scratch *scratch,
                         unsigned k, size_t i, enum coder coder)
{
    const uint32_t y = strip_at(b, i), n = strip_rows(b);
    const uint32_t above = y < b->before ? y : b->before;
    const size_t before = above * b->row;
    struct coder_sizes *sizes = &b->strip[k][i];
    const uint8_t *rows = scratch->filtered + before;
    idat_bands_filter(b, scratch, tried[k], y - above, above + n,
                      scratch->filtered);
    sizes->of[CODER_LITERALS] = literal_block_estimate(rows, n * b->row);
    sizes->of[coder] = try_coder(b, scratch, coder, rows, before, n * b->row);
}

/* Tries the two filters that are best for most pictures, and long matches; no
 * matches with the second if they hardly help with the first. */
static void try_strip(void *context, size_t i)
{
    struct idat_bands *b = context;
    struct idat_scratch *scratch = idat_bands_take(b);
    const struct coder_sizes *adaptive = &b->strip[TRIED_ADAPTIVE][i];
    struct coder_sizes *plain = &b->strip[TRIED_NONE][i];
    enum coder coder = CODER_LONG;
    if (!scratch)
        return;
    if (b->continuous) {
        try_on_strip(b, scratch, TRIED_ADAPTIVE, i, coder);
        if (is_like_noise(adaptive->of[CODER_LONG],
                          adaptive->of[CODER_LITERALS]))
            coder = CODER_LITERALS;
    }
    plain->of[CODER_LONG] = SIZE_MAX;
    try_on_strip(b, scratch, TRIED_NONE, i, coder);
    idat_bands_give(b, scratch);
}

static void try_more_filters(void *context, size_t i)
{
    struct idat_bands *b = context;
    struct idat_scratch *scratch = idat_bands_take(b);
    if (!scratch)
        return;
    for (unsigned k = TRIED_FIRST; k < IDAT_TRIED; k++)
        try_on_strip(b, scratch, k, i, CODER_LONG);
    idat_bands_give(b, scratch);
}

/* Tries short matches with the best filter, unless long ones were not worth a
 * trial. Where these save nothing, short ones may; but they must be better than
 * long ones that are not searched for quickly. */
static void try_short(void *context, size_t i)
{
    struct idat_bands *b = context;
    struct coder_sizes *sizes = &b->strip[b->best][i];
    struct idat_scratch *scratch = idat_bands_take(b);
    if (!scratch)
        return;
    sizes->of[CODER_SHORT] = sizes->of[CODER_LONG];
    if (sizes->of[CODER_LONG] < SIZE_MAX)
        try_on_strip(b, scratch, b->best, i, CODER_SHORT);
    if (!b->only_repeats && sizes->of[CODER_SHORT] < sizes->of[CODER_LONG])
        try_on_strip(b, scratch, b->best, i, CODER_LONG);
    idat_bands_give(b, scratch);
}

/* Tries all matches on strip i with the best filter, where others are worth it.
 */
static void try_all(struct idat_bands *b, size_t i)
{
    struct coder_sizes *sizes = &b->strip[b->best][i];
    struct idat_scratch *scratch = idat_bands_take(b);
    if (!scratch)
        return;
    if (are_worth_it(b, sizes->of[b->matches], sizes->of[CODER_LITERALS]))
        try_on_strip(b, scratch, b->best, i, CODER_ALL);
    idat_bands_give(b, scratch);
}

/* Returns whether strip i is one of the two that tell whether the others are
 * worth the time of the slowest search. */
static bool is_first(const struct idat_bands *b, size_t i)
{
    return i % (IDAT_STRIPS / 2) == (count_strips(b) > 1);
}

static void try_all_first(void *context, size_t i)
{
    struct idat_bands *b = context;
    struct coder_sizes *sizes = &b->strip[b->best][i];
    sizes->of[CODER_ALL] = sizes->of[b->matches];
    if (is_first(b, i))
        try_all(b, i);
}

static void try_all_others(void *context, size_t i)
{
    struct idat_bands *b = context;
    if (!is_first(b, i))
        try_all(b, i);
}

/* Tries n strips; those of a picture in bands one by one. */
static int try_strips(struct idat_bands *b, size_t n,
                      void (*try)(void *context, size_t i), struct err *err)
{
    if (!image_has_bands(b->img)) {
        thread_pool_run(b->rows.pool, try, b, n);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (idat_bands_hold(b, strip_at(b, i), strip_rows(b), err))
            return -1;
        try(b, i);
    }
    return 0;
}

/* Returns the size of the strips if a coder is used where it is worth it. */
static size_t sum_of_strips(const struct coder_sizes *strip, enum coder coder)
{
    size_t sum = 0;
    for (int i = 0; i < IDAT_STRIPS; i++)
        sum += smaller(strip[i].of[coder], strip[i].of[CODER_LITERALS]);
    return sum;
}

/* Returns whether matches help much in all of n strips. */
static bool all_repeat(const struct coder_sizes *strip, size_t n)
{
    size_t i = 0;
    while (i < n &&
           !is_like_noise(strip[i].of[CODER_LONG], strip[i].of[CODER_LITERALS]))
        i++;
    return i == n;
}

/* Chooses the filter by n strips. Of those that are tried later, one must be
 * better than chance would make it. */
static int choose_filter(struct idat_bands *b, size_t n, struct err *err)
{
    unsigned end = TRIED_FIRST;
    if (try_strips(b, n, try_strip, err))
        return -1;
    if (b->continuous && b->level >= IDAT_LZ77_FROM &&
        all_repeat(b->strip[TRIED_ADAPTIVE], n)) {
        end = IDAT_TRIED;
        if (try_strips(b, n, try_more_filters, err))
            return -1;
    }
    size_t least = SIZE_MAX;
    for (unsigned k = b->continuous ? TRIED_ADAPTIVE : TRIED_NONE; k < end;
         k++) {
        size_t sum = sum_of_strips(b->strip[k], CODER_LONG);
        if (k >= TRIED_FIRST)
            sum += sum / 50;
        if (sum < least) {
            least = sum;
            b->best = k;
        }
    }
    memset(b->filter, tried[b->best], b->count);
    return 0;
}

/* Returns the size that the strips may have with short matches, which are found
 * in half the time. Where repetition is rare, these must be better than the
 * others, and not by chance, as of a small sample. Elsewhere they may take 1 %
 * more; or half of what is saved by a filter that libpng does not use, but not
 * more than an eighth. */
static size_t most_by_short(const struct idat_bands *b)
{
    size_t by_long = sum_of_strips(b->strip[b->best], CODER_LONG);
    size_t adaptive = sum_of_strips(b->strip[TRIED_ADAPTIVE], CODER_LONG);
    if (!b->only_repeats)
        return by_long - by_long / 200;
    return b->has_room
               ? smaller((by_long + adaptive) / 2, by_long + by_long / 8)
               : by_long + by_long / 100;
}

/* Chooses which matches are looked for by n strips. All of them take up to
 * twice the time of the others, which must be worth 2.5 %. */
static int choose_matches(struct idat_bands *b, size_t n, struct err *err)
{
    const struct coder_sizes *strip = b->strip[b->best];
    const size_t by_long = sum_of_strips(strip, CODER_LONG);
    const size_t adaptive = sum_of_strips(b->strip[TRIED_ADAPTIVE], CODER_LONG);
    b->matches = CODER_LONG;
    b->only_repeats = all_repeat(strip, n);
    b->long_repeats = by_long <= sum_of_strips(strip, CODER_LITERALS) / 3;
    b->has_room =
        b->continuous && b->only_repeats && by_long < adaptive - adaptive / 6;
    if (b->level < IDAT_LZ77_FROM)
        return 0;
    if (!b->long_repeats || b->has_room) {
        if (try_strips(b, n, try_short, err))
            return -1;
        if (sum_of_strips(strip, CODER_SHORT) < most_by_short(b))
            b->matches = CODER_SHORT;
    }
    if (b->has_room)
        return 0;
    if (try_strips(b, n, try_all_first, err))
        return -1;
    const size_t others = sum_of_strips(strip, b->matches);
    if (sum_of_strips(strip, CODER_ALL) >= others - others / (n > 1 ? 160 : 40))
        return 0;
    if (try_strips(b, n, try_all_others, err))
        return -1;
    if (sum_of_strips(strip, CODER_ALL) < others - others / 40)
        b->matches = CODER_ALL;
    return 0;
}

/* Chooses one filter for all bands, and the coder for matches, by strips, which
 * are spread over the picture; if that is small, the first strip is all of it.
 */
static int choose_by_strips(struct idat_bands *b, struct err *err)
{
    const bool whole = strip_rows(b) == b->img->height;
    const size_t n = count_strips(b);
    b->only_repeats = true; /* so long as no strip shows otherwise */
    if (choose_filter(b, n, err) || choose_matches(b, n, err))
        return -1;
    const struct coder_sizes *strip = b->strip[b->best];
    for (size_t i = 0; i < n; i++)
        b->repeats |= are_worth_it(b, strip[i].of[b->matches],
                                   strip[i].of[CODER_LITERALS]);
    b->whole_sampled =
        whole && b->count == 1 && b->img->height * b->row <= SAMPLE;
    return 0;
}

/* ---- Filters, where size counts ------------------------------------------ */

/* Rows of a picture. */
struct row_range {
    uint32_t y, n;
};

/* Returns about how many bytes rows become by Huffman codes alone once they are
 * filtered. */
static size_t try_literals(const struct idat_bands *b,
                           struct idat_scratch *scratch, int filter,
                           struct row_range rows)
{
    idat_bands_filter(b, scratch, filter, rows.y, rows.n, scratch->filtered);
    return literal_block_estimate(scratch->filtered, rows.n * b->row);
}

/* The same with matches. */
static size_t try_optimal(const struct idat_bands *b,
                          struct idat_scratch *scratch, int filter,
                          struct row_range rows)
{
    const uint32_t most = (uint32_t)(PART_BEFORE / b->row + 1);
    const uint32_t above = rows.y < most ? rows.y : most;
    idat_bands_filter(b, scratch, filter, rows.y - above, above + rows.n,
                      scratch->filtered);
    return optimal_estimate(scratch->optimal,
                            scratch->filtered + above * b->row, above * b->row,
                            rows.n * b->row);
}

typedef size_t try_function(const struct idat_bands *b,
                            struct idat_scratch *scratch, int filter,
                            struct row_range rows);

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

/* Returns whether matches help where each row has the simplest filter. */
static bool do_matches_help(const struct idat_bands *b,
                            struct idat_scratch *scratch, struct row_range rows)
{
    size_t with = try_optimal(b, scratch, FILTER_LEAST_ENTROPY, rows);
    size_t without = try_literals(b, scratch, FILTER_LEAST_ENTROPY, rows);
    return with < without - without / 10;
}

/* Adds what becomes of rows by each filter, but for those that are much worse
 * than the best so far. */
static void try_filters(const struct idat_bands *b,
                        struct idat_scratch *scratch, try_function *try,
                        struct row_range rows, struct filter_sizes *sizes)
{
    const size_t least = sizes->of[best_filter(sizes)];
    const size_t most = least + least / HOPELESS + HOPELESS_LEAST;
    for (int filter = 0; filter < FILTER_CHOICES; filter++) {
        if (sizes->of[filter] > most)
            sizes->of[filter] = SIZE_MAX;
        else
            sizes->of[filter] += try(b, scratch, filter, rows);
    }
}

/* Chooses the filter of a band by what matches make of parts of it. If they
 * help little, Huffman codes alone show which is best, and are quick to try on
 * the whole. */
static void choose_for_band(void *context, size_t i)
{
    struct idat_bands *b = context;
    const uint32_t band = (uint32_t)i;
    struct idat_scratch *scratch = idat_bands_take(b);
    struct filter_sizes sizes = { 0 };
    if (!scratch)
        return;
    sizes.of[FILTER_LEAST_SUM] = SIZE_MAX; /* hardly ever the best */
    if (do_matches_help(b, scratch, part_of(b, band, 0)))
        for (uint32_t number = 0; number < PARTS; number++)
            try_filters(b, scratch, try_optimal, part_of(b, band, number),
                        &sizes);
    else
        try_filters(
            b, scratch, try_literals,
            (struct row_range){ band * b->per_band, idat_bands_rows(b, band) },
            &sizes);
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

/* Returns whether matches are worth it for a band, by a part of it. If they
 * were in strips, that may refer to what is before it, as the band will:
 * repetition after more bytes than the part has shows only so. If they were
 * not, as in dither, they must save a tenth: in noise of few values most bands
 * save less than half of what their parts do, and take several times as long.
 */
static bool is_worth_matches(const struct idat_bands *b,
                             struct idat_scratch *scratch, const uint8_t *rows,
                             size_t before, size_t size)
{
    size_t sample = smaller(size, SAMPLE), at = (size - sample) / 2;
    at -= at % b->row; /* a row's beginning */
    if (b->whole_sampled || b->only_repeats)
        return b->repeats;
    if (b->level < IDAT_LZ77_FROM && !b->repeats)
        return false;
    size_t matches = try_coder(b, scratch, b->matches, rows + at,
                               b->repeats ? before + at : 0, sample);
    size_t literals = literal_block_estimate(rows + at, sample);
    return b->level < IDAT_LZ77_FROM ? are_worth_it(b, matches, literals)
           : b->repeats              ? matches < literals
                                     : !is_like_noise(matches, literals);
}

size_t idat_choice_deflate(const struct idat_bands *b,
                           struct idat_scratch *scratch, uint32_t i,
                           uint8_t *out, const uint8_t **filtered)
{
    const bool final = i + 1 == b->count;
    const uint32_t y = i * b->per_band, n = idat_bands_rows(b, i);
    const uint32_t above = i > 0 ? b->before : 0;
    const size_t before = above * b->row, size = n * b->row;
    uint8_t *rows = scratch->filtered + b->before * b->row;
    *filtered = rows;
    idat_bands_filter(b, scratch, IDAT_FILTER_OF_BAND, y, n, rows);
    if (b->level == 0)
        return b->flate->deflate(scratch->deflater, out, flate_bound(size),
                                 rows, 0, size, final);
    if (b->repeats) /* the sample refers to them as well */
        idat_bands_filter(b, scratch, IDAT_FILTER_OF_BAND, y - above, above,
                          rows - before);
    if (b->level < IDAT_SIZE_FROM &&
        !is_worth_matches(b, scratch, rows, before, size))
        return deflate_by(b, scratch, CODER_LITERALS, out, rows, before, size,
                          final);
    if (!b->repeats)
        idat_bands_filter(b, scratch, IDAT_FILTER_OF_BAND, y - above, above,
                          rows - before);
    if (b->level >= IDAT_SIZE_FROM)
        return optimal_deflate(scratch->optimal, out, rows, before, size,
                               final);
    return deflate_by(b, scratch, b->matches, out, rows, before, size, final);
}
