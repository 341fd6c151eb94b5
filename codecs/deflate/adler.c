/* Adler-32 with the vectors of AVX2, or by a library. */
#include "codecs/deflate/adler.h"

#include "codecs/deflate/flate.h"

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

enum {
    WIDE = 32,
    PRIME = 65521,
    /* Vectors between divisions: up to 5552 bytes of 255, after the largest
     * remainders, keep both sums below 2^32. */
    VECTORS = 5552 / WIDE,
};

static inline AVX2 uint32_t sum_of_lanes(__m256i v)
{
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(v),
                                _mm256_extracti128_si256(v, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(sum);
}

/* Adds n vectors to the sums a, of bytes, and b, of all values that a has had.
 * The bytes of a vector are in those of a once more for each byte behind them,
 * and 32 times for each vector behind theirs. */
static AVX2 void add_vectors(uint32_t *a, uint32_t *b, const uint8_t *data,
                             size_t n)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i weights = _mm256_setr_epi8(
        32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15,
        14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
    __m256i bytes = zero, before = zero, weighted = zero;
    for (size_t i = 0; i < n; i++) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(data + i * WIDE));
        __m256i pairs = _mm256_maddubs_epi16(v, weights);
        before = _mm256_add_epi32(before, bytes);
        bytes = _mm256_add_epi32(bytes, _mm256_sad_epu8(v, zero));
        weighted = _mm256_add_epi32(
            weighted, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
    *b += (uint32_t)(n * WIDE) * *a + WIDE * sum_of_lanes(before) +
          sum_of_lanes(weighted);
    *a += sum_of_lanes(bytes);
}

static AVX2 uint32_t add_avx2(uint32_t adler, const uint8_t *data, size_t size)
{
    uint32_t a = adler & 65535, b = adler >> 16;
    for (size_t n; size >= WIDE; data += n * WIDE, size -= n * WIDE) {
        n = size / WIDE < VECTORS ? size / WIDE : VECTORS;
        add_vectors(&a, &b, data, n);
        a %= PRIME;
        b %= PRIME;
    }
    for (; size > 0; size--) {
        a += *data++;
        b += a;
    }
    return b % PRIME << 16 | a % PRIME;
}

uint32_t adler_add(uint32_t adler, const uint8_t *data, size_t size)
{
    return __builtin_cpu_supports("avx2")
               ? add_avx2(adler, data, size)
               : flates[0]->adler32(adler, data, size);
}

#else

uint32_t adler_add(uint32_t adler, const uint8_t *data, size_t size)
{
    return flates[0]->adler32(adler, data, size);
}

#endif
