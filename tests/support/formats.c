/* What the tests of formats share; see formats.h. */
#include "tests/support/formats.h"

struct opened open_file(const struct codec *codec, const void *data,
                        size_t size, int how)
{
    struct opened o = { .status = -1, .err.text = "probe" };
    owned_bytes copy = copied(data, size);
    o.counted = calloc(1, sizeof *o.counted);
    struct load_opts opts = {
        .limits = { .pixels = LIMIT_PIXELS, .bytes = LIMIT_BYTES },
        .mem = counted_memory(o.counted),
        .tolerant = how & TOLERANT,
        .portable = how & PORTABLE,
        .layout = (enum layout)(how / LAYOUT),
        .warnings = &o.warnings,
    };
    if (codec->probe(copy.data, size))
        o.status = codec_read(codec, &o.img, copy, &opts, &o.err);
    return o;
}

void close_file(struct opened *o)
{
    image_free(&o->img);
    CHECK(o->counted->freed == o->counted->calls, "%zu blocks of %zu are left",
          o->counted->calls - o->counted->freed, o->counted->calls);
    CHECK(o->counted->most <= LIMIT_BYTES, "%zu bytes", o->counted->most);
    free(o->counted);
    o->counted = NULL;
}

double sample_at(const struct image *img, unsigned plane, uint32_t x,
                 uint32_t y)
{
    const void *row = plane_row(&img->plane[plane], y);
    return img->cell == CELL_U8    ? ((const uint8_t *)row)[x]
           : img->cell == CELL_U16 ? ((const uint16_t *)row)[x]
                                   : (double)((const float *)row)[x];
}

bool has_samples(const struct image *img, const double *want)
{
    for (uint32_t y = 0; y < img->height; y++)
        for (uint32_t x = 0; x < img->width; x++)
            for (unsigned i = 0; i < img->nplanes; i++, want++)
                if (sample_at(img, i, x, y) != *want) {
                    printf("plane %u, column %u, row %u: %g, not %g\n", i, x, y,
                           sample_at(img, i, x, y), *want);
                    return false;
                }
    return true;
}

struct bytes written(const struct codec *codec, const struct image *img,
                     const char *suffix, struct warnings *warnings)
{
    struct bytes file = { 0 };
    struct err err;
    struct save_opts opts = { .suffix = suffix, .warnings = warnings };
    int status = encode_as(codec, &file, img, &opts, &err);
    CHECK(status == 0, "%s: %s", codec->name, err.text);
    return file;
}

void check_file_read(const struct codec *codec, int how, const void *file,
                     size_t size, uint32_t width, uint32_t height,
                     unsigned nplanes, const double *want, const char *said)
{
    struct opened o = open_file(codec, file, size, how);
    CHECK(codec_probe((struct bytes){ (void *)file, size, 0 }) == codec, "%s",
          codec->name);
    CHECK(o.status == 0, "%s: %s", codec->name, o.err.text);
    bool shape = o.img.width == width && o.img.height == height &&
                 o.img.nplanes == nplanes;
    CHECK(o.status || shape, "%s: %u x %u, %u planes", codec->name, o.img.width,
          o.img.height, o.img.nplanes);
    CHECK(o.status || (shape && has_samples(&o.img, want)), "%s", codec->name);
    CHECK(o.warnings.count == (said != NULL) &&
              (!said || !strcmp(o.warnings.list[0].text, said)),
          "%s: %s", codec->name, o.warnings.list[0].text);
    close_file(&o);
}

void check_file(const struct codec *codec, const void *file, size_t size,
                uint32_t width, uint32_t height, unsigned nplanes,
                const double *want, const char *said)
{
    check_file_read(codec, STRICT, file, size, width, height, nplanes, want,
                    said);
}

void check_refused(const struct codec *codec, const void *file, size_t size,
                   const char *words)
{
    struct opened o = open_file(codec, file, size, STRICT);
    CHECK(o.status == -1 && strcmp(o.err.text, words) == 0, "%s: %s, not %s",
          codec->name, o.status ? o.err.text : "it is taken", words);
    CHECK(o.img.pixels.rows.cells == NULL && o.img.meta == NULL, "%s",
          codec->name);
    close_file(&o);
}

void check_tolerated(const struct codec *codec, const void *file, size_t size,
                     const double *want, const char *said)
{
    struct opened o = open_file(codec, file, size, TOLERANT);
    CHECK(o.status == 0, "%s: %s", codec->name, o.err.text);
    CHECK(o.status || has_samples(&o.img, want), "%s", codec->name);
    CHECK(o.warnings.count == 1 && !strcmp(o.warnings.list[0].text, said),
          "%s: %u, %s", codec->name, o.warnings.count, o.warnings.list[0].text);
    close_file(&o);
}

void check_rewritten(const struct codec *codec, const void *file, size_t size,
                     const char *suffix, enum xform turned, const void *want,
                     size_t want_size)
{
    struct opened o = open_file(codec, file, size, STRICT);
    owned_bytes again = { 0 };
    CHECK(o.status == 0, "%s: %s", codec->name, o.err.text);
    o.img.turned = turned; /* as far as its meta goes */
    o.warnings.count = 0;
    if (o.status == 0)
        again = written(codec, &o.img, suffix, &o.warnings);
    CHECK(o.warnings.count == 0, "%s: %s", codec->name,
          o.warnings.list[0].text);
    CHECK(again.size == want_size && !memcmp(again.data, want, want_size),
          "%s: %.*s", codec->name, (int)again.size, (const char *)again.data);
    close_file(&o);
}

