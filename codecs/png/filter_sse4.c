/* Undoes Sub, Average and Paeth with the vectors of x86-64.
 *
 * Each pixel needs the one to its left, so that 16-byte vectors are large
 * enough. SSE4.1 is what every CPU with AVX2 has, but on some Intel CPUs the
 * blends of AVX take twice as long. */
#include "codecs/png/filter.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#define SSE4  __attribute__((target("sse4.1")))
#define AVX2  __attribute__((target("avx2")))
#define SIZED static inline __attribute__((always_inline))

enum { VECTOR = 16 };

/* Makes the compiler load the object from memory, not keep it in registers. */
#define IN_MEMORY(object) __asm__("" : "+m"(object))

SIZED __m128i load(const uint8_t *from)
{
    return _mm_loadu_si128((const __m128i *)from);
}

SIZED void store(uint8_t *to, __m128i v)
{
    _mm_storeu_si128((__m128i *)to, v);
}

static const uint8_t places[VECTOR] = { 0, 1, 2,  3,  4,  5,  6,  7,
                                        8, 9, 10, 11, 12, 13, 14, 15 };

/* Returns the bytes of a vector that are so many places away: zeros from 128 on
 * and below 0. */
SSE4 SIZED __m128i moved(__m128i v, int by)
{
    return _mm_shuffle_epi8(
        v, _mm_add_epi8(load(places), _mm_set1_epi8((char)by)));
}

/* The last pixel of a vector, then zeros. */
SSE4 SIZED __m128i last_pixel(__m128i v, unsigned pixel)
{
    return moved(v, 128 - (int)pixel);
}

/* Adds to each byte all those before it that are whole pixels away. */
SSE4 SIZED __m128i add_before(__m128i v, unsigned pixel)
{
    for (unsigned n = pixel; n < VECTOR; n *= 2)
        v = _mm_add_epi8(v, moved(v, -(int)n));
    return v;
}

/* Vectors need not begin with a pixel. */
SSE4 SIZED void undo_sub(uint8_t *row, const uint8_t *prior, size_t size,
                         unsigned pixel)
{
    const __m128i all_last = add_before(last_pixel(load(places), pixel), pixel);
    __m128i left = _mm_setzero_si128();
    size_t i = 0;
    for (; size - i >= VECTOR; i += VECTOR) {
        __m128i v = _mm_add_epi8(add_before(load(row + i), pixel), left);
        store(row + i, v);
        left = _mm_shuffle_epi8(v, all_last);
    }
    filter_undo_from(FILTER_SUB, row, prior, i, size, pixel);
}

/* These take one pixel at a time, and their speed depends on the number of
 * instructions between one pixel and the next. So all that does not need the
 * pixel to the left is done before, for a vector of whole pixels. It is passed
 * on in memory, from where a pixel is loaded without another instruction; each
 * load lies within one store, so that it need not wait until that reaches the
 * cache. `left` is the last pixel in the form that the filter needs; the
 * functions return the new one. */

/* A load may be of more than a pixel, and reach beyond the vector. */
enum { SLOT = VECTOR + 4 };

SSE4 SIZED __m128i load_pixel(const uint8_t *from, unsigned pixel)
{
    int four;
    if (pixel > 4)
        return _mm_loadl_epi64((const __m128i *)from);
    memcpy(&four, from, sizeof four);
    return _mm_cvtsi32_si128(four);
}

SSE4 SIZED void store_pixel(uint8_t *to, __m128i v, unsigned pixel)
{
    uint32_t low = (uint32_t)_mm_cvtsi128_si32(v);
    uint16_t high = (uint16_t)_mm_extract_epi16(v, 2);
    if (pixel == 8) {
        _mm_storel_epi64((__m128i *)to, v);
    } else if (pixel == 6) {
        memcpy(to, &low, 4);
        memcpy(to + 4, &high, 2);
    } else if (pixel == 3) {
        memcpy(to, &low, 2);
        to[2] = (uint8_t)(low >> 16);
    } else {
        memcpy(to, &low, pixel < sizeof low ? pixel : sizeof low);
    }
}

