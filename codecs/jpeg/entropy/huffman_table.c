/* Huffman tables of JPEG in the forms in which they are used. */
#include "codecs/jpeg/entropy/huffman_table.h"

#include <string.h>

/* The most bits of a value (T.81, tables F.1 and F.2, for 8 bits). */
enum { DC_SIZE_MAX = 11, AC_SIZE_MAX = 10, RUN_MAX = 15 };

/* Returns whether a sequential scan of 8 bits may have a symbol. */
static bool is_possible(uint8_t symbol, bool ac)
{
    unsigned run = symbol >> 4, size = symbol & 15;
    return ac ? size <= AC_SIZE_MAX && (size || run == 0 || run == RUN_MAX)
              : symbol <= DC_SIZE_MAX;
}

/* Returns the entry of a symbol whose code has `length` bits; 0 if no
 * sequential scan has it. */
static uint32_t entry_of(uint8_t symbol, unsigned length, bool ac)
{
    uint32_t run = ac ? symbol >> 4 : 0, size = ac ? symbol & 15 : symbol;
    uint32_t step = ac && symbol == 0 ? HUFFMAN_END : run + 1;
    if (!is_possible(symbol, ac))
        return 0;
    return (length + size) | length << 8 | (size ? 0 : HUFFMAN_SPECIAL) |
           (63 - size) << 16 | step << 24;
}

/* Returns what an entry has of the symbol behind its own; `bits` are those that
 * follow, of which `known` are known. Returns 0 if they do not have it all. */
static uint64_t pair_of(const uint32_t *single, uint32_t bits, unsigned known)
{
    uint32_t entry = single[bits], step = entry >> 24, value = 0;
    unsigned size = 63 - (entry >> 16 & 63), all = entry & 63;
    if (!entry || all > known ||
        (entry & HUFFMAN_SPECIAL && step != HUFFMAN_END))
        return 0;
    if (size)
        value =
            (bits >> (HUFFMAN_LOOKUP - all) & ((1u << size) - 1)) | 1u << size;
    return all | (uint64_t)step << 32 | (uint64_t)value << 48;
}

static void add_pairs(struct huffman_decoder *decoder)
{
    uint32_t single[1 << HUFFMAN_LOOKUP];
    for (uint32_t i = 0; i < 1u << HUFFMAN_LOOKUP; i++)
        single[i] = (uint32_t)decoder->entry[i];
    for (uint32_t i = 0; i < 1u << HUFFMAN_LOOKUP; i++) {
        unsigned used = single[i] & 63;
        if (single[i] && !(single[i] & HUFFMAN_SPECIAL) &&
            used < HUFFMAN_LOOKUP)
            decoder->entry[i] +=
                pair_of(single, i << used & ((1u << HUFFMAN_LOOKUP) - 1),
                        HUFFMAN_LOOKUP - used);
    }
}

bool huffman_decoder_make(struct huffman_decoder *decoder,
                          const struct huffman_spec *spec, bool ac)
{
    uint32_t code = 0, n = 0;
    memset(decoder, 0, sizeof *decoder);
    memcpy(decoder->symbols, spec->symbols, sizeof decoder->symbols);
    decoder->ac = ac;
    for (unsigned length = 1; length <= 16; length++, code <<= 1) {
        decoder->offset[length] = (int32_t)n - (int32_t)code;
        for (unsigned i = spec->counts[length - 1]; i; i--, n++, code++) {
            uint32_t entry =
                n < 256 ? entry_of(spec->symbols[n], length, ac) : 0;
            /* The code of ones alone is no code (T.81, C.2). */
            if (!entry || code + 1 >= 1u << length)
                return false;
            for (unsigned k = 0; length <= HUFFMAN_LOOKUP &&
                                 k < 1u << (HUFFMAN_LOOKUP - length);
                 k++)
                decoder->entry[code << (HUFFMAN_LOOKUP - length) | k] = entry;
        }
        decoder->limit[length] = code << (16 - length);
    }
    if (ac)
        add_pairs(decoder);
    return n > 0;
}

