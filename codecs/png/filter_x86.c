/* The filters of PNG with the vectors of x86-64.
 *
 * To filter, all bytes are known, and 32 of them are done at a time, with AVX2.
 * To undo a filter, each pixel needs the one to its left: 16-byte vectors are
 * large enough. Those are compiled for SSE4.1, which any CPU with AVX2 has: on
 * some CPUs of Intel the blends of AVX take twice as long. */
#include "codecs/png/filter.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#define SSE4  __attribute__((target("sse4.1")))
#define AVX2  __attribute__((target("avx2")))
#define SIZED static inline __attribute__((always_inline))

enum { VECTOR = 16, WIDE = 32 };

/* Keeps a compiler from taking what was stored out of registers instead. */
#define IN_MEMORY(object) __asm__("" : "+m"(object))

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

SIZED __m128i load(const uint8_t *from)
{
    return _mm_loadu_si128((const __m128i *)from);
}

SIZED void store(uint8_t *to, __m128i v)
{
    _mm_storeu_si128((__m128i *)to, v);
}

/* ---- Undoing Sub ----------------------------------------------------------*/

/* What moves the bytes of a vector up by n places, zeros following, read from
 * place VECTOR - n. */
static const uint8_t moves[2 * VECTOR] = {
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0,    1,    2,    3,    4,    5,
    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
};

/* What copies the last pixel of a vector all over the next one: its first byte
 * is `pixel` places behind that. Vectors need not begin with pixels. */
SSE4 SIZED __m128i last_pixel(unsigned pixel)
{
    uint8_t from[VECTOR];
    for (unsigned i = 0; i < VECTOR; i++)
        from[i] = (uint8_t)(VECTOR - pixel + i % pixel);
    return load(from);
}

SSE4 SIZED __m128i move_up(__m128i v, unsigned n)
{
    return _mm_shuffle_epi8(v, load(moves + VECTOR - n));
}

/* Each byte and all before it that are whole pixels away. */
SSE4 SIZED __m128i add_before(__m128i v, unsigned pixel)
{
    for (unsigned n = pixel; n < VECTOR; n *= 2)
        v = _mm_add_epi8(v, move_up(v, n));
    return v;
}

SSE4 SIZED void undo_sub_as(uint8_t *row, size_t size, unsigned pixel)
{
    const __m128i last = last_pixel(pixel);
    __m128i left = _mm_setzero_si128();
    size_t i = 0;
    for (; size - i >= VECTOR; i += VECTOR) {
        __m128i v = _mm_add_epi8(add_before(load(row + i), pixel), left);
        store(row + i, v);
        left = _mm_shuffle_epi8(v, last);
    }
    if (i < size) {
        uint8_t rest[VECTOR] = { 0 };
        memcpy(rest, row + i, size - i);
        store(rest, _mm_add_epi8(add_before(load(rest), pixel), left));
        memcpy(row + i, rest, size - i);
    }
}

SSE4 static void undo_sub(uint8_t *row, const uint8_t *prior, size_t size,
                          unsigned pixel)
{
    (void)prior;
    FILTER_BY_PIXEL(undo_sub_as, pixel, row, size);
}

/* ---- Undoing Average and Paeth --------------------------------------------*/

/* These take a pixel at a time, and what counts is how many instructions are
 * between one and the next. So all that does not need the pixel to the left is
 * done before, for a vector of whole pixels. It is passed on in memory, from
 * where a pixel can be had without another instruction; each from within one
 * store, so that it need not wait for that to reach the cache. `left` is the
 * last pixel as the filter wants it; the new one is returned. */

/* What is loaded is more than one pixel, and may be more than a vector. */
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
        memcpy(to, &low, pixel);
    }
}

/* pavgb rounds up. Of complements that gives the complement of what is to be
 * added, so from one pixel's complement to the next one's it is two
 * instructions. */
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

/* What Paeth takes for a byte is, for given b and c, a function of a. If b < c,
 * with d = c - b, and rounding down,
 *
 *     a    if a < b                    a is at least as near to a + b - c as b
 *     b    else if a <= c + d / 2      b is at least as near as c
 *     c    else if a < c + 2 d         c is the nearest
 *     a    else
 *
 * and if c < b it is the mirror image of that: a up to c - 2 d, then c; from
 * c - d / 2 on b; and above b again a. If b = c it is a, and a that is b may be
 * called either, which gives the borders some freedom. So with the borders, raw
 * + b and raw + c at hand, from one pixel to the next it is three instructions:
 * compare; choose of b and c; choose of that and a.
 *
 * Bytes are only compared as signed: with `sign` they are in order. */
