/* Bands of rows become literals and matches, by a warp each; and strips of
 * rows, by which filters are tried.
 *
 * LZ77_THREADS positions at a time: each thread looks for matches at its
 * position, and then notes the position for those behind. There are four
 * candidates: the latest place whose four bytes have this hash, in the band;
 * and the bytes one byte, one pixel and one row before. Of these all threads
 * together note at which positions they are the same, so that each reads off
 * how many are. The longest match counts, or the first of these. It is not
 * taken if the next position has a longer one.
 *
 * The hash table is all in shared memory, so that 20 bands are done at a time
 * by a multiprocessor: 2,048 entries of a position and 14 more bits of the
 * hash, which tell nearly all false candidates without a look at the bytes.
 *
 * Traffic of a picture of n bytes: n bytes are read four times, three times of
 * these from the cache of level 1; 4 bytes are written for each literal and
 * match. */
#ifndef CUDA_PNG_IDAT_LZ77_H
#define CUDA_PNG_IDAT_LZ77_H

#include "cuda/png/idat_pixels.h"

enum {
    LZ77_THREADS = 32,
    LZ77_BUCKETS = 2048,
    LZ77_TAG = 14,   /* bits */
    LZ77_HASHED = 4, /* bytes */
    LZ77_NEAR = 3,   /* distances that are always tried */
    /* Bits that matches of a pixel or a row before take, about, and others, and
     * from where on these take some more. */
    LZ77_NEAR_BITS = 10,
    LZ77_FAR_BITS = 18,
    LZ77_FAR = 4096,
    TOKEN_MATCH = 1u << 30, /* | (length - 3) << 16 | distance - 1; or a literal
                             */
};

struct lz77_shared {
    uint32_t bucket[LZ77_BUCKETS];
    uint32_t hash[LZ77_THREADS];
    uint32_t distance[LZ77_THREADS];
    uint16_t length[LZ77_THREADS]; /* 0: there is no match */
    uint32_t chosen;         /* bits: the positions at which something begins */
    uint32_t found;          /* the same where there are matches */
    uint32_t next;           /* the position behind the latest match */
    uint32_t tokens, before; /* so far, and without those chosen last */
    /* Bits: of LZ77_THREADS positions and of those behind them, where the byte
     * is that of so near, of each distance. */
    uint32_t same[LZ77_NEAR][2];
    uint32_t count[IDAT_SYMBOLS]; /* of strips: how often a symbol occurs */
    uint32_t bits, literals;
    struct filter_shared filter;
};

/* Bytes of rows, in which matches are looked for from `begin` on. */
struct lz77_text {
    const uint8_t *bytes;
    uint32_t begin, end;
    uint32_t row, pixel;
    uint32_t near, far; /* the shortest matches, of a pixel or a row before, and
                           of others */
};

/* Returns the length of a match, of which n bytes are known to be the same. */
IDAT_FN uint32_t lz77_extend(const uint8_t *at, uint32_t distance, uint32_t n,
                             uint32_t most)
{
    while (n < most) {
        const uint64_t other = idat_load(at + n) ^ idat_load(at + n - distance);
        if (other)
            return word_least(n + word_lowest(other) / 8, most);
        n += 8;
    }
    return most;
}

/* The distances that are tried at each position; 0: there is no such. */
IDAT_FN uint32_t lz77_near(const struct lz77_text *text, unsigned i)
{
    return i == 0 ? 1 : i == 1 ? text->pixel : text->row;
}

/* Notes at which positions from `first` on the bytes are those of so near. */
IDAT_FN void lz77_compare(struct lz77_shared *s, const struct lz77_text *text,
                          unsigned t, uint32_t first)
{
    const uint32_t at = first + t;
    for (unsigned i = 0; i < LZ77_NEAR; i++) {
        const uint32_t far = lz77_near(text, i);
        const bool same = at < text->end && far <= at && far <= IDAT_WINDOW &&
                          text->bytes[at] == text->bytes[at - far];
        PHASE_VOTE(&s->same[i][first / LZ77_THREADS % 2], same, t);
    }
}

/* Returns how many bytes from this position on are those of so near, of
 * LZ77_THREADS. */
