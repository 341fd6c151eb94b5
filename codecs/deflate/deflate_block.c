/* DEFLATE blocks: counting, the header, the codes; and those without matches.
 */
#include "codecs/deflate/deflate_block.h"

#include <string.h>

#include "codecs/base/each_cpu.h"

enum {
    TOKENS = 19,     /* symbols of the code that the header is written in */
    TOKEN_LIMIT = 7, /* 3.2.7 */
    DISTANCE_LIMIT = 15,
};

/* ---- Counting ----------------------------------------------------------- */

/* Four counters for each byte: counting one byte twice in a row would wait for
 * the first. */
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
        count[k] += part[0][k] + part[1][k] + part[2][k] + part[3][k];
}

static void count_literals(uint32_t *count, const uint8_t *data, size_t size)
{
    enum { MANY = 1024 }; /* bytes, which are worth clearing four counters */
    if (size >= MANY)
        count_bytes(count, data, size);
    else
        for (size_t i = 0; i < size; i++)
            count[data[i]]++;
}

void deflate_block_count(struct deflate_counts *counts, const uint8_t *data,
                         const struct sequence *sequence, size_t n)
{
    for (const struct sequence *s = sequence; s < sequence + n; s++) {
        count_literals(counts->symbol, data, s->literals);
        data += s->literals + s->length;
        if (!s->length)
            continue;
        counts->symbol[deflate_block_length(s->length).symbol]++;
        counts->distance[deflate_block_distance(s->distance).symbol]++;
    }
}

static size_t sum_of_bits(const uint32_t *count, const uint8_t *length,
                          unsigned n)
{
    size_t bits = 0;
    for (unsigned i = 0; i < n; i++)
        bits += (size_t)count[i] * length[i];
    return bits;
}

/* ---- The header --------------------------------------------------------- */

/* The code lengths of symbols, then of distances, as tokens of a code of their
 * own (3.2.7). Without tokens they are the fixed ones, which are not written.
 */
struct header {
    unsigned symbols, distances; /* that are written */
    uint8_t length[HUFFMAN_SYMBOLS + DISTANCES];
    unsigned ntokens;
    struct {
        uint8_t symbol, extra, bits;
    } token[HUFFMAN_SYMBOLS + DISTANCES];
    uint8_t token_length[TOKENS];
    uint32_t token_code[TOKENS];
};

static void add_token(struct header *h, unsigned symbol, size_t extra,
                      unsigned bits)
{
    h->token[h->ntokens].symbol = (uint8_t)symbol;
    h->token[h->ntokens].extra = (uint8_t)extra;
    h->token[h->ntokens++].bits = (uint8_t)bits;
}

/* Adds a run of one length in the fewest tokens: 16 repeats the last length 3
 * to 6 times, 17 and 18 stand for 3 to 10 and 11 to 138 zeros. */
static void add_run(struct header *h, unsigned length, size_t run)
{
    if (length) {
        add_token(h, length, 0, 0);
        run--;
    }
    while (run >= 3) {
        size_t most = length ? 6 : run > 10 ? 138 : 10;
        size_t n = run < most ? run : most;
        if (length)
            add_token(h, 16, n - 3, 2);
        else if (n > 10)
            add_token(h, 18, n - 11, 7);
        else
            add_token(h, 17, n - 3, 3);
        run -= n;
    }
    while (run-- > 0)
        add_token(h, length, 0, 0);
}

static unsigned last_used(const uint32_t *count, unsigned n)
{
    while (n > 0 && !count[n - 1])
        n--;
    return n;
}

static void make_lengths(struct header *h, const struct deflate_counts *counts)
{
    huffman_code_lengths(h->length, counts->symbol, h->symbols, LITERAL_LIMIT);
    huffman_code_lengths(h->length + h->symbols, counts->distance, h->distances,
                         DISTANCE_LIMIT);
}

