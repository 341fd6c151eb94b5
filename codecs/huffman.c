/* Deflate without matches. */
#include "codecs/huffman.h"

#include <assert.h>
#include <string.h>

enum {
    SYMBOLS = 288,    /* of literals and lengths, the most there are */
    LITERALS = 257,   /* those that are used: the bytes, and the end */
    END = 256,
    KINDS = 19,       /* symbols of the code that the lengths are written in */
    BLOCK = 65535,    /* bytes of a block: a stored one cannot hold more */
    /* Four codes of so many bits and 7 bits of what was left before fit into
     * 64. Bytes rarer than 1 in 4096 cost some bits more for it. */
    LIMIT = 12,
    KIND_LIMIT = 7,   /* 3.2.7 */
};

/* ---- Codes -------------------------------------------------------------- */

/* Sorts the symbols that occur by their count, rarest first; gives how many
 * those are. Two passes of a radix sort: a count is at most BLOCK + 1. */
static unsigned sort_symbols(uint16_t *symbol, const uint32_t *count,
                             unsigned n)
{
    uint16_t by_low[SYMBOLS];
    unsigned at[2][257] = { { 0 } }, used = 0;
    for (unsigned i = 0; i < n; i++) {
        at[0][(count[i] & 255) + 1] += count[i] != 0;
        at[1][(count[i] >> 8) + 1] += count[i] != 0;
        used += count[i] != 0;
    }
    for (unsigned i = 0; i < 256; i++) {
        at[0][i + 1] += at[0][i];
        at[1][i + 1] += at[1][i];
    }
    for (unsigned i = 0; i < n; i++)
        if (count[i])
            by_low[at[0][count[i] & 255]++] = (uint16_t)i;
    for (unsigned i = 0; i < used; i++)
        symbol[at[1][count[by_low[i]] >> 8]++] = by_low[i];
    return used;
}

/* Replaces counts in rising order by the depths of their leaves in a Huffman
 * tree. A. Moffat and J. Katajainen, "In-Place Calculation of
 * Minimum-Redundancy Codes", WADS 1995: the array holds at first weights, then
 * which node is the parent of which, then depths. */
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

    /* From inner nodes' depths to leaves': at each depth those nodes that are
     * not inner ones are leaves. */
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

/* Makes leaves deeper than `limit` as deep as that, and others deeper, until
 * the code is one: the sum of 2^-length is 1 again. */
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
    /* What was freed too much goes to the deepest leaves that it is enough
     * for. */
    for (unsigned d = limit; d > 1 && sum < whole; d--)
        while (leaves[d] && whole - sum >= (uint64_t)1 << (limit - d)) {
            leaves[d]--;
            leaves[d - 1]++;
            sum += (uint64_t)1 << (limit - d);
        }
}

void huffman_lengths(uint8_t *length, const uint32_t *count, unsigned n,
                     unsigned limit)
{
    uint16_t symbol[SYMBOLS];
    uint32_t depth[SYMBOLS];
    unsigned leaves[SYMBOLS] = { 0 };
    unsigned used = sort_symbols(symbol, count, n);
    assert(n <= SYMBOLS && used >= 2);
    for (unsigned i = 0; i < used; i++)
        depth[i] = count[symbol[i]];
    tree_depths(depth, used);
    for (unsigned i = 0; i < used; i++)
        leaves[depth[i]]++;
    if (depth[0] > limit)
        limit_depths(leaves, depth[0], limit);
    memset(length, 0, n);
    for (unsigned d = SYMBOLS - 1, i = 0; d > 0; d--)
        for (unsigned k = leaves[d]; k > 0; k--)
            length[symbol[i++]] = (uint8_t)d;
}

/* A code as it is written: the bits, the first one lowest, above their
 * number. */
static uint32_t code_make(unsigned bits, unsigned length)
{
    uint32_t reversed = 0;
    for (unsigned i = 0; i < length; i++)
        reversed |= (bits >> i & 1) << (length - 1 - i);
    return reversed << 8 | length;
}

/* The codes that have these lengths (3.2.2). */
static void assign_codes(uint32_t *code, const uint8_t *length, unsigned n)
{
    unsigned next[17] = { 0 }, of_length[16] = { 0 };
    for (unsigned i = 0; i < n; i++)
        of_length[length[i]]++;
    of_length[0] = 0;
    for (unsigned d = 1; d < 16; d++)
        next[d + 1] = (next[d] + of_length[d]) << 1;
    for (unsigned i = 0; i < n; i++)
        code[i] = length[i] ? code_make(next[length[i]]++, length[i]) : 0;
}