IDAT_FN uint32_t lz77_run(const uint32_t same[2], uint32_t position)
{
    const uint32_t shift = position % LZ77_THREADS;
    const uint32_t which = position / LZ77_THREADS % 2;
    const uint64_t both = (uint64_t)same[!which] << 32 | same[which];
    return word_lowest(~(uint64_t)(uint32_t)(both >> shift));
}

/* Finds the match at a position, if any that is worth it. Returns whether there
 * is one. */
IDAT_FN bool lz77_find(struct lz77_shared *s, const struct lz77_text *text,
                       unsigned t, uint32_t position)
{
    const uint8_t *at = text->bytes + position;
    const uint32_t left = text->end - position;
    const uint32_t most = word_least(left, IDAT_MATCH);
    const uint64_t own = idat_load(at);
    const uint32_t hash = (uint32_t)own * 2654435761u;
    const uint32_t entry = s->bucket[hash >> 21];
    uint32_t length = 0, distance = 0;
    s->hash[t] = hash;
    if (position < s->next)
        return false;
    for (unsigned i = 0; i < LZ77_NEAR; i++) {
        const uint32_t n = lz77_run(s->same[i], position);
        if (n > length) {
            length = n;
            distance = lz77_near(text, i);
        }
    }
    if (length == LZ77_THREADS)
        length = lz77_extend(at, distance, length, most);
    length = word_least(length, most);
    if (length < text->near)
        length = 0;
    if (entry && (entry ^ hash >> 7) << (32 - LZ77_TAG) == 0) {
        const uint32_t far = position - text->begin - ((entry >> LZ77_TAG) - 1);
        const uint32_t n =
            far <= IDAT_WINDOW ? lz77_extend(at, far, 0, most) : 0;
        if (n >= text->far + (far > LZ77_FAR) && n > length) {
            length = n;
            distance = far;
        }
    }
    s->length[t] = (uint16_t)length;
    s->distance[t] = distance;
    return length != 0;
}

/* Chooses among the matches of n positions from `first` on. */
IDAT_FN void lz77_choose(struct lz77_shared *s, uint32_t first, uint32_t n)
{
    const uint32_t found = s->found;
    uint32_t i = s->next > first ? s->next - first : 0;
    uint32_t skipped = idat_low_bits(i); /* what matches cover */
    while (i < n && found >> i) {
        i += word_lowest(found >> i);
        const uint32_t length = s->length[i];
        if (i + 1 < n && found >> i & 2 && s->length[i + 1] > length) {
            s->length[i++] = 0;
            continue;
        }
        skipped |= idat_low_bits(i + length) & ~idat_low_bits(i + 1);
        i += length;
    }
    s->chosen = idat_low_bits(n) & ~skipped;
    s->next = first + (i > n ? i : n);
    s->before = s->tokens;
    s->tokens += word_count(s->chosen);
}

/* Makes a token of what was chosen at a position; or counts its symbols. */
IDAT_FN void lz77_make_token(struct lz77_shared *s,
                             const struct lz77_text *text, unsigned t,
                             uint32_t first, uint32_t *token)
{
    const uint32_t length = s->length[t], distance = s->distance[t];
    const uint8_t literal = text->bytes[first + t];
    if (token) {
        const uint32_t before = s->chosen & ((1u << t) - 1);
        token[s->before + word_count(before)] =
            length ? TOKEN_MATCH | (length - IDAT_MATCH_LEAST) << 16 |
                         (distance - 1)
                   : literal;
    } else if (length) {
        const uint32_t far = idat_distance_symbol(distance);
        const uint32_t symbol = idat_length_symbol(length);
        word_add(&s->count[symbol], 1);
        word_add(&s->count[IDAT_LITERALS + far], 1);
        word_add(&s->bits,
                 idat_length_extra(symbol) + idat_distance_extra(far));
    } else {
        word_add(&s->count[literal], 1);
    }
}

/* Makes tokens of the text, and s->tokens their number; or without `token`,
 * s->count and s->bits. LZ77_THREADS threads. */
