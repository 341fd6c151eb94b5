/* Huffman codes: optimal lengths, the codes of given lengths, and runs of
 * literals in them. */
#include "codecs/deflate/huffman_code.h"

#include <assert.h>
#include <string.h>

#include "codecs/base/each_cpu.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Sorts the symbols that occur by their count, rarest first, by a byte of it
 * after the other. Returns how many symbols occur. */
static unsigned sort_symbols(uint16_t *symbol, const uint32_t *count,
                             unsigned n)
{
    uint16_t sorted[HUFFMAN_SYMBOLS];
    uint32_t bits = 0;
    unsigned used = 0;
    for (unsigned i = 0; i < n; i++) {
        bits |= count[i];
        symbol[used] = (uint16_t)i;
        used += count[i] != 0;
    }
    for (unsigned shift = 0; shift < 32 && bits >> shift; shift += 8) {
        unsigned at[257] = { 0 };
        for (unsigned i = 0; i < used; i++)
            at[(count[symbol[i]] >> shift & 255) + 1]++;
        for (unsigned i = 0; i < 256; i++)
            at[i + 1] += at[i];
        for (unsigned i = 0; i < used; i++)
            sorted[at[count[symbol[i]] >> shift & 255]++] = symbol[i];
        memcpy(symbol, sorted, used * sizeof *symbol);
    }
    return used;
}

/* Replaces counts in rising order by the depths of their leaves in a Huffman
 * tree. A. Moffat and J. Katajainen, "In-Place Calculation of
 * Minimum-Redundancy Codes", WADS 1995: the array holds weights at first, then
 * the parent of each node, then depths. */
static void tree_depths(uint32_t *a, unsigned n)
{
    unsigned root = 0, leaf = 0;
    for (unsigned next = 0; next < n - 1; next++) {
        uint32_t sum = 0;
        for (int i = 0; i < 2; i++)
            if (leaf >= n || (root < next && a[root] < a[leaf])) {
                sum += a[root];
                a[root++] = next;
            } else {
                sum += a[leaf++];
            }
        a[next] = sum;
    }
    a[n - 2] = 0;
    for (unsigned next = n - 2; next-- > 0;)
        a[next] = a[a[next]] + 1;

    /* At each depth, nodes that are not inner nodes are leaves. */
    unsigned free = 1, inner = 0, depth = 0, next = n;
    int node = (int)n - 2;
    while (free > 0) {
        while (node >= 0 && a[node] == depth) {
            inner++;
            node--;
        }
        for (; free > inner; free--)
            a[--next] = depth;
        free = 2 * inner;
        inner = 0;
        depth++;
    }
}

/* Moves leaves deeper than `limit` up to it, and others down, until they are a
 * complete code again: until the sum of 2^-length is 1. */
static void limit_depths(unsigned *leaves, unsigned deepest, unsigned limit)
{
    uint64_t sum = 0, whole = (uint64_t)1 << limit;
    for (unsigned d = limit + 1; d <= deepest; d++) {
        leaves[limit] += leaves[d];
        leaves[d] = 0;
    }
    for (unsigned d = 1; d <= limit; d++)
        sum += (uint64_t)leaves[d] << (limit - d);
    /* To move a leaf from depth d - 1 to d frees 2^(limit - d). */
    while (sum > whole) {
        unsigned d = limit;
        while (!leaves[--d])
            ;
        leaves[d]--;
        leaves[d + 1]++;
        sum -= (uint64_t)1 << (limit - d - 1);
    }
    /* Space that was freed in excess goes to the deepest leaves that it
     * suffices for. */
    for (unsigned d = limit; d > 1 && sum < whole; d--)
        while (leaves[d] && whole - sum >= (uint64_t)1 << (limit - d)) {
            leaves[d]--;
            leaves[d - 1]++;
            sum += (uint64_t)1 << (limit - d);
        }
}