/* pavgb rounds up. The average of complements is then the complement of the
 * prediction, so that two instructions lead from one pixel's complement to the
 * next one's. */
SSE4 SIZED __m128i undo_average_of(uint8_t *to, __m128i raw, __m128i up,
                                   __m128i left, unsigned pixel)
{
    const __m128i ones = _mm_set1_epi8(-1);
    uint8_t raws[SLOT], not_ups[SLOT];
    store(raws, raw);
    store(not_ups, _mm_xor_si128(up, ones));
    IN_MEMORY(raws);
    IN_MEMORY(not_ups);
#pragma GCC unroll 8
    for (size_t i = 0; i + pixel <= VECTOR; i += pixel) {
        left = _mm_avg_epu8(left, load_pixel(not_ups + i, pixel));
        left = _mm_sub_epi8(left, load_pixel(raws + i, pixel));
        store_pixel(to + i, _mm_xor_si128(left, ones), pixel);
    }
    return left;
}

/* For given b and c, the prediction of Paeth is a function of a. If b < c, with
 * d = c - b, and rounding down, it is
 *
 *     a    if a < b                    a is at least as near to a + b - c as b
 *     b    else if a <= c + d / 2      b is at least as near as c
 *     c    else if a < c + 2 d         c is the nearest
 *     a    else
 *
 * and if c < b it is the mirror image of that: a up to c - 2 d, then c; from
 * c - d / 2 on b; and above b again a. If b = c it is a; where a = b the two
 * are one value, which gives the borders some freedom. With the borders, raw +
 * b and raw + c prepared, three instructions lead from one pixel to the next:
 * compare; choose between b and c; choose between that and a.
 *
 * SSE compares bytes as signed only: flipping `sign` keeps their order. */
struct paeth {
    uint8_t low[SLOT];    /* below this it is a */
    uint8_t middle[SLOT]; /* below this it is the lower of b and c */
    uint8_t high[SLOT];   /* above this it is a */
    uint8_t lower[SLOT], higher[SLOT], raw[SLOT]; /* raw is added to all */
};

/* Borders beyond 0 and 255 are clamped. That matters only where the middle is
 * above 255, so that a = 255 must be below it, and b < c. There `higher` is
 * made the lower one, too. */
SSE4 SIZED void prepare_paeth(struct paeth *p, __m128i raw, __m128i b,
                              __m128i c)
{
    const __m128i ones = _mm_set1_epi8(-1), one = _mm_set1_epi8(1);
    const __m128i sign = _mm_set1_epi8(-128), bits = _mm_set1_epi8(127);
    __m128i rise = _mm_subs_epu8(b, c), fall = _mm_subs_epu8(c, b);
    __m128i rises = _mm_cmpeq_epi8(fall, _mm_setzero_si128());

    __m128i low = _mm_adds_epu8(_mm_min_epu8(b, c), one);
    low = _mm_subs_epu8(_mm_subs_epu8(low, rise), rise);
    __m128i high = _mm_subs_epu8(_mm_max_epu8(b, c), one);
    high = _mm_adds_epu8(_mm_adds_epu8(high, fall), fall);
    __m128i half = _mm_srli_epi16(_mm_or_si128(rise, fall), 1);
    half = _mm_and_si128(half, bits);
    __m128i middle = _mm_subs_epu8(c, _mm_and_si128(rises, half));
    middle = _mm_adds_epu8(middle, _mm_andnot_si128(rises, half));
    __m128i top = _mm_cmpeq_epi8(middle, ones);
    middle = _mm_add_epi8(_mm_add_epi8(middle, rises), one);

    store(p->raw, raw);
    store(p->low, _mm_xor_si128(low, sign));
    store(p->middle, _mm_xor_si128(middle, sign));
    store(p->high, _mm_xor_si128(high, sign));
    raw = _mm_xor_si128(raw, sign);
    __m128i lower = _mm_add_epi8(raw, _mm_min_epu8(b, c));
    __m128i higher = _mm_add_epi8(raw, _mm_max_epu8(b, c));
    store(p->lower, lower);
    store(p->higher, _mm_blendv_epi8(higher, lower, top));
}