/* ---- Bits --------------------------------------------------------------- */

struct bits {
    uint8_t *out;
    uint64_t held;  /* bits that are not out yet, the first one lowest */
    unsigned count; /* how many; at most 7 between calls */
};

static inline void store64(uint8_t *out, uint64_t value)
{
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        value = __builtin_bswap64(value);
    memcpy(out, &value, sizeof value);
}

/* At most 57 bits at a time. */
static inline void put(struct bits *b, uint64_t bits, unsigned count)
{
    b->held |= bits << b->count;
    b->count += count;
    store64(b->out, b->held);
    b->out += b->count / 8;
    b->held >>= b->count & ~7u;
    b->count &= 7;
}

static inline void put_code(struct bits *b, uint32_t code)
{
    put(b, code >> 8, code & 255);
}

static void put_align(struct bits *b)
{
    if (b->count)
        put(b, 0, 8 - b->count);
}

static void put_stored(struct bits *b, const uint8_t *data, size_t size,
                       bool final)
{
    put(b, final, 3);
    put_align(b);
    put(b, size | (uint64_t)(uint16_t)~size << 16, 32);
    if (size)
        memcpy(b->out, data, size);
    b->out += size;
}

/* Two codes as one: their bits and their number are known before where they
 * go is. */
static inline uint64_t pair(uint32_t a, uint32_t b, unsigned *count)
{
    *count = (a & 255) + (b & 255);
    return (a >> 8) | (uint64_t)(b >> 8) << (a & 255);
}

static void put_data(struct bits *bits, const uint32_t *code,
                     const uint8_t *data, size_t size)
{
    struct bits b = *bits; /* which no store into `out` can change */
    size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        unsigned m, n;
        uint64_t low = pair(code[data[i]], code[data[i + 1]], &m);
        uint64_t high = pair(code[data[i + 2]], code[data[i + 3]], &n);
        put(&b, low | high << m, m + n);
    }
    for (; i < size; i++)
        put_code(&b, code[data[i]]);
    *bits = b;
}

/* ---- Blocks ------------------------------------------------------------- */

/* The header of a block: the code lengths, written in a code of their own. */
struct header {
    unsigned nlengths;
    uint8_t length[LITERALS + 2]; /* of literals; then of two distances, which
                                     old readers want to be there */
    unsigned nkinds;
    struct {
        uint8_t kind, extra, bits;
    } kind[LITERALS + 2];
    uint8_t kind_length[KINDS];
    uint32_t kind_code[KINDS];
};

static void add_kind(struct header *h, unsigned kind, size_t extra,
                     unsigned bits)
{
    h->kind[h->nkinds].kind = (uint8_t)kind;
    h->kind[h->nkinds].extra = (uint8_t)extra;
    h->kind[h->nkinds++].bits = (uint8_t)bits;
}

/* Writes a run of one length in the fewest kinds: 16 repeats the last length 3
 * to 6 times, 17 and 18 are 3 to 10 and 11 to 138 zeros. */
static void add_run(struct header *h, unsigned length, size_t run)
{
    if (length) {
        add_kind(h, length, 0, 0);
        run--;
    }
    while (run >= 3) {
        size_t most = length ? 6 : run > 10 ? 138 : 10;
        size_t n = run < most ? run : most;
        if (length)
            add_kind(h, 16, n - 3, 2);
        else if (n > 10)
            add_kind(h, 18, n - 11, 7);
        else
            add_kind(h, 17, n - 3, 3);
        run -= n;
    }
    while (run-- > 0)
        add_kind(h, length, 0, 0);
}

static void make_header(struct header *h, const uint32_t *count)
{
    uint32_t kinds[KINDS] = { 0 };
    h->nlengths = LITERALS + 2;
    h->nkinds = 0;
    huffman_lengths(h->length, count, LITERALS, LIMIT);
    h->length[LITERALS] = h->length[LITERALS + 1] = 1;
    for (unsigned i = 0, run; i < h->nlengths; i += run) {
        for (run = 1; i + run < h->nlengths; run++)
            if (h->length[i + run] != h->length[i])
                break;
        add_run(h, h->length[i], run);
    }
    for (unsigned i = 0; i < h->nkinds; i++)
        kinds[h->kind[i].kind]++;
    huffman_lengths(h->kind_length, kinds, KINDS, KIND_LIMIT);
    assign_codes(h->kind_code, h->kind_length, KINDS);
}

