/* Any bytes as a HEIF or JPEG XL file, whose orientation a turn changes:
 * nothing outside of them is accessed; what is made can be read, and is shown
 * turned; and eight quarter turns make what four do. */
#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"

static struct warnings warnings;

/* What JPEG XL is turned by does not depend on its size. */
static struct load_opts load_for(const struct codec *codec)
{
    struct load_opts load = small_load(&warnings);
    if (codec == &codec_jxl)
        load.limits = (struct limits){ 0 };
    warnings.count = 0;
    return load;
}

/* Turns `from` into `to`, which is empty. Returns the orientation that it is to
 * have; 0 if it is refused. */
static unsigned turn(const struct codec *codec, struct bytes *to,
                     struct bytes from, enum xform t)
{
    const struct load_opts load = load_for(codec);
    struct stream_info info = { 0 };
    struct reader reader;
    struct err err = { .text = "" };
    if (codec->retag(to, &info, from, t, &load, &err)) {
        must(*err.text);
        bytes_free(to);
        return 0;
    }
    const unsigned wanted = xform_retag(info.orientation.value, t);
    must(codec_open(&reader, codec, *to, &load, &err) == 0);
    must((reader.info.orientation.value ? reader.info.orientation.value : 1) ==
         wanted);
    must(reader.info.width == info.width && reader.info.height == info.height);
    codec_close(&reader);
    return wanted;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool jxl = codec_jxl.probe(data, size);
    const struct codec *codec = jxl ? &codec_jxl : &codec_heic;
    const struct load_opts load = load_for(codec);
    struct bytes made[9] = { { 0 } };
    struct reader reader;
    struct err err;
    if (!size || !bytes_append(&made[0], data, size))
        return 0;
    for (EACH_TURN(t)) {
        struct bytes one = { 0 };
        const unsigned tag = turn(codec, &one, made[0], t);
        bytes_free(&one);
        if (!jxl || t != XFORM_NONE)
            continue;
        /* It is turned if it can be read. */
        const int status = codec_open(&reader, codec, made[0], &load, &err);
        must((status == 0) == (tag != 0));
        must(status || reader.info.orientation.value == tag);
        if (status == 0)
            codec_close(&reader);
    }
    for (int i = 1; i <= 8; i++)
        if (!turn(codec, &made[i], made[i - 1], XFORM_ROTATE_90)) {
            must(!jxl || i == 1); /* what can be turned once can be again */
            break;
        }
    must(!made[8].size || same_bytes(made[4], made[8]));
    for (int i = 0; i < 9; i++)
        bytes_free(&made[i]);
    return 0;
}
