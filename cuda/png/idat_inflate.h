/* Inflating a stream, by a block of threads; and comparing what it inflates to.
 *
 * Where parts go is known once they are decoded (idat_decode.h): literals are
 * written, and matches noted. These are copied by all threads together, those
 * of INFLATE_SPAN bytes at a time, however they refer to each other. Matches
 * that go on where the one before ends, at the same distance, as those of flat
 * areas, are one.
 *
 * Who compares needs no order: all before a part is compared by others, so the
 * bytes that it refers to are there.
 *
 * Traffic of a picture of n bytes: the stream is read once, to shared memory; 4
 * bytes are written and read for each code, and 8 for each match; n bytes are
 * written, and most read and written again with the matches among them. What
 * takes the time is latency, of a picture of 2 megapixels 45 ms: so many are
 * done side by side, six on each multiprocessor. */
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
            word_or(&s->bad, 1);
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
 * others, so the bytes that matches refer to are there, too. What is loaded is
 * compared when the next is under way. */
IDAT_FN void inflate_compare(struct inflate_shared *s, unsigned t)
{
    uint32_t to = s->made + s->sum[0][0][t] - s->bytes[t], wrong = 0;
    const uint32_t *const items = s->item + t, n = s->codes[t];
    const uint8_t *const out = s->out;
    uint32_t next = n ? items[0] : 0, literal = 0, loaded = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t item = next;
        next = i + 1 < n ? items[(i + 1) * INFLATE_THREADS] : 0;
        if (!(item & TOKEN_MATCH)) {
            wrong |= literal ^ loaded;
            literal = item;
            loaded = out[to++];
            continue;
        }
        const uint32_t length = (item >> 16 & 0xff) + IDAT_MATCH_LEAST;
        const uint32_t far = (item & 0xffff) + 1;
        const uint8_t *at = out + to;
        wrong |= far > to;
        for (uint32_t k = 0; k < length && far <= to; k += 8) {
            const uint64_t other = idat_load(at + k) ^ idat_load(at + k - far);
            const uint32_t bytes = word_least(length - k, 8);
            wrong |= other << (8 * (8 - bytes)) != 0;
        }
        to += length;
    }
    if (wrong | (literal ^ loaded))
        word_or(&s->bad, 1);
}

/* ---- Copying matches ----------------------------------------------------- */

/* Matches of a span of bytes are copied together. Each byte of it has a place
 * where it comes from, which may be made by a match, too: that one's place
 * comes instead, until none changes, twice as far each time (pointer jumping:
 * Wyllie, "The complexity of parallel computations", 1979). Then all bytes are
 * copied from places that no match makes. */

/* Places before the span are from 0 on, and its first byte has this one. */
enum { MATCH_BEFORE = IDAT_WINDOW };

IDAT_FN uint32_t match_to(uint64_t match)
{
    return (uint32_t)(match >> 32);
}

IDAT_FN uint32_t match_size(uint64_t match)
{
    return (uint32_t)match >> 16;
}

/* Notes where bytes first, first + step ... of a match come from; those that it
 * makes itself repeat those before it. */
IDAT_FN void match_note(struct inflate_shared *s, uint64_t match,
                        uint32_t first, uint32_t step)
{
    const uint32_t size = match_size(match);
    const uint32_t far = ((uint32_t)match & 0xffff) + 1;
    const uint32_t to = match_to(match) - s->base;
    for (uint32_t i = first; i < size; i += step)
        s->from[0][to + i] =
            (uint16_t)(MATCH_BEFORE + to - far + (i < far ? i : i % far));
}

/* Chooses the matches from `first` on, of n, that are copied together. */
IDAT_FN void inflate_choose_matches(struct inflate_shared *s, uint32_t first,
                                    uint32_t n)
{
    PHASE(t, INFLATE_THREADS)
    if (t == 0) {
        s->base = match_to(s->matches[first]);
        s->found = s->slice = s->larges = s->left[0] = s->left[1] = 0;
    }
    for (uint32_t step = INFLATE_STEP; step; step /= INFLATE_STEP)
        PHASE(t, INFLATE_THREADS)
        {
            const uint32_t i =
                step > 1 ? t * step : t + (s->found ? s->found - 1 : 0);
            if (i >= n - first || (step == 1 && t >= INFLATE_STEP))
                continue;
            const uint64_t match = s->matches[first + i];
            if (match_to(match) + match_size(match) - s->base <= INFLATE_SPAN)
                PHASE_MAX(step > 1 ? &s->found : &s->slice, i + 1);
        }
    PHASE(t, INFLATE_THREADS)
    if (t == 0) {
        const uint64_t match = s->matches[first + s->slice - 1];
        s->used = match_to(match) + match_size(match) - s->base;
    }
}

/* Notes where the bytes of a span come from: s->slice matches from `first`
 * on. */
