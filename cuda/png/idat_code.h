/* The Huffman codes of a band, its bits, and how the bands of a picture join.
 *
 * A band is a block of DEFLATE of its own codes. Each of a few hundred symbols
 * is so little work that one thread of a block makes the code, beside hundreds
 * of others, in linear time from symbols that all threads have sorted (Moffat
 * and Katajainen, "In-place calculation of minimum-redundancy codes", 1995).
 * Then the bits of each block are known, and their sums tell where blocks
 * begin, at any bit. What they share words of is or-ed into these.
 *
 * Traffic of a picture of n bytes that become m: up to 4 n for tokens, read
 * twice, and m, written once. */
#ifndef CUDA_PNG_IDAT_CODE_H
#define CUDA_PNG_IDAT_CODE_H

#include "cuda/png/idat_lz77.h"

enum {
    CODE_THREADS = 128,
    CODE_LENGTHS = 19,    /* symbols that code lengths of codes, */
    CODE_LENGTH_BITS = 7, /* of so many bits at most */
    CODE_BITS = 15,       /* the same of other symbols */
    EMIT_THREADS = 256,
    EMIT_EACH = 4,        /* tokens of a thread at a time */
    EMIT_TOKEN_BITS = 48, /* at most */
    EMIT_WORDS = EMIT_THREADS * EMIT_EACH * EMIT_TOKEN_BITS / 32 + 2,
};

struct code_shared {
    uint32_t count[IDAT_SYMBOLS];
    uint32_t weight[IDAT_LITERALS]; /* of the sorted symbols */
    uint16_t sorted[IDAT_LITERALS];
    uint32_t used;  /* symbols that have codes, */
    uint32_t added; /* and of them, those that do not occur */
    uint16_t code[IDAT_SYMBOLS];
    uint8_t bits[IDAT_SYMBOLS];
    uint32_t extra; /* bits behind the codes */

    /* Of the header. */
    uint32_t literals, distances; /* of which lengths are written */
    uint16_t item[IDAT_SYMBOLS];  /* symbol | what follows it << 8 */
    uint32_t items;
    uint32_t length_count[CODE_LENGTHS];
    uint16_t length_code[CODE_LENGTHS];
    uint8_t length_bits[CODE_LENGTHS];
    uint32_t word[IDAT_HEADER_BITS / 32];
    uint32_t size; /* bits of it */
};

/* ---- Codes --------------------------------------------------------------- */

/* Makes the lengths of the codes of n >= 2 sorted weights, and leaves them in
 * their place: the first is the longest. */
IDAT_FN void code_measure(uint32_t *w, uint32_t n)
{
    uint32_t root = 0, leaf = 2;
    w[0] += w[1];
    for (uint32_t next = 1; next + 1 < n; next++) {
        if (leaf >= n || w[root] < w[leaf]) {
            w[next] = w[root];
            w[root++] = next;
        } else {
            w[next] = w[leaf++];
        }
        if (leaf >= n || (root < next && w[root] < w[leaf])) {
            w[next] += w[root];
            w[root++] = next;
        } else {
            w[next] += w[leaf++];
        }
    }
    w[n - 2] = 0;
    for (uint32_t i = n - 2; i-- > 0;)
        w[i] = w[w[i]] + 1;
    uint32_t free = 1, inner = n - 1, next = n, depth = 0;
    while (free) { /* nodes of this depth, of which some are inner ones */
        uint32_t used = 0;
        for (; inner && w[inner - 1] == depth; inner--)
            used++;
        for (; free > used; free--)
            w[--next] = depth;
        free = 2 * used;
        depth++;
    }
}

