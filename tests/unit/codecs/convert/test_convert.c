/* Samples are converted to what a format can hold, by values worked out by
 * hand; conversions with loss are refused unless they are asked for. */
#include "codecs/convert/convert.h"

#include <math.h>

#include "tests/support/formats.h"

/* A picture of one row, which came from no file. */
static struct image row_of(enum cell cell, uint32_t maxval, enum color color,
                           unsigned nplanes, uint32_t width,
                           const double *samples)
{
    struct image img = random_picture(cell, maxval, color, nplanes, width, 1);
    for (uint32_t x = 0; x < width; x++)
        for (unsigned i = 0; i < nplanes; i++, samples++) {
            void *row = plane_row(&img.plane[i], 0);
            if (cell == CELL_U8)
                ((uint8_t *)row)[x] = (uint8_t)*samples;
            else if (cell == CELL_U16)
                ((uint16_t *)row)[x] = (uint16_t)*samples;
            else
                ((float *)row)[x] = (float)*samples;
        }
    if (color == COLOR_CMYK || color == COLOR_INDEXED)
        img.alpha = false;
    return img;
}

/* As a float has it: some processors calculate with floats as with doubles. */
static double single(double value)
{
    return (float)value;
}

/* A depth, and the gray or the color that alpha is laid on. */
struct ask {
    unsigned depth;
    const uint8_t *over;
};
static const struct ask nothing = { 0, NULL };
static const struct ask depth8 = { 8, NULL };
static const struct ask depth16 = { 16, NULL };
static const struct ask depth32 = { 32, NULL };

static int fit(struct image *img, const struct codec *to, struct ask ask,
               bool *converted, struct warnings *warnings, struct err *err)
{
    struct convert_opts opts = {
        .depth = ask.depth,
        .background = ask.over,
        .mem = mem_plain,
        .warnings = warnings,
    };
    if (ask.over)
        memcpy(opts.over, ask.over, 3);
    *warnings = (struct warnings){ 0 };
    return convert_to_fit(img, to, &opts, converted, err);
}

/* img becomes a picture of these cells and samples, and is freed. */
static void becomes(struct image img, const struct codec *to, struct ask ask,
                    enum cell cell, uint32_t maxval, enum color color,
                    unsigned nplanes, const double *want, const char *said)
{
    struct warnings warnings;
    struct err err = { .text = "" };
    bool converted = false;
    img.turned = XFORM_ROTATE_90;
    img.orientation = 6;
    int status = fit(&img, to, ask, &converted, &warnings, &err);
    CHECK(status == 0 && converted, "%s: %s", to->name, err.text);
    CHECK(img.cell == cell && img.maxval == maxval && img.color == color &&
              img.nplanes == nplanes,
          "%s: cell %d, maxval %u, %s, %u planes", to->name, img.cell,
          img.maxval, image_color_name(img.color), img.nplanes);
    CHECK(img.alpha == (color != COLOR_OTHER && nplanes % 2 == 0), "%s",
          to->name);
    CHECK(img.nplanes == nplanes && has_samples(&img, want), "%s", to->name);
    CHECK(img.turned == XFORM_ROTATE_90 && img.orientation == 6, "%s",
          to->name);
    CHECK(warnings.count == (said != NULL) &&
              (!said || !strcmp(warnings.list[0].text, said)),
          "%s: %u, %s", to->name, warnings.count, warnings.list[0].text);
    image_free(&img);
}

static bool untouched(const struct image *img, const struct image *was)
{
    return img->pixels.rows.cells == was->pixels.rows.cells &&
           img->meta == was->meta && img->cell == was->cell &&
           img->maxval == was->maxval && img->color == was->color &&
           img->alpha == was->alpha && img->nplanes == was->nplanes;
}

