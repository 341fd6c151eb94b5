/* Encoding the blocks of turned scans (T.81, F.1.2).
 *
 * A thread encodes one block, twice: first it only measures it, then its place
 * is known and it writes the bits. The turn is in where a block comes from, in
 * the order in which its values are taken, and in their signs. */
#ifndef CUDA_JPEG_SCAN_ENCODE_H
#define CUDA_JPEG_SCAN_ENCODE_H

#include "cuda/jpeg/scan_picture.h"

#ifdef __CUDACC__
#define SCAN_TABLE static __constant__ const
#else
#define SCAN_TABLE static const
#endif

/* Where each position of the zigzag order is after the block is transposed:
 * each of the 15 diagonals runs the other way. */
SCAN_TABLE uint8_t scan_transposed[64] = {
    0,  2,  1,  5,  4,  3,  9,  8,  7,  6,  14, 13, 12, 11, 10, 20,
    19, 18, 17, 16, 15, 27, 26, 25, 24, 23, 22, 21, 35, 34, 33, 32,
    31, 30, 29, 28, 42, 41, 40, 39, 38, 37, 36, 48, 47, 46, 45, 44,
    43, 53, 52, 51, 50, 49, 57, 56, 55, 54, 60, 59, 58, 62, 61, 63,
};

enum {
    SCAN_TRANSPOSES = 4, /* these bits of enum xform */
    SCAN_MIRRORS_X = 1,
    SCAN_MIRRORS_Y = 2,
    SCAN_ZERO_RUN = 0xf0, /* the symbol for 16 zeros */
    SCAN_MARKER_BITS = 16,
};

/* What the threads of a tile share. */
struct scan_coder {
    uint32_t symbol[SCAN_SYMBOLS];
    uint8_t transposed[64];
};
struct scan_counter {
    struct scan_coder coder;
    uint32_t count[SCAN_SYMBOLS];
};

/* Loads what a thread loads of the tables: of those that were made, or not. */
SCAN_INLINE void scan_load_coder(const struct scan_params *p, uint32_t picture,
                                 unsigned thread, bool made,
                                 struct scan_coder *shared)
{
    const uint32_t *symbols = made ? p->made + (uint64_t)picture * SCAN_SYMBOLS
                                   : p->symbols + p->picture[picture].symbols;
    for (unsigned i = thread; i < SCAN_SYMBOLS; i += SCAN_THREADS)
        shared->symbol[i] = symbols[i];
    if (thread < 64)
        shared->transposed[thread] = scan_transposed[thread];
}

/* Returns the mask of a block that is transposed: the bits of each diagonal are
 * reversed. */
SCAN_INLINE uint64_t scan_transpose_mask(uint64_t mask)
{
    uint64_t reversed = word_mirror(mask), transposed = 0;
    unsigned first = 0;
    for (unsigned d = 0; d < 15; d++) {
        unsigned length = d < 8 ? d + 1 : 15 - d, ends = 2 * first + length - 1;
        uint64_t diagonal = ((UINT64_C(1) << length) - 1) << first;
        transposed |=
            (ends < 63 ? reversed >> (63 - ends) : reversed << (ends - 63)) &
            diagonal;
        first += length;
    }
    return transposed;
}

/* ---- Where blocks come from --------------------------------------------- */

/* A block of the turned scan. */
struct scan_place {
    uint32_t block;
    bool there; /* else it is behind the last one */
    const struct scan_component *c;
    uint32_t mcu, mx, my;
    uint32_t x, y; /* in its component */
    bool real;     /* not beyond the edge */
    bool ends;     /* the last of its interval */
};

/* Finds that of a thread of a tile. */
SCAN_INLINE struct scan_place scan_find_place(const struct scan_picture *pic,
                                              uint32_t tile, unsigned thread)
{
    struct scan_place at;
    at.block = (tile - pic->to_tile) * SCAN_THREADS + thread;
    at.there = at.block < pic->to_blocks;
    uint32_t j = at.block % pic->to_mcu_blocks;
    at.mcu = at.block / pic->to_mcu_blocks;
    at.mx = at.mcu % pic->to_columns;
    at.my = at.mcu / pic->to_columns;
    at.c = &pic->to[pic->to_component[j]];
    at.ends = j + 1 == pic->to_mcu_blocks &&
              ((at.mcu + 1) % pic->restart == 0 || at.mcu + 1 == pic->to_mcus);
    j -= at.c->first;
    at.x = at.mx * at.c->across + j % at.c->across;
    at.y = at.my * at.c->down + j / at.c->across;
    at.real = at.x < at.c->columns && at.y < at.c->rows;
    return at;
}

