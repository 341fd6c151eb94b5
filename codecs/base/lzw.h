/* LZW as GIF and TIFF have it: they differ in the order of bits, and TIFF's
 * codes get wider one code early. It is our own: libtiff's is slower, and a
 * library for GIF would be driven by more code than this. */
#ifndef CODECS_BASE_LZW_H
#define CODECS_BASE_LZW_H

#include "codecs/base/bytes.h"

enum { LZW_CODES = 4096, LZW_CODE_BITS = 12, LZW_HASH_BITS = 15 };

enum lzw_end {
    LZW_WHOLE, /* all bytes are there */
    LZW_SHORT, /* they end before */
    LZW_WRONG, /* a code stands for nothing, or there are 4 GiB of bytes */
};

/* Fills `to`, of bytes of so many bits, with `n` of them, or counts them if it
 * is NULL. Behind the codes 4 bytes can be read. *got is how many bytes there
 * are, and *left how many of the codes are behind those that were needed. */
enum lzw_end lzw_read(uint8_t *to, size_t n, struct bytes codes, unsigned bits,
                      bool tiff, size_t *got, size_t *left);

struct lzw_writer {
    bool high_first; /* bits of codes in bytes, as in TIFF; else the low ones */
    unsigned early;  /* 1: codes get wider one code early, as in TIFF */
    unsigned bits;   /* of a byte, 2 to 8 */
    unsigned width;  /* of a code */
    unsigned next;   /* the code of the next string */
    unsigned code;   /* that of the string that is not yet written, or none */
    unsigned have;   /* bits that are not yet written; fewer than 32 */
    uint64_t held;   /* these */
    uint16_t place[1 << LZW_HASH_BITS]; /* the code of a string, or 0 */
    /* Of each code: that of what comes before the last byte, and that byte. */
    uint32_t string[LZW_CODES];
};

/* Begin, for bytes of so many bits, as GIF or as TIFF has it; append the codes
 * of `n` bytes; and append what is left, and the code that ends them. Return
 * false without memory. */
void lzw_begin(struct lzw_writer *w, unsigned bits, bool tiff);
bool lzw_put(struct lzw_writer *w, struct bytes *to, const uint8_t *from,
             size_t n);
bool lzw_end(struct lzw_writer *w, struct bytes *to);

#endif
