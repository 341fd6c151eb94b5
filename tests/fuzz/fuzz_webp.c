/* Any bytes as a WebP: described, decoded, turned by all turns, tagged and
 * encoded, without access to what is outside of them. What was turned can be
 * read; a lossless picture is turned exactly, and after four quarter turns a
 * fifth to eighth change nothing. */
#include <string.h>

#include "tests/fuzz/fuzz_turn.h"

enum { PIXELS = 1 << 13 };

static const struct codec *webp;

static bool turn(struct bytes *made, struct bytes file, enum xform t,
                 bool tolerant)
{
    const struct load_opts load = load_opts(PIXELS, tolerant);
    return turn_file(webp, made, file, t, &load);
}

static void turn_around(struct bytes file, bool tolerant)
{
    const struct load_opts load = load_opts(PIXELS, false);
    struct bytes made[9] = { { 0 } };
    struct image was = { 0 }, is = { 0 };
    struct stream_info info;
    struct err err;
    /* Small frames turn where they lie on a canvas of any size; those that are
     * composed on one beyond the limit do not. */
    if (!turn(&made[0], file, XFORM_ROTATE_90, tolerant) ||
        codec_look(webp, &info, made[0], &load, &err) ||
        (uint64_t)info.width * info.height > PIXELS) {
        bytes_free(&made[0]);
        return;
    }
    const bool lossless = !info.lossy;
    for (int i = 1; i < (lossless ? 9 : 2); i++)
        must(turn(&made[i], made[i - 1], XFORM_ROTATE_90, false));
    must(same_bytes(made[4], made[8]));
    must(codec_read(webp, &was, made[0], &load, &err) == 0);
    must(codec_read(webp, &is, made[1], &load, &err) == 0);
    turn_image(&was, XFORM_ROTATE_90);
    must(was.width == is.width && was.height == is.height);
    must(!lossless || is.meta->animation.frames || same_cells(&was, &is));
    image_free(&was);
    image_free(&is);
    for (int i = 0; i < 9; i++)
        bytes_free(&made[i]);
}

static void tag(struct bytes file)
{
    const struct load_opts load = load_opts(PIXELS, false);
    struct stream_info info;
    owned_bytes made = { 0 };
    struct err err = { .text = "" };
    if (webp->retag(&made, &info, file, XFORM_ROTATE_90, &load, &err) == 0) {
        const unsigned was = info.orientation.value;
        if (codec_look(webp, &info, made, &load, &err))
            must(*err.text); /* it is too large to be read */
        else
            must(info.orientation.value == xform_retag(was, XFORM_ROTATE_90));
    }
}

static void convert(struct bytes file, bool tolerant)
{
    const struct load_opts load = load_opts(PIXELS, tolerant);
    owned_image img = { 0 }, again = { 0 };
    owned_bytes made = { 0 };
    struct err err = { .text = "" };
    if (codec_read(webp, &img, file, &load, &err)) {
        must(*err.text);
        return;
    }
    if (encode_as(webp, &made, &img, &save, &err) == 0) {
        must(webp->check(made, &img, &save, &err) == 0);
        must(codec_read(webp, &again, made, &load, &err) == 0);
        must(same_cells(&img, &again));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bytes file = { (uint8_t *)(uintptr_t)data, size, 0 };
    struct load_opts load = load_opts(PIXELS, false);
    struct bytes made;
    webp = codec_by_name("webp");
    if (!webp || !size || codec_probe(file) != webp)
        return 0;
    load.turner = NULL;
    (void)webp->turn(&made, &(struct image){ 0 }, file, XFORM_NONE, &load,
                     &(struct err){ .text = "" });
    tag(file);
    for (int tolerant = 0; tolerant < 2; tolerant++) {
        turn_around(file, tolerant);
        if (turn(&made, file, XFORM_TRANSVERSE, tolerant))
            bytes_free(&made);
        convert(file, tolerant);
    }
    return 0;
}