/* Returns which block of the scan comes to x, y. */
SCAN_INLINE uint64_t scan_find_block(const struct scan_component *c, uint32_t x,
                                     uint32_t y)
{
    uint32_t mx = c->turn & SCAN_MIRRORS_X ? c->columns - 1 - x : x;
    uint32_t my = c->turn & SCAN_MIRRORS_Y ? c->rows - 1 - y : y;
    uint32_t sx = c->turn & SCAN_TRANSPOSES ? my : mx;
    uint32_t sy = c->turn & SCAN_TRANSPOSES ? mx : my;
    uint64_t mcu =
        (uint64_t)(sy / c->from_down) * c->from_columns + sx / c->from_across;
    return c->block + mcu * c->from_blocks + c->from_first +
           sy % c->from_down * c->from_across + sx % c->from_across;
}

/* Returns the last column, or row, of blocks that an MCU has. */
SCAN_INLINE uint32_t scan_last(uint32_t mcu, uint32_t of_mcu, uint32_t all)
{
    uint32_t end = (mcu + 1) * of_mcu;
    return (end < all ? end : all) - 1;
}

/* Returns the DC coefficient by which that of a block is predicted. */
SCAN_INLINE int32_t scan_predict(const struct scan_params *p,
                                 const struct scan_picture *pic,
                                 const struct scan_place *at)
{
    const struct scan_component *c = at->c;
    uint32_t x = at->x, y = at->y;
    if (x > at->mx * c->across) {
        x--;
    } else if (y > at->my * c->down) {
        x = scan_last(at->mx, c->across, c->columns);
        y--;
    } else if (at->mcu % pic->restart == 0) {
        return 0;
    } else {
        uint32_t before = at->mcu - 1;
        x = scan_last(before % pic->to_columns, c->across, c->columns);
        y = scan_last(before / pic->to_columns, c->down, c->rows);
    }
    return p->block[scan_find_block(c, x, y)].dc;
}

/* ---- Symbols ------------------------------------------------------------ */

enum scan_mode { SCAN_MEASURE, SCAN_EMIT, SCAN_COUNT };

/* Where symbols go. */
struct scan_sink {
    const uint32_t *symbol; /* SCAN_MEASURE, SCAN_EMIT */
    uint32_t seen;          /* of all: SCAN_NO_SYMBOL */
    uint32_t bits;          /* so far */
    uint32_t *to;           /* SCAN_EMIT: the word that is being filled, */
    uint32_t word, used;    /* the highest bits of it, and how many */
    bool shared;            /* with the block before */
    uint32_t *count;        /* SCAN_COUNT */
};

/* Writes n bits, of which there are up to 31. */
SCAN_INLINE void scan_put_bits(struct scan_sink *out, uint32_t bits, unsigned n)
{
    if (n == 0)
        return;
    bits <<= 32 - n;
    out->word |= bits >> out->used;
    out->used += n;
    if (out->used < 32)
        return;
    if (out->shared)
        word_or(out->to, scan_be32(out->word));
    else
        *out->to = scan_be32(out->word);
    out->shared = false;
    out->to++;
    out->used -= 32;
    out->word = out->used ? bits << (n - out->used) : 0;
}

/* The code of a symbol, and the last `size` bits of its value. */
SCAN_INLINE void scan_put_symbol(struct scan_sink *out, enum scan_mode mode,
                                 uint32_t symbol, uint32_t value, unsigned size)
{
    if (mode == SCAN_COUNT) {
        word_add(&out->count[symbol], 1);
        return;
    }
    uint32_t entry = out->symbol[symbol], length = entry & 31;
    if (mode == SCAN_MEASURE) {
        out->seen |= entry;
        out->bits += length + size;
    } else {
        value &= (UINT32_C(1) << size) - 1;
        scan_put_bits(out, entry >> 8 << size | value, length + size);
    }
}

SCAN_INLINE void scan_put_difference(struct scan_sink *out, enum scan_mode mode,
                                     uint32_t table, int32_t difference)
{
    int32_t sign = difference >> 31;
    uint32_t most = (uint32_t)((difference ^ sign) - sign);
    unsigned size = most ? word_highest(most) + 1 : 0;
    scan_put_symbol(out, mode, table * SCAN_DC_SYMBOLS + size,
                    (uint32_t)(difference + sign), size);
}

/* All coefficients of a block but the first: `values` are those that are not
 * 0, at the positions of the mask. */
SCAN_INLINE void scan_put_coefficients(struct scan_sink *out,
                                       enum scan_mode mode,
                                       const struct scan_component *c,
                                       const uint8_t *transposed, uint64_t mask,
                                       const uint16_t *values)
{
    const uint32_t table =
        ENTROPY_TABLES * SCAN_DC_SYMBOLS + (uint32_t)c->ac * 256;
    const bool transposes = (c->turn & SCAN_TRANSPOSES) != 0;
    const uint64_t signs =
        (c->turn & SCAN_MIRRORS_X ? ENTROPY_ODD_COLUMNS : 0) ^
        (c->turn & SCAN_MIRRORS_Y ? ENTROPY_ODD_ROWS : 0);
    unsigned k = 0;
    for (uint64_t left = transposes ? scan_transpose_mask(mask) : mask; left;
         left &= left - 1) {
        unsigned before = k;
        k = word_lowest(left);
        unsigned run = k - before - 1, from = transposes ? transposed[k] : k;
        uint32_t value = values[word_count(mask & ((UINT64_C(1) << from) - 1))];
        unsigned size = word_highest(value);
        for (; run > 15; run -= 16)
            scan_put_symbol(out, mode, table + SCAN_ZERO_RUN, 0, 0);
        scan_put_symbol(out, mode, table + (run << 4 | size),
                        value ^ (0 - (uint32_t)(signs >> k & 1)), size);
    }
    if (k < 63)
        scan_put_symbol(out, mode, table, 0, 0);
}