/* Checks that img needs no conversion, and frees it. */
static void stays(struct image img, const struct codec *to, struct ask ask)
{
    struct warnings warnings;
    struct err err = { .text = "" };
    struct image was = img;
    bool converted = true;
    int status = fit(&img, to, ask, &converted, &warnings, &err);
    CHECK(status == 0 && !converted && warnings.count == 0, "%s: %s", to->name,
          err.text);
    CHECK(untouched(&img, &was), "%s", to->name);
    image_free(&img);
}

/* img is refused, stays what it was, and is freed. */
static void refused(struct image img, const struct codec *to, struct ask ask,
                    const char *words)
{
    struct warnings warnings;
    struct err err = { .text = "" };
    struct image was = img;
    bool converted;
    int status = fit(&img, to, ask, &converted, &warnings, &err);
    CHECK(status == -1 && !strcmp(err.text, words), "%s: %s", to->name,
          err.text);
    CHECK(untouched(&img, &was), "%s", to->name);
    image_free(&img);
}

/* ---- Palettes and keys, which only PNG has --------------------------------*/

/* Of two colors, the second half transparent; the third index has none. */
static struct image indexed(unsigned nalphas)
{
    static const uint8_t palette[][4] = { { 10, 20, 30, 255 },
                                          { 40, 50, 60, 128 } };
    struct image img =
        row_of(CELL_U8, 255, COLOR_INDEXED, 1, 3, SAMPLES(1, 0, 2));
    img.meta = meta_new(&codec_png);
    img.meta->ncolors = 2;
    img.meta->nalphas = nalphas;
    memcpy(img.meta->palette, palette, sizeof palette);
    if (!nalphas)
        img.meta->palette[1][3] = 255;
    return img;
}

TEST(palette)
{
    static const uint8_t black[3];
    const double rgb[] = { 40, 50, 60, 10, 20, 30, 0, 0, 0 };
    becomes(indexed(0), &codec_pnm, nothing, CELL_U8, 255, COLOR_RGB, 3, rgb,
            NULL);
    becomes(indexed(2), &codec_pam, nothing, CELL_U8, 255, COLOR_RGB, 4,
            SAMPLES(40, 50, 60, 128, 10, 20, 30, 255, 0, 0, 0, 255), NULL);
    becomes(indexed(0), &codec_png, depth16, CELL_U16, 65535, COLOR_RGB, 3,
            SAMPLES(40 * 257, 50 * 257, 60 * 257, 10 * 257, 20 * 257, 30 * 257,
                    0, 0, 0),
            NULL);
    becomes(indexed(0), &codec_pfm, nothing, CELL_F32, 0, COLOR_RGB, 3,
            SAMPLES(single(40 / 255.), single(50 / 255.), single(60 / 255.),
                    single(10 / 255.), single(20 / 255.), single(30 / 255.), 0,
                    0, 0),
            NULL);
    /* 128 of 255 of each, and nothing of black. */
    becomes(indexed(2), &codec_jpeg, (struct ask){ 0, black }, CELL_U8, 255,
            COLOR_RGB, 3, SAMPLES(20, 25, 30, 10, 20, 30, 0, 0, 0), NULL);
    refused(indexed(2), &codec_pnm, nothing,
            "PNM cannot hold transparency; --background COLOR lays it on a "
            "color");
    stays(indexed(2), &codec_png, nothing);
    stays(indexed(2), &codec_png, depth8); /* its colors have 8 bits */
}

static struct image keyed(struct image img, uint16_t a, uint16_t b, uint16_t c)
{
    img.meta = meta_new(&codec_png);
    img.meta->keyed = true;
    img.meta->key[0] = a;
    img.meta->key[1] = b;
    img.meta->key[2] = c;
    return img;
}

