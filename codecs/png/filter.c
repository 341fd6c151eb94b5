/* The filters of PNG in plain C, and the choice of those for this CPU. */
#include "codecs/png/filter.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/deflate/block_split.h"

/* Marks functions for all filters and sizes of pixels. They are inlined where
 * these are constants. */
#define SIZED static inline __attribute__((always_inline))

/* ---- What a filter predicts -----------------------------------------------*/

/* Section 9.4 predicts the one of a, b and c that is nearest to a + b - c. If c
 * lies between a and b, then a is as far from that as b is from c, and b as far
 * as a is from c, and c as far as these two distances differ. If c does not,
 * the one farther from c is the nearest, as if c were the other one. So with c
 * moved between them, the prediction is the lower of a and b where it is at
 * least twice as far from c as the higher, the higher in the opposite case, and
 * else c: all in bytes, of which a vector has the most. */
SIZED uint8_t paeth(uint8_t a, uint8_t b, uint8_t c)
{
    uint8_t low = a < b ? a : b, high = a < b ? b : a;
    c = c < low ? low : c;
    c = c > high ? high : c;
    uint8_t to_low = (uint8_t)(c - low), to_high = (uint8_t)(high - c);
    uint8_t guess = to_low <= to_high / 2 ? high : c;
    return to_high <= to_low / 2 ? low : guess;
}

/* The prediction for the byte after `a` and below `b`, with `c` before b. */
SIZED uint8_t guess(unsigned type, uint8_t a, uint8_t b, uint8_t c)
{
    if (type == FILTER_SUB)
        return a;
    if (type == FILTER_UP)
        return b;
    if (type == FILTER_AVERAGE)
        return (uint8_t)((a & b) + (a ^ b) / 2);
    return type == FILTER_PAETH ? paeth(a, b, c) : 0;
}

/* ---- Undoing --------------------------------------------------------------*/

/* Returns all ones if a < b, else 0. */
SIZED int16_t below(int16_t a, int16_t b)
{
    return (int16_t)((int16_t)(a - b) >> 15);
}

/* Paeth again: the higher of a and b if 3 c - (a + b) is not above the lower,
 * the lower if it is not below the higher, and else c. Here nothing is done for
 * many bytes at once, and which it is cannot be foreseen: so it must not become
 * a branch. */
SIZED uint8_t paeth_of_one(int16_t a, int16_t b, int16_t c)
{
    int16_t low = (int16_t)(b ^ ((a ^ b) & below(a, b)));
    int16_t high = (int16_t)(a ^ b ^ low);
    int16_t border = (int16_t)(3 * c - a - b);
    int16_t guess = (int16_t)(low ^ ((low ^ c) & below(border, high)));
    return (uint8_t)(high ^ ((high ^ guess) & below(low, border)));
}

SIZED uint8_t undone(unsigned type, uint8_t byte, uint8_t a, uint8_t b,
                     uint8_t c)
{
    return (uint8_t)(byte + (type == FILTER_PAETH ? paeth_of_one(a, b, c)
                                                  : guess(type, a, b, c)));
}

/* One pixel at a time, so that those to the left and above are in registers. */
SIZED void undo_pixels(unsigned type, uint8_t *row, const uint8_t *prior,
                       size_t from, size_t size, unsigned pixel)
{
    uint8_t a[8] = { 0 }, c[8] = { 0 };
    size_t i = from;
    for (unsigned k = 0; from && k < pixel; k++) {
        a[k] = row[from - pixel + k];
        c[k] = prior[from - pixel + k];
    }
    for (; size - i >= pixel; i += pixel)
        for (unsigned k = 0; k < pixel; k++) {
            a[k] = undone(type, row[i + k], a[k], prior[i + k], c[k]);
            row[i + k] = a[k];
            c[k] = prior[i + k];
        }
    for (unsigned k = 0; i + k < size; k++)
        row[i + k] = undone(type, row[i + k], a[k], prior[i + k], c[k]);
}

SIZED void undo_sized(unsigned type, uint8_t *row, const uint8_t *prior,
                      size_t from, size_t size, unsigned pixel)
{
    if (type == FILTER_SUB)
        undo_pixels(FILTER_SUB, row, prior, from, size, pixel);
    else if (type == FILTER_AVERAGE)
        undo_pixels(FILTER_AVERAGE, row, prior, from, size, pixel);
    else if (type == FILTER_PAETH)
        undo_pixels(FILTER_PAETH, row, prior, from, size, pixel);
}

