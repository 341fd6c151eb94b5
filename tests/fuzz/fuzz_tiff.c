/* Any bytes as a TIFF: nothing outside of them is accessed; what is turned is a
 * whole file, whose pictures can be turned again; and what others take of it is
 * decoded. */

#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"

#define codec codec_by_name("tiff")

static struct warnings warnings;

static int turn(struct bytes *out, struct bytes file, enum xform t,
                const struct load_opts *opts)
{
    struct image img = { 0 };
    struct err err = { .text = "" };
    int status = codec->turn(out, &img, file, t, opts, &err);
    must(status == 0 || *err.text);
    must(!img.pixels.kind && !img.meta);
    if (status == 0 && out->size)
        must(codec->check(*out, NULL, NULL, &err) == 0);
    return status;
}

static void decode(struct bytes file, struct load_opts opts)
{
    struct reader reader = { 0 };
    struct image img = { 0 };
    struct err err = { .text = "" };
    static const struct decode_plan plan = { .turn = XFORM_NONE };
    opts.portable = !opts.tolerant;
    if (codec_open(&reader, codec, file, &opts, &err) == 0)
        (void)codec_describe(&reader, &img, &err);
    codec_close(&reader);
    image_free(&img);
    if (codec_decode_file(codec, &img, file, &opts, &plan, &err))
        must(*err.text);
    image_free(&img);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct turner turner = { .turn = turn_cells, .tile = 4096 };
    const struct bytes file = { (uint8_t *)data, size, 0 };
    bool anew = false;
    for (int how = 0; codec && size && how < 8; how++) {
        owned_bytes once = { 0 }, twice = { 0 };
        const struct save_opts save = { .orientation = how & 4 ? 0 : 1,
                                        .drop = how & 4 ? DROP_GPS : 0,
                                        .encoded_anew = &anew,
                                        .turner = &turner,
                                        .warnings = &warnings };
        struct load_opts opts = { .limits = { .pixels = 1 << 12,
                                              .bytes = 1 << 20 },
                                  .mem = mem_plain,
                                  .tolerant = how & 1,
                                  .as_stored = how & 4,
                                  .save = &save,
                                  .turner = how & 2 ? NULL : &turner,
                                  .warnings = &warnings };
        warnings.count = 0;
        if (turn(&once, file, how & 4 ? XFORM_MIRROR_X : XFORM_ROTATE_90,
                 &opts) == 0 &&
            once.size && opts.turner && !opts.tolerant)
            (void)turn(&twice, once, XFORM_ROTATE_270, &opts);
        if (how < 2)
            decode(file, opts);
    }
    return 0;
}
