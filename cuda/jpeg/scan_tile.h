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
 * tell: they are left to the thread that writes.
 *
 * Threads of a warp decode different symbols at a time: DC and AC, the last one
 * of a block, the last one before a restart marker. So that they stay together
 * a step is the same for all, and what is rare waits for one test.
 *
 * The data that a thread reads ends with SCAN_PADDING zeros.
 *
 * The threads of a tile of subsequences find out where their blocks begin,
 * tiles are joined, and blocks are written. A tile decodes some subsequences
 * before its own as well: by the end of them its threads have mostly found the
 * places that the tile before finds. */
#ifndef CUDA_JPEG_SCAN_TILE_H
#define CUDA_JPEG_SCAN_TILE_H

#include "cuda/jpeg/scan_picture.h"

enum { SCAN_REST_BITS = 8 }; /* fewer of them are behind the last block */

/* The bytes of a picture as words. */
struct scan_text {
    const uint32_t *word; /* as they lie in memory; or, staged, in order and
                             with a gap behind each SCAN_WORDS */
    uint32_t offset;      /* staged: the place of the first one in memory */
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
    return text->staged ? text->word[scan_staged_place(i) - text->offset]
                        : scan_be32(text->word[i]);
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

/* Where a thread writes. */
struct scan_writer {
    struct entropy_block *block; /* the picture's first */
    uint16_t *value;
    uint32_t values; /* the place of the next one */
    uint64_t group;  /* those that have not been stored yet, behind zeros */
    uint64_t mask;   /* of the block under way */
    uint32_t first;  /* its first value */
    bool damaged;
};

SCAN_INLINE void scan_put_value(struct scan_writer *out, uint32_t room,
                                uint32_t value)
{
    out->group = out->group >> 16 | (uint64_t)value << 48;
    out->values++;
    if (out->values % SCAN_GROUP == 0 && out->values <= room)
        *(uint64_t *)(out->value + out->values - SCAN_GROUP) =
            scan_halves(out->group);
}

/* Writes a block that is complete. Of the lane of a sum that has its DC
 * coefficient, what is in lower ones, where that is negative, has been taken:
 * exact as long as each is within its range, by far less than 2^15. */
SCAN_INLINE void scan_put_block(struct scan_writer *out,
                                const struct scan_picture *pic,
                                const struct scan_counts *sum, unsigned lane)
{
    const int32_t dc =
        (int16_t)((sum->dc >> lane) + (lane ? sum->dc >> (lane - 1) & 1 : 0));
    const struct entropy_block b = { out->mask, out->first, (int16_t)dc, 0 };
    if (sum->blocks < pic->blocks && dc >= -ENTROPY_DC_MAX &&
        dc < ENTROPY_DC_MAX)
        out->block[sum->blocks] = b;
    else
        out->damaged = true;
}

/* Where a thread is. */
struct scan_walk {
    struct scan_reader in;
    unsigned table; /* which of struct scan_picture.code, and its parts */
    uint32_t limit, tail, lookup, shift, next, lane;
    uint32_t k;    /* the coefficient that is next; 0: a block begins */
    uint32_t stop; /* where blocks that begin are looked at */
    uint32_t interval, bound; /* and where it ends, in bits */
    bool rest;                /* among the last bits of an interval */
};

SCAN_INLINE void scan_take_table(struct scan_walk *w,
                                 const struct scan_text *text, unsigned table)
{
    const struct scan_code code = text->code[table];
    w->table = table;
    w->limit = code.limit;
    w->tail = (uint32_t)code.tail;
    w->lookup = code.lookup & 0xffff;
    w->shift = code.lookup >> 16 & 0xff;
    w->next = code.lookup >> 24;
    w->lane = code.lane;
}

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
           (w->table == 0 || w->rest || w->in.at >= w->bound)) {
        uint32_t blocks = scan_blocks_until(pic, w->interval);
        if (writes) {
            w->rest = sum->blocks < blocks && w->in.at < w->bound;
            if (w->rest)
                return false;
            if (sum->blocks != blocks || w->in.at > w->bound)
                out->damaged = true;
        }
        sum->closed = true;
        sum->blocks = blocks;
        sum->dc = 0;
        if (w->interval + 1 == pic->intervals)
            return true;
        scan_enter(w, text, w->interval + 1);
        scan_take_table(w, text, 0);
        scan_seek(&w->in, text, text->start[w->interval] * 8);
    }
    return false;
}

/* At the beginning of a block, from bit w->stop on. Returns whether the thread
 * is done: then it sets where the next block begins. */
SCAN_INLINE bool scan_arrive(struct scan_walk *w, const struct scan_text *text,
                             uint32_t end, struct scan_counts *sum, bool writes,
                             struct scan_writer *out, uint64_t *exit)
{
    if (scan_cross(w, text, sum, writes, out)) {
        *exit = SCAN_NOWHERE;
        return true;
    }
    *exit = w->in.at | (uint64_t)(w->table / 2) << 32;
    if ((w->in.at >= end && !w->rest) || (writes && out->damaged))
        return true;
    w->stop = w->bound < SCAN_REST_BITS ? 0 : w->bound - SCAN_REST_BITS + 1;
    if (w->stop > end)
        w->stop = end;
    return false;
}

