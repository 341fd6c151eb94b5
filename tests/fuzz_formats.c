/* Any bytes as a picture of the formats that are not PNG or JPEG: nothing is
 * read outside of them, and what is taken for a picture is one, which its own
 * format gives again. */
#include <string.h>

#include "codecs/codec.h"
#include "tests/fuzz.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static struct warnings warnings;

static int decode(const struct codec *codec, struct bytes file, bool tolerant,
                  struct image *img)
{
    struct err err;
    struct load_opts opts = {
        .limits = { .pixels = 1 << 12, .bytes = 1 << 20 },
        .mem = mem_plain,
        .tolerant = tolerant,
        .neutral = tolerant, /* no need to try all four */
        .warnings = &warnings,
    };
    warnings.count = 0;
    int status = codec->decode(img, file, &opts, &err);
    require(status == 0 || (!img->cells && !img->meta));
    require(status == 0 || memchr(err.text, '\0', sizeof err.text));
    return status;
}

static void encode(const struct codec *codec, const struct image *img,
                   struct bytes *file)
{
    struct err err;
    struct save_opts opts = { .suffix = "", .warnings = &warnings };
    warnings.count = 0;
    require(codec->encode(file, img, &opts, &err) == 0);
}

static bool same(const struct image *a, const struct image *b)
{
    if (a->cell != b->cell || a->maxval != b->maxval || a->color != b->color ||
        a->alpha != b->alpha || a->nplanes != b->nplanes ||
        a->width != b->width || a->height != b->height)
        return false;
    for (unsigned i = 0; i < a->nplanes; i++)
        for (uint32_t y = 0; y < a->height; y++)
            if (memcmp(plane_row(&a->plane[i], y), plane_row(&b->plane[i], y),
                       a->width * cell_size(a->cell)))
                return false;
    return true;
}

/* What an HDR loses by being written again is what stb_image_write makes black,
 * and then there is a warning. No other format loses anything. */
static void write_again(const struct codec *codec, const struct image *img)
{
    struct bytes file = { 0 }, twice = { 0 };
    struct image again = { 0 };
    encode(codec, img, &file);
    bool exact = codec != &codec_hdr || !warnings.count;
    require(codec->probe(file.data, file.size));
    require(decode(codec, file, false, &again) == 0);
    require(!exact || same(img, &again));
    encode(codec, &again, &twice);
    require(twice.size == file.size &&
            !memcmp(twice.data, file.data, file.size));
    image_free(&again);
    bytes_free(&twice);
    bytes_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes file = { (uint8_t *)data, size, 0 };
    const struct codec *codec = size ? codec_probe(file) : NULL;
    struct image img = { 0 };
    if (!codec || codec == &codec_png || codec == &codec_jpeg)
        return 0;
    if (decode(codec, file, false, &img) == 0)
        write_again(codec, &img);
    image_free(&img);
    if (decode(codec, file, true, &img) == 0)
        write_again(codec, &img);
    image_free(&img);
    return 0;
}
