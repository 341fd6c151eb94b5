/* Inflating a stream, by a block of threads; and comparing what it inflates to.
 *
 * Where parts go is known once they are decoded (idat_decode.h): literals are
 * written, and matches noted. These are copied by all threads, some thousand at
 * a time, of up to INFLATE_SPAN bytes. A bit for each of these tells whether it
 * is there. First those are copied whose bytes are there, then those that
 * waited for them, and so on, in some twenty rounds: so these bytes are in
 * shared memory meanwhile. Matches that go on where the one before ends, at the
 * same distance, as those of flat areas, are one.
 *
 * Who compares needs no order: all before a part is compared by others, so the
 * bytes that it refers to are there.
 *
 * Traffic of a picture of n bytes: the stream is read once, to shared memory; 4
 * bytes are written and read for each code, and 8 for each match; n bytes are
 * written, and most read and written again with the matches among them. What
 * takes the time is latency, of a picture of 2 megapixels 30 to 60 ms: so many
 * are done side by side, four on each multiprocessor. */
#ifndef CUDA_PNG_IDAT_INFLATE_H
#define CUDA_PNG_IDAT_INFLATE_H

#include "cuda/png/idat_decode.h"

/* ---- What parts make ----------------------------------------------------- */

/* Writes the literals of a part, and notes its matches: in what remains of the
 * list there are empty ones, where several became one. */
IDAT_FN void inflate_write(struct inflate_shared *s, unsigned t)
{
    const uint32_t end = s->sum[0][1][t];
    uint32_t to = s->made + s->sum[0][0][t] - s->bytes[t];
    uint32_t match = end - s->copies[t], begin = 0, size = 0, last = 0;
    const uint32_t *const items = s->item + t, n = s->codes[t];
    uint8_t *const out = s->out;
    uint64_t *const matches = s->matches;
    uint32_t next = n ? items[0] : 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t item = next;
        next = i + 1 < n ? items[(i + 1) * INFLATE_THREADS] : 0;
        if (!(item & TOKEN_MATCH)) {
            out[to++] = (uint8_t)item;
            continue;
        }
        const uint32_t length = (item >> 16 & 0xff) + IDAT_MATCH_LEAST;
        const uint32_t far = (item & 0xffff) + 1;
        if (far > to)
            IDAT_OR(&s->bad, 1);
        if (far == last && begin + size == to &&
            size + length <= INFLATE_JOINED) {
            match--;
            size += length;
        } else {
            begin = to;
            size = length;
            last = far;
        }
        matches[match++] =
            (uint64_t)begin << 32 | (uint64_t)size << 16 | (far - 1);
        to += length;
    }
    for (; match < end; match++)
        matches[match] = (uint64_t)to << 32;
}

/* Compares what a part makes with what is there. All before it is compared by
 * others, so the bytes that matches refer to are there, too. */
IDAT_FN void inflate_compare(struct inflate_shared *s, unsigned t)
{
    uint32_t to = s->made + s->sum[0][0][t] - s->bytes[t], wrong = 0;
    const uint32_t *const items = s->item + t, n = s->codes[t];
    const uint8_t *const out = s->out;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t item = items[i * INFLATE_THREADS];
        if (!(item & TOKEN_MATCH)) {
            wrong |= out[to++] ^ item;
            continue;
        }
        const uint32_t length = (item >> 16 & 0xff) + IDAT_MATCH_LEAST;
        const uint32_t far = (item & 0xffff) + 1;
        const uint8_t *at = out + to;
        wrong |= far > to;
        for (uint32_t k = 0; k < length && !wrong; k += 8) {
            const uint64_t other = idat_load(at + k) ^ idat_load(at + k - far);
            const uint32_t bytes = idat_least(length - k, 8);
            wrong |= other << (8 * (8 - bytes)) != 0;
        }
        to += length;
    }
    if (wrong)
        IDAT_OR(&s->bad, 1);
}

/* ---- Copying matches ----------------------------------------------------- */

IDAT_FN uint32_t match_to(uint64_t match)
{
    return (uint32_t)(match >> 32);
}

IDAT_FN uint32_t match_size(uint64_t match)
{
    return (uint32_t)match >> 16;
}

IDAT_FN uint32_t match_far(uint64_t match)
{
    return ((uint32_t)match & 0xffff) + 1;
}

