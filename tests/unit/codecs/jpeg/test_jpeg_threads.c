/* Several threads encode a JPEG file to the bytes that one thread writes, which
 * are those of libjpeg. */
#include "codecs/codec.h"
#include "codecs/jpeg/parameters.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/pools.h"
#include "tests/support/test.h"

TEST_POOLS(2, 3, 8)

/* ---- Pictures -------------------------------------------------------------*/

static struct image read_as(struct bytes file,
                            enum representation representation,
                            struct thread_pool *pool)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan.representation = representation;
    f->load.pool = pool;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    return fixture_take_img(f);
}

static struct bytes write_with(const struct image *img, struct save_opts save,
                               struct thread_pool *pool)
{
    struct warnings warnings = { 0 };
    struct bytes made = { 0 };
    struct err err = { .text = "" };
    save.suffix = "";
    save.pool = pool;
    save.warnings = &warnings;
    CHECK(!encode_as(&codec_jpeg, &made, img, &save, &err), "%s", err.text);
    return made;
}

/* Writes img with each number of threads; returns what one thread writes. */
static struct bytes check_written(const char *name, const struct image *img,
                                  struct save_opts save)
{
    struct bytes one = write_with(img, save, NULL);
    for (unsigned i = 0; i < COUNTS; i++) {
        struct bytes made = write_with(img, save, pools[i]);
        CHECK(same_bytes(made, one), "%s: %u threads", name, counts[i]);
        bytes_free(&made);
    }
    return one;
}

/* ---- Coefficients ---------------------------------------------------------*/

static const struct {
    const char *name;
    struct coding coding;
    unsigned noise;
} kinds[] = {
    { "4:2:0", { 608, 640, JCS_YCbCr, .h = 2, .v = 2 }, .noise = 30 },
    { "4:2:0, nothing whole",
      { 797, 713, JCS_YCbCr, .h = 2, .v = 2 },
      .noise = 30 },
    { "4:4:4", { 500, 403, JCS_YCbCr, .h = 1 }, .noise = 3 },
    { "smooth", { 640, 640, JCS_YCbCr, .h = 1, .quality = 40 }, .noise = 0 },
    { "steep", { 640, 640, JCS_YCbCr, .h = 1 }, .noise = 0 },
    { "noise", { 400, 481, JCS_YCbCr, .h = 1, .quality = 100 }, .noise = 200 },
    { "4:4:0", { 611, 631, JCS_YCbCr, .h = 1, .v = 2 }, .noise = 30 },
    { "4x2", { 850, 801, JCS_YCbCr, .h = 4, .v = 2 }, .noise = 30 },
    { "all differ",
      { 601, 599, JCS_YCbCr, .h = 2, .v = 1, .others = { { 1, 2 }, { 2, 2 } } },
      .noise = 30 },
    { "gray", { 900, 907, JCS_GRAYSCALE, .h = 1 }, .noise = 30 },
    { "gray, 2x2", { 907, 905, JCS_GRAYSCALE, .h = 2, .v = 2 }, .noise = 30 },
    { "CMYK", { 400, 411, JCS_CMYK, .h = 1 }, .noise = 30 },
    { "RGB", { 480, 411, JCS_RGB, .h = 1 }, .noise = 30 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* MCUs between restart markers: of 38 in a row of the first kind. */
static const unsigned restarts[] = { 0, 38, 19, 1, 76, 380, 57, 24, 39 };
enum { RESTARTS = sizeof restarts / sizeof *restarts };

static void check_coded(unsigned k, unsigned restart, bool standard)
{
    struct coding coding = kinds[k].coding;
    struct save_opts save = { 0 };
    char name[80];
    coding.restart = restart;
    coding.standard = standard;
    snprintf(name, sizeof name, "%s, %u MCUs%s", kinds[k].name, restart,
             standard ? "" : ", own tables");
    struct bytes file = make_noisy_jpeg(&coding, kinds[k].noise);
    struct image img = read_as(file, REPRESENTATION_COEFFICIENTS, NULL);
    struct bytes one = check_written(name, &img, save);
    CHECK(same_bytes(one, file), "%s: as it was", name);
    save.optimize = true;
    bytes_free(&one);
    one = check_written(name, &img, save);
    bytes_free(&one);
    image_free(&img);
    bytes_free(&file);
}

TEST(coded)
{
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned standard = 0; standard < 2; standard++) {
            check_coded(k, 0, standard);
            check_coded(k, 50, standard);
        }
    for (unsigned i = 0; i < RESTARTS; i++)
        check_coded(0, restarts[i], true);
}

/* Where blocks seldom end early, the code for that may end in ones, as the last
 * byte of a scan does: with the first two of these it does. */
TEST(ends)
{
    static const int ways[][2] = {
        { 140, 100 }, { 180, 100 }, { 100, 90 }, { 40, 70 }, { 0, 20 }
    };
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct coding coding = { 700, 807, JCS_GRAYSCALE, .h = 1 };
        struct save_opts save = { 0 };
        coding.quality = ways[i][1];
        struct bytes file = make_noisy_jpeg(&coding, (unsigned)ways[i][0]);
        struct image img = read_as(file, REPRESENTATION_COEFFICIENTS, NULL);
        struct bytes one = check_written("ends", &img, save);
        CHECK(same_bytes(one, file), "%u", i);
        bytes_free(&one);
        image_free(&img);
        bytes_free(&file);
    }
}