void huffman_code_lengths(uint8_t *length, const uint32_t *count, unsigned n,
                          unsigned limit)
{
    uint16_t symbol[HUFFMAN_SYMBOLS + 1];
    uint32_t depth[HUFFMAN_SYMBOLS];
    unsigned leaves[HUFFMAN_SYMBOLS] = { 0 };
    unsigned used = sort_symbols(symbol, count, n);
    assert(n <= HUFFMAN_SYMBOLS && used >= 2);
    for (unsigned i = 0; i < used; i++)
        depth[i] = count[symbol[i]];
    tree_depths(depth, used);
    for (unsigned i = 0; i < used; i++)
        leaves[depth[i]]++;
    if (depth[0] > limit)
        limit_depths(leaves, depth[0], limit);
    memset(length, 0, n);
    for (unsigned d = HUFFMAN_SYMBOLS - 1, i = 0; d > 0; d--)
        for (unsigned k = leaves[d]; k > 0; k--)
            length[symbol[i++]] = (uint8_t)d;
}

void huffman_code_assign(uint32_t *code, const uint8_t *length, unsigned n)
{
    unsigned next[17] = { 0 }, of_length[16] = { 0 };
    for (unsigned i = 0; i < n; i++)
        of_length[length[i]]++;
    of_length[0] = 0;
    for (unsigned d = 1; d < 16; d++)
        next[d + 1] = (next[d] + of_length[d]) << 1;
    for (unsigned i = 0; i < n; i++) {
        const unsigned bits = next[length[i]]++;
        uint32_t reversed = 0;
        for (unsigned k = 0; k < length[i]; k++)
            reversed |= (bits >> k & 1) << (length[i] - 1 - k);
        code[i] = reversed << 8 | length[i];
    }
}

/* ---- Runs of literals with AVX-512 ----------------------------------------*/

#ifdef __x86_64__
/* Runs of literals with the vectors of AVX-512.
 *
 * The codes of 64 bytes are looked up at once, in tables that are kept in
 * registers. Neighbours are joined, to codes of two bytes, of four, and of
 * eight, so that what is left to do for one after the other is little: on Zen 5
 * this takes a third of the time of plain C. */
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,bmi2")))
#define INLINE static inline __attribute__((always_inline))

enum {
    WIDE = 64,      /* bytes of a vector */
    BITS_MOST = 56, /* that are written at a time */
};

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("bmi2");
}

/* A byte for each literal. */
struct byte_table {
    __m512i part[4];
};

/* Makes a table of the bytes at `shift` of all codes. */
AVX512 INLINE struct byte_table table_of(const uint32_t *code, unsigned shift)
{
    uint8_t bytes[4 * WIDE];
    struct byte_table t;
    for (size_t i = 0; i < sizeof bytes; i += 16) {
        __m512i codes = _mm512_loadu_si512(code + i);
        _mm_storeu_si128((__m128i *)(bytes + i),
                         _mm512_cvtepi32_epi8(_mm512_srli_epi32(codes, shift)));
    }
    for (size_t i = 0; i < 4; i++)
        t.part[i] = _mm512_loadu_si512(bytes + i * WIDE);
    return t;
}

AVX512 INLINE __m512i look_up(const struct byte_table *t, __m512i at)
{
    __m512i low = _mm512_permutex2var_epi8(t->part[0], at, t->part[1]);
    __m512i high = _mm512_permutex2var_epi8(t->part[2], at, t->part[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high);
}

/* Codes in lanes of some size, and the number of bits of each. */
struct lanes {
    __m512i bits, count;
};

/* Joins codes of 16 bits to some of 32. */
AVX512 INLINE struct lanes join_to_32(struct lanes l)
{
    const __m512i low = _mm512_set1_epi32(0xffff);
    __m512i first = _mm512_and_si512(l.bits, low);
    __m512i second = _mm512_srli_epi32(l.bits, 16);
    __m512i by = _mm512_and_si512(l.count, low);
    return (struct lanes){
        _mm512_or_si512(first, _mm512_sllv_epi32(second, by)),
        _mm512_madd_epi16(l.count, _mm512_set1_epi16(1)),
    };
}

AVX512 INLINE struct lanes join_to_64(struct lanes l)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    __m512i first = _mm512_and_si512(l.bits, low);
    __m512i second = _mm512_srli_epi64(l.bits, 32);
    __m512i by = _mm512_and_si512(l.count, low);
    return (struct lanes){
        _mm512_or_si512(first, _mm512_sllv_epi64(second, by)),
        _mm512_add_epi64(by, _mm512_srli_epi64(l.count, 32)),
    };
}

