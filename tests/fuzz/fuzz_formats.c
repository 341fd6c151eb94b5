/* Any bytes as a picture of a format other than PNG and JPEG: nothing outside
 * of them is accessed, and an accepted picture survives writing and reading.
 * What is turned as a file is read by fuzz_files.c. */
#include <math.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"

static struct warnings warnings;

enum { TOLERANT = 1, PORTABLE = 2 };

static struct load_opts load_opts(int how)
{
    warnings.count = 0;
    return (struct load_opts){
        .limits = { .pixels = 1 << 12, .bytes = 1 << 20 },
        .mem = mem_plain,
        .tolerant = how & TOLERANT,
        .portable = how & PORTABLE,
        .warnings = &warnings,
    };
}

static int decode(const struct codec *codec, struct bytes file, int how,
                  struct image *img)
{
    struct err err;
    const struct load_opts opts = load_opts(how);
    int status = codec_read(codec, img, file, &opts, &err);
    must(status == 0 || (!img->pixels.kind && !img->meta));
    must(status == 0 || memchr(err.text, '\0', sizeof err.text));
    return status;
}

static void encode(const struct codec *codec, const struct image *img,
                   struct bytes *file)
{
    struct err err;
    struct save_opts opts = { .suffix = "", .warnings = &warnings };
    warnings.count = 0;
    must(encode_as(codec, file, img, &opts, &err) == 0);
}

/* Pixels of an HDR may have another form, which says the same. */
static bool same_light(const struct image *a, const struct image *b, uint32_t y)
{
    for (uint32_t x = 0; x < a->width; x++)
        for (unsigned c = 0; c < 3; c++) {
            const uint8_t *m = plane_row(&a->plane[c], y);
            const uint8_t *n = plane_row(&b->plane[c], y);
            const uint8_t *d = plane_row(&a->plane[3], y);
            const uint8_t *e = plane_row(&b->plane[3], y);
            if ((d[x] ? ldexp(m[x], d[x]) : 0) !=
                (e[x] ? ldexp(n[x], e[x]) : 0))
                return false;
        }
    return true;
}

static bool same_row(const struct image *a, const struct image *b, uint32_t y)
{
    if (a->color == COLOR_RGBE)
        return same_light(a, b, y);
    for (unsigned i = 0; i < a->nplanes; i++)
        if (memcmp(plane_row(&a->plane[i], y), plane_row(&b->plane[i], y),
                   a->width * cell_size(a->cell)))
            return false;
    return true;
}

static bool same(const struct image *a, const struct image *b)
{
    bool good = a->cell == b->cell && a->maxval == b->maxval &&
                a->color == b->color && a->alpha == b->alpha &&
                a->nplanes == b->nplanes && a->width == b->width &&
                a->height == b->height && a->orientation == b->orientation;
    for (uint32_t y = 0; good && y < a->height; y++)
        good = same_row(a, b, y);
    return good;
}

/* Only HDR may lose something when it is written again, as it cannot hold
 * every pixel in rows of this width; then it warns. */
static void write_again(const struct codec *codec, const struct image *img,
                        int how)
{
    owned_bytes file = { 0 }, twice = { 0 };
    owned_image again = { 0 };
    encode(codec, img, &file);
    bool exact = codec != &codec_hdr || !warnings.count;
    must(codec->probe(file.data, file.size));
    must(decode(codec, file, how & ~TOLERANT, &again) == 0);
    must(!exact || same(img, &again));
    encode(codec, &again, &twice);
    must(twice.size == file.size && !memcmp(twice.data, file.data, file.size));
}

static void describe(const struct codec *codec, struct bytes file,
                     const struct load_opts *load)
{
    struct reader reader = { 0 };
    owned_image img = { 0 };
    struct err err;
    if (codec_open(&reader, codec, file, load, &err) == 0)
        (void)codec_describe(&reader, &img, &err);
    codec_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes file = { (uint8_t *)data, size, 0 };
    const struct codec *codec = size ? codec_probe(file) : NULL;
    if (!codec || codec == &codec_png || codec == &codec_jpeg ||
        (codec->turn && !codec->arrays))
        return 0;
    for (int how = 0; how <= (TOLERANT | PORTABLE); how++) {
        owned_image img = { 0 };
        const struct load_opts load = load_opts(how);
        describe(codec, file, &load);
        if (decode(codec, file, how, &img) == 0)
            write_again(codec, &img, how);
    }
    return 0;
}