/* DC coefficients that never differ by little, though strips begin with a small
 * one. */
TEST(steps)
{
    const struct coding coding = { 900, 907, JCS_GRAYSCALE, .h = 1 };
    struct save_opts save = { .optimize = true };
    struct bytes file = make_jpeg(&coding);
    struct image img = read_as(file, REPRESENTATION_COEFFICIENTS, NULL);
    const struct plane *plane = &img.plane[0];
    for (uint32_t y = 0; y < plane->height; y++) {
        int16_t *block = plane_row(plane, y);
        memset(block, 0, (size_t)plane->width * sizeof(JBLOCK));
        for (uint32_t x = 0; x < plane->width; x++, block += DCTSIZE2)
            block[0] = x == 0 || (plane->width - 1 - x) / 2 % 2 ? 70 : 3;
    }
    struct bytes one = check_written("steps", &img, save);
    bytes_free(&one);
    image_free(&img);
    bytes_free(&file);
}

/* ---- Samples --------------------------------------------------------------*/

static struct image make_samples(enum color color, uint32_t width,
                                 uint32_t height)
{
    struct image img = { .cell = CELL_U8,
                         .color = color,
                         .width = width,
                         .height = height,
                         .maxval = 255,
                         .nplanes = color == COLOR_GRAY ? 1 : 3 };
    struct err err;
    uint64_t state = 5;
    if (image_alloc(&img, mem_plain, &err))
        abort();
    for (unsigned c = 0; c < img.nplanes; c++)
        for (uint32_t y = 0; y < height; y++) {
            uint8_t *row = plane_row(&img.plane[c], y);
            for (uint32_t x = 0; x < width; x++)
                row[x] = (uint8_t)(jpeg_sample(c, x, y, width, height) +
                                   test_random(&state) % 20);
        }
    return img;
}

/* What libjpeg makes of them by itself, with the tables that it finds. */
static struct bytes by_libjpeg(const struct image *img, int quality)
{
    struct jpeg_compress_struct c = { 0 };
    struct jpeg_error_mgr mgr;
    unsigned char *data = NULL;
    unsigned long size = 0;
    uint8_t *row = malloc((size_t)img->width * img->nplanes);
    if (!row)
        abort();
    c.err = jpeg_std_error(&mgr);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &data, &size);
    c.image_width = img->width;
    c.image_height = img->height;
    c.input_components = (int)img->nplanes;
    c.in_color_space = img->nplanes == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, quality, TRUE);
    if (quality >= 90)
        c.comp_info->h_samp_factor = c.comp_info->v_samp_factor = 1;
    c.optimize_coding = TRUE;
    jpeg_start_compress(&c, TRUE);
    for (uint32_t y = 0; y < img->height; y++) {
        JSAMPROW rows = row;
        for (uint32_t x = 0; x < img->width; x++)
            for (unsigned i = 0; i < img->nplanes; i++)
                row[img->nplanes * x + i] =
                    ((uint8_t *)plane_row(&img->plane[i], y))[x];
        jpeg_write_scanlines(&c, &rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(row);
    return (struct bytes){ data, size, size };
}

TEST(samples)
{
    static const uint32_t sizes[][2] = { { 640, 640 }, { 711, 733 }, { 9, 7 } };
    static const int qualities[] = { 98, 85, 30 };
    for (unsigned i = 0; i < 3; i++)
        for (unsigned q = 0; q < 3; q++)
            for (int gray = 0; gray < 2; gray++) {
                struct image img = make_samples(gray ? COLOR_GRAY : COLOR_RGB,
                                                sizes[i][0], sizes[i][1]);
                struct save_opts save = { .quality = qualities[q] };
                struct bytes want = by_libjpeg(&img, qualities[q]);
                struct bytes one = check_written("samples", &img, save);
                /* Beyond the picture chroma repeats its last sample, libjpeg
                 * the last pixel. */
                bool whole = gray || q == 0 || img.width % 16 == 0;
                CHECK(!whole || same_bytes(one, want),
                      "%u x %u, quality %d, %d", img.width, img.height,
                      qualities[q], gray);
                bytes_free(&one);
                bytes_free(&want);
                image_free(&img);
            }
}

/* Planes as a file has them, which are encoded anew: also with its scans. */
TEST(planes)
{
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned way = 0; way < 3; way++) {
            struct coding coding = kinds[k].coding;
            struct save_opts save = { .quality = 60 };
            coding.progressive = way == 1;
            coding.restart = way == 2 ? 50 : 0;
            struct bytes file = make_noisy_jpeg(&coding, kinds[k].noise);
            struct image img = read_as(file, REPRESENTATION_PLANES, NULL);
            struct bytes one = check_written(kinds[k].name, &img, save);
            bytes_free(&one);
            image_free(&img);
            bytes_free(&file);
        }
}
