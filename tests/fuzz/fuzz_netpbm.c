/* Any bytes as PNM, PAM, PFM, NPY or NPZ: what is read survives writing and
 * reading. */
#include "codecs/codec.h"
#include "codecs/npy/header.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"
#include "tests/support/oracle.h"

static const struct codec *const readers[] = { &codec_pnm, &codec_pam,
                                               &codec_pfm, &codec_npy,
                                               &codec_npz };

static void write_again(const struct codec *codec, const struct image *img,
                        struct load_opts load)
{
    struct save_opts save = { .suffix = "", .warnings = load.warnings };
    struct bytes file = { 0 };
    struct image back = { 0 };
    struct err err;
    load.tolerant = false;
    if (codec == &codec_npy) {
        const struct npy_state *state = img->meta->state;
        load.layout = state->layout == LAYOUT_HW ? LAYOUT_AUTO : state->layout;
    }
    if (encode_as(codec, &file, img, &save, &err) ||
        codec_read(codec, &back, file, &load, &err) || !same_cells(img, &back))
        abort();
    image_free(&back);
    bytes_free(&file);
}

/* ---- An array that stays one ----------------------------------------------*/

/* An array that is turned and turned back is the same except for its header.
 * If only its shape implies its layout, the turned shape may imply another. */
static void turn_and_back(const struct codec *codec, struct bytes file,
                          struct load_opts load)
{
    const struct turner turner = { .turn = turn_cells, .tile = 4096 };
    struct image img = { 0 };
    struct bytes turned = { 0 }, once = { 0 }, twice = { 0 };
    struct err err = { .text = "" };
    load.turner = &turner;
    if (codec->turn(&turned, &img, file, XFORM_ROTATE_90, &load, &err)) {
        if (!*err.text || img.pixels.kind || img.meta)
            abort();
    } else if (load.layout != LAYOUT_AUTO) {
        load.tolerant = false;
        if (codec->turn(&once, &img, turned, XFORM_ROTATE_270, &load, &err) ||
            codec->turn(&twice, &img, once, XFORM_ROTATE_90, &load, &err) ||
            twice.size != turned.size ||
            memcmp(twice.data, turned.data, turned.size))
            abort();
    }
    bytes_free(&turned);
    bytes_free(&once);
    bytes_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct warnings warnings = { 0 };
    struct bytes file = { (uint8_t *)(uintptr_t)data, size, 0 };
    struct load_opts load = {
        .limits = { .pixels = 1 << 16, .bytes = 1 << 24 },
        .mem = mem_plain,
        .warnings = &warnings,
    };
    for (size_t i = 0; i < 2 * sizeof readers / sizeof *readers; i++) {
        const struct codec *codec = readers[i / 2];
        struct reader reader = { 0 };
        struct image img = { 0 };
        struct err err = { .text = "" };
        load.tolerant = load.portable = i % 2;
        if (!codec->probe(data, size))
            continue;
        for (int k = 0; codec->turn && k < LAYOUT_HW; k++) {
            load.layout = (enum layout)k;
            turn_and_back(codec, file, load);
        }
        load.layout = LAYOUT_AUTO;
        if (codec_open(&reader, codec, file, &load, &err) == 0)
            (void)codec_describe(&reader, &img, &err);
        codec_close(&reader);
        image_free(&img);
        if (codec_read(codec, &img, file, &load, &err) == 0)
            write_again(codec, &img, load);
        else if (!*err.text || img.pixels.kind || img.meta)
            abort();
        image_free(&img);
    }
    return 0;
}