/* Makes no length larger than `most`, and the code complete. */
IDAT_FN void code_limit(uint32_t *bits, uint32_t n, uint32_t most)
{
    const uint32_t all = 1u << most;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < n; i++) {
        bits[i] = bits[i] < most ? bits[i] : most;
        taken += all >> bits[i];
    }
    /* The rarest symbols get longer codes, then the most frequent ones that
     * there is room for shorter ones. */
    for (uint32_t i = 0; taken > all; i = i + 1 < n ? i + 1 : 0)
        if (bits[i] < most) {
            taken -= all >> (bits[i] + 1);
            bits[i]++;
        }
    for (uint32_t i = n; taken < all; i = i ? i : n) {
        i--;
        if (all >> bits[i] <= all - taken) {
            taken += all >> bits[i];
            bits[i]--;
        }
    }
}

/* Sorts the n symbols that occur by how often they do, by all threads, and
 * makes codes of up to `most` bits. There are two codes at least: one alone
 * would not be complete. */
IDAT_FN void code_make(struct code_shared *s, uint32_t *count, uint32_t n,
                       uint32_t most, uint16_t *code, uint8_t *bits)
{
    PHASE(t, CODE_THREADS)
    {
        if (t == 0) {
            uint32_t used = 0;
            for (uint32_t i = 0; i < n; i++)
                used += count[i] != 0;
            s->used = used < 2 ? 2 : used;
            s->added = s->used - used;
            for (uint32_t i = 0; used < s->used; i++)
                if (!count[i]) {
                    count[i] = 1;
                    used++;
                }
        }
    }
    PHASE(t, CODE_THREADS)
    for (uint32_t i = t; i < n; i += CODE_THREADS) {
        const uint32_t own = count[i];
        uint32_t rank = 0;
        bits[i] = 0;
        if (!own)
            continue;
        for (uint32_t k = 0; k < n; k++)
            rank += count[k] && (count[k] < own || (count[k] == own && k < i));
        s->sorted[rank] = (uint16_t)i;
        s->weight[rank] = own;
    }
    PHASE(t, CODE_THREADS)
    if (t == 0) {
        code_measure(s->weight, s->used);
        code_limit(s->weight, s->used, most);
    }
    PHASE(t, CODE_THREADS)
    for (uint32_t i = t; i < s->used; i += CODE_THREADS)
        bits[s->sorted[i]] = (uint8_t)s->weight[i];
    PHASE(t, CODE_THREADS)
    if (t == 0) {
        uint32_t next[CODE_BITS + 1], at = 0, of[CODE_BITS + 1];
        for (unsigned i = 0; i <= CODE_BITS; i++)
            of[i] = 0;
        for (uint32_t i = 0; i < n; i++)
            of[bits[i]]++;
        of[0] = 0;
        for (unsigned i = 1; i <= CODE_BITS; i++)
            next[i] = at = (at + of[i - 1]) << 1;
        for (uint32_t i = 0; i < n; i++)
            code[i] =
                bits[i]
                    ? (uint16_t)(word_mirror(next[bits[i]]++) >> (64 - bits[i]))
                    : 0;
    }
}

/* ---- Headers ------------------------------------------------------------- */

IDAT_FN void code_put(struct code_shared *s, uint32_t bits, uint32_t n)
{
    const uint32_t at = s->size / 32, shift = s->size % 32;
    s->word[at] |= bits << shift;
    if (shift + n > 32)
        s->word[at + 1] |= bits >> (32 - shift);
    s->size += n;
}

/* Makes items of the lengths of all codes, and counts their symbols. */
IDAT_FN void code_list_lengths(struct code_shared *s)
{
    const uint32_t n = s->literals + s->distances;
    for (unsigned i = 0; i < CODE_LENGTHS; i++)
        s->length_count[i] = 0;
    s->items = 0;
    for (uint32_t i = 0, run; i < n; i += run) {
        const uint32_t at =
            i < s->literals ? i : IDAT_LITERALS + i - s->literals;
        const uint32_t length = s->bits[at];
        run = 1;
        while (i + run < n && run < (length ? 7 : 138)) {
            const uint32_t k = i + run;
            if (s->bits[k < s->literals ? k
                                        : IDAT_LITERALS + k - s->literals] !=
                length)
                break;
            run++;
        }
        uint32_t symbol = length, follows = 0;
        if (length == 0 && run >= 3) {
            symbol = run < 11 ? 17 : 18;
            follows = run - (run < 11 ? 3 : 11);
        } else if (run >= 4) { /* it, and then 3 to 6 times the same */
            s->item[s->items++] = (uint16_t)length;
            s->length_count[length]++;
            symbol = 16;
            follows = run - 4;
        } else {
            run = 1;
        }
        s->item[s->items++] = (uint16_t)(symbol | follows << 8);
        s->length_count[symbol]++;
    }
}