struct paeth {
    uint8_t low[SLOT];    /* below this it is a */
    uint8_t middle[SLOT]; /* below this it is the lower of b and c */
    uint8_t high[SLOT];   /* above this it is a */
    uint8_t lower[SLOT], higher[SLOT], raw[SLOT]; /* raw is added to all */
};

/* Borders beyond 0 and 255 are brought there. That changes nothing but where
 * the middle is above 255, so that a = 255 is to be below it, and b < c. There
 * `higher` is the lower, too. */
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

SSE4 SIZED __m128i undo_vector(unsigned type, uint8_t *to, __m128i up,
                               __m128i corner, __m128i left, unsigned pixel)
{
    if (type == FILTER_AVERAGE)
        return undo_average_of(to, load(to), up, left, pixel);
    return undo_paeth_of(to, load(to), up, corner, left, pixel);
}

/* The n bytes from byte i on, which the row may end with. */
SSE4 SIZED __m128i undo_rest(unsigned type, uint8_t *row, const uint8_t *prior,
                             size_t i, size_t n, __m128i left, unsigned pixel)
{
    uint8_t rest[VECTOR] = { 0 }, above[2 * VECTOR] = { 0 };
    uint8_t *up = above + VECTOR;
    size_t before = i ? pixel : 0;
    memcpy(rest, row + i, n);
    memcpy(up - before, prior + i - before, before + n);
    left = undo_vector(type, rest, load(up), load(up - pixel), left, pixel);
    memcpy(row + i, rest, n);
    return left;
}

SSE4 SIZED void undo(unsigned type, uint8_t *row, const uint8_t *prior,
                     size_t size, unsigned pixel)
{
    const size_t step = VECTOR / pixel * pixel;
    __m128i left = _mm_set1_epi8(type == FILTER_AVERAGE ? -1 : -128);
    size_t i = 0;
    for (; size - i >= VECTOR; i += step) {
        __m128i up = load(prior + i);
        __m128i corner = i ? load(prior + i - pixel) : move_up(up, pixel);
        left = undo_vector(type, row + i, up, corner, left, pixel);
    }
    while (i < size) {
        size_t n = size - i < step ? size - i : step;
        left = undo_rest(type, row, prior, i, n, left, pixel);
        i += n;
    }
}

/* Of small pixels little is in a vector, and general registers, which plain C
 * takes for them, are as fast or faster. */
SSE4 static void undo_average(uint8_t *row, const uint8_t *prior, size_t size,
                              unsigned pixel)
{
    if (pixel < 3)
        filters_portable.undo[FILTER_AVERAGE](row, prior, size, pixel);
    else
        FILTER_BY_PIXEL(undo, pixel, FILTER_AVERAGE, row, prior, size);
}

SSE4 static void undo_paeth(uint8_t *row, const uint8_t *prior, size_t size,
                            unsigned pixel)
{
    FILTER_BY_PIXEL(undo, pixel, FILTER_PAETH, row, prior, size);
}

/* ---- Undoing None and Up --------------------------------------------------*/

static void undo_none(uint8_t *row, const uint8_t *prior, size_t size,
                      unsigned pixel)
{
    filters_portable.undo[FILTER_NONE](row, prior, size, pixel);
}

/* Any compiler makes vectors of this, and memory is the limit. */
static void undo_up(uint8_t *row, const uint8_t *prior, size_t size,
                    unsigned pixel)
{
    filters_portable.undo[FILTER_UP](row, prior, size, pixel);
}

/* ---- Filtering ------------------------------------------------------------*/

/* Bytes of a row, and those to the left, above, and above to the left. */
struct bytes32 {
    __m256i x, a, b, c;
};

