/* Filters rows of PNG with the vectors of AVX2: all bytes of a row are known,
 * so that 32 are done at a time. */
#include "codecs/png/filter.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#define AVX2  __attribute__((target("avx2")))
#define SIZED static inline __attribute__((always_inline))

/* A pixel has at most BEFORE bytes. SHORT rows, of fewer bytes, have not enough
 * for a vector of them and of those to the left at the end of the row. */
enum { WIDE = 32, BEFORE = 8, SHORT = WIDE + BEFORE };

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

/* ---- Bytes of a row -------------------------------------------------------*/

/* Bytes of a row, and those to the left, above, and above to the left. */
struct bytes32 {
    __m256i x, a, b, c;
};

AVX2 SIZED __m256i load_wide(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

AVX2 SIZED void store_wide(uint8_t *to, __m256i v)
{
    _mm256_storeu_si256((__m256i *)to, v);
}

/* Returns 0, 1 and so on in each half. */
AVX2 SIZED __m256i places(void)
{
    return _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                            15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                            14, 15);
}

/* Moves bytes up by fewer places than a half has, and fills up with zeros. Each
 * half takes bytes by their place in it, which is negative for those that come
 * from before it; these are zeros, or with the sign flipped all others are. */
AVX2 SIZED __m256i move_up(__m256i v, unsigned n)
{
    __m256i from = _mm256_sub_epi8(places(), _mm256_set1_epi8((char)n));
    __m256i outside = _mm256_xor_si256(from, _mm256_set1_epi8(-128));
    __m256i lower = _mm256_permute2x128_si256(v, v, 0x08); /* in the upper */
    return _mm256_or_si256(_mm256_shuffle_epi8(v, from),
                           _mm256_shuffle_epi8(lower, outside));
}

/* The first bytes, with zeros outside of the row, of which all filters make
 * zeros. */
AVX2 SIZED struct bytes32 load_first(const uint8_t *row, const uint8_t *prior,
                                     unsigned pixel)
{
    __m256i x = load_wide(row), b = load_wide(prior);
    return (struct bytes32){ x, move_up(x, pixel), b, move_up(b, pixel) };
}

AVX2 SIZED struct bytes32 load_middle(const uint8_t *row, const uint8_t *prior,
                                      size_t i, unsigned pixel)
{
    return (struct bytes32){ load_wide(row + i), load_wide(row + i - pixel),
                             load_wide(prior + i),
                             load_wide(prior + i - pixel) };
}

/* The last n bytes of the row, behind zeros. */
AVX2 SIZED struct bytes32 load_last(const uint8_t *row, const uint8_t *prior,
                                    size_t size, size_t n, unsigned pixel)
{
    const __m256i half =
        _mm256_setr_m128i(_mm_setzero_si128(), _mm_set1_epi8(16));
    __m256i place = _mm256_add_epi8(places(), half);
    __m256i kept =
        _mm256_cmpgt_epi8(place, _mm256_set1_epi8((char)(WIDE - 1 - n)));
    struct bytes32 v = load_middle(row, prior, size - WIDE, pixel);
    return (struct bytes32){ _mm256_and_si256(v.x, kept),
                             _mm256_and_si256(v.a, kept),
                             _mm256_and_si256(v.b, kept),
                             _mm256_and_si256(v.c, kept) };
}

/* Bytes from i on of a short row, with zeros outside of it. */
AVX2 SIZED struct bytes32 load_short(const uint8_t *row, const uint8_t *prior,
                                     size_t size, size_t i, unsigned pixel)
{
    uint8_t here[BEFORE + WIDE] = { 0 }, above[BEFORE + WIDE] = { 0 };
    uint8_t left[WIDE] = { 0 }, corner[WIDE] = { 0 };
    size_t n = size - i < WIDE ? size - i : WIDE, before = i ? BEFORE : 0;
    memcpy(here + BEFORE - before, row + i - before, before + n);
    memcpy(above + BEFORE - before, prior + i - before, before + n);
    memcpy(left, here + BEFORE - pixel, n);
    memcpy(corner, above + BEFORE - pixel, n);
    return (struct bytes32){ load_wide(here + BEFORE), load_wide(left),
                             load_wide(above + BEFORE), load_wide(corner) };
}

/* ---- What the filters make of them ----------------------------------------*/

/* If c lies between a and b, then a is as far from a + b - c as b is from c,
 * and b as far as a is from c, and c as far as these two distances differ. If c
 * does not, the one farther from c is the nearest. So with distances that are
 * zero where c is beyond, the prediction is the lower of a and b where it is at
 * least twice as far from c as the higher, the higher in the opposite case, and
 * else c. */
AVX2 SIZED __m256i paeth_guess(struct bytes32 v)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i low = _mm256_min_epu8(v.a, v.b), high = _mm256_max_epu8(v.a, v.b);
    __m256i to_low = _mm256_subs_epu8(v.c, low);
    __m256i to_high = _mm256_subs_epu8(high, v.c);
    __m256i more = _mm256_subs_epu8(_mm256_adds_epu8(to_high, to_high), to_low);
    __m256i guess = _mm256_blendv_epi8(v.c, low, _mm256_cmpeq_epi8(more, zero));
    more = _mm256_subs_epu8(_mm256_adds_epu8(to_low, to_low), to_high);
    return _mm256_blendv_epi8(guess, high, _mm256_cmpeq_epi8(more, zero));
}