/* Writes the header of a block, once all codes are made. */
IDAT_FN void code_write_header(struct code_shared *s, bool final)
{
    uint32_t lengths = CODE_LENGTHS;
    for (unsigned i = 0; i < IDAT_HEADER_BITS / 32; i++)
        s->word[i] = 0;
    s->size = 0;
    while (lengths > 4 && !s->length_bits[idat_length_order(lengths - 1)])
        lengths--;
    code_put(s, final | 2 << 1, 3);
    code_put(s, s->literals - 257, 5);
    code_put(s, s->distances - 1, 5);
    code_put(s, lengths - 4, 4);
    for (uint32_t i = 0; i < lengths; i++)
        code_put(s, s->length_bits[idat_length_order(i)], 3);
    for (uint32_t i = 0; i < s->items; i++) {
        const uint32_t symbol = s->item[i] & 0xff;
        code_put(s, s->length_code[symbol], s->length_bits[symbol]);
        if (symbol > 15)
            code_put(s, s->item[i] >> 8,
                     symbol == 16   ? 2
                     : symbol == 17 ? 3
                                    : 7);
    }
}

/* Makes the codes of a band, and its header: CODE_THREADS threads. */
IDAT_FN void idat_make_codes(const struct idat_params *p, uint32_t band,
                             struct code_shared *s)
{
    struct idat_band *b = &p->band[band];
    const struct idat_file *f = &p->file[b->file];
    const uint32_t *token = p->token + (uint64_t)band * IDAT_BAND;
    struct idat_code *to = &p->code[band];
    if (p->status[b->file].refused)
        return;
    PHASE(t, CODE_THREADS)
    {
        for (uint32_t i = t; i < IDAT_SYMBOLS; i += CODE_THREADS)
            s->count[i] = i == IDAT_END;
        if (t == 0)
            s->extra = 0;
    }
    PHASE(t, CODE_THREADS)
    for (uint32_t i = t; i < b->tokens; i += CODE_THREADS) {
        if (!(token[i] & TOKEN_MATCH)) {
            word_add(&s->count[token[i]], 1);
            continue;
        }
        const uint32_t length =
            idat_length_symbol((token[i] >> 16 & 0xff) + IDAT_MATCH_LEAST);
        const uint32_t distance = idat_distance_symbol((token[i] & 0xffff) + 1);
        word_add(&s->count[length], 1);
        word_add(&s->count[IDAT_LITERALS + distance], 1);
        word_add(&s->extra,
                 idat_length_extra(length) + idat_distance_extra(distance));
    }
    code_make(s, s->count, IDAT_LITERALS, CODE_BITS, s->code, s->bits);
    code_make(s, s->count + IDAT_LITERALS, IDAT_DISTANCES, CODE_BITS,
              s->code + IDAT_LITERALS, s->bits + IDAT_LITERALS);
    PHASE(t, CODE_THREADS)
    if (t == 0) {
        s->extra -= s->added; /* codes of one bit that are not written */
        s->literals = IDAT_LITERALS;
        while (!s->bits[s->literals - 1])
            s->literals--;
        s->distances = IDAT_DISTANCES;
        while (!s->bits[IDAT_LITERALS + s->distances - 1])
            s->distances--;
        code_list_lengths(s);
    }
    code_make(s, s->length_count, CODE_LENGTHS, CODE_LENGTH_BITS,
              s->length_code, s->length_bits);
    PHASE(t, CODE_THREADS)
    if (t == 0) {
        code_write_header(s, band - f->band + 1 == idat_bands(f));
        b->header = s->size;
        b->bits = s->size + s->extra;
        for (uint32_t i = 0; i < IDAT_SYMBOLS; i++)
            b->bits += s->count[i] * s->bits[i];
    }
    PHASE(t, CODE_THREADS)
    {
        for (uint32_t i = t; i < IDAT_SYMBOLS; i += CODE_THREADS) {
            to->code[i] = s->code[i];
            to->bits[i] = s->bits[i];
        }
        for (uint32_t i = t; i < IDAT_HEADER_BITS / 32; i += CODE_THREADS)
            to->header[i] = s->word[i];
    }
}

