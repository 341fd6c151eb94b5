/* The filters of PNG in plain C, and the choice of those for this CPU. */
#include "codecs/png/filter.h"

#include <string.h>

#include "codecs/deflate/block_split.h"

/* Marks functions for all filters and sizes of pixels. They are inlined where
 * these are constants. */
#define SIZED static inline __attribute__((always_inline))

static bool always(void)
{
    return true;
}

/* ---- What a filter predicts -----------------------------------------------*/

/* Returns all ones if a < b, else 0. */
SIZED int16_t below(int16_t a, int16_t b)
{
    return (int16_t)((int16_t)(a - b) >> 15);
}

/* Section 9.4 predicts the one of a, b and c that is nearest to a + b - c.
 * Worked out, that is the higher of a and b if 3 c - (a + b) is not above the
 * lower, the lower if it is not below the higher, and else c. Which of them
 * cannot be foreseen, so it must not become a branch. */
SIZED uint8_t paeth(int16_t a, int16_t b, int16_t c)
{
    int16_t low = (int16_t)(b ^ ((a ^ b) & below(a, b)));
    int16_t high = (int16_t)(a ^ b ^ low);
    int16_t border = (int16_t)(3 * c - a - b);
    int16_t guess = (int16_t)(low ^ ((low ^ c) & below(border, high)));
    return (uint8_t)(high ^ ((high ^ guess) & below(low, border)));
}

/* The prediction for the byte after `a` and below `b`, with `c` before b. */
SIZED uint8_t guess(unsigned type, uint8_t a, uint8_t b, uint8_t c)
{
    if (type == FILTER_SUB)
        return a;
    if (type == FILTER_UP)
        return b;
    if (type == FILTER_AVERAGE)
        return (uint8_t)((a + b) / 2);
    return type == FILTER_PAETH ? paeth(a, b, c) : 0;
}

/* ---- Undoing --------------------------------------------------------------*/

/* One pixel at a time, so that those to the left and above are in registers. */
SIZED void undo_pixels(unsigned type, uint8_t *row, const uint8_t *prior,
                       size_t size, unsigned pixel)
{
    uint8_t a[8] = { 0 }, c[8] = { 0 };
    size_t i = 0;
    for (; size - i >= pixel; i += pixel)
        for (unsigned k = 0; k < pixel; k++) {
            row[i + k] += guess(type, a[k], prior[i + k], c[k]);
            a[k] = row[i + k];
            c[k] = prior[i + k];
        }
    for (unsigned k = 0; i + k < size; k++)
        row[i + k] += guess(type, a[k], prior[i + k], c[k]);
}

/* With the byte in the highest bits of a word, two instructions lead from one
 * to the next, and a sum needs no bits above it. The bits below are a fraction
 * below one, which does not change the whole part of (a + b) / 2. */
SIZED void undo_average(uint8_t *row, const uint8_t *prior, size_t size,
                        unsigned pixel)
{
    uint32_t a[8] = { 0 };
    size_t i = 0, end = size - size % pixel;
    for (; i < end; i += pixel)
        for (unsigned k = 0; k < pixel; k++) {
            uint32_t rest = (uint32_t)row[i + k] << 24;
            a[k] = a[k] / 2 + (rest + ((uint32_t)prior[i + k] << 23));
            row[i + k] = (uint8_t)(a[k] >> 24);
        }
    for (unsigned k = 0; i + k < size; k++)
        row[i + k] += ((a[k] >> 24) + prior[i + k]) / 2;
}

SIZED void undo_sized(unsigned type, uint8_t *row, const uint8_t *prior,
                      size_t size, unsigned pixel)
{
    if (type == FILTER_SUB)
        undo_pixels(FILTER_SUB, row, prior, size, pixel);
    else if (type == FILTER_AVERAGE)
        undo_average(row, prior, size, pixel);
    else if (type == FILTER_PAETH)
        undo_pixels(FILTER_PAETH, row, prior, size, pixel);
}

static void undo(unsigned type, uint8_t *row, const uint8_t *prior, size_t size,
                 unsigned pixel)
{
    if (type == FILTER_UP)
        for (size_t i = 0; i < size; i++)
            row[i] += prior[i];
    else
        FILTER_BY_PIXEL(pixel, undo_sized, type, row, prior, size);
}

/* ---- Filtering ------------------------------------------------------------*/

/* Filters the byte at i of the first pixel, which has none to its left. */
SIZED uint8_t first(unsigned type, const uint8_t *row, const uint8_t *prior,
                    size_t i)
{
    return (uint8_t)(row[i] - guess(type, 0, prior[i], 0));
}

/* Filters a byte at i of the other pixels. */
SIZED uint8_t later(unsigned type, const uint8_t *row, const uint8_t *prior,
                    size_t i, unsigned pixel)
{
    return (uint8_t)(row[i] -
                     guess(type, row[i - pixel], prior[i], prior[i - pixel]));
}

SIZED void apply_as(uint8_t *restrict out, const uint8_t *row,
                    const uint8_t *prior, size_t size, unsigned pixel,
                    unsigned type)
{
    size_t i = 0;
    for (; i < pixel && i < size; i++)
        out[i] = first(type, row, prior, i);
    for (; i < size; i++)
        out[i] = later(type, row, prior, i, pixel);
}