/* Adds the difference of DC that the bits have behind a code. */
SCAN_INLINE void scan_add_difference(struct scan_counts *sum, uint32_t bits,
                                     uint32_t size, uint32_t lane)
{
    const uint32_t top = UINT32_C(1) << size;
    const int32_t low = (int32_t)(bits - top);
    const int32_t difference = bits & top >> 1 ? low : low - (int32_t)top + 1;
    sum->dc += (uint64_t)(int64_t)difference << lane;
}

/* Ends a block: the next one may be anything after damage. */
SCAN_INLINE void scan_end_block(struct scan_walk *w,
                                const struct scan_text *text, bool sound,
                                struct scan_counts *sum, bool writes,
                                struct scan_writer *out)
{
    if (writes && sound)
        scan_put_block(out, text->picture, sum, w->lane);
    if (writes && !sound)
        out->damaged = true;
    if (writes && out->damaged)
        w->stop = 0;
    sum->blocks += sound;
    w->k = 0;
}

/* Reads one symbol and its value. */
SCAN_INLINE void scan_step(struct scan_walk *w, const struct scan_text *text,
                           struct scan_counts *sum, bool writes,
                           struct scan_writer *out)
{
    const uint32_t bits = scan_window(w->in.a, w->in.b, w->in.at);
    const uint32_t high = bits >> 16;
    const uint32_t entry =
        text->codes[high < w->limit ? w->lookup + (high >> w->shift)
                                    : w->tail + high];
    const uint32_t all = entry & 31, size = entry >> 5 & 15, step = entry >> 9;
    /* 1 << size | its bits */
    const uint32_t value =
        (bits << (all - size) >> 1 | UINT32_C(0x80000000)) >> (31 - size);
    const bool begins = w->k == 0;
    w->k += step;
    const bool ends = w->k >= 64, sound = w->k <= 64 || step == SCAN_END;
    scan_skip(&w->in, text, all);
    if (begins) {
        scan_add_difference(sum, value, size, w->lane);
        if (writes) {
            out->mask = 0;
            out->first = out->values;
        }
    } else if (writes && size && sound) {
        out->mask |= UINT64_C(1) << (w->k - 1);
        scan_put_value(out, text->picture->values, value);
    }
    if (begins || ends) {
        const unsigned next = ends && !sound ? 0 : w->next;
        if (ends)
            scan_end_block(w, text, sound, sum, writes, out);
        scan_take_table(w, text, next);
    }
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
    uint64_t exit;
    if ((uint32_t)entry >= end)
        return entry;
    /* The interval that begins with the byte, or last before it. */
    scan_enter(&w, text,
               phase_find(text->start, sizeof *text->start, pic->intervals,
                          (uint32_t)entry / 8));
    scan_take_table(&w, text, 2 * (unsigned)(entry >> 32));
    w.k = w.stop = 0;
    w.rest = false;
    scan_seek(&w.in, text, (uint32_t)entry);
    if (writes && sum->blocks < w.interval * pic->interval_blocks)
        out->damaged = true;
    for (;;) {
        if (w.k == 0 && w.in.at >= w.stop &&
            scan_arrive(&w, text, end, sum, writes, out, &exit))
            return exit;
        scan_step(&w, text, sum, writes, out);
    }
}

/* ---- Threads of a tile -------------------------------------------------- */

/* What they share. */
struct scan_tile {
    uint32_t word[SCAN_STAGED + SCAN_STAGED / SCAN_WORDS + 1];
    struct scan_code code[2 * ENTROPY_MCU_BLOCKS];
    uint64_t exit[SCAN_TILE];
    uint32_t corrections; /* which threads begin elsewhere than they took */
    uint8_t corrected[SCAN_TILE];
    /* Of the picture's tables; less where no picture of the batch has many. */
    uint16_t codes[SCAN_CODES];
};

/* Returns the subsequence of a tile's first thread: before the first one of the
 * picture it is huge. */
SCAN_INLINE uint32_t scan_first(const struct scan_picture *pic, uint32_t tile)
{
    return (tile - pic->tile) * SCAN_OWN - SCAN_BEFORE;
}

/* Loads what a thread loads of the data and the tables. */
SCAN_INLINE void scan_stage(const struct scan_params *p, uint32_t picture,
                            uint32_t tile, unsigned thread,
                            struct scan_tile *shared)
{
    const struct scan_picture *pic = &p->picture[picture];
    const uint32_t first = scan_first(pic, tile) * SCAN_WORDS;
    const uint32_t words = (p->status[picture].size + SCAN_PADDING) / 4;
    const uint32_t *from = (const uint32_t *)(p->data + pic->data);
    for (uint32_t i = thread; i < SCAN_STAGED; i += SCAN_TILE)
        shared->word[scan_staged_place(i)] =
            first + i < words ? scan_be32(from[first + i]) : 0;
    const uint32_t *table = (const uint32_t *)(p->codes + pic->codes);
    for (uint32_t i = thread; i < pic->codes_size / 2; i += SCAN_TILE)
        ((uint32_t *)shared->codes)[i] = table[i];
    for (uint32_t i = thread; i < 2 * ENTROPY_MCU_BLOCKS; i += SCAN_TILE)
        shared->code[i] = pic->code[i];
    if (thread == 0)
        shared->corrections = 0;
}