/* The bits of word i that stand for bytes from `begin` to `end`, all of the
 * span. */
IDAT_FN uint32_t span_bits(uint32_t i, uint32_t begin, uint32_t end)
{
    const uint32_t first = begin > i * 32 ? begin - i * 32 : 0;
    return idat_low_bits(end - i * 32) & ~idat_low_bits(first);
}

/* Notes whether the bytes that a match makes are missing. */
IDAT_FN void match_mark(struct inflate_shared *s, uint64_t match, bool missing)
{
    const uint32_t begin = match_to(match) - s->base;
    const uint32_t end = begin + match_size(match);
    for (uint32_t i = begin / 32; i * 32 < end; i++) {
        if (missing)
            IDAT_OR(&s->missing[i], span_bits(i, begin, end));
        else
            IDAT_AND(&s->missing[i], ~span_bits(i, begin, end));
    }
}

/* Returns whether the bytes are there that a match copies; those that it makes
 * itself repeat them. */
IDAT_FN bool match_is_ready(const struct inflate_shared *s, uint64_t match)
{
    const uint32_t far = match_far(match);
    const uint32_t from = match_to(match) - far;
    const uint32_t behind = from + idat_least(match_size(match), far);
    if (behind <= s->base)
        return true;
    const uint32_t begin = from > s->base ? from - s->base : 0;
    const uint32_t end = behind - s->base;
    for (uint32_t i = begin / 32; i * 32 < end; i++)
        if (s->missing[i] & span_bits(i, begin, end))
            return false;
    return true;
}

/* Copies bytes first, first + step ... of a match to the window, from there or
 * from before it; those that it makes itself repeat those before it. */
IDAT_FN void match_copy_part(struct inflate_shared *s, uint64_t match,
                             uint32_t first, uint32_t step)
{
    const uint32_t length = match_size(match), far = match_far(match);
    const uint32_t to = match_to(match) - s->base;
    const uint8_t *const before = s->out + s->base;
    uint8_t *const window = (uint8_t *)s->window;
    for (uint32_t i = first; i < length; i += step) {
        const int32_t from = (int32_t)(to - far + (i < far ? i : i % far));
        window[to + i] = from < 0 ? before[from] : window[from];
    }
}

/* Copies a match by one thread. */
IDAT_FN void match_copy(struct inflate_shared *s, uint64_t match)
{
    enum { AT_ONCE = 8 };
    const uint32_t length = match_size(match), far = match_far(match);
    const uint32_t to = match_to(match) - s->base;
    const int32_t from = (int32_t)(to - far);
    uint8_t *const window = (uint8_t *)s->window + to;
    const uint8_t *at = window - far;
    if (from < 0 && (uint32_t)-from < idat_least(length, far)) {
        match_copy_part(s, match, 0, 1);
        return;
    }
    if (from < 0)
        at = s->out + s->base + to - far;
    for (uint32_t i = 0, k = 0; i < length; i += AT_ONCE) {
        uint8_t byte[AT_ONCE];
        for (unsigned n = 0; n < AT_ONCE; n++) {
            byte[n] = i + n < length ? at[k] : 0;
            k = k + 1 < far ? k + 1 : 0;
        }
        for (unsigned n = 0; n < AT_ONCE; n++)
            if (i + n < length)
                window[i + n] = byte[n];
    }
}

/* Loads or stores the words of the window that are used. */
IDAT_FN void window_move(struct inflate_shared *s, unsigned t, bool stores)
{
    enum { AT_ONCE = 8 };
    uint32_t *const out = (uint32_t *)(void *)(s->out + s->base);
    uint32_t *const from = stores ? s->window : out;
    uint32_t *const to = stores ? out : s->window;
    const uint32_t words = (s->used + 3) / 4;
    for (uint32_t i = t; i < words; i += AT_ONCE * INFLATE_THREADS) {
        uint32_t word[AT_ONCE];
        for (unsigned n = 0; n < AT_ONCE; n++) {
            const uint32_t k = i + n * INFLATE_THREADS;
            word[n] = k < words ? from[k] : 0;
        }
        for (unsigned n = 0; n < AT_ONCE; n++) {
            const uint32_t k = i + n * INFLATE_THREADS;
            if (k < words)
                to[k] = word[n];
        }
    }
}

/* Chooses the matches from `first` on that are copied together, s->slice of n,
 * and marks what they make. */
