/* Any bytes as a PNG file, also with all its CRCs corrected, as few mutated
 * inputs would pass the first one otherwise. */
#include "tests/fuzz/fuzz_picture.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t read_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static void repair(uint8_t *data, size_t size)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = calloc(size + !size, 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    repair(copy, size);
    fuzz_picture(&codec_png, copy, size);
    if (size && memcmp(copy, data, size) != 0)
        fuzz_picture(&codec_png, data, size);
    free(copy);
    return 0;
}