IDAT_FN void lz77_text(struct lz77_shared *s, const struct lz77_text *text,
                       uint32_t *token)
{
    PHASE(t, LZ77_THREADS)
    {
        for (uint32_t i = t; i < LZ77_BUCKETS; i += LZ77_THREADS)
            s->bucket[i] = 0;
        for (uint32_t i = t; i < IDAT_SYMBOLS; i += LZ77_THREADS)
            s->count[i] = 0;
        if (t == 0) {
            s->tokens = s->bits = 0;
            s->next = text->begin;
        }
        for (unsigned i = 0; i < 2; i++)
            lz77_compare(s, text, t, text->begin + i * LZ77_THREADS);
    }
    for (uint32_t first = text->begin; first < text->end;
         first += LZ77_THREADS) {
        const uint32_t left = text->end - first;
        const uint32_t n = word_least(left, LZ77_THREADS);
        PHASE(t, LZ77_THREADS)
        {
            const bool found = t < n && lz77_find(s, text, t, first + t);
            PHASE_VOTE(&s->found, found, t);
        }
        PHASE(t, LZ77_THREADS)
        {
            if (t < n)
                PHASE_MAX(&s->bucket[s->hash[t] >> 21],
                          (first + t - text->begin + 1) << LZ77_TAG |
                              (s->hash[t] >> 7 & ((1u << LZ77_TAG) - 1)));
            if (t == 0)
                lz77_choose(s, first, n);
        }
        PHASE(t, LZ77_THREADS)
        {
            if (s->chosen >> t & 1)
                lz77_make_token(s, text, t, first, token);
            lz77_compare(s, text, t, first + 2 * LZ77_THREADS);
        }
    }
}

/* Sets the shortest matches that take fewer bits than their bytes, which take
 * so many each, times 256; 0: this is not known. */
IDAT_FN void lz77_set_least(struct lz77_text *text, uint32_t literal)
{
    const uint32_t bits = literal ? literal : 6 * 256;
    text->near = 1 + LZ77_NEAR_BITS * 256 / bits;
    text->far = 1 + LZ77_FAR_BITS * 256 / bits;
    text->near =
        text->near < IDAT_MATCH_LEAST ? (uint32_t)IDAT_MATCH_LEAST : text->near;
    text->far = text->far < LZ77_HASHED ? (uint32_t)LZ77_HASHED : text->far;
}

/* Makes the tokens of a band. */
IDAT_FN void idat_find_matches(const struct idat_params *p, uint32_t band,
                               struct lz77_shared *s)
{
    struct idat_band *b = &p->band[band];
    const struct idat_file *f = &p->file[b->file];
    const uint32_t number = band - f->band;
    const uint32_t begin = number * IDAT_BAND;
    struct lz77_text text = { p->memory + f->rows,
                              begin,
                              begin + idat_band_size(f, number),
                              f->to.row,
                              f->of.pixel,
                              0,
                              0 };
    lz77_set_least(&text, p->status[b->file].literal);
    if (p->status[b->file].refused)
        return;
    uint32_t *token = p->token + (uint64_t)band * IDAT_BAND;
    if (text.near > IDAT_MATCH) { /* no match is worth it */
        PHASE(t, LZ77_THREADS)
        for (uint32_t i = begin + t; i < text.end; i += LZ77_THREADS)
            token[i - begin] = text.bytes[i];
        PHASE(t, LZ77_THREADS)
        if (t == 0)
            s->tokens = text.end - begin;
    } else {
        lz77_text(s, &text, token);
    }
    PHASE(t, LZ77_THREADS)
    if (t == 0)
        b->tokens = s->tokens;
}

/* ---- Choosing filters ---------------------------------------------------- */

/* Returns 256 times the logarithm of n, to the base 2; 0 of 0. It is a straight
 * line between powers of two. */
IDAT_FN uint32_t lz77_log(uint32_t n)
{
    if (n == 0)
        return 0;
    const uint32_t high = word_highest(n);
    return high * 256 + (high < 8 ? (n << (8 - high)) : n >> (high - 8)) - 256;
}

/* Returns the bits that symbols take, as often as they were counted: one each
 * at the least. */
