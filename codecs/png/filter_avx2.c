/* Filters rows of PNG with the vectors of AVX2: all bytes of a row are known,
 * so that 32 are done at a time. */
#include "codecs/png/filter.h"

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2  __attribute__((target("avx2")))
#define SIZED static inline __attribute__((always_inline))

/* The first pixel, and rows that have no vector behind it, are left to plain C.
 */
enum { WIDE = 32 };

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

AVX2 SIZED struct bytes32 load_bytes(const uint8_t *row, const uint8_t *prior,
                                     size_t i, unsigned pixel)
{
    return (struct bytes32){ load_wide(row + i), load_wide(row + i - pixel),
                             load_wide(prior + i),
                             load_wide(prior + i - pixel) };
}

/* The last n bytes, behind zeros, of which all filters make zeros. */
AVX2 SIZED struct bytes32 keep_last(struct bytes32 v, size_t n)
{
    static const uint8_t edge[2 * WIDE] = {
        [WIDE] = 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        255,          255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        255,          255, 255, 255, 255, 255, 255, 255, 255, 255
    };
    const __m256i kept = load_wide(edge + n);
    return (struct bytes32){ _mm256_and_si256(v.x, kept),
                             _mm256_and_si256(v.a, kept),
                             _mm256_and_si256(v.b, kept),
                             _mm256_and_si256(v.c, kept) };
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

AVX2 static void measure(uint64_t sums[FILTER_TYPES], const uint8_t *row,
                         const uint8_t *prior, size_t size, unsigned pixel)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i wide[FILTER_TYPES] = { zero, zero, zero, zero, zero };
    size_t i = pixel;
    if (size < pixel + WIDE) {
        filters_portable.measure(sums, row, prior, size, pixel);
        return;
    }
    for (; i + WIDE <= size; i += WIDE)
        add_magnitudes(wide, load_bytes(row, prior, i, pixel));
    if (i < size)
        add_magnitudes(
            wide,
            keep_last(load_bytes(row, prior, size - WIDE, pixel), size - i));
    filters_portable.measure(sums, row, prior, pixel, pixel);
#pragma GCC unroll 5
    for (unsigned type = 0; type < FILTER_TYPES; type++)
        sums[type] += sum_of(wide[type]);
}

/* ---- Applying -------------------------------------------------------------*/

/* The last vector may write some bytes again. */
AVX2 SIZED void apply_as(uint8_t *out, const uint8_t *row, const uint8_t *prior,
                         size_t size, unsigned pixel, unsigned type)
{
    size_t i = pixel;
    for (; i + WIDE <= size; i += WIDE)
        store_wide(out + i, filtered(type, load_bytes(row, prior, i, pixel)));
    if (i < size) {
        i = size - WIDE;
        store_wide(out + i, filtered(type, load_bytes(row, prior, i, pixel)));
    }
}

AVX2 static void apply(unsigned type, uint8_t *out, const uint8_t *row,
                       const uint8_t *prior, size_t size, unsigned pixel)
{
    const bool is_short = size < pixel + WIDE;
    filters_portable.apply(type, out, row, prior, is_short ? size : pixel,
                           pixel);
    if (!is_short)
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