IDAT_FN void inflate_note_matches(struct inflate_shared *s, uint32_t first)
{
    PHASE(t, INFLATE_THREADS)
    for (uint32_t i = t; i < (s->used + 1) / 2 * 2; i += INFLATE_THREADS)
        s->from[0][i] = (uint16_t)(MATCH_BEFORE + i);
    PHASE(t, INFLATE_THREADS)
    {
        uint64_t next = t < s->slice ? s->matches[first + t] : 0;
        for (uint32_t i = t; i < s->slice; i += INFLATE_THREADS) {
            const uint64_t match = next;
            if (i + INFLATE_THREADS < s->slice)
                next = s->matches[first + i + INFLATE_THREADS];
            if (match_size(match) > INFLATE_LONG)
                s->large[word_add(&s->larges, 1)] = (uint16_t)i;
            else
                match_note(s, match, 0, 1);
        }
    }
    PHASE(t, INFLATE_THREADS)
    for (uint32_t i = t / INFLATE_LANES; i < s->larges;
         i += INFLATE_THREADS / INFLATE_LANES)
        match_note(s, s->matches[first + s->large[i]], t % INFLATE_LANES,
                   INFLATE_LANES);
}

/* Sets where bytes come from to where what is there comes from, to the other
 * array, two at a time. Returns whether any changed. */
IDAT_FN bool inflate_jump(struct inflate_shared *s, unsigned t, unsigned now)
{
    enum { AT_ONCE = 4 };
    const uint16_t *const from = s->from[now];
    const uint32_t *const pairs = (const uint32_t *)(const void *)from;
    uint32_t *const to = (uint32_t *)(void *)s->from[!now];
    const uint32_t used = (s->used + 1) / 2;
    uint32_t changed = 0;
    for (uint32_t i = t; i < used; i += AT_ONCE * INFLATE_THREADS) {
        uint32_t pair[AT_ONCE], next[AT_ONCE];
        for (unsigned n = 0; n < AT_ONCE; n++) {
            const uint32_t k = i + n * INFLATE_THREADS;
            pair[n] = k < used ? pairs[k] : 0;
        }
        for (unsigned n = 0; n < AT_ONCE; n++) {
            uint32_t low = pair[n] & 0xffff, high = pair[n] >> 16;
            if (low >= MATCH_BEFORE)
                low = from[low - MATCH_BEFORE];
            if (high >= MATCH_BEFORE)
                high = from[high - MATCH_BEFORE];
            next[n] = high << 16 | low;
        }
        for (unsigned n = 0; n < AT_ONCE; n++) {
            const uint32_t k = i + n * INFLATE_THREADS;
            if (k < used)
                to[k] = next[n];
            changed |= pair[n] ^ next[n];
        }
    }
    return changed != 0;
}

/* Copies the bytes of a span that matches make. */
IDAT_FN void inflate_copy(struct inflate_shared *s, unsigned t, unsigned now)
{
    enum { AT_ONCE = 8 };
    uint8_t *const out = s->out + s->base;
    for (uint32_t i = t; i < s->used; i += AT_ONCE * INFLATE_THREADS) {
        int32_t from[AT_ONCE];
        uint8_t byte[AT_ONCE];
        for (unsigned n = 0; n < AT_ONCE; n++) {
            const uint32_t k = i + n * INFLATE_THREADS;
            from[n] = k < s->used ? s->from[now][k] - MATCH_BEFORE : 0;
        }
        for (unsigned n = 0; n < AT_ONCE; n++)
            byte[n] = out[from[n]];
        for (unsigned n = 0; n < AT_ONCE; n++) {
            const uint32_t k = i + n * INFLATE_THREADS;
            if (k < s->used && from[n] != (int32_t)k)
                out[k] = byte[n];
        }
    }
}

/* Copies s->slice matches from `first` on, of n. */
IDAT_FN void inflate_copy_some(struct inflate_shared *s, uint32_t first,
                               uint32_t n)
{
    unsigned now = 0;
    inflate_choose_matches(s, first, n);
    inflate_note_matches(s, first);
    for (;; now = !now) {
        PHASE(t, INFLATE_THREADS)
        {
            if (inflate_jump(s, t, now))
                word_or(&s->left[now], 1);
            if (t == 0)
                s->left[!now] = 0;
        }
        if (!s->left[now])
            break;
    }
    PHASE(t, INFLATE_THREADS)
    inflate_copy(s, t, now);
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
    if (s->type == 2) { /* it has codes of its own */
        inflate_make_code(s, &s->distance, s->length_bits, INFLATE_LENGTHS,
                          INFLATE_LENGTH_BITS);
        if (s->bad)
            return;
        PHASE(t, INFLATE_THREADS)
        if (t == 0 && !inflate_read_lengths(s))
            s->bad = 1;
    }
    if (s->bad)
        return;
    inflate_make_code(s, &s->literal, s->bits, s->literals, INFLATE_QUICK);
    inflate_make_code(s, &s->distance, s->bits + s->literals,
                      INFLATE_LITERALS + 32 - s->literals,
                      INFLATE_QUICK_DISTANCE);
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
    if (!f->from.size)
        return;
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
