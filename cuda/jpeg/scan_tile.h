/* The threads of a tile of subsequences: they find out where their blocks
 * begin, tiles are joined, and blocks are written.
 *
 * A tile decodes some subsequences before its own as well: by the end of them
 * its threads have mostly found the places that the tile before finds. */
#ifndef CUDA_JPEG_SCAN_TILE_H
#define CUDA_JPEG_SCAN_TILE_H

#include "cuda/jpeg/scan_decode.h"

/* ---- Threads of a tile -------------------------------------------------- */

/* What they share. */
struct scan_tile {
    uint32_t word[SCAN_STAGED + SCAN_STAGED / SCAN_WORDS + 1];
    struct scan_code code[2 * ENTROPY_MCU_BLOCKS];
    uint64_t exit[SCAN_TILE];
    uint32_t corrections; /* which threads begin elsewhere than they took */
    uint8_t corrected[SCAN_TILE];
};

/* Returns the subsequence of a tile's first thread: before the first one of the
 * picture it is huge. */
SCAN_INLINE uint32_t scan_first(const struct scan_picture *pic, uint32_t tile)
{
    return (tile - pic->tile) * SCAN_OWN - SCAN_BEFORE;
}

/* Loads what a thread loads of the data and the tables. */
SCAN_INLINE void scan_stage(const struct scan_params *p, uint32_t tile,
                            unsigned thread, struct scan_tile *shared,
                            uint16_t *codes)
{
    const uint32_t picture = p->tile_picture[tile];
    const struct scan_picture *pic = &p->picture[picture];
    const uint32_t first = scan_first(pic, tile) * SCAN_WORDS;
    const uint32_t words = (p->status[picture].size + SCAN_PADDING) / 4;
    const uint32_t *from = (const uint32_t *)(p->data + pic->data);
    for (uint32_t i = thread; i < SCAN_STAGED; i += SCAN_TILE)
        shared->word[scan_staged_place(i)] =
            first + i < words ? scan_be32(from[first + i]) : 0;
    const uint32_t *table = (const uint32_t *)(p->codes + pic->codes);
    for (uint32_t i = thread; i < pic->codes_size / 2; i += SCAN_TILE)
        ((uint32_t *)codes)[i] = table[i];
    for (uint32_t i = thread; i < 2 * ENTROPY_MCU_BLOCKS; i += SCAN_TILE)
        shared->code[i] = pic->code[i];
    if (thread == 0)
        shared->corrections = 0;
}

SCAN_INLINE struct scan_text scan_staged(const struct scan_params *p,
                                         uint32_t tile,
                                         const struct scan_tile *shared,
                                         const uint16_t *codes)
{
    const struct scan_picture *pic = &p->picture[p->tile_picture[tile]];
    const int32_t first = (int32_t)scan_first(pic, tile);
    struct scan_text text = { shared->word,
                              (uint32_t)(first * (SCAN_WORDS + 1)),
                              true,
                              codes,
                              shared->code,
                              pic,
                              p->start + pic->start };
    return text;
}

/* A subsequence of which a thread finds out where its blocks begin. */
struct scan_seeker {
    uint64_t entry;
    uint32_t number;
    bool there;
};

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

SCAN_INLINE struct scan_seeker scan_guess(const struct scan_params *p,
                                          uint32_t tile, unsigned thread,
                                          const struct scan_text *text,
                                          struct scan_tile *shared)
{
    const uint32_t picture = p->tile_picture[tile];
    struct scan_seeker seeker;
    seeker.number = scan_first(text->picture, tile) + thread;
    seeker.there = seeker.number < scan_subsequences(p->status[picture].size);
    seeker.entry = (uint64_t)seeker.number * SCAN_SUBSEQUENCE;
    if (seeker.there)
        scan_find(p, tile, text, thread, seeker.entry, shared);
    return seeker;
}

/* Has a thread's subsequence decoded again if the thread before has found
 * another place than this one took. */
SCAN_INLINE void scan_compare(struct scan_seeker *seeker, unsigned thread,
                              struct scan_tile *shared)
{
    if (!seeker->there || seeker->number == 0 || thread == 0 ||
        shared->exit[thread - 1] == seeker->entry)
        return;
    seeker->entry = shared->exit[thread - 1];
    shared->corrected[scan_add(&shared->corrections, 1)] = (uint8_t)thread;
}

/* Returns where the subsequence begins that is the i-th to be decoded again. */
SCAN_INLINE uint64_t scan_corrected(const struct scan_tile *shared, unsigned i)
{
    return shared->exit[shared->corrected[i] - 1];
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
    const uint32_t picture = p->tile_picture[tile];
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

/* Returns where the values of a subsequence go: behind all that may come before
 * them, which have so many bits at least, with the gaps behind the last group
 * of each. */
SCAN_INLINE uint32_t scan_first_value(const struct scan_picture *pic,
                                      uint32_t number, uint32_t entry)
{
    const uint32_t before = entry / pic->value_bits;
    return ((before + SCAN_GROUP - 1) / SCAN_GROUP + number) * SCAN_GROUP;
}

SCAN_INLINE void scan_write(const struct scan_params *p, uint32_t tile,
                            unsigned thread, const struct scan_text *text)
{
    const uint32_t picture = p->tile_picture[tile];
    const struct scan_picture *pic = text->picture;
    const uint32_t number = scan_first(pic, tile) + thread;
    if (thread < SCAN_BEFORE ||
        number >= scan_subsequences(p->status[picture].size))
        return;
    const struct scan_subsequence *s =
        &p->subsequence[pic->subsequence + number];
    struct scan_counts sum = s->counts; /* of all before */
    struct scan_writer out = { p->block + pic->block,
                               p->value + pic->value,
                               scan_first_value(pic, number,
                                                (uint32_t)s->entry),
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