AVX2 SIZED __m256i load_wide(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

AVX2 SIZED struct bytes32 load_middle(const uint8_t *row, const uint8_t *prior,
                                      size_t i, unsigned pixel)
{
    return (struct bytes32){ load_wide(row + i), load_wide(row + i - pixel),
                             load_wide(prior + i),
                             load_wide(prior + i - pixel) };
}

/* The same at the beginning and the end of a row. What lies outside is zero,
 * and so is what any filter makes of it. */
AVX2 SIZED struct bytes32 load_edge(const uint8_t *row, const uint8_t *prior,
                                    size_t size, size_t i, unsigned pixel)
{
    enum { BEFORE = 8 };
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

/* If c lies between a and b, then a is as far from a + b - c as b is from c,
 * and the other way about, and c as far as these two distances differ. If it
 * does not, then the one farther from it is the nearest. So with distances
 * that are zero where c is beyond, it is the lower of a and b where that is at
 * least twice as far from c as the higher, the higher where it is the other way
 * about, and else c. */
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

AVX2 SIZED void add_magnitudes(__m256i sums[FILTER_TYPES], struct bytes32 v)
{
#pragma GCC unroll 5
    for (unsigned type = 0; type < FILTER_TYPES; type++) {
        __m256i magnitude = _mm256_abs_epi8(filtered(type, v));
        magnitude = _mm256_sad_epu8(magnitude, _mm256_setzero_si256());
        sums[type] = _mm256_add_epi64(sums[type], magnitude);
    }
}

AVX2 static void measure(uint64_t sums[FILTER_TYPES], const uint8_t *row,
                         const uint8_t *prior, size_t size, unsigned pixel)
{
    __m256i wide[FILTER_TYPES];
    uint64_t part[FILTER_TYPES][4];
    memset(wide, 0, sizeof wide);
    add_magnitudes(wide, load_edge(row, prior, size, 0, pixel));
    size_t i = WIDE;
    for (; i + WIDE <= size; i += WIDE)
        add_magnitudes(wide, load_middle(row, prior, i, pixel));
    if (i < size)
        add_magnitudes(wide, load_edge(row, prior, size, i, pixel));
    memcpy(part, wide, sizeof part);
    for (unsigned type = 0; type < FILTER_TYPES; type++)
        sums[type] =
            part[type][0] + part[type][1] + part[type][2] + part[type][3];
}

AVX2 SIZED void apply_edge(unsigned type, uint8_t *out, const uint8_t *row,
                           const uint8_t *prior, size_t size, size_t i,
                           unsigned pixel)
{
    uint8_t bytes[WIDE];
    struct bytes32 v = load_edge(row, prior, size, i, pixel);
    _mm256_storeu_si256((__m256i *)bytes, filtered(type, v));
    memcpy(out + i, bytes, size - i < WIDE ? size - i : WIDE);
}

AVX2 SIZED void apply(unsigned type, uint8_t *out, const uint8_t *row,
                      const uint8_t *prior, size_t size, unsigned pixel)
{
    apply_edge(type, out, row, prior, size, 0, pixel);
    size_t i = WIDE;
    for (; i + WIDE <= size; i += WIDE) {
        struct bytes32 v = load_middle(row, prior, i, pixel);
        _mm256_storeu_si256((__m256i *)(out + i), filtered(type, v));
    }
    if (i < size)
        apply_edge(type, out, row, prior, size, i, pixel);
}

AVX2 static void apply_none(uint8_t *out, const uint8_t *row,
                            const uint8_t *prior, size_t size, unsigned pixel)
{
    (void)prior;
    (void)pixel;
    memcpy(out, row, size);
}

AVX2 static void apply_sub(uint8_t *out, const uint8_t *row,
                           const uint8_t *prior, size_t size, unsigned pixel)
{
    apply(FILTER_SUB, out, row, prior, size, pixel);
}

AVX2 static void apply_up(uint8_t *out, const uint8_t *row,
                          const uint8_t *prior, size_t size, unsigned pixel)
{
    apply(FILTER_UP, out, row, prior, size, pixel);
}

AVX2 static void apply_average(uint8_t *out, const uint8_t *row,
                               const uint8_t *prior, size_t size,
                               unsigned pixel)
{
    apply(FILTER_AVERAGE, out, row, prior, size, pixel);
}

AVX2 static void apply_paeth(uint8_t *out, const uint8_t *row,
                             const uint8_t *prior, size_t size, unsigned pixel)
{
    apply(FILTER_PAETH, out, row, prior, size, pixel);
}

const struct filters filters_avx2 = {
    .name = "avx2",
    .usable = has_avx2,
    .undo = { undo_none, undo_sub, undo_up, undo_average, undo_paeth },
    .apply = { apply_none, apply_sub, apply_up, apply_average, apply_paeth },
    .measure = measure,
};
#endif