/* ---- Places -------------------------------------------------------------- */

/* Or-s n <= 32 bits into the words of a stream. */
IDAT_FN void emit_put(uint32_t *word, uint64_t at, uint32_t bits, uint32_t n)
{
    const uint32_t shift = at % 32;
    if (n)
        word_or(&word[at / 32], bits << shift);
    if (shift + n > 32)
        word_or(&word[at / 32 + 1], bits >> (32 - shift));
}

/* Sets where the bands of a picture begin, and writes what stands before and
 * behind them: by one thread. */
IDAT_FN void idat_place(const struct idat_params *p, uint32_t file,
                        struct phase_nothing *s)
{
    const struct idat_file *f = &p->file[file];
    struct idat_status *status = &p->status[file];
    const uint32_t bands = idat_bands(f);
    uint32_t *out = (uint32_t *)(void *)(p->memory + f->out);
    uint32_t at = 8 * IDAT_STREAM_HEAD, adler = 1;
    (void)s;
    if (status->refused || !bands)
        return;
    for (uint32_t i = 0; i < bands; i++) {
        struct idat_band *b = &p->band[f->band + i];
        b->at = at;
        at += b->bits;
        adler = adler_join(adler, b->adler, idat_band_size(f, i));
    }
    at = (at + 7) / 8 * 8;
    if (at / 8 + IDAT_CHECKSUM > idat_most_made(f)) {
        status->refused = 1;
        return;
    }
    status->bits = at;
    status->adler = adler;
    emit_put(out, 0, 0x5e78, 16); /* a window of 32 KiB, compressed quickly */
    for (unsigned i = 0; i < IDAT_CHECKSUM; i++)
        emit_put(out, at + 8 * i, adler >> (24 - 8 * i) & 0xff, 8);
}

/* ---- Bits ---------------------------------------------------------------- */

struct emit_shared {
    uint32_t word[EMIT_WORDS];
    uint16_t code[IDAT_SYMBOLS];
    uint8_t bits[IDAT_SYMBOLS];
    uint64_t token[EMIT_EACH][EMIT_THREADS]; /* the bits of each, */
    uint8_t size[EMIT_EACH][EMIT_THREADS];   /* and how many they are */
    uint32_t sum[2][EMIT_THREADS];
    uint32_t at;
};

/* Returns the bits of a token, and sets *n to their number. */
IDAT_FN uint64_t emit_token(const struct emit_shared *s, uint32_t token,
                            uint32_t *n)
{
    if (!(token & TOKEN_MATCH)) {
        *n = s->bits[token];
        return s->code[token];
    }
    const uint32_t length = (token >> 16 & 0xff) + IDAT_MATCH_LEAST;
    const uint32_t far = (token & 0xffff) + 1;
    const uint32_t l = idat_length_symbol(length),
                   d = idat_distance_symbol(far);
    const uint32_t k = IDAT_LITERALS + d;
    uint64_t bits = s->code[l];
    uint32_t at = s->bits[l];
    bits |= (uint64_t)(length - idat_length_base(l)) << at;
    at += idat_length_extra(l);
    bits |= (uint64_t)s->code[k] << at;
    at += s->bits[k];
    bits |= (uint64_t)(far - idat_distance_base(d)) << at;
    *n = at + idat_distance_extra(d);
    return bits;
}

