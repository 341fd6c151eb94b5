/* Any bytes as a picture of one format, for the fuzz targets of codecs: decoded
 * in each way, encoded, and decoded again. */
#ifndef TESTS_FUZZ_PICTURE_H
#define TESTS_FUZZ_PICTURE_H

#include <math.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"

/* Pixels of an HDR may have another form, which says the same. */
static inline bool fuzz_same_light(const struct image *a, const struct image *b)
{
    for (uint32_t y = 0; y < a->height; y++)
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

/* What was written of a picture can be read, and is the same if nothing is lost
 * in coding. A turn is only claimed: its cells are as good as any; but frames
 * of an animation must lie within the turned picture. */
static inline void fuzz_encode(const struct codec *codec, struct image *img,
                               const struct load_opts *load, unsigned way)
{
    struct warnings warnings = { 0 };
    struct save_opts save = { .suffix = "", .warnings = &warnings };
    struct load_opts again = *load;
    owned_image back = { 0 };
    owned_bytes made = { 0 };
    struct err err = { .text = "" };
    save.orientation = way % 3 ? 1 : 0;
    save.strip = way % 5 == 0 ? STRIP_METADATA : STRIP_NOTHING;
    save.tolerant = load->tolerant;
    if (img->meta->animation.frames)
        turn_image(img, (enum xform)(way % XFORM_COUNT));
    else
        img->turned = (enum xform)(way % XFORM_COUNT);
    again.tolerant = again.portable = false;
    again.warnings = &warnings;
    must(encode_as(codec, &made, img, &save, &err) == 0);
    must(codec_read(codec, &back, made, &again, &err) == 0);
    must(back.width == img->width && back.height == img->height);
    must(back.meta->animation.frames == img->meta->animation.frames);
    if (img->color == COLOR_RGBE)
        must(warnings.count || fuzz_same_light(img, &back));
    else if (!codec->lossy && codec != &codec_hdr)
        must(img->color == back.color && img->alpha == back.alpha &&
             same_cells(img, &back));
}

static inline void fuzz_picture(const struct codec *codec, const uint8_t *data,
                                size_t size)
{
    const unsigned way = fuzz_way(data, size);
    for (int i = 0; i < 4; i++) {
        struct warnings warnings = { 0 };
        struct load_opts load = { .limits = { .pixels = 1 << 18,
                                              .bytes = 16 << 20 },
                                  .mem = mem_plain,
                                  .tolerant = i & 1,
                                  .portable = i & 2,
                                  .warnings = &warnings };
        struct bytes file = { .data = (uint8_t *)(uintptr_t)data,
                              .size = size };
        owned_image img = { 0 };
        struct err err = { .text = "" };
        if (codec_read(codec, &img, file, &load, &err)) {
            must(*err.text && !img.pixels.kind && !img.meta);
            continue;
        }
        must(img.pixels.kind && img.meta && img.orientation >= 1 &&
             img.orientation <= 8);
        if (!load.portable || !codec->lossy)
            fuzz_encode(codec, &img, &load, way + (unsigned)i);
    }
}

#endif