SSE4 SIZED __m128i undo_paeth_of(uint8_t *to, __m128i raw, __m128i up,
                                 __m128i corner, __m128i left, unsigned pixel)
{
    const __m128i sign = _mm_set1_epi8(-128);
    struct paeth p;
    prepare_paeth(&p, raw, up, corner);
    IN_MEMORY(p);
#pragma GCC unroll 8
    for (size_t i = 0; i + pixel <= VECTOR; i += pixel) {
        __m128i low = load_pixel(p.low + i, pixel);
        __m128i high = load_pixel(p.high + i, pixel);
        __m128i middle = load_pixel(p.middle + i, pixel);
        __m128i out =
            _mm_or_si128(_mm_cmpgt_epi8(low, left), _mm_cmpgt_epi8(left, high));
        __m128i near = _mm_blendv_epi8(load_pixel(p.higher + i, pixel),
                                       load_pixel(p.lower + i, pixel),
                                       _mm_cmpgt_epi8(middle, left));
        left = _mm_add_epi8(left, load_pixel(p.raw + i, pixel));
        left = _mm_blendv_epi8(near, left, out);
        store_pixel(to + i, _mm_xor_si128(left, sign), pixel);
    }
    return left;
}

/* The first pixel, and what is less than a vector at the end, is left to plain
 * C. Where the last pixel is as the one above it, and Paeth has predicted all
 * of a vector, as in most of what is drawn, the vector is as the one above it.
 */
SSE4 SIZED void undo_vectors(unsigned type, uint8_t *row, const uint8_t *prior,
                             size_t size, unsigned pixel)
{
    const size_t step = VECTOR / pixel * pixel;
    size_t i = pixel;
    if (size < pixel + VECTOR) {
        filter_undo_from(type, row, prior, 0, size, pixel);
        return;
    }
    filter_undo_from(type, row, prior, 0, pixel, pixel);
    __m128i left =
        _mm_xor_si128(load_pixel(row, pixel),
                      _mm_set1_epi8(type == FILTER_AVERAGE ? -1 : -128));
    while (size - i >= VECTOR) {
        __m128i raw = load(row + i), up = load(prior + i);
        if (type == FILTER_PAETH && _mm_testz_si128(raw, raw) &&
            memcmp(row + i - pixel, prior + i - pixel, pixel) == 0) {
            store(row + i, up);
            left = _mm_xor_si128(last_pixel(up, pixel), _mm_set1_epi8(-128));
            i += VECTOR;
            continue;
        }
        left = type == FILTER_AVERAGE
                   ? undo_average_of(row + i, raw, up, left, pixel)
                   : undo_paeth_of(row + i, raw, up, load(prior + i - pixel),
                                   left, pixel);
        i += step;
    }
    filter_undo_from(type, row, prior, i, size, pixel);
}

SSE4 SIZED void undo_sized(unsigned type, uint8_t *row, const uint8_t *prior,
                           size_t size, unsigned pixel)
{
    if (type == FILTER_SUB)
        undo_sub(row, prior, size, pixel);
    else
        undo_vectors(type == FILTER_PAETH ? FILTER_PAETH : FILTER_AVERAGE, row,
                     prior, size, pixel);
}

/* A library that inflates may leave values in the upper halves of registers.
 * Then each instruction of SSE waits for the one that wrote its register
 * before, to keep that half: Paeth takes more than twice as long on Zen 5. */
AVX2 static void forget_upper_halves(void)
{
    _mm256_zeroupper();
}

/* Of small pixels few bytes of a vector are used: the general registers of
 * plain C are as fast for Average, and all that Up needs. */
SSE4 void filter_undo_sse4(unsigned type, uint8_t *row, const uint8_t *prior,
                           size_t size, unsigned pixel)
{
    forget_upper_halves();
    if (type == FILTER_SUB || type == FILTER_PAETH ||
        (type == FILTER_AVERAGE && pixel >= 3))
        FILTER_BY_PIXEL(pixel, undo_sized, type, row, prior, size);
    else
        filter_undo_from(type, row, prior, 0, size, pixel);
}
#endif