IDAT_FN void inflate_choose_matches(struct inflate_shared *s, uint32_t first,
                                    uint32_t n)
{
    PHASE(t, INFLATE_THREADS)
    {
        for (uint32_t i = t; i < INFLATE_SPAN / 32; i += INFLATE_THREADS)
            s->missing[i] = 0;
        if (t == 0) {
            s->base = match_to(s->matches[first]) / 4 * 4;
            s->slice = idat_least(n - first, INFLATE_THREADS * INFLATE_OWN);
            s->left[0] = s->left[1] = s->larges = s->used = 0;
        }
    }
    PHASE(t, INFLATE_THREADS)
    for (uint32_t i = t; i < INFLATE_THREADS * INFLATE_OWN;
         i += INFLATE_THREADS) {
        const uint64_t match = first + i < n ? s->matches[first + i] : 0;
        if (first + i < n &&
            match_to(match) + match_size(match) - s->base > INFLATE_SPAN)
            IDAT_MIN(&s->slice, i);
    }
    PHASE(t, INFLATE_THREADS)
    {
        uint32_t used = 0;
        s->open[t] = 0;
        for (uint32_t i = t, k = 0; i < s->slice; i += INFLATE_THREADS, k++) {
            const uint64_t match = s->matches[first + i];
            if (!match_size(match))
                continue;
            s->open[t] |= 1u << k;
            used = match_to(match) + match_size(match) - s->base;
            match_mark(s, match, true);
        }
        IDAT_MAX(&s->used, used);
    }
    PHASE(t, INFLATE_THREADS)
    window_move(s, t, false);
}

/* Copies the matches of the slice that are ready. */
IDAT_FN void inflate_copy_ready(struct inflate_shared *s, uint32_t first)
{
    PHASE(t, INFLATE_THREADS)
    {
        for (uint32_t bits = s->ready[t]; bits; bits &= bits - 1) {
            const uint32_t i = idat_lowest(bits) * INFLATE_THREADS + t;
            const uint64_t match = s->matches[first + i];
            if (match_size(match) > INFLATE_LONG) {
                s->large[IDAT_ADD(&s->larges, 1)] = (uint16_t)i;
                continue;
            }
            match_copy(s, match);
            match_mark(s, match, false);
        }
        s->open[t] &= ~s->ready[t];
    }
    if (!s->larges)
        return;
    PHASE(t, INFLATE_THREADS)
    for (uint32_t i = t / INFLATE_LANES; i < s->larges;
         i += INFLATE_THREADS / INFLATE_LANES) {
        const uint64_t match = s->matches[first + s->large[i]];
        match_copy_part(s, match, t % INFLATE_LANES, INFLATE_LANES);
        if (t % INFLATE_LANES == 0)
            match_mark(s, match, false);
    }
    PHASE(t, INFLATE_THREADS)
    if (t == 0)
        s->larges = 0;
}

/* Copies s->slice matches from `first` on, of n. */
IDAT_FN void inflate_copy_some(struct inflate_shared *s, uint32_t first,
                               uint32_t n)
{
    inflate_choose_matches(s, first, n);
    for (unsigned now = 0;; now = !now) {
        PHASE(t, INFLATE_THREADS)
        {
            s->ready[t] = 0;
            for (uint32_t bits = s->open[t]; bits; bits &= bits - 1) {
                const uint32_t k = idat_lowest(bits);
                if (match_is_ready(s,
                                   s->matches[first + k * INFLATE_THREADS + t]))
                    s->ready[t] |= 1u << k;
            }
            if (s->open[t])
                IDAT_OR(&s->left[now], 1);
            if (t == 0)
                s->left[!now] = 0;
        }
        if (!s->left[now])
            break;
        inflate_copy_ready(s, first);
    }
    PHASE(t, INFLATE_THREADS)
    window_move(s, t, true);
}

/* ---- Blocks -------------------------------------------------------------- */

