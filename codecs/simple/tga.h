/* The packets of a run-length coded TGA: a pixel that is repeated, or several
 * as they are, 1 to 128. */
#ifndef CODECS_SIMPLE_TGA_H
#define CODECS_SIMPLE_TGA_H

#include "codecs/base/bytes.h"

struct tga_packets {
    const uint8_t *at, *end;
    size_t pixel;  /* bytes of a pixel, 1 to 4 */
    unsigned left; /* pixels of the packet that are not taken yet */
    bool run;
    uint8_t repeated[4];
};

/* Where the packets of `n` pixels end; past the file if they are cut short. */
size_t tga_rle_packets_end(struct bytes file, size_t at, uint64_t n,
                           size_t pixel);

/* Takes the next `n` pixels, whatever packets they are in; 0 past the end. */
void tga_rle_unpack(struct tga_packets *packets, uint8_t *to, uint32_t n);

/* Packs `n` pixels, which is not 0, and gives the bytes that this took, at most
 * those of tga_rle_packed_most(). */
size_t tga_rle_pack(uint8_t *to, const uint8_t *row, uint32_t n, size_t pixel);
size_t tga_rle_packed_most(uint32_t n, size_t pixel);

#endif
