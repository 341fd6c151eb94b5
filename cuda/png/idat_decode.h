/* Decoding the codes of a block of DEFLATE, by a block of threads: as many as
 * have parts to decode.
 *
 * A block is decoded INFLATE_THREADS parts at a time. A code tells where the
 * next one begins, so that no thread knows where its part does; but who begins
 * at any bit meets the right codes soon, most often within INFLATE_BEFORE bits.
 * So each thread begins so many bits before its part, and notes the first code
 * of its part, and the first one behind it. Where these are not what the
 * threads before and behind say, parts are decoded again from where the one
 * before has ended, until all agree: of a photograph after one round in six
 * turns. Then the sizes of what is made are known, and where it goes.
 *
 * The work is bounded by the bytes of the stream: a part that is decoded again
 * is right from then on as far as the parts before it are, and a stream whose
 * parts must be decoded more often than INFLATE_ROUNDS a turn is refused, as is
 * one of more blocks than bytes let expect. */
#ifndef CUDA_PNG_IDAT_DECODE_H
#define CUDA_PNG_IDAT_DECODE_H

#include "cuda/png/idat_lz77.h"

enum {
    INFLATE_THREADS = 128,
    INFLATE_PART = 1024,  /* bits */
    INFLATE_BEFORE = 448, /* bits */
    INFLATE_ROUNDS = 64,
    /* The most matches of all parts at a time: one takes two bits or more. */
    INFLATE_MATCHES = INFLATE_THREADS * (INFLATE_PART / 2),
    INFLATE_QUICK = 11,           /* bits of a code that a table looks up, */
    INFLATE_QUICK_DISTANCE = 10,  /* the same of distances */
    INFLATE_ITEMS = INFLATE_PART, /* the most codes of a part, which all may
                                     have one bit */
    INFLATE_ITEMS_CHECKED = 512,  /* the same where they are compared */
    INFLATE_STAGED = INFLATE_THREADS * INFLATE_PART / 32 + /* words of parts, */
                     INFLATE_BEFORE / 32 + 1 + 6, /* before, and behind them */
    INFLATE_SPAN = 4 << 10, /* bytes in which matches are copied together, */
    INFLATE_STEP = 32,      /* of which so many are looked for at a time */
    INFLATE_LONG = 32,      /* bytes of a match that several threads note, */
    INFLATE_LANES = 32,     /* so many, */
    INFLATE_LONGS = INFLATE_SPAN / INFLATE_LONG, /* of which there are fewer */
    INFLATE_JOINED = INFLATE_SPAN, /* bytes of matches that are one, at most */
    INFLATE_LITERALS = 288,        /* symbols, two of which do not occur */
    INFLATE_LENGTHS = 19,          /* of lengths of codes, */
    INFLATE_LENGTH_BITS = 7,       /* of so many bits at most */
    CODE_BITS_MAX = 15,
};

/* A Huffman code: how many codes of each length there are, the first of them,
 * and where its symbol stands among all in their order; the least bits, as if
 * they were 15, that no code of this length or a shorter one begins; and what
 * the next bits mean, by a table: symbol << 4 | bits, or 0 if the code is
 * longer. */
struct inflate_code {
    uint16_t count[CODE_BITS_MAX + 1], first[CODE_BITS_MAX + 1];
    uint16_t index[CODE_BITS_MAX + 1], limit[CODE_BITS_MAX + 1];
    uint16_t symbol[INFLATE_LITERALS];
    uint16_t quick[1 << INFLATE_QUICK]; /* of distances and lengths the first of
                                           these */
};

/* Where a part, or what was found of it so far, begins and ends. */
enum inflate_state { PART_GOES_ON, PART_ENDS, PART_BAD };

struct inflate_shared {
    /* Set once for a stream. */
    const uint8_t *stream;
    uint8_t *out;      /* what is made is written there, or only compared */
    uint64_t *matches; /* scratch memory; NULL: it is compared */
    uint32_t *item;    /* the same, for all threads side by side, */
    uint32_t items;    /* and so many of each */
    uint32_t end;      /* bits of the stream */
    uint32_t size;     /* bytes that are to be made */

