/* PNM, PAM, PFM and NPY: what is read is written again, and read as the same.
 */
#include "codecs/codec.h"

#include <string.h>

#include "tests/fuzz.h"

static const struct codec *const readers[] = { &codec_pnm, &codec_pam,
                                               &codec_pfm, &codec_npy };

static bool same(const struct image *a, const struct image *b)
{
    if (a->width != b->width || a->height != b->height ||
        a->nplanes != b->nplanes || a->maxval != b->maxval)
        return false;
    for (unsigned i = 0; i < a->nplanes; i++)
        for (uint32_t y = 0; y < a->height; y++)
            if (memcmp(plane_row(&a->plane[i], y), plane_row(&b->plane[i], y),
                       a->width * cell_size(a->cell)))
                return false;
    return true;
}

static void write_again(const struct codec *codec, const struct image *img,
                        struct load_opts load)
{
    struct save_opts save = { .suffix = "", .warnings = load.warnings };
    struct bytes file = { 0 };
    struct image back = { 0 };
    struct err err;
    load.tolerant = false;
    if (codec->encode(&file, img, &save, &err) ||
        codec->decode(&back, file, &load, &err) || !same(img, &back))
        abort();
    image_free(&back);
    bytes_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct warnings warnings = { 0 };
    struct bytes file = { (uint8_t *)(uintptr_t)data, size, 0 };
    struct load_opts load = {
        .limits = { 1 << 16, 1 << 24 },
        .mem = mem_plain,
        .warnings = &warnings,
    };
    for (size_t i = 0; i < 2 * sizeof readers / sizeof *readers; i++) {
        const struct codec *codec = readers[i / 2];
        struct image img = { 0 };
        struct err err = { "" };
        load.tolerant = load.neutral = i % 2;
        if (!codec->probe(data, size))
            continue;
        if (codec->decode(&img, file, &load, &err) == 0)
            write_again(codec, &img, load);
        else if (!*err.text || img.cells || img.meta)
            abort();
        image_free(&img);
    }
    return 0;
}
