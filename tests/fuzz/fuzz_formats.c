/* Any bytes as a picture of a format other than PNG and JPEG that is not turned
 * as a file, of which fuzz_files.c has those; of arrays, too. */
#include "tests/fuzz/fuzz_picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bytes file = { (uint8_t *)(uintptr_t)data, size, 0 };
    const struct codec *codec = size ? codec_probe(file) : NULL;
    if (codec && codec != &codec_png && codec != &codec_jpeg &&
        (!codec->turn || codec->arrays))
        fuzz_picture(codec, data, size);
    return 0;
}