void filter_undo_from(unsigned type, uint8_t *row, const uint8_t *prior,
                      size_t from, size_t size, unsigned pixel)
{
    if (type == FILTER_UP)
        for (size_t i = from; i < size; i++)
            row[i] += prior[i];
    else
        FILTER_BY_PIXEL(pixel, undo_sized, type, row, prior, from, size);
}

static void undo(unsigned type, uint8_t *row, const uint8_t *prior, size_t size,
                 unsigned pixel)
{
    filter_undo_from(type, row, prior, 0, size, pixel);
}

/* ---- Filtering ------------------------------------------------------------*/

SIZED void apply_as(uint8_t *restrict out, const uint8_t *row,
                    const uint8_t *prior, size_t size, unsigned pixel,
                    unsigned type)
{
    size_t i = 0;
    for (; i < pixel && i < size; i++)
        out[i] = (uint8_t)(row[i] - guess(type, 0, prior[i], 0));
    for (; i < size; i++)
        out[i] = (uint8_t)(row[i] - guess(type, row[i - pixel], prior[i],
                                          prior[i - pixel]));
}

/* How far x is from a guess, if the difference is taken as signed: itself the
 * difference of two bytes, which vectors have an instruction to sum. */
SIZED unsigned off(uint8_t x, uint8_t guess)
{
    uint8_t made = (uint8_t)(x - guess);
    uint8_t from = made < 128 ? 0 : 128, to = made & 127;
    return (unsigned)abs(from - to);
}

SIZED void add_byte(unsigned sum[FILTER_TYPES], uint8_t x, uint8_t a, uint8_t b,
                    uint8_t c)
{
    sum[FILTER_NONE] += off(x, 0);
    sum[FILTER_SUB] += off(x, a);
    sum[FILTER_UP] += off(x, b);
    sum[FILTER_AVERAGE] += off(x, guess(FILTER_AVERAGE, a, b, c));
    sum[FILTER_PAETH] += off(x, paeth(a, b, c));
}

SIZED void measure(uint64_t sums[FILTER_TYPES], const uint8_t *row,
                   const uint8_t *prior, size_t size, unsigned pixel)
{
    enum { RUN = 1 << 16 }; /* short enough for 32 bits */
    memset(sums, 0, FILTER_TYPES * sizeof *sums);
    for (size_t i = 0; i < size;) {
        size_t end = size - i < RUN ? size : i + RUN;
        unsigned part[FILTER_TYPES] = { 0 };
        for (; i < pixel && i < size; i++)
            add_byte(part, row[i], 0, prior[i], 0);
        for (; i < end; i++)
            add_byte(part, row[i], row[i - pixel], prior[i], prior[i - pixel]);
        for (unsigned type = 0; type < FILTER_TYPES; type++)
            sums[type] += part[type];
    }
}

/* The two as they are compiled for a kind of CPU: the vectors are the
 * compiler's. */
#define MADE_FOR(cpu, attribute)                                               \
    attribute static void apply_##cpu(                                         \
        unsigned type, uint8_t *out, const uint8_t *row, const uint8_t *prior, \
        size_t size, unsigned pixel)                                           \
    {                                                                          \
        FILTER_BY_TYPE(type, apply_as, out, row, prior, size, pixel);          \
    }                                                                          \
    attribute static void measure_##cpu(                                       \
        uint64_t sums[FILTER_TYPES], const uint8_t *row, const uint8_t *prior, \
        size_t size, unsigned pixel)                                           \
    {                                                                          \
        measure(sums, row, prior, size, pixel);                                \
    }
MADE_FOR(any, )

static bool always(void)
{
    return true;
}

static const struct filters portable = {
    .name = "portable",
    .usable = always,
    .undo = undo,
    .apply = apply_any,
    .measure = measure_any,
};

#ifdef __x86_64__
MADE_FOR(avx2, __attribute__((target("avx2"))))

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static const struct filters avx2 = {
    .name = "avx2",
    .usable = has_avx2,
    .undo = filter_undo_sse4,
    .apply = apply_avx2,
    .measure = measure_avx2,
};
#endif

/* ---- The choice -----------------------------------------------------------*/

const struct filters *const filters[] = {
#ifdef __x86_64__
    &avx2,
#endif
    &portable,
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

/* By the filter with the smallest sum; of several, by the first. */
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