    uint32_t at, made;                   /* so far: bits, and bytes */
    uint32_t bad;                        /* it is refused */
    uint32_t final, type, stored, ended; /* the block */
    uint32_t blocks, turns, rounds;      /* so far */

    struct inflate_code literal, distance; /* that first is of lengths */
    uint8_t bits[INFLATE_LITERALS + 32];   /* of all codes */
    uint32_t literals, distances;          /* of them */
    uint8_t length_bits[INFLATE_LENGTHS];
    /* Of symbols, what they begin with | bits that follow << 16. */
    uint32_t length_base[32], distance_base[32];

    /* Of each part. */
    uint32_t first[INFLATE_THREADS], behind[INFLATE_THREADS];
    uint32_t bytes[INFLATE_THREADS], copies[INFLATE_THREADS];
    uint32_t codes[INFLATE_THREADS];
    uint32_t again[INFLATE_THREADS]; /* it is decoded again */
    uint32_t sum[2][2][INFLATE_THREADS];
    uint8_t state[INFLATE_THREADS];
    uint32_t unsettled, last;

    /* Of matches that are copied: their first byte and where they end, how
     * many they are, at least and all, and those of many bytes. */
    uint32_t base, used, found, slice;
    uint16_t large[INFLATE_LONGS];
    uint32_t larges;
    uint32_t left[2];
    union {
        uint16_t from[2][INFLATE_SPAN]; /* see match_note() */
        uint32_t staged[INFLATE_STAGED + INFLATE_STAGED / 32];   /* see
                                                                    stage_at() */
        uint32_t with[CODE_BITS_MAX + 1][INFLATE_LITERALS / 32]; /* bits: the
                                              symbols that have such codes */
    };
};

/* ---- Bits ---------------------------------------------------------------- */

/* Reads bits of a stream; behind its end they are 0. */
struct inflate_bits {
    const uint32_t *word, *staged;
    uint32_t next, words;
    uint32_t
        from; /* the first word that is staged; INFLATE_UNSTAGED: none is */
    uint64_t buffer;
    uint32_t have; /* bits in it */
};
enum { INFLATE_UNSTAGED = 1 << 30 };

/* The place of a word in shared memory. Threads read words of their parts side
 * by side, which would all be in one bank but for a word more in each part. */
IDAT_FN uint32_t stage_at(uint32_t i)
{
    return i + i / (INFLATE_PART / 32);
}

IDAT_FN uint32_t inflate_word(struct inflate_bits *b)
{
    const uint32_t next = b->next++, i = next - b->from;
    if (b->from != INFLATE_UNSTAGED)
        return b->staged[stage_at(word_least(i, INFLATE_STAGED - 1))];
    return next < b->words ? b->word[next] : 0;
}

/* Begins at a bit; all that was staged is read from there. */
IDAT_FN void inflate_bits_open_staged(struct inflate_bits *b,
                                      const struct inflate_shared *s,
                                      uint32_t at, uint32_t from)
{
    b->word = (const uint32_t *)(const void *)s->stream;
    b->staged = s->staged;
    b->words = (s->end + 31) / 32;
    b->from = from;
    b->next = at / 32;
    b->have = 32 - at % 32;
    b->buffer = inflate_word(b) >> at % 32;
}

IDAT_FN void inflate_bits_open(struct inflate_bits *b,
                               const struct inflate_shared *s, uint32_t at)
{
    inflate_bits_open_staged(b, s, at, INFLATE_UNSTAGED);
}

/* Makes it have 32 bits. */
IDAT_FN void inflate_bits_fill(struct inflate_bits *b)
{
    if (b->have < 32) {
        b->buffer |= (uint64_t)inflate_word(b) << b->have;
        b->have += 32;
    }
}