uint32_t huffman_decoder_find(const struct huffman_decoder *decoder,
                              uint32_t bits)
{
    unsigned length = HUFFMAN_LOOKUP + 1;
    while (length <= 16 && bits >= decoder->limit[length])
        length++;
    if (length > 16)
        return 0;
    uint32_t code = bits >> (16 - length);
    int32_t n = (int32_t)code + decoder->offset[length];
    return entry_of(decoder->symbols[n & 255], length, decoder->ac);
}

static void set_code(struct huffman_encoder *encoder, uint8_t symbol,
                     uint32_t code, unsigned length)
{
    unsigned size = symbol & 15;
    encoder->code[symbol] = (uint64_t)code << size << 8 | (length + size);
}

void huffman_encoder_make(struct huffman_encoder *encoder,
                          const struct huffman_spec *spec)
{
    uint32_t code = 0, n = 0;
    for (unsigned i = 0; i < 256; i++)
        encoder->code[i] = HUFFMAN_NONE | 1;
    for (unsigned length = 1; length <= 16; length++, code <<= 1)
        for (unsigned i = spec->counts[length - 1]; i && n < 256; i--)
            set_code(encoder, spec->symbols[n++], code++, length);
}

/* ---- The shortest table ------------------------------------------------- */

enum {
    SYMBOLS = 256,
    LENGTH_MAX = 16, /* of a code */
    DEPTH_MAX = 32,  /* of a tree that is not yet cut down to that */
    COUNT_MAX = 1000 * 1000 * 1000, /* libjpeg takes more for infinite */
};

/* A tree of symbols, by Huffman's method. A node is worth its count << 9 | 256
 * - the symbol that is first below it: of equal counts the last symbol comes
 * first. Two queues, each from the least node on, hold the roots: of one symbol
 * and of more. What is joined is worth at least what was joined before, but for
 * the symbol. */
struct tree {
    uint64_t leaf[SYMBOLS + 1], joined[SYMBOLS];
    unsigned leaves, first_leaf, joins, first_joined;
    /* Leaves are numbered as they are in their queue, others from `leaves` on
     * as they are made. */
    unsigned number[SYMBOLS], parent[2 * SYMBOLS + 1], depth[2 * SYMBOLS + 1];
};

/* Shell's method: a heap or a list takes longer for so few. */
static void sort(uint64_t *value, unsigned n)
{
    static const unsigned gaps[] = { 57, 23, 10, 4, 1 };
    for (unsigned g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        const unsigned gap = gaps[g];
        for (unsigned i = gap; i < n; i++) {
            const uint64_t moved = value[i];
            unsigned at = i;
            for (; at >= gap && value[at - gap] > moved; at -= gap)
                value[at] = value[at - gap];
            value[at] = moved;
        }
    }
}

/* Takes the least root. Returns its number. */
static unsigned take_least(struct tree *tree, uint64_t *value)
{
    const unsigned leaf = tree->first_leaf, joined = tree->first_joined;
    if (leaf < tree->leaves &&
        (joined == tree->joins || tree->leaf[leaf] < tree->joined[joined])) {
        *value = tree->leaf[leaf];
        return tree->first_leaf++;
    }
    *value = tree->joined[joined];
    return tree->number[tree->first_joined++];
}

/* Joins the two least roots. */
static void join(struct tree *tree)
{
    uint64_t a, b;
    const unsigned made = tree->leaves + tree->joins;
    tree->parent[take_least(tree, &a)] = made;
    tree->parent[take_least(tree, &b)] = made;
    const uint64_t value = a + (b >> 9 << 9);
    unsigned at = tree->joins++;
    for (; at > tree->first_joined && tree->joined[at - 1] > value; at--) {
        tree->joined[at] = tree->joined[at - 1];
        tree->number[at] = tree->number[at - 1];
    }
    tree->joined[at] = value;
    tree->number[at] = made;
}

/* One more symbol than there are, the rarest, gets the code of ones alone,
 * which JPEG does not have. Sets the depth of each symbol, 0 of those that do
 * not occur. Returns false if one is too deep. */