/* Joins the codes of 64 bits from two vectors, which are the first and second
 * halves of lanes of 128. They remain in 64 bits: those above are lost. */
AVX512 INLINE struct lanes join_within_64(struct lanes a, struct lanes b)
{
    __m512i first = _mm512_unpacklo_epi64(a.bits, b.bits);
    __m512i second = _mm512_unpackhi_epi64(a.bits, b.bits);
    __m512i by = _mm512_unpacklo_epi64(a.count, b.count);
    __m512i more = _mm512_unpackhi_epi64(a.count, b.count);
    return (struct lanes){
        _mm512_or_si512(first, _mm512_sllv_epi64(second, by)),
        _mm512_add_epi64(by, more),
    };
}

AVX512 INLINE void put_lanes(struct bit_writer *b, struct lanes l)
{
    uint64_t bits[8], count[8];
    _mm512_storeu_si512(bits, l.bits);
    _mm512_storeu_si512(count, l.count);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        bit_writer_put(b, bits[i], (unsigned)count[i]);
}

/* Writes codes of four bytes, which are in the order of join_within_64(). */
AVX512 INLINE void put_fours(struct bit_writer *b, struct lanes x,
                             struct lanes y)
{
    const __m512i first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const __m512i second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    put_lanes(b, (struct lanes){
                     _mm512_permutex2var_epi64(x.bits, first, y.bits),
                     _mm512_permutex2var_epi64(x.count, first, y.count) });
    put_lanes(b, (struct lanes){
                     _mm512_permutex2var_epi64(x.bits, second, y.bits),
                     _mm512_permutex2var_epi64(x.count, second, y.count) });
}

AVX512 static void put_avx512(struct bit_writer *bits, const uint32_t *code,
                              const uint8_t *data, size_t size)
{
    const struct byte_table count = table_of(code, 0);
    const struct byte_table low = table_of(code, 8);
    const struct byte_table high = table_of(code, 16);
    const __m512i zero = _mm512_setzero_si512();
    struct bit_writer b = *bits; /* a copy, which no store to `out` changes */
    size_t i = 0;
    for (; i + WIDE <= size; i += WIDE) {
        __m512i bytes = _mm512_loadu_si512(data + i);
        __m512i n = look_up(&count, bytes);
        __m512i l = look_up(&low, bytes), h = look_up(&high, bytes);
        struct lanes x = join_to_64(join_to_32((struct lanes){
            _mm512_unpacklo_epi8(l, h), _mm512_unpacklo_epi8(n, zero) }));
        struct lanes y = join_to_64(join_to_32((struct lanes){
            _mm512_unpackhi_epi8(l, h), _mm512_unpackhi_epi8(n, zero) }));
        struct lanes eights = join_within_64(x, y);
        if (_mm512_cmpgt_epi64_mask(eights.count, _mm512_set1_epi64(BITS_MOST)))
            put_fours(&b, x, y);
        else
            put_lanes(&b, eights);
    }
    literal_run_put(&b, code, data + i, size - i);
    *bits = b;
}

static const struct literal_runs avx512 = {
    .name = "avx512",
    .usable = has_avx512,
    .put = put_avx512,
};
#endif

/* ---- Runs of literals in plain C, and the choice --------------------------*/

static bool always(void)
{
    return true;
}

FOR_EACH_CPU static void put_portable(struct bit_writer *b,
                                      const uint32_t *code, const uint8_t *data,
                                      size_t size)
{
    struct bit_writer copy = *b; /* which no store to `out` changes */
    literal_run_put(&copy, code, data, size);
    *b = copy;
}

static const struct literal_runs portable = {
    .name = "portable",
    .usable = always,
    .put = put_portable,
};

const struct literal_runs *const literal_runs[] = {
#ifdef __x86_64__
    &avx512,
#endif
    &portable,
    NULL,
};

void literal_run_put_long(struct bit_writer *b, const uint32_t *code,
                          const uint8_t *data, size_t size)
{
    size_t i = 0;
    while (!literal_runs[i]->usable())
        i++;
    literal_runs[i]->put(b, code, data, size);
}