struct image random_picture(enum cell cell, uint32_t maxval, enum color color,
                            unsigned nplanes, uint32_t width, uint32_t height)
{
    static uint64_t state = 20240229;
    struct err err;
    struct image img = {
        .cell = cell,
        .maxval = maxval,
        .color = color,
        .alpha = color != COLOR_OTHER && nplanes % 2 == 0,
        .nplanes = nplanes,
        .width = width,
        .height = height,
        .orientation = 1,
    };
    must(image_alloc(&img, mem_plain, &err) == 0);
    memset(img.pixels.rows.cells, 0xa5, img.pixels.rows.size);
    for (unsigned i = 0; i < nplanes; i++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++) {
                void *row = plane_row(&img.plane[i], y);
                uint32_t r = (uint32_t)(test_random(&state) >> 32);
                if (cell == CELL_U8)
                    ((uint8_t *)row)[x] = (uint8_t)(r % (maxval + 1));
                else if (cell == CELL_U16)
                    ((uint16_t *)row)[x] = (uint16_t)(r % (maxval + 1));
                else /* any bits: NaN, infinities and denormals too */
                    memcpy((uint8_t *)row + 4 * x, &r, 4);
            }
    return img;
}

struct bytes written_again(const struct codec *codec, const struct image *img,
                           struct bytes file, const char *suffix)
{
    struct warnings warnings = { 0 };
    struct opened o =
        open_file(codec, file.data, file.size, LAYOUT * LAYOUT_HWC);
    struct bytes again = { 0 };
    CHECK(o.status == 0, "%s: %s", codec->name, o.err.text);
    CHECK(o.status || (same_cells(img, &o.img) && img->color == o.img.color &&
                       img->alpha == o.img.alpha),
          "%s, cell %d, maxval %u, %u planes, %u x %u", codec->name, img->cell,
          img->maxval, img->nplanes, img->width, img->height);
    if (o.status == 0)
        again = written(codec, &o.img, suffix, &warnings);
    CHECK(warnings.count == 0 && o.warnings.count == 0, "%s: %s", codec->name,
          warnings.count ? warnings.list[0].text : o.warnings.list[0].text);
    close_file(&o);
    return again;
}

void check_same_files(struct bytes a, struct bytes b, const char *name)
{
    CHECK(same_bytes(a, b), "%s is written otherwise", name);
    bytes_free(&a);
    bytes_free(&b);
}

void check_round_trip(const struct codec *codec, const struct image *img,
                      const char *suffix)
{
    struct warnings warnings = { 0 };
    struct bytes file = written(codec, img, suffix, &warnings);
    CHECK(warnings.count == 0, "%s: %s", codec->name, warnings.list[0].text);
    check_same_files(file, written_again(codec, img, file, suffix),
                     codec->name);
}

/* Whatever a file holds, all is well with the picture that it gives. */
static void check_sound(const struct codec *codec, struct opened *o)
{
    owned_bytes file = { 0 };
    struct err err;
    struct save_opts save = { .suffix = "", .warnings = &o->warnings };
    bool sound = o->img.pixels.kind && o->img.meta && o->img.nplanes &&
                 o->img.width && o->img.height;
    CHECK(sound, "%s", codec->name);
    for (unsigned i = 0; sound && o->img.maxval && i < o->img.nplanes; i++)
        for (uint32_t y = 0; sound && y < o->img.height; y++)
            for (uint32_t x = 0; sound && x < o->img.width; x++)
                sound = sample_at(&o->img, i, x, y) <= o->img.maxval;
    CHECK(sound, "%s: a sample above its maxval", codec->name);
    if (sound)
        CHECK(encode_as(codec, &file, &o->img, &save, &err) == 0, "%s: %s",
              codec->name, err.text);
}

void check_cuts(const struct codec *codec, const void *file, size_t size,
                size_t blanks)
{
    for (size_t cut = 0; cut < size; cut++) {
        struct opened o = open_file(codec, file, cut, STRICT);
        CHECK((o.status == 0) == (cut + blanks >= size), "%s, %zu of %zu: %s",
              codec->name, cut, size, o.status ? o.err.text : "it is taken");
        CHECK(o.status == 0 || o.img.pixels.rows.cells == NULL, "%s",
              codec->name);
        close_file(&o);
        o = open_file(codec, file, cut, TOLERANT);
        CHECK(o.status || o.warnings.count || cut + blanks >= size,
              "%s, %zu of %zu: no warning", codec->name, cut, size);
        if (o.status == 0)
            check_sound(codec, &o);
        close_file(&o);
    }
}

void check_hostile(const struct codec *codec, const void *file, size_t size,
                   size_t head)
{
    static const uint8_t values[] = { 0,   1,   2,   4,   8,    9,    '\n', ' ',
                                      '#', '(', ',', '-', '0',  '1',  '9',  'a',
                                      '{', 126, 127, 128, 0xc0, 0xfe, 0xff };
    owned_memory uint8_t *copy = malloc(size);
    for (size_t at = 0; at < head && at < size; at++)
        for (size_t i = 0; i < 2 * sizeof values; i++) {
            memcpy(copy, file, size);
            copy[at] = values[i / 2];
            struct opened o = open_file(codec, copy, size, i % 2);
            if (o.status == 0)
                check_sound(codec, &o);
            CHECK(o.status == 0 || o.img.pixels.rows.cells == NULL, "%s",
                  codec->name);
            close_file(&o);
        }
}