IDAT_FN uint32_t inflate_bits_take(struct inflate_bits *b, uint32_t n)
{
    const uint32_t bits = (uint32_t)b->buffer & ((1u << n) - 1);
    b->buffer >>= n;
    b->have -= n;
    return bits;
}

IDAT_FN uint32_t inflate_bits_at(const struct inflate_bits *b)
{
    return b->next * 32 - b->have;
}

/* ---- Codes --------------------------------------------------------------- */

enum { INFLATE_NO_CODE = 0xffff };

/* Returns symbol << 4 | bits of the code that the bits begin with, if it has
 * from `least` to `most` bits; else INFLATE_NO_CODE. */
IDAT_FN uint32_t inflate_find(const struct inflate_code *code, uint32_t bits,
                              uint32_t least, uint32_t most)
{
    const uint32_t mirrored =
        (uint32_t)(word_mirror(bits) >> (64 - CODE_BITS_MAX));
    uint32_t length = least;
    for (uint32_t i = least; i < most; i++)
        length += mirrored >= code->limit[i];
    const uint32_t n =
        (mirrored >> (CODE_BITS_MAX - length)) - code->first[length];
    if (n >= code->count[length])
        return INFLATE_NO_CODE;
    return (uint32_t)code->symbol[code->index[length] + n] << 4 | length;
}

/* The same of the next bits, of which there are at least 15; the table looks up
 * `quick` of them. */
IDAT_FN uint32_t inflate_next(const struct inflate_code *code, uint32_t quick,
                              struct inflate_bits *b)
{
    uint32_t entry = code->quick[(uint32_t)b->buffer & ((1u << quick) - 1)];
    if (!entry)
        entry =
            inflate_find(code, (uint32_t)b->buffer, quick + 1, CODE_BITS_MAX);
    if (entry != INFLATE_NO_CODE)
        inflate_bits_take(b, entry & 15);
    return entry;
}

/* Returns whether a code is complete: each sequence of bits means something. Of
 * distances there may be one, or none (RFC 1951, 3.2.7). */
IDAT_FN bool inflate_is_whole(const struct inflate_code *code, bool distances)
{
    uint32_t left = 1, codes = 0;
    for (uint32_t i = 1; i <= CODE_BITS_MAX; i++) {
        left <<= 1;
        if (code->count[i] > left)
            return false;
        left -= code->count[i];
        codes += code->count[i];
    }
    return left == 0 ||
           (distances && (codes == 0 || (codes == 1 && code->count[1])));
}

/* Sets all about the codes of a length, when all have been counted. */
IDAT_FN void inflate_set_length(struct inflate_code *code, unsigned length)
{
    uint32_t first = 0, index = 0;
    for (unsigned i = 1; i < length; i++) {
        first = (first + code->count[i]) << 1;
        index += code->count[i];
    }
    code->first[length] = (uint16_t)first;
    code->index[length] = (uint16_t)index;
    code->limit[length] =
        (uint16_t)((first + code->count[length]) << (CODE_BITS_MAX - length));
}

