/* The run-length coding of TGA: packets of 1 to 128 pixels, which are one pixel
 * repeated or several as they are. */
#ifndef CODECS_SIMPLE_TGA_H
#define CODECS_SIMPLE_TGA_H

#include "codecs/base/bytes.h"

struct tga_rle_reader {
    const uint8_t *at, *end;
    size_t pixel;  /* bytes of a pixel, 1 to 4 */
    unsigned left; /* pixels of the packet that have not been read */
    bool run;
    uint8_t repeated[4];
};

/* Returns where the packets of `n` pixels end that begin at `at`; SIZE_MAX if
 * the file ends before them. */
size_t tga_rle_end(struct bytes file, size_t at, uint64_t n, size_t pixel);

/* Reads `n` pixels, which may end within a packet; past the end of the file
 * they are 0. */
void tga_rle_unpack(struct tga_rle_reader *r, uint8_t *to, uint32_t n);

/* Packs `n` pixels, at least 1, and returns the bytes that this takes: no more
 * than tga_rle_most(). */
size_t tga_rle_pack(uint8_t *to, const uint8_t *row, uint32_t n, size_t pixel);
size_t tga_rle_most(uint32_t n, size_t pixel);

#endif