/* Writes the bits of EMIT_THREADS * EMIT_EACH tokens, and behind the last ones
 * of a band the code of its end. */
IDAT_FN void emit_some(struct emit_shared *s, uint32_t *out,
                       const uint32_t *token, uint32_t n)
{
    PHASE(t, EMIT_THREADS)
    {
        uint32_t all = 0;
        for (unsigned k = 0; k < EMIT_EACH; k++) {
            const uint32_t i = t * EMIT_EACH + k;
            uint32_t bits = i == n ? s->bits[IDAT_END] : 0;
            s->token[k][t] = i < n    ? emit_token(s, token[i], &bits)
                             : i == n ? s->code[IDAT_END]
                                      : 0;
            s->size[k][t] = (uint8_t)bits;
            all += bits;
        }
        s->sum[0][t] = all;
        for (uint32_t i = t; i < EMIT_WORDS; i += EMIT_THREADS)
            s->word[i] = 0;
    }
    unsigned from = 0;
    for (unsigned step = 1; step < EMIT_THREADS; step *= 2, from = !from)
        PHASE(t, EMIT_THREADS)
    s->sum[!from][t] =
        s->sum[from][t] + (t >= step ? s->sum[from][t - step] : 0);
    const uint32_t all = s->sum[from][EMIT_THREADS - 1];
    PHASE(t, EMIT_THREADS)
    {
        uint32_t at = s->at % 32 + (t ? s->sum[from][t - 1] : 0);
        for (unsigned k = 0; k < EMIT_EACH; k++) {
            const uint32_t bits = s->size[k][t];
            const uint64_t coded = s->token[k][t];
            emit_put(s->word, at, (uint32_t)coded, bits < 32 ? bits : 32);
            if (bits > 32)
                emit_put(s->word, at + 32, (uint32_t)(coded >> 32), bits - 32);
            at += bits;
        }
    }
    const uint32_t words = (s->at % 32 + all + 31) / 32;
    PHASE(t, EMIT_THREADS)
    for (uint32_t i = t; i < words; i += EMIT_THREADS) {
        if (i == 0 || i + 1 == words)
            word_or(&out[s->at / 32 + i], s->word[i]);
        else
            out[s->at / 32 + i] = s->word[i];
    }
    PHASE(t, EMIT_THREADS)
    if (t == 0)
        s->at += all;
}

/* Writes the bits of a band: EMIT_THREADS threads. */
IDAT_FN void idat_emit(const struct idat_params *p, uint32_t band,
                       struct emit_shared *s)
{
    const struct idat_band *b = &p->band[band];
    const struct idat_file *f = &p->file[b->file];
    const struct idat_code *code = &p->code[band];
    const uint32_t *token = p->token + (uint64_t)band * IDAT_BAND;
    uint32_t *out = (uint32_t *)(void *)(p->memory + f->out);
    if (p->status[b->file].refused)
        return;
    PHASE(t, EMIT_THREADS)
    {
        for (uint32_t i = t; i < IDAT_SYMBOLS; i += EMIT_THREADS) {
            s->code[i] = code->code[i];
            s->bits[i] = code->bits[i];
        }
        for (uint32_t i = t; i * 32 < b->header; i += EMIT_THREADS) {
            const uint32_t left = b->header - i * 32;
            emit_put(out, (uint64_t)b->at + i * 32, code->header[i],
                     left < 32 ? left : 32);
        }
        if (t == 0)
            s->at = b->at + b->header;
    }
    for (uint32_t i = 0; i <= b->tokens; i += EMIT_THREADS * EMIT_EACH)
        emit_some(s, out, token + i, b->tokens - i);
}

#endif
