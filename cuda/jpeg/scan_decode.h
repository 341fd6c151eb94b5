/* Decoding subsequences (T.81, F.2.2).
 *
 * A thread decodes the blocks that begin in its subsequence. Which is the first
 * of them it learns from the thread before: at first it guesses that a block
 * begins with the subsequence, the first one of an MCU. Huffman codes
 * synchronize themselves: from a wrong place on, too, blocks sooner or later
 * begin where they really do, and then the next guess is put right.
 * (Weissenberger and Schmidt, "Massively Parallel Huffman Decoding on GPUs",
 * 2018; and "Accelerating JPEG Decompression on GPUs", 2021.) At a restart
 * marker all begins anew, whatever was guessed.
 *
 * Behind the last block of an interval are fewer than 8 bits. Blocks may begin
 * there as well, as few as 2 bits have one, but only who knows their number can
 * tell: they are left to the thread that writes, with room for their values.
 *
 * The data that a thread reads ends with SCAN_PADDING zeros. */
#ifndef CUDA_JPEG_SCAN_DECODE_H
#define CUDA_JPEG_SCAN_DECODE_H

#include "cuda/jpeg/scan_picture.h"

enum {
    SCAN_REST_BITS = 8,     /* fewer of them are behind the last block, */
    SCAN_REST = SCAN_GROUP, /* or that many values, rounded up to a group */
};

/* The bytes of a picture as words. */
struct scan_text {
    const uint32_t *word; /* as they lie in memory; or, staged, in order and
                             with a gap behind each SCAN_WORDS */
    uint32_t first;       /* staged: the number of the first one */
    bool staged;
    const uint16_t *codes;
    const struct scan_code *code;
    const struct scan_picture *picture;
    const uint32_t *start;
};

SCAN_INLINE uint32_t scan_staged_place(uint32_t i)
{
    return i + i / SCAN_WORDS;
}

SCAN_INLINE uint32_t scan_text_word(const struct scan_text *text, uint32_t i)
{
    return text->staged ? text->word[scan_staged_place(i - text->first)]
                        : scan_swap(text->word[i]);
}

/* The next bits: those of two words, of which `at` % 32 have been read. */
struct scan_reader {
    uint32_t a, b, at;
};

SCAN_INLINE void scan_seek(struct scan_reader *in, const struct scan_text *text,
                           uint32_t at)
{
    in->at = at;
    in->a = scan_text_word(text, at / 32);
    in->b = scan_text_word(text, at / 32 + 1);
}

SCAN_INLINE void scan_skip(struct scan_reader *in, const struct scan_text *text,
                           uint32_t bits)
{
    uint32_t at = in->at + bits;
    if (at / 32 != in->at / 32) {
        in->a = in->b;
        in->b = scan_text_word(text, at / 32 + 1);
    }
    in->at = at;
}

/* Returns the interval that has byte `at`: the last that begins there, or
 * before. */
