/* Any bytes as a PNG file, also with all its CRCs corrected, as few mutated
 * inputs would pass the first one otherwise. */
#include "tests/fuzz/fuzz_picture.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/png_crc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    owned_memory uint8_t *copy = calloc(size + !size, 1);
    must(copy);
    if (size)
        memcpy(copy, data, size);
    png_correct_checksums(copy, size);
    fuzz_picture(&codec_png, copy, size);
    if (size && memcmp(copy, data, size) != 0)
        fuzz_picture(&codec_png, data, size);
    return 0;
}