SCAN_INLINE struct scan_text scan_staged(const struct scan_params *p,
                                         const struct scan_picture *pic,
                                         uint32_t tile,
                                         const struct scan_tile *shared)
{
    const int32_t first = (int32_t)scan_first(pic, tile);
    struct scan_text text = { shared->word,
                              (uint32_t)(first * (SCAN_WORDS + 1)),
                              true,
                              shared->codes,
                              shared->code,
                              pic,
                              p->start + pic->start };
    return text;
}

/* Returns what the blocks of a subsequence are, which begin at `entry`. */
SCAN_INLINE struct scan_subsequence
scan_seek_blocks(const struct scan_text *text, uint64_t entry, uint32_t number)
{
    struct scan_subsequence s = { entry, 0, { 0, 0, false } };
    s.exit = scan_decode(text, entry, (number + 1) * SCAN_SUBSEQUENCE,
                         &s.counts, false, (struct scan_writer *)0);
    return s;
}

/* The same of a thread of a tile, noting it there, and for all if it is of the
 * tile's own. */
SCAN_INLINE void scan_find(const struct scan_params *p, uint32_t tile,
                           const struct scan_text *text, unsigned thread,
                           uint64_t entry, struct scan_tile *shared)
{
    const uint32_t number = scan_first(text->picture, tile) + thread;
    const struct scan_subsequence s = scan_seek_blocks(text, entry, number);
    shared->exit[thread] = s.exit;
    if (thread >= SCAN_BEFORE)
        p->subsequence[text->picture->subsequence + number] = s;
}

/* ---- Tiles, joined ------------------------------------------------------ */

enum {
    SCAN_ROUNDS = SCAN_TILE, /* of corrections */
    SCAN_JOIN_MOST = 64, /* subsequences of a tile that may change by that */
};

/* Lets the first subsequences of a tile begin where the tile before ends, which
 * they mostly do. */
SCAN_INLINE void scan_join(const struct scan_params *p, uint32_t tile)
{
    const uint32_t picture = SCAN_FIND(p, tile, tile);
    const struct scan_picture *pic = &p->picture[picture];
    const uint32_t all = scan_subsequences(p->status[picture].size);
    const uint32_t first = (tile - pic->tile) * SCAN_OWN;
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
        if (s[i].entry == entry)
            return;
        s[i] = scan_seek_blocks(&text, entry, first + i);
        entry = s[i].exit;
    }
}

/* ---- What is before each subsequence ------------------------------------ */

SCAN_INLINE struct scan_counts scan_counts_add(struct scan_counts a,
                                               struct scan_counts b)
{
    struct scan_counts sum = { b.closed ? b.dc : a.dc + b.dc,
                               b.closed ? b.blocks : a.blocks + b.blocks,
                               a.closed || b.closed };
    return sum;
}

/* Returns what subsequence i has. Refuses a picture whose subsequences do not
 * follow each other. */
SCAN_INLINE struct scan_counts scan_counts_get(const struct scan_params *p,
                                               uint32_t picture, uint32_t i)
{
    const struct scan_picture *pic = &p->picture[picture];
    const struct scan_subsequence *s = p->subsequence + pic->subsequence + i;
    const uint32_t all = scan_subsequences(p->status[picture].size);
    if ((i ? s[-1].exit : 0) != s->entry ||
        (i + 1 == all && s->exit != SCAN_NOWHERE))
        scan_refuse(p, picture);
    return s->counts;
}

/* ---- Writing ------------------------------------------------------------ */

SCAN_INLINE void scan_write(const struct scan_params *p, uint32_t picture,
                            uint32_t tile, unsigned thread,
                            const struct scan_text *text)
{
    const struct scan_picture *pic = text->picture;
    const uint32_t number = scan_first(pic, tile) + thread;
    if (thread < SCAN_BEFORE ||
        number >= scan_subsequences(p->status[picture].size))
        return;
    const struct scan_subsequence *s =
        &p->subsequence[pic->subsequence + number];
    struct scan_counts sum = s->counts; /* of all before */
    /* Its values go behind all that may come before them, which have so many
     * bits at least, with the gaps behind the last group of each. */
    const uint32_t before = (uint32_t)s->entry / pic->value_bits;
    const uint32_t value =
        ((before + SCAN_GROUP - 1) / SCAN_GROUP + number) * SCAN_GROUP;
    struct scan_writer out = {
        p->block + pic->block, p->value + pic->value, value, 0, 0, 0, false
    };
    uint64_t exit = scan_decode(text, s->entry, (number + 1) * SCAN_SUBSEQUENCE,
                                &sum, true, &out);
    while (out.values % SCAN_GROUP) /* stores what is left */
        scan_put_value(&out, pic->values, 0);
    if (out.damaged || exit != s->exit)
        scan_refuse(p, picture);
}

#endif