TEST(key)
{
    const double gray[] = { 6, 7, 8 };
    struct image img = row_of(CELL_U8, 255, COLOR_GRAY, 1, 3, gray);
    becomes(keyed(img, 7, 0, 0), &codec_tga, nothing, CELL_U8, 255, COLOR_GRAY,
            2, SAMPLES(6, 255, 7, 0, 8, 255), NULL);
    img = row_of(CELL_U8, 255, COLOR_GRAY, 1, 3, gray);
    becomes(keyed(img, 7, 0, 0), &codec_png, depth16, CELL_U16, 65535,
            COLOR_GRAY, 2, SAMPLES(6 * 257, 65535, 7 * 257, 0, 8 * 257, 65535),
            NULL);
    img = row_of(CELL_U8, 1, COLOR_GRAY, 1, 2, SAMPLES(0, 1));
    becomes(keyed(img, 1, 0, 0), &codec_pam, nothing, CELL_U8, 1, COLOR_GRAY, 2,
            SAMPLES(0, 1, 1, 0), NULL);
    /* All three must match. */
    img = row_of(CELL_U16, 65535, COLOR_RGB, 3, 2,
                 SAMPLES(1, 2, 65535, 1, 2, 65534));
    becomes(keyed(img, 1, 2, 65535), &codec_npy, nothing, CELL_U16, 65535,
            COLOR_RGB, 4, SAMPLES(1, 2, 65535, 0, 1, 2, 65534, 65535), NULL);
    img = row_of(CELL_U8, 255, COLOR_GRAY, 1, 3, gray);
    refused(keyed(img, 7, 0, 0), &codec_jpeg, nothing,
            "JPEG cannot hold transparency; --background COLOR lays it on a "
            "color");
    img = row_of(CELL_U8, 255, COLOR_GRAY, 1, 3, gray);
    stays(keyed(img, 7, 0, 0), &codec_png, nothing);
}

/* ---- Samples --------------------------------------------------------------*/

static struct image gray(enum cell cell, uint32_t maxval, uint32_t width,
                         const double *samples)
{
    return row_of(cell, maxval, COLOR_GRAY, 1, width, samples);
}

TEST(integers)
{
    becomes(gray(CELL_U8, 255, 4, SAMPLES(0, 1, 128, 255)), &codec_png, depth16,
            CELL_U16, 65535, COLOR_GRAY, 1, SAMPLES(0, 257, 128 * 257, 65535),
            NULL);
    /* n / 257, to the nearest. */
    becomes(gray(CELL_U16, 65535, 6, SAMPLES(0, 128, 129, 65406, 65407, 65535)),
            &codec_jpeg, depth8, CELL_U8, 255, COLOR_GRAY, 1,
            SAMPLES(0, 0, 1, 254, 255, 255), NULL);
    /* 65535 / 1023 is 64.06. */
    becomes(gray(CELL_U16, 1023, 4, SAMPLES(0, 1, 512, 1023)), &codec_png,
            nothing, CELL_U16, 65535, COLOR_GRAY, 1,
            SAMPLES(0, 64, 32800, 65535), NULL);
    becomes(gray(CELL_U16, 1023, 3, SAMPLES(2, 3, 1023)), &codec_jpeg, depth8,
            CELL_U8, 255, COLOR_GRAY, 1, SAMPLES(0, 1, 255), NULL);
    /* Halves go up, all of them: 2.55, 127.5 and 212.5. */
    becomes(gray(CELL_U8, 100, 2, SAMPLES(1, 50)), &codec_npy, nothing, CELL_U8,
            255, COLOR_GRAY, 1, SAMPLES(3, 128), NULL);
    becomes(gray(CELL_U8, 6, 1, SAMPLES(5)), &codec_npy, nothing, CELL_U8, 255,
            COLOR_GRAY, 1, SAMPLES(213), NULL);
    /* PNG has bits for gray alone. */
    stays(gray(CELL_U8, 15, 1, SAMPLES(5)), &codec_png, nothing);
    becomes(row_of(CELL_U8, 15, COLOR_RGB, 3, 1, SAMPLES(1, 2, 15)), &codec_png,
            nothing, CELL_U8, 255, COLOR_RGB, 3, SAMPLES(17, 34, 255), NULL);
    becomes(row_of(CELL_U8, 15, COLOR_GRAY, 2, 1, SAMPLES(1, 15)), &codec_png,
            nothing, CELL_U8, 255, COLOR_GRAY, 2, SAMPLES(17, 255), NULL);
    stays(gray(CELL_U16, 1023, 1, SAMPLES(5)), &codec_pnm, nothing);
    /* What is asked for is had in full. */
    becomes(gray(CELL_U8, 1, 2, SAMPLES(0, 1)), &codec_png, depth8, CELL_U8,
            255, COLOR_GRAY, 1, SAMPLES(0, 255), NULL);
    becomes(gray(CELL_U16, 1023, 1, SAMPLES(1023)), &codec_pnm, depth16,
            CELL_U16, 65535, COLOR_GRAY, 1, SAMPLES(65535), NULL);
    stays(gray(CELL_U8, 255, 1, SAMPLES(5)), &codec_png, depth8);
    refused(gray(CELL_U16, 1023, 1, SAMPLES(5)), &codec_jpeg, nothing,
            "JPEG cannot hold samples of 10 bits; --depth 8 makes them fit");
    refused(gray(CELL_U8, 255, 1, SAMPLES(5)), &codec_jpeg, depth16,
            "JPEG cannot hold samples of 16 bits");
    refused(gray(CELL_U8, 255, 1, SAMPLES(5)), &codec_pfm, depth8,
            "PFM cannot hold samples of 8 bits");
}

