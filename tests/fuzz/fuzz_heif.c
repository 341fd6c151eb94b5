/* Any bytes as a HEIF file, turned: what is made can be read, is shown turned,
 * and eight quarter turns make what four do. */
#include "codecs/codec.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"
#include "tests/support/must.h"

/* Turns `from` into `to`, which is empty. Returns the orientation that it is to
 * have; 0 if it is refused. */
static unsigned turn(struct bytes *to, struct bytes from, enum xform t)
{
    struct warnings warnings = { 0 };
    struct load_opts load = small_load(&warnings);
    struct stream_info info = { 0 };
    struct reader reader;
    struct err err;
    if (codec_heic.retag(to, &info, from, t, &load, &err)) {
        bytes_free(to);
        return 0;
    }
    const unsigned wanted = xform_retag(info.orientation.value, t);
    must(codec_open(&reader, &codec_heic, *to, &load, &err) == 0);
    must((reader.info.orientation.value ? reader.info.orientation.value : 1) ==
         wanted);
    must(reader.info.width == info.width && reader.info.height == info.height);
    codec_close(&reader);
    return wanted;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes file = { 0 }, four = { 0 };
    if (!size || !bytes_append(&file, data, size))
        return 0;
    for (int t = XFORM_NONE; t < XFORM_COUNT; t++) {
        struct bytes made = { 0 };
        turn(&made, file, (enum xform)t);
        bytes_free(&made);
    }
    for (int i = 1; i <= 8; i++) {
        struct bytes made = { 0 };
        if (!turn(&made, file, XFORM_ROTATE_90))
            break;
        bytes_free(&file);
        file = made;
        if (i == 4)
            must(bytes_append(&four, made.data, made.size));
        if (i == 8)
            must(four.size == made.size &&
                 memcmp(four.data, made.data, made.size) == 0);
    }
    bytes_free(&four);
    bytes_free(&file);
    return 0;
}