static bool grow(unsigned char depth[SYMBOLS + 1],
                 const uint64_t counts[SYMBOLS])
{
    struct tree tree = { .leaves = 0 };
    bool fits = true;
    for (unsigned i = 0; i <= SYMBOLS; i++) {
        const uint64_t count = i < SYMBOLS ? counts[i] : 1;
        if (count)
            tree.leaf[tree.leaves++] = count << 9 | (SYMBOLS - i);
    }
    sort(tree.leaf, tree.leaves);
    while (tree.joins + 1 < tree.leaves)
        join(&tree);
    for (unsigned i = tree.leaves + tree.joins - 1; i-- > 0;)
        tree.depth[i] = tree.depth[tree.parent[i]] + 1;
    memset(depth, 0, SYMBOLS + 1);
    for (unsigned i = 0; i < tree.leaves; i++) {
        fits = fits && tree.depth[i] <= DEPTH_MAX;
        depth[SYMBOLS - (tree.leaf[i] & 511)] = (unsigned char)tree.depth[i];
    }
    return fits;
}

/* Codes that are too long become shorter, at the cost of others (T.81, figure
 * K.3). bits[n] is how many have n bits. */
static void cut_down(unsigned bits[DEPTH_MAX + 1])
{
    unsigned n = DEPTH_MAX;
    for (; n > LENGTH_MAX; n--)
        while (bits[n]) {
            unsigned shorter = n - 2;
            while (!bits[shorter])
                shorter--;
            bits[n] -= 2;
            bits[n - 1]++;
            bits[shorter + 1] += 2;
            bits[shorter]--;
        }
    while (!bits[n])
        n--;
    bits[n]--; /* the code of ones */
}

/* Lists the symbols by their depths. */
static void list_symbols(uint8_t symbols[SYMBOLS],
                         const unsigned char depth[SYMBOLS],
                         const unsigned bits[DEPTH_MAX + 1])
{
    unsigned at[DEPTH_MAX + 1] = { 0 };
    for (unsigned n = 1; n < DEPTH_MAX; n++)
        at[n + 1] = at[n] + bits[n];
    for (unsigned i = 0; i < SYMBOLS; i++)
        if (depth[i])
            symbols[at[depth[i]]++] = (uint8_t)i;
}

bool huffman_spec_make(struct huffman_spec *spec, const uint64_t counts[256])
{
    unsigned char depth[SYMBOLS + 1];
    unsigned bits[DEPTH_MAX + 1] = { 0 };
    uint64_t sum = 0;
    for (unsigned i = 0; i < SYMBOLS; i++)
        sum += counts[i];
    if (sum == 0 || sum >= COUNT_MAX || !grow(depth, counts))
        return false;
    memset(spec, 0, sizeof *spec);
    for (unsigned i = 0; i < SYMBOLS; i++)
        bits[depth[i]]++;
    list_symbols(spec->symbols, depth, bits);
    bits[depth[SYMBOLS]]++;
    bits[0] = 0;
    cut_down(bits);
    for (unsigned n = 1; n <= LENGTH_MAX; n++)
        spec->counts[n - 1] = (uint8_t)bits[n];
    return true;
}

bool huffman_spec_complete(struct huffman_spec *spec, bool ac)
{
    uint64_t counts[SYMBOLS] = { 0 };
    bool lacking = false;
    for (unsigned length = 1, n = 0; length <= LENGTH_MAX; length++)
        for (unsigned i = spec->counts[length - 1]; i && n < SYMBOLS; i--)
            counts[spec->symbols[n++]] = UINT64_C(16) << (LENGTH_MAX - length);
    for (unsigned i = 0; i < SYMBOLS; i++) {
        bool lacks = !counts[i] && is_possible((uint8_t)i, ac);
        counts[i] += lacks;
        lacking = lacking || lacks;
    }
    return lacking && huffman_spec_make(spec, counts);
}

void huffman_complete(struct entropy_scan *scan)
{
    for (unsigned i = 0; i < scan->components; i++) {
        const struct entropy_component *one = &scan->component[i];
        (void)huffman_spec_complete(&scan->dc[one->dc], false);
        (void)huffman_spec_complete(&scan->ac[one->ac], true);
    }
}