TEST(floats)
{
    static const char clipped[] =
        "4 samples were below 0 or above 1 and are clipped";
    const double floats[] = { -0.25, -0.0, 0.5, 1, 1.5, NAN, INFINITY };
    becomes(gray(CELL_F32, 0, 7, floats), &codec_png, depth8, CELL_U8, 255,
            COLOR_GRAY, 1, SAMPLES(0, 0, 128, 255, 255, 0, 255), clipped);
    becomes(gray(CELL_F32, 0, 7, floats), &codec_npy, depth16, CELL_U16, 65535,
            COLOR_GRAY, 1, SAMPLES(0, 0, 32768, 65535, 65535, 0, 65535),
            clipped);
    becomes(gray(CELL_U8, 255, 2, SAMPLES(51, 255)), &codec_pfm, nothing,
            CELL_F32, 0, COLOR_GRAY, 1, SAMPLES(single(0.2), 1), NULL);
    becomes(gray(CELL_U16, 1023, 2, SAMPLES(1, 1023)), &codec_npy, depth32,
            CELL_F32, 0, COLOR_GRAY, 1, SAMPLES(single(1 / 1023.), 1), NULL);
    becomes(gray(CELL_U8, 255, 1, SAMPLES(255)), &codec_hdr, nothing, CELL_F32,
            0, COLOR_RGB, 3, SAMPLES(1, 1, 1), NULL);
    stays(gray(CELL_F32, 0, 7, floats), &codec_pfm, nothing);
    stays(gray(CELL_F32, 0, 7, floats), &codec_npy, depth32);
    refused(gray(CELL_F32, 0, 7, floats), &codec_png, nothing,
            "PNG cannot hold samples of 32 bits; --depth 16 makes them fit");
    refused(gray(CELL_F32, 0, 7, floats), &codec_tga, nothing,
            "TGA cannot hold samples of 32 bits; --depth 8 makes them fit");
    refused(gray(CELL_U8, 255, 1, SAMPLES(1)), &codec_png, depth32,
            "PNG cannot hold samples of 32 bits");
}

/* ---- Colors and alpha -----------------------------------------------------*/