static void make_header(struct header *h, const struct deflate_counts *counts)
{
    uint32_t count[TOKENS] = { 0 };
    h->symbols = last_used(counts->symbol, HUFFMAN_SYMBOLS);
    h->distances = last_used(counts->distance, DISTANCES);
    h->ntokens = 0;
    make_lengths(h, counts);
    unsigned n = h->symbols + h->distances;
    for (unsigned i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n; run++)
            if (h->length[i + run] != h->length[i])
                break;
        add_run(h, h->length[i], run);
    }
    for (unsigned i = 0; i < h->ntokens; i++)
        count[h->token[i].symbol]++;
    huffman_code_lengths(h->token_length, count, TOKENS, TOKEN_LIMIT);
    huffman_code_assign(h->token_code, h->token_length, TOKENS);
}

/* The lengths of 3.2.6. */
static void make_fixed_header(struct header *h)
{
    h->symbols = HUFFMAN_SYMBOLS;
    h->distances = DISTANCES;
    h->ntokens = 0;
    for (unsigned i = 0; i < HUFFMAN_SYMBOLS; i++)
        h->length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(h->length + HUFFMAN_SYMBOLS, 5, DISTANCES);
}

/* The order in which the code lengths of tokens are written (3.2.7). */
static const uint8_t token_order[TOKENS] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                             11, 4,  12, 3, 13, 2, 14, 1, 15 };

static unsigned tokens_written(const struct header *h)
{
    unsigned n = TOKENS;
    while (n > 4 && !h->token_length[token_order[n - 1]])
        n--;
    return n;
}

static size_t header_bits(const struct header *h)
{
    if (!h->ntokens)
        return 3;
    size_t bits = 3 + 5 + 5 + 4 + 3 * (size_t)tokens_written(h);
    for (unsigned i = 0; i < h->ntokens; i++)
        bits += h->token_length[h->token[i].symbol] + h->token[i].bits;
    return bits;
}

static void put_header(struct bit_writer *b, const struct header *h, bool final)
{
    if (!h->ntokens) {
        bit_writer_put(b, final | 1 << 1, 3);
        return;
    }
    unsigned n = tokens_written(h);
    bit_writer_put(b, final | 2 << 1, 3);
    bit_writer_put(b, h->symbols - LITERALS, 5);
    bit_writer_put(b, h->distances - 1, 5);
    bit_writer_put(b, n - 4, 4);
    for (unsigned i = 0; i < n; i++)
        bit_writer_put(b, h->token_length[token_order[i]], 3);
    for (unsigned i = 0; i < h->ntokens; i++) {
        huffman_code_put(b, h->token_code[h->token[i].symbol]);
        bit_writer_put(b, h->token[i].extra, h->token[i].bits);
    }
}

/* ---- The data ----------------------------------------------------------- */

/* The codes of a block. The code of a length has its extra bits above it. */
struct codes {
    uint32_t symbol[HUFFMAN_SYMBOLS];
    uint32_t length[MATCH_LONGEST + 1];
    uint32_t distance[DISTANCES];
};

static void make_codes(struct codes *c, const struct header *h)
{
    huffman_code_assign(c->symbol, h->length, h->symbols);
    huffman_code_assign(c->distance, h->length + h->symbols, h->distances);
    if (h->symbols == LITERALS)
        return;
    for (unsigned l = MATCH_SHORTEST; l <= MATCH_LONGEST; l++) {
        struct deflate_symbol part = deflate_block_length(l);
        if (part.symbol >= h->symbols)
            continue;
        uint32_t code = c->symbol[part.symbol];
        c->length[l] = (code + part.bits) | part.extra << (8 + (code & 255));
    }
}

static inline void put_match(struct bit_writer *b, const struct codes *c,
                             struct sequence s)
{
    struct deflate_symbol part = deflate_block_distance(s.distance);
    unsigned n;
    uint64_t bits =
        huffman_code_pair(c->length[s.length], c->distance[part.symbol], &n);
    bit_writer_put(b, bits | (uint64_t)part.extra << n, n + part.bits);
}

