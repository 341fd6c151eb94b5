/* Corrects the checksums of a PNG file, as few mutated ones would pass the
 * first of them otherwise. */
#ifndef TESTS_FUZZ_PNG_CRC_H
#define TESTS_FUZZ_PNG_CRC_H

#include <zlib.h>

#include "tests/support/png_file.h"

static inline void png_correct_checksums(uint8_t *data, size_t size)
{
    size_t at = 8;
    while (at <= size && size - at >= 12) {
        size_t length = read_be32(data + at);
        if (length > size - at - 12)
            break;
        uLong crc = crc32(0, data + at + 4, (uInt)length + 4);
        at += 8 + length;
        for (int i = 0; i < 4; i++)
            data[at++] = crc >> (24 - 8 * i) & 255;
    }
}

#endif
