/* LZW as TIFF has it (TIFF 6.0, section 13): our own encoder, which is faster
 * than libtiff's. */
#ifndef CODECS_TIFF_LZW_H
#define CODECS_TIFF_LZW_H

#include <stddef.h>
#include <stdint.h>

/* Returns how many bytes are enough for `size` bytes: 12 bits for each, and for
 * what begins and ends the codes. */
static inline size_t lzw_bound(size_t size)
{
    return size + size / 2 + size / 1024 + 16;
}

/* Encodes bytes, at least one, and returns how many bytes there are then. */
size_t lzw_encode(uint8_t *to, const uint8_t *from, size_t size);

#endif
