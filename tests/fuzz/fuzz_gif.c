/* Any bytes as a GIF: described, decoded, turned and turned back by every turn,
 * without access to what is outside of them. What was turned can be read, and
 * after four quarter turns a fifth to eighth change nothing. */
#include <string.h>

#include "tests/fuzz/fuzz_turn.h"

enum { PIXELS = 1 << 14 };

static bool turn(struct bytes *made, struct bytes file, enum xform t,
                 bool tolerant)
{
    const struct load_opts load = load_opts(PIXELS, tolerant);
    return turn_file(&codec_gif, made, file, t, &load);
}

static void turn_around(struct bytes file, bool tolerant)
{
    struct bytes made[9] = { { 0 } };
    if (!turn(&made[0], file, XFORM_ROTATE_90, tolerant))
        return;
    for (int i = 1; i < 9; i++)
        must(turn(&made[i], made[i - 1], XFORM_ROTATE_90, false));
    must(same_bytes(made[4], made[8]));
    for (int i = 0; i < 9; i++)
        bytes_free(&made[i]);
}

static void convert(struct bytes file, bool tolerant)
{
    const struct load_opts load = load_opts(PIXELS, tolerant);
    owned_image img = { 0 }, again = { 0 };
    owned_bytes made = { 0 };
    struct err err = { .text = "" };
    if (codec_read(&codec_gif, &img, file, &load, &err)) {
        must(*err.text);
        return;
    }
    if (encode_as(&codec_gif, &made, &img, &save, &err) == 0) {
        must(codec_gif.check(made, &img, &save, &err) == 0);
        must(codec_read(&codec_gif, &again, made, &load, &err) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bytes file = { (uint8_t *)(uintptr_t)data, size, 0 };
    struct bytes made;
    if (!size || codec_probe(file) != &codec_gif)
        return 0;
    for (int tolerant = 0; tolerant < 2; tolerant++) {
        turn_around(file, tolerant);
        (void)turn(&made, file, XFORM_NONE, tolerant);
        bytes_free(&made);
        convert(file, tolerant);
    }
    return 0;
}