FOR_EACH_CPU static void put_data(struct bit_writer *bits,
                                  const struct codes *c, const uint8_t *data,
                                  const struct sequence *sequence, size_t n)
{
    struct bit_writer b = *bits; /* a copy, which no store to `out` changes */
    for (const struct sequence *s = sequence; s < sequence + n; s++) {
        if (s->literals < LITERAL_RUN) {
            literal_run_put(&b, c->symbol, data, s->literals);
        } else {
            struct bit_writer run = b;
            literal_run_put_long(&run, c->symbol, data, s->literals);
            b = run;
        }
        data += s->literals + s->length;
        if (s->length)
            put_match(&b, c, *s);
    }
    huffman_code_put(&b, c->symbol[END_OF_BLOCK]);
    *bits = b;
}

/* ---- Blocks ------------------------------------------------------------- */

void deflate_block_put_stored(struct bit_writer *b, const uint8_t *data,
                              size_t size, bool final)
{
    bit_writer_put(b, final, 3);
    bit_writer_align(b);
    bit_writer_put(b, size | (uint64_t)(uint16_t)~size << 16, 32);
    if (size)
        memcpy(b->out, data, size);
    b->out += size;
}

static void put_all_stored(struct bit_writer *b, const uint8_t *data,
                           size_t size, bool final)
{
    for (size_t n; size > BLOCK_STORED; data += n, size -= n)
        deflate_block_put_stored(b, data, n = BLOCK_STORED, false);
    deflate_block_put_stored(b, data, size, final);
}

/* Returns the sum of the extra bits of all lengths and distances. */
static size_t extra_bits(const struct deflate_counts *counts)
{
    size_t bits = 0;
    for (unsigned i = 8; i < 28; i++)
        bits += counts->symbol[LITERALS + i] * (size_t)(i / 4 - 1);
    for (unsigned i = 4; i < DISTANCES; i++)
        bits += counts->distance[i] * (size_t)(i / 2 - 1);
    return bits;
}

static size_t data_bits(const struct header *h,
                        const struct deflate_counts *counts)
{
    return extra_bits(counts) +
           sum_of_bits(counts->symbol, h->length, h->symbols) +
           sum_of_bits(counts->distance, h->length + h->symbols, h->distances);
}

/* Makes the header for which the block is shorter. Returns its bits. */
static size_t make_shorter_header(struct header *h,
                                  const struct deflate_counts *counts)
{
    make_fixed_header(h);
    size_t fixed = header_bits(h) + data_bits(h, counts);
    make_header(h, counts);
    size_t own = header_bits(h) + data_bits(h, counts);
    if (own <= fixed)
        return own;
    make_fixed_header(h);
    return fixed;
}

/* Makes at least two symbols occur: a code of fewer is not complete, as old
 * readers demand, even where there is no distance at all. */
static void complete(uint32_t *count, unsigned n)
{
    unsigned used = 0;
    for (unsigned i = 0; i < n; i++)
        used += count[i] != 0;
    for (unsigned i = 0; used < 2; i++) {
        used += count[i] == 0;
        count[i] += count[i] == 0;
    }
}

size_t deflate_block_bits(const struct deflate_counts *counts)
{
    struct deflate_counts whole = *counts;
    struct header h;
    complete(whole.distance, DISTANCES);
    return make_shorter_header(&h, &whole);
}

size_t deflate_block_data_bits(const struct deflate_counts *counts)
{
    struct deflate_counts whole = *counts;
    struct header h = { .symbols = HUFFMAN_SYMBOLS, .distances = DISTANCES };
    whole.symbol[END_OF_BLOCK] = 1;
    complete(whole.symbol, HUFFMAN_SYMBOLS);
    complete(whole.distance, DISTANCES);
    make_lengths(&h, &whole);
    return data_bits(&h, counts);
}