/* pavgb rounds up. */
AVX2 SIZED __m256i average_guess(struct bytes32 v)
{
    __m256i odd = _mm256_xor_si256(v.a, v.b);
    odd = _mm256_and_si256(odd, _mm256_set1_epi8(1));
    return _mm256_sub_epi8(_mm256_avg_epu8(v.a, v.b), odd);
}

AVX2 SIZED __m256i filtered(unsigned type, struct bytes32 v)
{
    if (type == FILTER_SUB)
        return _mm256_sub_epi8(v.x, v.a);
    if (type == FILTER_UP)
        return _mm256_sub_epi8(v.x, v.b);
    if (type == FILTER_AVERAGE)
        return _mm256_sub_epi8(v.x, average_guess(v));
    return type == FILTER_PAETH ? _mm256_sub_epi8(v.x, paeth_guess(v)) : v.x;
}

/* ---- Measuring ------------------------------------------------------------*/

AVX2 SIZED void add_magnitudes(__m256i sums[FILTER_TYPES], struct bytes32 v)
{
#pragma GCC unroll 5
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        __m256i magnitude = _mm256_abs_epi8(filtered(type, v));
        magnitude = _mm256_sad_epu8(magnitude, _mm256_setzero_si256());
        sums[type] = _mm256_add_epi64(sums[type], magnitude);
    }
}

AVX2 SIZED uint64_t sum_of(__m256i v)
{
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(v),
                                _mm256_extracti128_si256(v, 1));
    return (uint64_t)_mm_cvtsi128_si64(two) +
           (uint64_t)_mm_extract_epi64(two, 1);
}

AVX2 SIZED void write_sums(uint64_t sums[FILTER_TYPES],
                           const __m256i wide[FILTER_TYPES])
{
#pragma GCC unroll 5
    for (unsigned type = 0; type < FILTER_TYPES; type++)
        sums[type] = sum_of(wide[type]);
}

/* Short rows are apart, since functions with arrays of bytes guard their stack,
 * which takes time. */
AVX2 __attribute__((noinline)) static void
measure_short(uint64_t sums[FILTER_TYPES], const uint8_t *row,
              const uint8_t *prior, size_t size, unsigned pixel)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i wide[FILTER_TYPES] = { zero, zero, zero, zero, zero };
    for (size_t i = 0; i < size; i += WIDE)
        add_magnitudes(wide, load_short(row, prior, size, i, pixel));
    write_sums(sums, wide);
}

AVX2 static void measure(uint64_t sums[FILTER_TYPES], const uint8_t *row,
                         const uint8_t *prior, size_t size, unsigned pixel)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i wide[FILTER_TYPES] = { zero, zero, zero, zero, zero };
    if (size < SHORT) {
        measure_short(sums, row, prior, size, pixel);
        return;
    }
    add_magnitudes(wide, load_first(row, prior, pixel));
    size_t i = WIDE;
    for (; i + WIDE <= size; i += WIDE)
        add_magnitudes(wide, load_middle(row, prior, i, pixel));
    if (i < size)
        add_magnitudes(wide, load_last(row, prior, size, size - i, pixel));
    write_sums(sums, wide);
}

/* ---- Applying -------------------------------------------------------------*/

AVX2 __attribute__((noinline)) static void
apply_short(unsigned type, uint8_t *out, const uint8_t *row,
            const uint8_t *prior, size_t size, unsigned pixel)
{
    uint8_t bytes[WIDE];
    for (size_t i = 0; i < size; i += WIDE) {
        struct bytes32 v = load_short(row, prior, size, i, pixel);
        store_wide(bytes, filtered(type, v));
        memcpy(out + i, bytes, size - i < WIDE ? size - i : WIDE);
    }
}

/* The last vector may write some bytes again. */
AVX2 SIZED void apply_as(uint8_t *out, const uint8_t *row, const uint8_t *prior,
                         size_t size, unsigned pixel, unsigned type)
{
    store_wide(out, filtered(type, load_first(row, prior, pixel)));
    size_t i = WIDE;
    for (; i + WIDE <= size; i += WIDE)
        store_wide(out + i, filtered(type, load_middle(row, prior, i, pixel)));
    if (i < size) {
        i = size - WIDE;
        store_wide(out + i, filtered(type, load_middle(row, prior, i, pixel)));
    }
}

AVX2 static void apply(unsigned type, uint8_t *out, const uint8_t *row,
                       const uint8_t *prior, size_t size, unsigned pixel)
{
    if (size < SHORT)
        apply_short(type, out, row, prior, size, pixel);
    else
        FILTER_BY_TYPE(type, apply_as, out, row, prior, size, pixel);
}

const struct filters filters_avx2 = {
    .name = "avx2",
    .usable = has_avx2,
    .undo = filter_undo_sse4,
    .apply = apply,
    .measure = measure,
};
#endif
