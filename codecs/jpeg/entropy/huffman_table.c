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
    if (ac) {
        /* An entry has the symbol behind its own as well, if all of it is
         * known. */
        enum { ENTRIES = 1 << HUFFMAN_LOOKUP };
        uint32_t single[ENTRIES];
        for (uint32_t i = 0; i < ENTRIES; i++)
            single[i] = (uint32_t)decoder->entry[i];
        for (uint32_t i = 0; i < ENTRIES; i++) {
            const unsigned used = single[i] & 63;
            if (!single[i] || single[i] & HUFFMAN_SPECIAL ||
                used >= HUFFMAN_LOOKUP)
                continue;
            const uint32_t bits = i << used & (ENTRIES - 1),
                           next = single[bits], step = next >> 24;
            const unsigned size = 63 - (next >> 16 & 63), all = next & 63;
            uint64_t value = 0;
            if (!next || all > HUFFMAN_LOOKUP - used ||
                (next & HUFFMAN_SPECIAL && step != HUFFMAN_END))
                continue;
            if (size)
                value = (bits >> (HUFFMAN_LOOKUP - all) & ((1u << size) - 1)) |
                        1u << size;
            decoder->entry[i] += all | (uint64_t)step << 32 | value << 48;
        }
    }
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

void huffman_encoder_make(struct huffman_encoder *encoder,
                          const struct huffman_spec *spec)
{
    uint32_t code = 0, n = 0;
    for (unsigned i = 0; i < 256; i++)
        encoder->code[i] = HUFFMAN_NONE | 1;
    for (unsigned length = 1; length <= 16; length++, code <<= 1)
        for (unsigned i = spec->counts[length - 1]; i && n < 256; i--) {
            const unsigned symbol = spec->symbols[n++], size = symbol & 15;
            encoder->code[symbol] =
                (uint64_t)code++ << size << 8 | (length + size);
        }
}

/* ---- The shortest table ------------------------------------------------- */

enum {
    SYMBOLS = 256,
    LENGTH_MAX = 16, /* of a code */
    DEPTH_MAX = 32,  /* of a tree that is not yet cut down to that */
    COUNT_MAX = 1000 * 1000 * 1000, /* libjpeg takes more for infinite */
};

/* A tree without a parent yet, by Huffman's method. It is worth its count << 9
 * | 256 - the symbol that is first below it: of equal counts the last symbol
 * comes first. */
struct subtree {
    uint64_t worth;
    unsigned node;
};

/* Adds a root to those that are sorted, the least last. */
static void add_root(struct subtree *root, unsigned *roots,
                     struct subtree added)
{
    unsigned at = (*roots)++;
    for (; at > 0 && root[at - 1].worth < added.worth; at--)
        root[at] = root[at - 1];
    root[at] = added;
}

/* Sets the depth of each symbol, 0 of those that do not occur. One more symbol
 * than there are, the rarest, gets the code of ones alone, which JPEG does not
 * have. Returns false if one is too deep. */
static bool find_depths(unsigned char depth[SYMBOLS + 1],
                        const uint64_t counts[SYMBOLS])
{
    struct subtree root[SYMBOLS + 1];
    /* Nodes are the symbols, and behind these the joined ones. */
    unsigned parent[2 * SYMBOLS + 1] = { 0 }, level[2 * SYMBOLS + 1] = { 0 };
    unsigned roots = 0, nodes = SYMBOLS + 1;
    bool fits = true;
    for (unsigned i = 0; i <= SYMBOLS; i++) {
        const uint64_t count = i < SYMBOLS ? counts[i] : 1;
        if (count)
            add_root(root, &roots,
                     (struct subtree){ count << 9 | (SYMBOLS - i), i });
    }
    while (roots > 1) { /* join the two least */
        const struct subtree a = root[--roots], b = root[--roots];
        parent[a.node] = parent[b.node] = nodes;
        add_root(root, &roots,
                 (struct subtree){ a.worth + (b.worth >> 9 << 9), nodes++ });
    }
    for (unsigned i = nodes - 1; i-- > 0;)
        level[i] = level[parent[i]] + 1;
    for (unsigned i = 0; i <= SYMBOLS; i++) {
        const bool occurs = i == SYMBOLS || counts[i];
        fits = fits && (!occurs || level[i] <= DEPTH_MAX);
        depth[i] = occurs ? (unsigned char)level[i] : 0;
    }
    return fits;
}

bool huffman_spec_make(struct huffman_spec *spec, const uint64_t counts[256])
{
    unsigned char depth[SYMBOLS + 1];
    unsigned bits[DEPTH_MAX + 1] = { 0 }, at[DEPTH_MAX + 1] = { 0 };
    unsigned n = DEPTH_MAX;
    uint64_t sum = 0;
    for (unsigned i = 0; i < SYMBOLS; i++)
        sum += counts[i];
    if (sum == 0 || sum >= COUNT_MAX || !find_depths(depth, counts))
        return false;
    memset(spec, 0, sizeof *spec);
    for (unsigned i = 0; i < SYMBOLS; i++)
        bits[depth[i]]++;
    for (unsigned d = 1; d < DEPTH_MAX; d++)
        at[d + 1] = at[d] + bits[d];
    for (unsigned i = 0; i < SYMBOLS; i++)
        if (depth[i])
            spec->symbols[at[depth[i]]++] = (uint8_t)i;
    bits[depth[SYMBOLS]]++;
    bits[0] = 0;
    /* Codes that are too long become shorter, at the cost of others (T.81,
     * figure K.3). */
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
    for (n = 1; n <= LENGTH_MAX; n++)
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