TEST(colors)
{
    becomes(gray(CELL_U8, 255, 2, SAMPLES(7, 9)), &codec_bmp, nothing, CELL_U8,
            255, COLOR_RGB, 3, SAMPLES(7, 7, 7, 9, 9, 9), NULL);
    becomes(row_of(CELL_U8, 255, COLOR_GRAY, 2, 1, SAMPLES(7, 9)), &codec_bmp,
            nothing, CELL_U8, 255, COLOR_RGB, 4, SAMPLES(7, 7, 7, 9), NULL);
    refused(row_of(CELL_U8, 255, COLOR_CMYK, 4, 1, SAMPLES(1, 2, 3, 4)),
            &codec_png, nothing,
            "PNG cannot hold CMYK; write a JPEG, which can, or convert the "
            "picture to RGB first");
    refused(row_of(CELL_U8, 255, COLOR_OTHER, 2, 1, SAMPLES(1, 2)), &codec_png,
            nothing, "PNG cannot hold channels");
    refused(row_of(CELL_F32, 0, COLOR_RGB, 4, 1, SAMPLES(1, 1, 1, 1)),
            &codec_hdr, nothing,
            "HDR cannot hold transparency; --background COLOR lays it on a "
            "color");
    /* Planes without a meaning, of which there may be many. */
    becomes(row_of(CELL_U16, 1023, COLOR_OTHER, 6, 1,
                   SAMPLES(0, 1, 2, 512, 1022, 1023)),
            &codec_npy, nothing, CELL_U16, 65535, COLOR_OTHER, 6,
            SAMPLES(0, 64, 128, 32800, 65471, 65535), NULL);
    becomes(row_of(CELL_F32, 0, COLOR_OTHER, 5, 1, SAMPLES(0, 0.5, 1, 2, -1)),
            &codec_pam, depth8, CELL_U8, 255, COLOR_OTHER, 5,
            SAMPLES(0, 128, 255, 255, 0),
            "2 samples were below 0 or above 1 and are clipped");
}

TEST(background)
{
    static const uint8_t over[3] = { 10, 255, 0 };
    static const uint8_t red[3] = { 255, 0, 0 };
    static const uint8_t green[3] = { 0, 255, 0 };
    static const uint8_t blue[3] = { 0, 0, 255 };
    /* (128 * 200 + 127 * 10) / 255 is 105.4; (128 * 200 + 127 * 255) / 255 is
     * 227.4; 128 * 200 / 255 is 100.4. */
    becomes(row_of(CELL_U8, 255, COLOR_RGB, 4, 3,
                   SAMPLES(200, 200, 200, 128, 1, 2, 3, 255, 1, 2, 3, 0)),
            &codec_jpeg, (struct ask){ 0, over }, CELL_U8, 255, COLOR_RGB, 3,
            SAMPLES(105, 227, 100, 1, 2, 3, 10, 255, 0), NULL);
    /* The luma of red is 0.299 * 255 = 76.2; a fifth of 100 over it is 81. */
    becomes(row_of(CELL_U8, 255, COLOR_GRAY, 2, 3,
                   SAMPLES(100, 255, 100, 0, 100, 51)),
            &codec_pnm, (struct ask){ 0, red }, CELL_U8, 255, COLOR_GRAY, 1,
            SAMPLES(100, 76, 81), NULL);
    /* 0.587 * 255 is 149.7, and 0.114 * 255 is 29.1. */
    becomes(row_of(CELL_U8, 255, COLOR_GRAY, 2, 1, SAMPLES(100, 0)), &codec_pnm,
            (struct ask){ 0, green }, CELL_U8, 255, COLOR_GRAY, 1, SAMPLES(150),
            NULL);
    becomes(row_of(CELL_U8, 255, COLOR_GRAY, 2, 1, SAMPLES(100, 0)), &codec_pnm,
            (struct ask){ 0, blue }, CELL_U8, 255, COLOR_GRAY, 1, SAMPLES(29),
            NULL);
    /* A background has 8 bits, also under deeper samples. */
    becomes(row_of(CELL_U16, 1023, COLOR_RGB, 4, 2,
                   SAMPLES(1, 2, 3, 0, 1, 2, 3, 1023)),
            &codec_pnm, (struct ask){ 0, over }, CELL_U16, 1023, COLOR_RGB, 3,
            SAMPLES(40, 1023, 0, 1, 2, 3), NULL);
    becomes(
        row_of(CELL_F32, 0, COLOR_RGB, 4, 2, SAMPLES(2, 4, 8, 0.5, 2, 4, 8, 1)),
        &codec_hdr, (struct ask){ 0, red }, CELL_F32, 0, COLOR_RGB, 3,
        SAMPLES(1.5, 2, 4, 2, 4, 8), NULL);
    /* It is for what cannot hold alpha, and only for that. */
    stays(row_of(CELL_U8, 255, COLOR_RGB, 4, 1, SAMPLES(1, 2, 3, 4)),
          &codec_png, (struct ask){ 0, red });
}