SCAN_INLINE uint32_t scan_find_interval(const uint32_t *start,
                                        uint32_t intervals, uint32_t at)
{
    uint32_t low = 0, high = intervals;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (start[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where a thread writes. */
struct scan_writer {
    struct entropy_block *block; /* the picture's first */
    uint16_t *value;
    uint32_t blocks; /* before the next one */
    uint32_t values; /* before the next one */
    uint64_t group;  /* those that have not been stored yet */
    uint64_t mask;   /* of the block under way */
    uint32_t at;     /* its first value */
    bool damaged;
};

SCAN_INLINE void scan_put_value(struct scan_writer *out, uint32_t room,
                                uint32_t value)
{
    out->group |= (uint64_t)value << (16 * (out->values % SCAN_GROUP));
    out->values++;
    if (out->values % SCAN_GROUP == 0) {
        if (out->values <= room)
            *(uint64_t *)(out->value + out->values - SCAN_GROUP) = out->group;
        out->group = 0;
    }
}

/* Stores what is left. */
SCAN_INLINE void scan_put_values(struct scan_writer *out, uint32_t room)
{
    while (out->values % SCAN_GROUP)
        scan_put_value(out, room, 0);
}

/* Returns the DC coefficient of component c. The sum of all is exact as long as
 * each is within its range, by far less than 2^15. */
SCAN_INLINE int32_t scan_dc(uint64_t sum, unsigned c)
{
    for (; c; c--)
        sum = (sum - (uint64_t)(int64_t)(int16_t)sum) >> 16;
    return (int16_t)sum;
}

SCAN_INLINE bool scan_is_dc(int32_t dc)
{
    return dc >= -ENTROPY_DC_MAX && dc < ENTROPY_DC_MAX;
}

/* Writes a block that is complete. */
SCAN_INLINE void scan_put_block(struct scan_writer *out,
                                const struct scan_picture *pic, uint64_t dc,
                                unsigned component)
{
    struct entropy_block b = { out->mask, out->at, 0, 0 };
    int32_t value = scan_dc(dc, component);
    b.dc = (int16_t)value;
    if (out->blocks < pic->blocks && scan_is_dc(value))
        out->block[out->blocks] = b;
    else
        out->damaged = true;
    out->blocks++;
}

/* Where a thread is. */
struct scan_walk {
    struct scan_reader in;
    unsigned j; /* the block of an MCU */
    unsigned k; /* the coefficient that is next; 0: a block begins */
    uint32_t interval, bound; /* and where it ends, in bits */
    struct scan_code code;
    bool rest; /* among the last bits of an interval */
};

SCAN_INLINE void scan_enter(struct scan_walk *w, const struct scan_text *text,
                            uint32_t interval)
{
    w->interval = interval;
    w->bound = text->start[interval + 1] * 8;
}

/* Returns how many blocks precede the end of an interval. */
SCAN_INLINE uint32_t scan_blocks_until(const struct scan_picture *pic,
                                       uint32_t interval)
{
    return interval + 1 < pic->intervals ? (interval + 1) * pic->interval_blocks
                                         : pic->blocks;
}

/* At the beginning of a block: goes on to the next interval where this one is
 * at its end. Returns whether there is none. */
SCAN_INLINE bool scan_cross(struct scan_walk *w, const struct scan_text *text,
                            struct scan_counts *sum, bool writes,
                            struct scan_writer *out)
{
    const struct scan_picture *pic = text->picture;
    while (w->in.at + SCAN_REST_BITS > w->bound &&
           (w->j == 0 || w->rest || w->in.at >= w->bound)) {
        uint32_t blocks = scan_blocks_until(pic, w->interval);
        if (writes) {
            w->rest = out->blocks < blocks && w->in.at < w->bound;
            if (w->rest)
                return false;
            if (out->blocks != blocks || w->in.at > w->bound)
                out->damaged = true;
        }
        sum->closed = true;
        sum->blocks = blocks;
        sum->values += SCAN_REST;
        sum->dc = 0;
        if (w->interval + 1 == pic->intervals)
            return true;
        scan_enter(w, text, w->interval + 1);
        w->j = 0;
        scan_seek(&w->in, text, text->start[w->interval] * 8);
        w->code = text->code[0];
    }
    return false;
}

/* Ends a block: the next one may be anything after damage. */
SCAN_INLINE void scan_end_block(struct scan_walk *w,
                                const struct scan_text *text, bool sound)
{
    w->k = 0;
    w->j = sound && w->j + 1 < text->picture->mcu_blocks ? w->j + 1 : 0;
    w->code = text->code[2 * w->j];
}

/* Reads one symbol and its value. */
SCAN_INLINE void scan_step(struct scan_walk *w, const struct scan_text *text,
                           struct scan_counts *sum, bool writes,
                           struct scan_writer *out)
{
    const struct scan_picture *pic = text->picture;
    const uint32_t bits = scan_window(w->in.a, w->in.b, w->in.at);
    const uint32_t high = bits >> 16;
    const uint32_t entry =
        text->codes[high < w->code.limit ? w->code.at + (high >> w->code.shift)
                                         : (uint32_t)w->code.tail + high];
    const uint32_t all = entry & 31, size = entry >> 5 & 15, step = entry >> 9;
    /* 1 << size | its bits */
    const uint32_t value =
        (bits << (all - size) >> 1 | UINT32_C(0x80000000)) >> (31 - size);
    scan_skip(&w->in, text, all);
    if (w->k == 0 && step == 1) {
        uint32_t top = UINT32_C(1) << size, low = value - top;
        int32_t difference =
            low >= top >> 1 ? (int32_t)low : (int32_t)(low - top) + 1;
        sum->dc += (uint64_t)(int64_t)difference << (16 * pic->component[w->j]);
        w->k = 1;
        w->code = text->code[2 * w->j + 1];
        if (writes) {
            out->mask = 0;
            out->at = out->values;
        }
        return;
    }
    w->k += step;
    const bool sound = w->k <= 64 || step == SCAN_END;
    if (size && sound) {
        sum->values++;
        if (writes) {
            out->mask |= UINT64_C(1) << (w->k - 1);
            scan_put_value(out, pic->values, value);
        }
    }
    if (w->k < 64)
        return;
    if (writes && sound)
        scan_put_block(out, pic, sum->dc, pic->component[w->j]);
    if (writes && !sound)
        out->damaged = true;
    sum->blocks += sound;
    scan_end_block(w, text, sound);
}

/* Decodes the blocks that begin from `entry` on before bit `end`. Returns where
 * the next one begins. `writes`: writes them, too, unless they are damaged; sum
 * and out have what is before. */
SCAN_INLINE uint64_t scan_decode(const struct scan_text *text, uint64_t entry,
                                 uint32_t end, struct scan_counts *sum,
                                 bool writes, struct scan_writer *out)
{
    const struct scan_picture *pic = text->picture;
    struct scan_walk w;
    if ((uint32_t)entry >= end)
        return entry;
    scan_enter(
        &w, text,
        scan_find_interval(text->start, pic->intervals, (uint32_t)entry / 8));
    w.j = (unsigned)(entry >> 32);
    w.k = 0;
    w.rest = false;
    w.code = text->code[2 * w.j];
    scan_seek(&w.in, text, (uint32_t)entry);
    if (writes && out->blocks < w.interval * pic->interval_blocks)
        out->damaged = true;
    for (;;) {
        if (w.k == 0) {
            if (scan_cross(&w, text, sum, writes, out))
                return SCAN_NOWHERE;
            if ((w.in.at >= end && !w.rest) || (writes && out->damaged))
                return w.in.at | (uint64_t)w.j << 32;
        }
        scan_step(&w, text, sum, writes, out);
    }
}

/* ---- Threads of a tile -------------------------------------------------- */

/* What they share. */
struct scan_tile {
    uint32_t word[SCAN_STAGED + SCAN_STAGED / SCAN_WORDS + 1];
    struct scan_code code[2 * ENTROPY_MCU_BLOCKS];
    uint64_t exit[SCAN_TILE];
};

/* Loads what a thread loads of the data and the tables. */
SCAN_INLINE void scan_stage(const struct scan_params *p, uint32_t tile,
                            unsigned thread, struct scan_tile *shared,
                            uint16_t *codes)
{
    const uint32_t picture = p->tile_picture[tile];
    const struct scan_picture *pic = &p->picture[picture];
    const uint32_t first = (tile - pic->tile) * SCAN_TILE * SCAN_WORDS;
    const uint32_t words = (p->status[picture].size + SCAN_PADDING) / 4;
    const uint32_t *from = (const uint32_t *)(p->data + pic->data);
    for (uint32_t i = thread; i < SCAN_STAGED; i += SCAN_TILE)
        shared->word[scan_staged_place(i)] =
            first + i < words ? scan_swap(from[first + i]) : 0;
    const uint32_t *table = (const uint32_t *)(p->codes + pic->codes);
    for (uint32_t i = thread; i < pic->codes_size / 2; i += SCAN_TILE)
        ((uint32_t *)codes)[i] = table[i];
    for (uint32_t i = thread; i < 2 * ENTROPY_MCU_BLOCKS; i += SCAN_TILE)
        shared->code[i] = pic->code[i];
}

SCAN_INLINE struct scan_text scan_staged(const struct scan_params *p,
                                         uint32_t tile,
                                         const struct scan_tile *shared,
                                         const uint16_t *codes)
{
    const struct scan_picture *pic = &p->picture[p->tile_picture[tile]];
    struct scan_text text = { shared->word,
                              (tile - pic->tile) * SCAN_TILE * SCAN_WORDS,
                              true,
                              codes,
                              shared->code,
                              pic,
                              p->start + pic->start };
    return text;
}

/* A thread that finds out where blocks begin. */
struct scan_seeker {
    struct scan_subsequence s;
    uint32_t number; /* of the subsequence */
    bool there;
};

SCAN_INLINE void scan_seek_blocks(const struct scan_text *text,
                                  struct scan_seeker *seeker)
{
    struct scan_counts none = { 0, 0, 0, false };
    seeker->s.counts = none;
    seeker->s.exit = scan_decode(
        text, seeker->s.entry, (seeker->number + 1) * SCAN_SUBSEQUENCE,
        &seeker->s.counts, false, (struct scan_writer *)0);
}

SCAN_INLINE struct scan_seeker scan_guess(const struct scan_params *p,
                                          uint32_t tile, unsigned thread,
                                          const struct scan_text *text,
                                          struct scan_tile *shared)
{
    const uint32_t picture = p->tile_picture[tile];
    struct scan_seeker seeker;
    seeker.number = (tile - text->picture->tile) * SCAN_TILE + thread;
    seeker.there = seeker.number < scan_subsequences(p->status[picture].size);
    seeker.s.entry = seeker.s.exit = (uint64_t)seeker.number * SCAN_SUBSEQUENCE;
    if (seeker.there) {
        scan_seek_blocks(text, &seeker);
        shared->exit[thread] = seeker.s.exit;
    }
    return seeker;
}

/* Returns whether the thread before has found another place than this one took:
 * it is taken. */
SCAN_INLINE bool scan_is_corrected(struct scan_seeker *seeker, unsigned thread,
                                   const struct scan_tile *shared)
{
    if (!seeker->there || thread == 0 ||
        shared->exit[thread - 1] == seeker->s.entry)
        return false;
    seeker->s.entry = shared->exit[thread - 1];
    return true;
}

SCAN_INLINE void scan_correct(struct scan_seeker *seeker, unsigned thread,
                              const struct scan_text *text,
                              struct scan_tile *shared)
{
    scan_seek_blocks(text, seeker);
    shared->exit[thread] = seeker->s.exit;
}

SCAN_INLINE void scan_store_found(const struct scan_params *p, uint32_t tile,
                                  const struct scan_seeker *seeker)
{
    const struct scan_picture *pic = &p->picture[p->tile_picture[tile]];
    if (seeker->there)
        p->subsequence[pic->subsequence + seeker->number] = seeker->s;
}

/* ---- Tiles, joined ------------------------------------------------------ */

enum {
    SCAN_ROUNDS = SCAN_TILE, /* of corrections */
    SCAN_JOIN_MOST = 64, /* subsequences of a tile that may change by that */
};

/* Lets the first subsequences of a tile begin where the tile before ends. */
SCAN_INLINE void scan_join(const struct scan_params *p, uint32_t tile)
{
    const uint32_t picture = p->tile_picture[tile];
    const struct scan_picture *pic = &p->picture[picture];
    const uint32_t all = scan_subsequences(p->status[picture].size);
    const uint32_t first = (tile - pic->tile) * SCAN_TILE;
    struct scan_text text = { (const uint32_t *)(p->data + pic->data),
                              0,
                              false,
                              p->codes + pic->codes,
                              pic->code,
                              pic,
                              p->start + pic->start };
    if (scan_is_out(p, picture) || first == 0)
        return;
    struct scan_subsequence *s = p->subsequence + pic->subsequence + first;
    uint64_t entry = first < all ? s[-1].exit : 0;
    for (uint32_t i = 0; i < SCAN_JOIN_MOST && first + i < all; i++) {
        struct scan_seeker seeker;
        if (s[i].entry == entry)
            return;
        seeker.number = first + i;
        seeker.s.entry = entry;
        scan_seek_blocks(&text, &seeker);
        s[i] = seeker.s;
        entry = seeker.s.exit;
        if (i + 1 == SCAN_TILE)
            return;
    }
}

/* ---- What is before each subsequence ------------------------------------ */

SCAN_INLINE struct scan_counts scan_counts_add(struct scan_counts a,
                                               struct scan_counts b)
{
    struct scan_counts sum = { b.closed ? b.dc : a.dc + b.dc,
                               b.closed ? b.blocks : a.blocks + b.blocks,
                               a.values + b.values, a.closed || b.closed };
    return sum;
}

/* Returns what subsequence i has, the values in whole groups. Refuses a picture
 * whose subsequences do not follow each other. */
SCAN_INLINE struct scan_counts scan_counts_get(const struct scan_params *p,
                                               uint32_t picture, uint32_t i)
{
    const struct scan_picture *pic = &p->picture[picture];
    const struct scan_subsequence *s = p->subsequence + pic->subsequence + i;
    const uint32_t all = scan_subsequences(p->status[picture].size);
    struct scan_counts counts = s->counts;
    counts.values = (counts.values + SCAN_GROUP - 1) / SCAN_GROUP * SCAN_GROUP;
    if ((i ? s[-1].exit : 0) != s->entry ||
        (i + 1 == all && s->exit != SCAN_NOWHERE))
        scan_refuse(p, picture);
    return counts;
}

SCAN_INLINE void scan_counts_end(const struct scan_params *p, uint32_t picture,
                                 struct scan_counts all, unsigned thread)
{
    if (thread == 0 && all.values > p->picture[picture].values)
        scan_refuse(p, picture);
}

/* ---- Writing ------------------------------------------------------------ */

SCAN_INLINE void scan_write(const struct scan_params *p, uint32_t tile,
                            unsigned thread, const struct scan_text *text)
{
    const uint32_t picture = p->tile_picture[tile];
    const struct scan_picture *pic = text->picture;
    const uint32_t number = (tile - pic->tile) * SCAN_TILE + thread;
    if (number >= scan_subsequences(p->status[picture].size))
        return;
    const struct scan_subsequence *s =
        &p->subsequence[pic->subsequence + number];
    struct scan_counts sum = s->counts; /* of all before */
    struct scan_writer out = { p->block + pic->block,
                               p->value + pic->value,
                               sum.blocks,
                               sum.values,
                               0,
                               0,
                               0,
                               false };
    uint64_t exit = scan_decode(text, s->entry, (number + 1) * SCAN_SUBSEQUENCE,
                                &sum, true, &out);
    scan_put_values(&out, pic->values);
    if (out.damaged || exit != s->exit)
        scan_refuse(p, picture);
}

#endif