static void apply(unsigned type, uint8_t *out, const uint8_t *row,
                  const uint8_t *prior, size_t size, unsigned pixel)
{
    FILTER_BY_TYPE(type, apply_as, out, row, prior, size, pixel);
}

SIZED unsigned magnitude(uint8_t v)
{
    return v < 128 ? v : 256u - v;
}

/* Sums in runs short enough for the lanes of a vector. */
SIZED uint64_t sum(unsigned type, const uint8_t *row, const uint8_t *prior,
                   size_t size, unsigned pixel)
{
    enum { RUN = 1 << 16 };
    uint64_t total = 0;
    size_t i = 0;
    for (; i < pixel && i < size; i++)
        total += magnitude(first(type, row, prior, i));
    while (i < size) {
        size_t end = size - i < RUN ? size : i + RUN;
        uint32_t part = 0;
        for (; i < end; i++)
            part += magnitude(later(type, row, prior, i, pixel));
        total += part;
    }
    return total;
}

static void measure(uint64_t sums[FILTER_TYPES], const uint8_t *row,
                    const uint8_t *prior, size_t size, unsigned pixel)
{
    sums[FILTER_NONE] = sum(FILTER_NONE, row, prior, size, pixel);
    sums[FILTER_SUB] = sum(FILTER_SUB, row, prior, size, pixel);
    sums[FILTER_UP] = sum(FILTER_UP, row, prior, size, pixel);
    sums[FILTER_AVERAGE] = sum(FILTER_AVERAGE, row, prior, size, pixel);
    sums[FILTER_PAETH] = sum(FILTER_PAETH, row, prior, size, pixel);
}

const struct filters filters_portable = {
    .name = "portable",
    .usable = always,
    .undo = undo,
    .apply = apply,
    .measure = measure,
};

/* ---- The choice -----------------------------------------------------------*/

const struct filters *const filters[] = {
#ifdef __x86_64__
    &filters_avx2,
#endif
    &filters_portable,
    NULL,
};

static const struct filters *best(void)
{
    size_t i = 0;
    while (!filters[i]->usable())
        i++;
    return filters[i];
}

bool filter_undo_row(unsigned type, uint8_t *row, const uint8_t *prior,
                     size_t size, unsigned pixel)
{
    if (type >= FILTER_TYPES)
        return false;
    best()->undo(type, row, prior, size, pixel);
    return true;
}

void filter_row_with(unsigned type, uint8_t *out, const uint8_t *row,
                     const uint8_t *prior, size_t size, unsigned pixel)
{
    out[0] = (uint8_t)type;
    best()->apply(type, out + 1, row, prior, size, pixel);
}

/* ---- Which filter a row gets ----------------------------------------------*/

/* By the filter whose bytes, taken as signed, have the smallest sum of absolute
 * values; of several, by the first. */
static void filter_least_sum(uint8_t *out, const uint8_t *row,
                             const uint8_t *prior, size_t size, unsigned pixel)
{
    const struct filters *f = best();
    uint64_t sums[FILTER_TYPES];
    unsigned type = FILTER_NONE;
    f->measure(sums, row, prior, size, pixel);
    for (unsigned i = 1; i < FILTER_TYPES; i++)
        if (sums[i] < sums[type])
            type = i;
    out[0] = (uint8_t)type;
    f->apply(type, out + 1, row, prior, size, pixel);
}

static uint64_t entropy(const uint8_t *bytes, size_t size)
{
    uint32_t count[256] = { 0 };
    for (size_t i = 0; i < size; i++)
        count[bytes[i]]++;
    return symbol_count_entropy(count, 256);
}

static uint64_t different_pairs(const uint8_t *bytes, size_t size)
{
    uint64_t seen[1 << 16 >> 6] = { 0 }, n = 0;
    for (size_t i = 1; i < size; i++) {
        unsigned pair = (unsigned)bytes[i - 1] << 8 | bytes[i];
        uint64_t bit = (uint64_t)1 << pair % 64;
        n += (seen[pair / 64] & bit) == 0;
        seen[pair / 64] |= bit;
    }
    return n;
}

/* Filters by the type of which `rate` is the least; of several, the first.
 */
static void filter_least(uint64_t (*rate)(const uint8_t *, size_t),
                         uint8_t *out, const uint8_t *row, const uint8_t *prior,
                         size_t size, unsigned pixel, uint8_t *spare)
{
    uint64_t least = UINT64_MAX;
    unsigned best = FILTER_NONE;
    for (unsigned type = FILTER_NONE; type < FILTER_TYPES; type++) {
        filter_row_with(type, spare, row, prior, size, pixel);
        uint64_t measured = rate(spare + 1, size);
        if (measured < least) {
            least = measured;
            best = type;
        }
    }
    filter_row_with(best, out, row, prior, size, pixel);
}

void filter_row_by(unsigned choice, uint8_t *out, const uint8_t *row,
                   const uint8_t *prior, size_t size, unsigned pixel,
                   uint8_t *spare)
{
    if (choice < FILTER_TYPES)
        filter_row_with(choice, out, row, prior, size, pixel);
    else if (choice == FILTER_LEAST_SUM)
        filter_least_sum(out, row, prior, size, pixel);
    else
        filter_least(choice == FILTER_LEAST_ENTROPY ? entropy : different_pairs,
                     out, row, prior, size, pixel, spare);
}
