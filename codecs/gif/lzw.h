/* LZW as GIF has it (GIF89a, appendix F): pixels to codes of up to 12 bits, the
 * low bits first, in sub-blocks of up to 255 bytes, each behind its size.
 *
 * It is our own: a library of it would be driven by more code than these, and
 * is slower. */
#ifndef CODECS_GIF_LZW_H
#define CODECS_GIF_LZW_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

enum lzw_end {
    LZW_WHOLE, /* all pixels are there */
    LZW_SHORT, /* they end before */
    LZW_WRONG, /* a code stands for nothing */
};

/* The most pixels that a byte of codes is: no string is longer than there are
 * codes, and where one is long each has 12 bits. */
enum { LZW_OF_BYTE = 4096 * 8 / 12 + 1 };

enum { LZW_BITS = 11 };

/* What a frame is coded in: from its first sub-block on, to its last one or the
 * end of the file. */
struct lzw_coded {
    const uint8_t *data;
    size_t size;
    unsigned bits; /* of a pixel: 1 to LZW_BITS, of which 8 say something */
};

/* Fills `pixels` with `n` of them, or counts them if it is NULL. *got is how
 * many there are, and *left how many bytes of the sub-blocks are behind those
 * that were needed. */
enum lzw_end lzw_read(uint8_t *pixels, size_t n, struct lzw_coded coded,
                      size_t *got, size_t *left);

/* Pixels that are to be coded: rows of one plane. */
struct lzw_rows {
    const uint8_t *data;
    size_t stride;
    uint32_t width, height;
    bool interlaced; /* they are written in the order of lzw_row() */
};

/* Appends them, as sub-blocks with the empty one that ends them. `bits` are
 * those of a pixel: 2 to 8. Returns false without memory. */
bool lzw_write(struct bytes *out, struct lzw_rows rows, unsigned bits);

/* Returns which row of an interlaced picture is the i-th in its file. */
uint32_t lzw_row(uint32_t i, uint32_t height);

#endif