/* ---- Metadata -------------------------------------------------------------*/

static void add(struct image *img, const char *name, bool samples,
                bool portable)
{
    struct metadata_block *block = meta_add(img->meta, name, 0, "x", 1);
    block->samples = samples;
    block->portable = portable;
}

/* In its own format a picture of another depth keeps, in order, all
 * metadata that does not depend on samples; transparency that became alpha
 * is not lost. */
TEST(blocks)
{
    owned_image img =
        keyed(gray(CELL_U16, 65535, 1, SAMPLES(65535)), 65535, 0, 0);
    struct warnings warnings;
    struct err err;
    bool converted;
    add(&img, "gAMA", false, false);
    add(&img, "sBIT", true, false);
    add(&img, "tRNS", true, true);
    add(&img, "bKGD", true, false);
    add(&img, "tEXt", false, false);
    CHECK(fit(&img, &codec_png, depth8, &converted, &warnings, &err) == 0, "%s",
          err.text);
    CHECK(
        warnings.count == 2 &&
            !strcmp(warnings.list[0].text, "sBIT is about the samples as they "
                                           "were, so it is not kept") &&
            !strcmp(warnings.list[1].text, "bKGD is about the samples as they "
                                           "were, so it is not kept"),
        "%u, %s", warnings.count, warnings.list[0].text);
    CHECK(img.meta->nblocks == 2 && !strcmp(img.meta->block[0].name, "gAMA") &&
              !strcmp(img.meta->block[1].name, "tEXt"),
          "%zu", img.meta->nblocks);
    CHECK(!img.meta->keyed && img.alpha && has_samples(&img, SAMPLES(255, 0)),
          "%u planes", img.nplanes);
}

static void profile_stays(struct image img, const char *space,
                          const struct codec *to, bool stays_there)
{
    struct warnings warnings;
    struct err err;
    bool converted;
    uint8_t profile[128] = { 0 };
    memcpy(profile + 16, space, 4);
    if (!img.meta)
        img.meta = meta_new(&codec_jpeg);
    must(bytes_append(&img.meta->icc, profile, sizeof profile));
    CHECK(fit(&img, to, nothing, &converted, &warnings, &err) == 0, "%s",
          err.text);
    CHECK((img.meta->icc.size == sizeof profile) == stays_there, "%s", space);
    char words[128] = "";
    if (!stays_there)
        sprintf(words, "the ICC profile is for %s data, so it is not kept",
                space);
    CHECK(!strcmp(warnings.count ? warnings.list[0].text : "", words), "%s",
          warnings.list[0].text);
    image_free(&img);
}

TEST(profile)
{
    profile_stays(gray(CELL_U8, 255, 1, SAMPLES(1)), "GRAY", &codec_png, true);
    profile_stays(gray(CELL_U8, 255, 1, SAMPLES(1)), "RGB ", &codec_png, false);
    profile_stays(gray(CELL_U8, 255, 1, SAMPLES(1)), "GRAY", &codec_bmp, false);
    profile_stays(indexed(0), "RGB ", &codec_jpeg, true);
    profile_stays(indexed(0), "GRAY", &codec_png, true); /* its own affair */
}