/* Makes a code of the bits of n symbols, with a table of `quick` bits. */
IDAT_FN void inflate_make_code(struct inflate_shared *s,
                               struct inflate_code *code, const uint8_t *bits,
                               uint32_t n, uint32_t quick)
{
    enum { WORDS = INFLATE_LITERALS / 32 };
    PHASE(t, INFLATE_THREADS)
    for (uint32_t i = t; i < (CODE_BITS_MAX + 1) * WORDS; i += INFLATE_THREADS)
        s->with[i / WORDS][i % WORDS] = 0;
    PHASE(t, INFLATE_THREADS)
    for (uint32_t i = t; i < n; i += INFLATE_THREADS)
        if (bits[i])
            word_or(&s->with[bits[i]][i / 32], 1u << i % 32);
    PHASE(t, INFLATE_THREADS)
    if (t <= CODE_BITS_MAX) {
        uint32_t count = 0;
        for (unsigned i = 0; i < WORDS; i++)
            count += word_count(s->with[t][i]);
        code->count[t] = (uint16_t)count;
    }
    PHASE(t, INFLATE_THREADS)
    if (t && t <= CODE_BITS_MAX)
        inflate_set_length(code, t);
    PHASE(t, INFLATE_THREADS)
    for (uint32_t i = t; i < n; i += INFLATE_THREADS) {
        const uint32_t *with = s->with[bits[i]];
        uint32_t at = code->index[bits[i]];
        if (!bits[i])
            continue;
        for (uint32_t k = 0; k < i / 32; k++)
            at += word_count(with[k]);
        at += word_count(with[i / 32] & idat_low_bits(i % 32));
        code->symbol[at] = (uint16_t)i;
    }
    PHASE(t, INFLATE_THREADS)
    {
        if (t == 0 && !inflate_is_whole(code, code == &s->distance &&
                                                  n != INFLATE_LENGTHS))
            s->bad = 1;
        for (uint32_t i = t; i < 1u << quick; i += INFLATE_THREADS) {
            const uint32_t entry = inflate_find(code, i, 1, quick);
            code->quick[i] = entry == INFLATE_NO_CODE ? 0 : (uint16_t)entry;
        }
    }
}

/* ---- Headers of blocks --------------------------------------------------- */

/* Reads the lengths of all codes. Returns false if they are wrong. */
IDAT_FN bool inflate_read_lengths(struct inflate_shared *s)
{
    const uint32_t n = s->literals + s->distances;
    struct inflate_bits b;
    inflate_bits_open(&b, s, s->at);
    for (uint32_t i = 0, last = 0; i < n;) {
        inflate_bits_fill(&b);
        const uint32_t entry =
            s->distance
                .quick[(uint32_t)b.buffer & ((1u << INFLATE_LENGTH_BITS) - 1)];
        if (!entry)
            return false;
        inflate_bits_take(&b, entry & 15);
        const uint32_t symbol = entry >> 4;
        if (symbol < 16) {
            s->bits[i++] = (uint8_t)(last = symbol);
            continue;
        }
        if (symbol == 16 && i == 0)
            return false;
        uint32_t times = symbol == 16   ? 3 + inflate_bits_take(&b, 2)
                         : symbol == 17 ? 3 + inflate_bits_take(&b, 3)
                                        : 11 + inflate_bits_take(&b, 7);
        last = symbol == 16 ? last : 0;
        if (times > n - i)
            return false;
        for (; times; times--)
            s->bits[i++] = (uint8_t)last;
    }
    for (uint32_t i = n; i < INFLATE_LITERALS + 32; i++)
        s->bits[i] = 0;
    s->at = inflate_bits_at(&b);
    return s->bits[IDAT_END] && s->at <= s->end;
}

/* Begins with a block of codes of its own: reads the lengths of those of
 * lengths. */
IDAT_FN bool inflate_read_counts(struct inflate_shared *s,
                                 struct inflate_bits *b)
{
    inflate_bits_fill(b);
    s->literals = 257 + inflate_bits_take(b, 5);
    s->distances = 1 + inflate_bits_take(b, 5);
    const uint32_t lengths = 4 + inflate_bits_take(b, 4);
    for (uint32_t i = 0; i < INFLATE_LENGTHS; i++) {
        inflate_bits_fill(b);
        s->length_bits[idat_length_order(i)] =
            i < lengths ? (uint8_t)inflate_bits_take(b, 3) : 0;
    }
    return s->literals <= IDAT_LITERALS && s->distances <= IDAT_DISTANCES;
}

/* Begins with a block of bytes as they are. */
IDAT_FN bool inflate_read_stored(struct inflate_shared *s,
                                 struct inflate_bits *b)
{
    inflate_bits_open(b, s, (inflate_bits_at(b) + 7) / 8 * 8);
    inflate_bits_fill(b);
    s->stored = inflate_bits_take(b, 16);
    inflate_bits_fill(b);
    const uint32_t inverse = inflate_bits_take(b, 16);
    s->at = inflate_bits_at(b);
    return s->stored == (inverse ^ 0xffff) && s->at <= s->end &&
           s->stored <= (s->end - s->at) / 8 && s->stored <= s->size - s->made;
}

