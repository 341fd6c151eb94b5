/* Any bytes as a JPEG XL file: nothing outside of them is accessed, and what is
 * turned is read as turned; where the header has its field, four quarter turns
 * are none. */
#include <string.h>

#include "codecs/codec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"
#include "tests/support/must.h"

static struct warnings warnings;

static int turn(struct bytes *out, struct bytes file, enum xform t,
                struct stream_info *info)
{
    const struct load_opts load = { .warnings = &warnings };
    struct err err = { .text = "" };
    warnings.count = 0;
    *out = (struct bytes){ 0 };
    const int status = codec_jxl.retag(out, info, file, t, &load, &err);
    must(status == 0 || *err.text);
    if (status)
        bytes_free(out);
    return status;
}

static void turn_round(struct bytes file, const struct stream_info *was)
{
    struct bytes turned[8] = { file };
    struct stream_info info;
    for (unsigned i = 1; i < 8; i++) {
        must(turn(&turned[i], turned[i - 1], XFORM_ROTATE_90, &info) == 0);
        must(info.width == was->width && info.height == was->height);
        must(info.orientation.value ==
             (i == 1 ? was->orientation.value
                     : xform_retag(was->orientation.value,
                                   i % 4 == 2   ? XFORM_ROTATE_90
                                   : i % 4 == 3 ? XFORM_ROTATE_180
                                   : i % 4 == 0 ? XFORM_ROTATE_270
                                                : XFORM_NONE)));
    }
    must(same_bytes(turned[2], turned[6]));
    for (unsigned i = 1; i < 8; i++)
        bytes_free(&turned[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bytes file = { (uint8_t *)data, size, 0 };
    const struct load_opts load = { .warnings = &warnings };
    struct reader reader;
    struct stream_info info;
    struct err err;
    if (!codec_jxl.probe(data, size))
        return 0;
    warnings.count = 0;
    const int status = codec_open(&reader, &codec_jxl, file, &load, &err);
    struct bytes upright;
    must(turn(&upright, file, XFORM_NONE, &info) == status);
    if (status == 0) {
        must(reader.info.orientation.value == info.orientation.value);
        codec_close(&reader);
        bytes_free(&upright);
        turn_round(file, &info);
    }
    return 0;
}