/* A whole block. Beyond the edge it has no coefficients, and no difference. */
SCAN_INLINE void scan_put_turned(const struct scan_params *p,
                                 const struct scan_picture *pic,
                                 const struct scan_place *at,
                                 const uint8_t *transposed, enum scan_mode mode,
                                 struct scan_sink *out)
{
    struct entropy_block b = { 0, 0, 0, 0 };
    int32_t difference = 0;
    if (at->real) {
        b = p->block[scan_find_block(at->c, at->x, at->y)];
        difference = b.dc - scan_predict(p, pic, at);
    }
    scan_put_difference(out, mode, at->c->dc, difference);
    scan_put_coefficients(out, mode, at->c, transposed, b.mask,
                          p->value + at->c->value + b.at);
}

/* ---- Sums of bits ------------------------------------------------------- */

#define SCAN_BITS_MOST                                                         \
    UINT64_C(0xf0000000) /* it is more than can be counted                     \
                          */

SCAN_INLINE uint32_t scan_sum_bits(uint64_t a, uint64_t b)
{
    return (uint32_t)(a + b < SCAN_BITS_MOST ? a + b : SCAN_BITS_MOST);
}

/* Returns where an interval that ends with bit `at` is followed by the next. */
SCAN_INLINE uint64_t scan_behind_marker(uint32_t at)
{
    return ((uint64_t)at + 7) / 8 * 8 + SCAN_MARKER_BITS;
}

SCAN_INLINE struct scan_bits scan_bits_add(struct scan_bits a,
                                           struct scan_bits b)
{
    struct scan_bits sum = { a.head, a.rest, a.closed || b.closed };
    if (!a.closed) {
        sum.head = scan_sum_bits(a.head, b.head);
        sum.rest = b.rest;
    } else {
        sum.rest = scan_sum_bits(a.rest, b.head);
        if (b.closed)
            sum.rest = scan_sum_bits(scan_behind_marker(sum.rest), b.rest);
    }
    return sum;
}

/* Returns the place of the bit behind them. */
SCAN_INLINE uint32_t scan_bits_end(struct scan_bits bits)
{
    return bits.closed ? scan_sum_bits(scan_behind_marker(bits.head), bits.rest)
                       : bits.head;
}

/* ---- Threads of a tile -------------------------------------------------- */

/* The bits of a block, which has so many. */
SCAN_INLINE struct scan_bits scan_bits_of(const struct scan_picture *pic,
                                          const struct scan_place *at,
                                          uint32_t length)
{
    struct scan_bits bits = { at->there ? length : 0, 0,
                              at->there && at->ends &&
                                  at->mcu + 1 < pic->to_mcus };
    return bits;
}

/* Fills the last byte of an interval with ones, and puts the marker behind
 * it. */
SCAN_INLINE void scan_end_interval(const struct scan_params *p,
                                   const struct scan_picture *pic,
                                   const struct scan_place *at, uint32_t end,
                                   struct scan_sink *out)
{
    const uint32_t interval = at->mcu / pic->restart;
    const unsigned left = (8 - end % 8) % 8;
    scan_put_bits(out, (1u << left) - 1, left);
    if (at->mcu + 1 == pic->to_mcus)
        return;
    scan_put_bits(out, 0xffd0 | (interval & 7), SCAN_MARKER_BITS);
    p->marker[pic->marker + interval] = (end + left) / 8;
}

/* `before`: all bits before the block. */
SCAN_INLINE void scan_emit(const struct scan_params *p, uint32_t picture,
                           uint32_t tile, unsigned thread,
                           struct scan_bits before,
                           const struct scan_coder *shared)
{
    const struct scan_picture *pic = &p->picture[picture];
    const struct scan_place at = scan_find_place(pic, tile, thread);
    const uint32_t begin = scan_bits_end(before);
    if (!at.there)
        return;
    struct scan_sink out = { shared->symbol,
                             0,
                             0,
                             p->joined + p->to[picture].word + begin / 32,
                             0,
                             begin % 32,
                             begin % 32 != 0,
                             0 };
    scan_put_turned(p, pic, &at, shared->transposed, SCAN_EMIT, &out);
    if (at.ends)
        scan_end_interval(p, pic, &at,
                          begin + p->length[pic->length + at.block], &out);
    if (out.used)
        word_or(out.to, scan_be32(out.word));
}

#endif