/* Decodes the next parts of a block. */
IDAT_FN void inflate_parts(struct inflate_shared *s)
{
    inflate_settle(s);
    if (s->bad)
        return;
    inflate_sum(s);
    if (s->bad)
        return;
    PHASE(t, INFLATE_THREADS)
    if (t <= s->last) {
        if (s->matches)
            inflate_write(s, t);
        else
            inflate_compare(s, t);
    }
    if (s->bad)
        return;
    const uint32_t matches = s->sum[0][1][INFLATE_THREADS - 1];
    for (uint32_t i = 0; s->matches && i < matches; i += s->slice)
        inflate_copy_some(s, i, matches);
    PHASE(t, INFLATE_THREADS)
    if (t == 0) {
        s->made += s->sum[0][0][INFLATE_THREADS - 1];
        s->at = s->behind[s->last];
        s->ended = s->state[s->last] == PART_ENDS;
    }
}

IDAT_FN void inflate_stored(struct inflate_shared *s)
{
    PHASE(t, INFLATE_THREADS)
    for (uint32_t i = t; i < s->stored; i += INFLATE_THREADS)
        s->out[s->made + i] = s->stream[s->at / 8 + i];
    PHASE(t, INFLATE_THREADS)
    if (t == 0) {
        s->made += s->stored;
        s->at += s->stored * 8;
    }
}

/* Decodes a block. */
IDAT_FN void inflate_block(struct inflate_shared *s)
{
    PHASE(t, INFLATE_THREADS)
    if (t == 0 && !inflate_read_header(s))
        s->bad = 1;
    if (s->bad)
        return;
    if (s->ended) {
        inflate_stored(s);
        return;
    }
    if (s->type == 2)
        inflate_read_codes(s);
    if (s->bad)
        return;
    inflate_make_tables(s);
    while (!s->ended && !s->bad)
        inflate_parts(s);
}

/* Begins with a stream at a bit. */
IDAT_FN void inflate_open(struct inflate_shared *s, const uint8_t *stream,
                          uint32_t at, uint32_t end)
{
    s->stream = stream;
    s->at = at;
    s->end = end;
    s->made = s->bad = s->final = 0;
    s->blocks = s->turns = s->rounds = 0;
    for (uint32_t i = 1; i < 30; i++)
        s->length_base[i] = idat_length_base(IDAT_END + i) |
                            idat_length_extra(IDAT_END + i) << 16;
    for (uint32_t i = 0; i < IDAT_DISTANCES; i++)
        s->distance_base[i] = idat_distance_base(i) | idat_distance_extra(i)
                                                          << 16;
}

/* Inflates the stream of a picture: INFLATE_THREADS threads. */
IDAT_FN void idat_inflate(const struct idat_params *p, uint32_t file,
                          struct inflate_shared *s)
{
    const struct idat_file *f = &p->file[file];
    PHASE(t, INFLATE_THREADS)
    if (t == 0) {
        inflate_open(s, p->input + f->in, 8 * IDAT_STREAM_HEAD,
                     8 * (f->in_size - IDAT_CHECKSUM));
        s->out = p->memory + f->rows;
        s->matches = (uint64_t *)(void *)(p->memory + f->matches);
        s->item = (uint32_t *)(void *)(p->memory + f->items);
        s->items = INFLATE_ITEMS;
        s->size = f->from.size;
    }
    while (!s->final && !s->bad)
        inflate_block(s);
    PHASE(t, INFLATE_THREADS)
    if (t == 0 &&
        (s->bad || s->made != s->size || (s->at + 7) / 8 != s->end / 8))
        p->status[file].refused = 1;
}

/* Decodes a band that was encoded, and compares it with its rows. */
IDAT_FN void idat_check_band(const struct idat_params *p, uint32_t band,
                             struct inflate_shared *s)
{
    const struct idat_band *b = &p->band[band];
    const struct idat_file *f = &p->file[b->file];
    const uint32_t number = band - f->band;
    PHASE(t, INFLATE_THREADS)
    if (t == 0) {
        inflate_open(s, p->memory + f->out, b->at, b->at + b->bits);
        s->out = p->memory + f->rows;
        s->matches = NULL;
        s->item = p->token + (uint64_t)band * IDAT_BAND; /* not needed
                                                            any more */
        s->items = INFLATE_ITEMS_CHECKED;
        s->made = number * IDAT_BAND;
        s->size = s->made + idat_band_size(f, number);
    }
    inflate_block(s);
    PHASE(t, INFLATE_THREADS)
    if (t == 0 &&
        (s->bad || !s->ended || s->made != s->size || s->at != s->end ||
         s->final != (number + 1 == idat_bands(f))))
        p->status[b->file].refused = 1;
}

#endif