/* Begins with a block. */
IDAT_FN bool inflate_read_header(struct inflate_shared *s)
{
    struct inflate_bits b;
    inflate_bits_open(&b, s, s->at);
    inflate_bits_fill(&b);
    s->final = inflate_bits_take(&b, 1);
    s->type = inflate_bits_take(&b, 2);
    s->ended = s->type == 0;
    if (++s->blocks > 64 + s->end / 256 || s->type == 3)
        return false;
    if (s->type == 0)
        return inflate_read_stored(s, &b);
    bool right = true;
    if (s->type == 2)
        right = inflate_read_counts(s, &b);
    else
        s->literals = INFLATE_LITERALS;
    for (uint32_t i = 0; s->type == 1 && i < INFLATE_LITERALS + 32; i++)
        s->bits[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
    s->at = inflate_bits_at(&b);
    return right && s->at <= s->end;
}

/* ---- Parts --------------------------------------------------------------- */

/* A match, or a literal: then `length` is 0. */
struct inflate_item {
    uint32_t symbol, length, distance;
};

/* Decodes the next item. Returns false if there is no such code. */
IDAT_FN bool inflate_item_next(const struct inflate_shared *s,
                               struct inflate_bits *b,
                               struct inflate_item *item)
{
    inflate_bits_fill(b);
    uint32_t entry = inflate_next(&s->literal, INFLATE_QUICK, b);
    item->length = 0;
    item->symbol = entry >> 4;
    if (item->symbol <= IDAT_END)
        return true;
    if (entry == INFLATE_NO_CODE || item->symbol >= IDAT_LITERALS)
        return false;
    uint32_t base = s->length_base[item->symbol - IDAT_END];
    item->length = (base & 0xffff) + inflate_bits_take(b, base >> 16);
    inflate_bits_fill(b);
    entry = inflate_next(&s->distance, INFLATE_QUICK_DISTANCE, b);
    if (entry == INFLATE_NO_CODE || entry >> 4 >= IDAT_DISTANCES)
        return false;
    base = s->distance_base[entry >> 4];
    item->distance = (base & 0xffff) + inflate_bits_take(b, base >> 16);
    return true;
}

/* Decodes a part whose first code is known, to items: tokens, as idat_lz77.h
 * has them. One of too many ends early. */
IDAT_FN void inflate_measure(struct inflate_shared *s, unsigned t,
                             struct inflate_bits *b)
{
    const uint32_t until = s->at + (t + 1) * INFLATE_PART;
    const uint32_t end = s->end, most = s->items;
    uint32_t *const to = s->item + t;
    uint32_t at = inflate_bits_at(b), bytes = 0, copies = 0, codes = 0;
    uint8_t state = PART_GOES_ON;
    s->first[t] = at;
    while (at < until && codes < most) {
        struct inflate_item item;
        const bool right = inflate_item_next(s, b, &item);
        at = inflate_bits_at(b);
        if (!right || at > end) {
            state = PART_BAD;
            break;
        }
        if (!item.length && item.symbol == IDAT_END) {
            state = PART_ENDS;
            break;
        }
        to[codes++ * INFLATE_THREADS] =
            item.length ? TOKEN_MATCH | (item.length - IDAT_MATCH_LEAST) << 16 |
                              (item.distance - 1)
                        : item.symbol;
        bytes += item.length ? item.length : 1;
        copies += item.length != 0;
    }
    s->behind[t] = at;
    s->state[t] = state;
    s->bytes[t] = bytes;
    s->copies[t] = copies;
    s->codes[t] = codes;
}

/* The first word that is staged for parts from s->at on. */
IDAT_FN uint32_t stage_from(const struct inflate_shared *s)
{
    const uint32_t word = s->at / 32;
    return word - word_least(word, INFLATE_BEFORE / 32 + 1);
}

/* Copies the words of all parts to shared memory. */
IDAT_FN void inflate_stage(struct inflate_shared *s, unsigned t)
{
    const uint32_t *word = (const uint32_t *)(const void *)s->stream;
    const uint32_t from = stage_from(s), words = (s->end + 31) / 32;
    for (uint32_t i = t; i < INFLATE_STAGED; i += INFLATE_THREADS)
        s->staged[stage_at(i)] = from + i < words ? word[from + i] : 0;
}

/* Guesses the first code of a part, and decodes it. */
IDAT_FN void inflate_guess(struct inflate_shared *s, unsigned t)
{
    const uint32_t begin = s->at + t * INFLATE_PART;
    struct inflate_bits b;
    struct inflate_item item;
    uint32_t at = t ? begin - INFLATE_BEFORE : begin;
    inflate_bits_open_staged(&b, s, at, stage_from(s));
    while (at < begin && at < s->end) {
        if (!inflate_item_next(s, &b, &item) &&
            inflate_bits_at(&b) == at) /* no code begins here */
            inflate_bits_take(&b, 1);
        at = inflate_bits_at(&b);
    }
    inflate_measure(s, t, &b);
}

/* Has the parts decoded until they agree; then s->last is the last one of the
 * block, or of these parts. */
IDAT_FN void inflate_settle(struct inflate_shared *s)
{
    PHASE(t, INFLATE_THREADS)
    inflate_stage(s, t);
    PHASE(t, INFLATE_THREADS)
    inflate_guess(s, t);
    for (;;) {
        PHASE(t, INFLATE_THREADS)
        {
            if (t == 0)
                s->unsettled = 0;
            s->again[t] = t && s->state[t - 1] == PART_GOES_ON &&
                          s->first[t] != s->behind[t - 1];
        }
        PHASE(t, INFLATE_THREADS)
        if (s->again[t]) {
            word_or(&s->unsettled, 1);
            s->sum[0][0][t] = s->behind[t - 1];
        }
        if (!s->unsettled || s->bad)
            break;
        PHASE(t, INFLATE_THREADS)
        {
            if (s->again[t]) {
                struct inflate_bits b;
                inflate_bits_open_staged(&b, s, s->sum[0][0][t], stage_from(s));
                inflate_measure(s, t, &b);
            }
            if (t == 0 && ++s->rounds > INFLATE_ROUNDS * (s->turns + 2))
                s->bad = 1;
        }
    }
    PHASE(t, INFLATE_THREADS)
    if (t == 0) {
        s->last = INFLATE_THREADS - 1;
        s->turns++;
    }
    PHASE(t, INFLATE_THREADS)
    if (s->state[t] != PART_GOES_ON)
        PHASE_MIN(&s->last, t);
    PHASE(t, INFLATE_THREADS)
    if (t == 0 && s->state[s->last] == PART_BAD)
        s->bad = 1;
}

/* Sums bytes and copies of all parts before and with each, to s->sum[0]. */
IDAT_FN void inflate_sum(struct inflate_shared *s)
{
    PHASE(t, INFLATE_THREADS)
    {
        s->sum[0][0][t] = t <= s->last ? s->bytes[t] : 0;
        s->sum[0][1][t] = t <= s->last ? s->copies[t] : 0;
    }
    unsigned from = 0;
    for (unsigned step = 1; step < INFLATE_THREADS; step *= 2, from = !from)
        PHASE(t, INFLATE_THREADS)
    for (unsigned k = 0; k < 2; k++)
        s->sum[!from][k][t] =
            s->sum[from][k][t] + (t >= step ? s->sum[from][k][t - step] : 0);
    PHASE(t, INFLATE_THREADS)
    for (unsigned k = 0; k < 2; k++)
        if (from)
            s->sum[0][k][t] = s->sum[1][k][t];
    PHASE(t, INFLATE_THREADS)
    if (t == 0 && s->sum[0][0][INFLATE_THREADS - 1] > s->size - s->made)
        s->bad = 1;
}

#endif