IDAT_FN uint32_t lz77_entropy(const uint32_t *count, uint32_t n)
{
    uint32_t all = 0;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < n; i++)
        all += count[i];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t each = lz77_log(all) - lz77_log(count[i]);
        bits += (uint64_t)count[i] * (each < 256 ? 256 : each);
    }
    return (uint32_t)(bits / 256);
}

/* Counts the bytes of a text, and sets s->literals to the bits that they take.
 */
IDAT_FN void lz77_count_bytes(struct lz77_shared *s,
                              const struct lz77_text *text)
{
    PHASE(t, LZ77_THREADS)
    for (uint32_t i = t; i < IDAT_LITERALS; i += LZ77_THREADS)
        s->count[i] = 0;
    PHASE(t, LZ77_THREADS)
    for (uint32_t i = t; i < text->end; i += LZ77_THREADS)
        word_add(&s->count[text->bytes[i]], 1);
    PHASE(t, LZ77_THREADS)
    if (t == 0)
        s->literals = lz77_entropy(s->count, IDAT_LITERALS);
}

/* Tries a choice of filters on a strip of a picture: adds to the bits that it
 * takes. `work` is choice + IDAT_CHOICES * strip of each file. */
IDAT_FN void idat_try_filter(const struct idat_params *p, uint32_t work,
                             struct lz77_shared *s)
{
    const uint32_t choice = work % IDAT_CHOICES;
    const uint32_t strip = work / IDAT_CHOICES % IDAT_STRIPS;
    const uint32_t file = work / IDAT_CHOICES / IDAT_STRIPS;
    const struct idat_file *f = &p->file[file];
    struct idat_status *status = &p->status[file];
    const uint32_t rows = idat_strip_rows(f, strip);
    uint8_t *out =
        p->memory + f->pixels +
        (uint64_t)(work % (IDAT_CHOICES * IDAT_STRIPS)) * idat_strip_bytes(f);
    struct lz77_text text = { out, 0, rows * f->to.row, f->to.row, f->of.pixel,
                              0,   0 };
    if (status->refused || rows == 0)
        return;
    for (uint32_t i = 0; i < rows; i++)
        filter_row_of(p, f, idat_strip_row(f, strip) + i, choice,
                      out + (uint64_t)i * f->to.row, &s->filter, LZ77_THREADS);
    lz77_count_bytes(s, &text);
    lz77_set_least(&text, (uint32_t)((uint64_t)s->literals * 256 / text.end));
    lz77_text(s, &text, NULL);
    PHASE(t, LZ77_THREADS)
    if (t < 2)
        word_add(&s->bits, lz77_entropy(s->count + (t ? IDAT_LITERALS : 0),
                                        t ? IDAT_DISTANCES : IDAT_LITERALS));
    PHASE(t, LZ77_THREADS)
    if (t == 0) {
        word_add(&status->tried[choice], s->bits);
        word_add(&status->literals[choice], s->literals);
        word_add(&status->bytes, choice ? 0 : text.end);
    }
}

/* Chooses the filters of a picture, and whether it gets matches: where these
 * save less than a hundredth it has none, which is read faster. Where they save
 * more than a seventh and there are more than 1.5 bits a byte all the same, as
 * in line art and pictures of many indices, the finder of the CPU finds more of
 * them; but not where they save half, as in pages and screenshots. */
IDAT_FN void idat_choose_filter(const struct idat_params *p, uint32_t file,
                                struct phase_nothing *s)
{
    struct idat_status *status = &p->status[file];
    uint32_t best = 0, least = UINT32_MAX;
    (void)s;
    for (uint32_t i = 0; i < IDAT_CHOICES; i++) {
        const uint32_t bits = word_least(status->tried[i], status->literals[i]);
        if (bits < least) {
            least = bits;
            best = i;
        }
    }
    const uint32_t literals = status->literals[best];
    const uint32_t tried = status->tried[best];
    status->filter = best;
    if (tried < literals - literals / 7 && tried > literals / 2 &&
        tried > status->bytes / 2 * 3 && !p->file[file].of.any_size)
        status->refused = 1;
    if (status->bytes)
        status->literal =
            tried < literals - literals / 100
                ? 1 + (uint32_t)((uint64_t)literals * 256 / status->bytes)
                : 1; /* so few that no match is shorter */
}

#endif
