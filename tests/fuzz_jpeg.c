/* Any bytes as a JPEG file. */
#include "tests/fuzz_picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_picture(&codec_jpeg, data, size);
    return 0;
}