/* The order in which the lengths of kinds are written (3.2.7). */
static const uint8_t kind_order[KINDS] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15 };

static unsigned kinds_written(const struct header *h)
{
    unsigned n = KINDS;
    while (n > 4 && !h->kind_length[kind_order[n - 1]])
        n--;
    return n;
}

static size_t header_bits(const struct header *h)
{
    size_t bits = 3 + 5 + 5 + 4 + 3 * (size_t)kinds_written(h);
    for (unsigned i = 0; i < h->nkinds; i++)
        bits += h->kind_length[h->kind[i].kind] + h->kind[i].bits;
    return bits;
}

static void put_header(struct bits *b, const struct header *h, bool final)
{
    unsigned n = kinds_written(h);
    put(b, final | 2 << 1, 3);
    put(b, LITERALS - 257, 5);
    put(b, 2 - 1, 5);
    put(b, n - 4, 4);
    for (unsigned i = 0; i < n; i++)
        put(b, h->kind_length[kind_order[i]], 3);
    for (unsigned i = 0; i < h->nkinds; i++) {
        put_code(b, h->kind_code[h->kind[i].kind]);
        put(b, h->kind[i].extra, h->kind[i].bits);
    }
}

/* Four counters for each byte: to count one twice in a row is to wait for the
 * first. */
static void count_bytes(uint32_t *count, const uint8_t *data, size_t size)
{
    uint32_t part[4][256] = { { 0 } };
    size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        part[0][data[i]]++;
        part[1][data[i + 1]]++;
        part[2][data[i + 2]]++;
        part[3][data[i + 3]]++;
    }
    for (; i < size; i++)
        part[0][data[i]]++;
    for (int k = 0; k < 256; k++)
        count[k] = part[0][k] + part[1][k] + part[2][k] + part[3][k];
}

static size_t data_bits(const uint32_t *count, const uint8_t *length)
{
    size_t bits = 0;
    for (unsigned i = 0; i < LITERALS; i++)
        bits += (size_t)count[i] * length[i];
    return bits;
}

static void put_block(struct bits *b, const uint8_t *data, size_t size,
                      bool final)
{
    struct header h;
    uint32_t count[LITERALS], code[LITERALS];
    count_bytes(count, data, size);
    count[END] = 1;
    if (size == 0) {
        put_stored(b, data, size, final);
        return;
    }
    make_header(&h, count);
    if ((header_bits(&h) + data_bits(count, h.length)) / 8 >= size + 4) {
        put_stored(b, data, size, final);
        return;
    }
    assign_codes(code, h.length, LITERALS);
    put_header(b, &h, final);
    put_data(b, code, data, size);
    put_code(b, code[END]);
}

size_t huffman_bound(size_t size)
{
    /* A stored block takes 4 bytes, and bits that end its first byte; so does
     * the empty one at the end; and 8 bytes are stored at a time. */
    return size + (size / BLOCK + 2) * 5 + 8;
}

size_t huffman_deflate(uint8_t *out, const uint8_t *data, size_t size,
                       bool final)
{
    struct bits b = { .out = out };
    size_t blocks = size ? (size + BLOCK - 1) / BLOCK : 1;
    for (; blocks > 0; blocks--) {
        size_t n = size / blocks; /* all of about one size */
        put_block(&b, data, n, final && blocks == 1);
        data += n;
        size -= n;
    }
    if (!final)
        put_stored(&b, NULL, 0, false);
    put_align(&b);
    return (size_t)(b.out - out);
}

size_t huffman_estimate(const uint8_t *data, size_t size)
{
    uint32_t count[LITERALS];
    uint8_t length[LITERALS];
    size_t bits = 0;
    while (size > 0) {
        size_t n = size < BLOCK ? size : BLOCK;
        count_bytes(count, data, n);
        count[END] = 1;
        huffman_lengths(length, count, LITERALS, LIMIT);
        bits += data_bits(count, length);
        data += n;
        size -= n;
    }
    return bits / 8;
}