void deflate_block_put(struct bit_writer *b, struct deflate_counts *counts,
                       const uint8_t *data, size_t size,
                       const struct sequence *sequence, size_t n, bool final)
{
    struct header h;
    struct codes c;
    size_t blocks = (size + BLOCK_STORED - 1) / BLOCK_STORED;
    if (size == 0) {
        deflate_block_put_stored(b, data, size, final);
        return;
    }
    counts->symbol[END_OF_BLOCK] = 1;
    complete(counts->distance, DISTANCES);
    size_t bits = make_shorter_header(&h, counts);
    if (bits / 8 >= size + 4 * blocks) {
        put_all_stored(b, data, size, final);
        return;
    }
    make_codes(&c, &h);
    put_header(b, &h, final);
    put_data(b, &c, data, sequence, n);
}

/* ---- Blocks without matches -----------------------------------------------*/

enum {
    SHARE = 8, /* one run of bytes of so many is counted */
    RUN = 1024,
    /* The bytes of a block for which a share is counted. In shorter ones, codes
     * of what is not there cost more; longer ones differ too much. */
    QUICK_LEAST = 1 << 17,
    QUICK_MOST = 1 << 20,
};

/* Counts a share of the bytes. Each byte gets a code, whether it was seen or
 * not. */
static void count_share(struct deflate_counts *counts, const uint8_t *data,
                        size_t size)
{
    for (size_t i = 0; i < size; i += SHARE * RUN) {
        size_t left = size - i;
        struct sequence run = { .literals = left < RUN ? (uint16_t)left : RUN };
        deflate_block_count(counts, data + i, &run, 1);
    }
    for (unsigned i = 0; i < END_OF_BLOCK; i++)
        counts->symbol[i] = SHARE * counts->symbol[i] + 1;
}

size_t literal_block_deflate_quickly(uint8_t *out, const uint8_t *data,
                                     size_t size, bool final)
{
    struct bit_writer b = { .out = out };
    struct deflate_counts counts = { 0 };
    struct sequence all[QUICK_MOST / BLOCK_STORED + 1];
    size_t n = 0;
    if (size < QUICK_LEAST || size > QUICK_MOST)
        return literal_block_deflate(out, data, size, final);
    for (size_t left = size; left > 0; left -= all[n++].literals)
        all[n] =
            (struct sequence){ .literals = left < BLOCK_STORED ? (uint16_t)left
                                                               : BLOCK_STORED };
    count_share(&counts, data, size);
    deflate_block_put(&b, &counts, data, size, all, n, final);
    if (!final)
        deflate_block_put_stored(&b, NULL, 0, false);
    bit_writer_align(&b);
    size_t made = (size_t)(b.out - out);
    return made <= size ? made : literal_block_deflate(out, data, size, final);
}

size_t literal_block_deflate(uint8_t *out, const uint8_t *data, size_t size,
                             bool final)
{
    struct bit_writer b = { .out = out };
    size_t blocks = size ? (size + BLOCK_STORED - 1) / BLOCK_STORED : 1;
    for (; blocks > 0; blocks--) {
        size_t n = size / blocks; /* all of about the same size */
        struct deflate_counts counts = { 0 };
        struct sequence all = { .literals = (uint16_t)n };
        deflate_block_count(&counts, data, &all, 1);
        deflate_block_put(&b, &counts, data, n, &all, 1, final && blocks == 1);
        data += n;
        size -= n;
    }
    if (!final)
        deflate_block_put_stored(&b, NULL, 0, false);
    bit_writer_align(&b);
    return (size_t)(b.out - out);
}

size_t literal_block_estimate(const uint8_t *data, size_t size)
{
    size_t bits = 0;
    for (size_t n; size > 0; data += n, size -= n) {
        n = size < BLOCK_STORED ? size : BLOCK_STORED;
        struct deflate_counts counts = { 0 };
        struct sequence all = { .literals = (uint16_t)n };
        deflate_block_count(&counts, data, &all, 1);
        bits += deflate_block_data_bits(&counts);
    }
    return bits;
}
