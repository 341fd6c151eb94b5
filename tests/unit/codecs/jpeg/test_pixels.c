/* The pixels that our own decoder makes are those of libjpeg, bit for bit: of
 * all samplings, sizes and colors, however the picture is turned on its way. */
#include "codecs/codec.h"
#include "codecs/jpeg/read_sequential.h"

#include <string.h>

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

/* Decodes without libjpeg. Returns whether that could be. */
static bool read_own(struct image *img, struct bytes file, bool to_rgb,
                     enum xform t)
{
    struct sequential s = { 0 };
    struct row_sink rows;
    struct err err;
    size_t end;
    bool exact = false;
    must(sequential_read(&s, file, false, NULL, &end, &err) == 0);
    *img = (struct image){ .cell = CELL_U8,
                           .width = s.width,
                           .height = s.height,
                           .nplanes = s.components };
    if (pixels_suit(&s)) {
        struct thread_pool *pool = thread_pool_open(2);
        const struct row_sink_opts opts = { .t = t,
                                            .turner = &turner_of_cells,
                                            .mem = mem_plain };
        must(row_sink_open(&rows, img, &opts, &err) == 0);
        must(pixels_read(&rows, &s, to_rgb, &exact, pool, &err) == 0);
        row_sink_close(&rows);
        thread_pool_close(pool);
    }
    sequential_free(&s);
    return exact;
}

/* Compares with what libjpeg makes, turned by the oracle. Returns where they
 * differ, or NULL. */
static const char *compare(const struct image *img, const struct decoded *want,
                           enum xform t)
{
    static char where[80];
    for (uint32_t y = 0; y < img->height; y++)
        for (uint32_t x = 0; x < img->width; x++)
            for (unsigned c = 0; c < img->nplanes; c++) {
                uint32_t sx, sy;
                turn_source(t, want->coding.width, want->coding.height, x, y,
                            &sx, &sy);
                unsigned is = cell_at(img, c, x, y);
                unsigned expected = decoded_at(want, c, sx, sy);
                snprintf(where, sizeof where, "%u instead of %u at %u, %u, %u",
                         is, expected, c, x, y);
                if (is != expected)
                    return where;
            }
    return NULL;
}

static void check(struct bytes file, const struct coding *coding, enum xform t)
{
    const bool to_rgb = coding->space == JCS_YCbCr;
    struct decoded want = libjpeg_decode(file, to_rgb ? JCS_RGB : JCS_UNKNOWN);
    struct image img = { 0 };
    bool read = read_own(&img, file, to_rgb, t);
    const char *where = read ? compare(&img, &want, t) : "it was not read";
    CHECK(!where, "%u x %u, %d x %d, others %d x %d and %d x %d, %s: %s",
          coding->width, coding->height, coding->h, coding->v,
          coding->others[0][0], coding->others[0][1], coding->others[1][0],
          coding->others[1][1], xform_name(t), where);
    free(want.samples);
    image_free(&img);
}

static void check_coding(const struct coding *coding, unsigned noise,
                         enum xform t)
{
    struct bytes file = make_noisy_jpeg(coding, noise);
    check(file, coding, t);
    bytes_free(&file);
}

static const struct coding samplings[] = {
    { .h = 1, .v = 1 },
    { .h = 2, .v = 1 },
    { .h = 1, .v = 2 },
    { .h = 2, .v = 2 },
    { .h = 4, .v = 1 },
    { .h = 1, .v = 4 },
    { .h = 4, .v = 2 },
    { .h = 2, .v = 4 },
    { .h = 3, .v = 1 },
    { .h = 1, .v = 3 },
    { .h = 3, .v = 2 },
    { .h = 2, .v = 2, .others = { { 1, 2 }, { 2, 1 } } },
    { .h = 1, .v = 1, .others = { { 2, 2 }, { 2, 2 } } },
    { .h = 1, .v = 2, .others = { { 2, 1 }, { 1, 1 } } },
    { .h = 2, .v = 2, .others = { { 2, 2 }, { 1, 1 } } },
    { .h = 4, .v = 1, .others = { { 2, 1 }, { 1, 1 } } },
    { .h = 4, .v = 2, .others = { { 1, 1 }, { 1, 1 } } },
};
enum { SAMPLINGS = sizeof samplings / sizeof *samplings };

TEST(samplings_and_sizes)
{
    for (int i = 0; i < SAMPLINGS; i++)
        for (uint32_t n = 1; n <= 40; n++) {
            struct coding coding = samplings[i];
            coding.space = JCS_YCbCr;
            coding.width = n;
            coding.height = 1 + n * 7 % 40;
            check_coding(&coding, n * 5 % 150, (enum xform)(n % XFORM_COUNT));
        }
}

TEST(small_sizes)
{
    for (uint32_t w = 1; w <= 9; w++)
        for (uint32_t h = 1; h <= 9; h++) {
            struct coding coding = { w, h, JCS_YCbCr, .h = 2, .v = 2 };
            check_coding(&coding, 60, XFORM_NONE);
            coding.v = 1;
            check_coding(&coding, 60, XFORM_TRANSVERSE);
        }
}

/* Bands of rows meet, in each of which threads begin anew. */
TEST(bands)
{
    for (int i = 0; i < SAMPLINGS; i++)
        for (int t = 0; t < XFORM_COUNT; t++) {
            struct coding coding = samplings[i];
            coding.space = JCS_YCbCr;
            coding.width = 37;
            coding.height = 600 + (uint32_t)(t * 37);
            coding.restart = (unsigned)t;
            check_coding(&coding, 40, (enum xform)t);
        }
}

TEST(colors)
{
    static const J_COLOR_SPACE spaces[] = { JCS_GRAYSCALE, JCS_RGB, JCS_CMYK,
                                            JCS_YCCK };
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
        for (int k = 1; k <= 2; k++) {
            struct coding coding = { 50, 43, spaces[i], .h = k, .v = k };
            check_coding(&coding, 80, XFORM_ROTATE_90);
            coding.quality = 10;
            check_coding(&coding, 80, XFORM_NONE);
        }
}

/* Scans of one component each. */
TEST(scans)
{
    static const jpeg_scan_info scans[] = { { 1, { 1 }, 0, 63, 0, 0 },
                                            { 1, { 0 }, 0, 63, 0, 0 },
                                            { 1, { 2 }, 0, 63, 0, 0 } };
    struct coding coding = { 61, 75, JCS_YCbCr, .h = 2, .v = 2 };
    coding.scan = scans;
    coding.scans = 3;
    check_coding(&coding, 80, XFORM_NONE);
}

/* With long steps coefficients are beyond what samples have. Then decoders
 * differ, and such a file is left to libjpeg; but whatever is read is right. */
TEST(long_steps)
{
    unsigned read = 0, left = 0;
    for (int quality = 1; quality <= 100; quality++)
        for (unsigned factor = 1; factor <= 8; factor += 7) {
            struct coding coding = { 40, 40, JCS_YCbCr, .h = 2, .v = 2 };
            struct image img = { 0 };
            coding.quality = quality;
            struct bytes file = make_noisy_jpeg(&coding, 250);
            for (size_t i = 0; i + 70 < file.size && factor > 1; i++)
                if (file.data[i] == 0xff && file.data[i + 1] == 0xdb)
                    for (int k = 5; k < 69; k++)
                        file.data[i + k] = (uint8_t)(file.data[i + k] | 0xf0);
            struct decoded want = libjpeg_decode(file, JCS_RGB);
            if (read_own(&img, file, true, XFORM_NONE)) {
                const char *where = compare(&img, &want, XFORM_NONE);
                CHECK(!where, "quality %d: %s", quality, where);
                read++;
            } else {
                left++;
            }
            free(want.samples);
            image_free(&img);
            bytes_free(&file);
        }
    CHECK(read > 100 && left > 10, "%u read, %u left", read, left);
}

/* Five times black or white is 640 beyond the middle, which libjpeg's C code
 * wraps round; four times is the last that it does not. */
TEST(out_of_range)
{
    for (int white = 0; white <= 255; white += 255)
        for (uint8_t step = 4; step <= 5; step++) {
            struct bytes file = make_plain_jpeg(16, (uint8_t)white, step);
            struct image img = { 0 };
            CHECK(read_own(&img, file, true, XFORM_NONE) == (step == 4),
                  "%d, step %d", white, step);
            image_free(&img);
            bytes_free(&file);
        }
}

/* libjpeg has no samples for these. */
TEST(fractions)
{
    struct sequential s = { .width = 30, .height = 30, .components = 2 };
    s.component[0] = (struct sequential_component){ .across = 3, .down = 1 };
    s.component[1] = (struct sequential_component){ .across = 1, .down = 1 };
    CHECK(pixels_suit(&s), "1 of 3");
    s.component[1].across = 2;
    CHECK(!pixels_suit(&s), "2 of 3");
}

/* The codec reads the same with several threads, and with one, by libjpeg. */
TEST(codec)
{
    for (int t = 0; t < XFORM_COUNT; t++)
        for (int large = 0; large < 2; large++) {
            struct coding coding = { 70, 300, JCS_YCbCr, .h = 2, .v = 2 };
            struct bytes file = make_noisy_jpeg(&coding, 100);
            struct decoded want = libjpeg_decode(file, JCS_RGB);
            struct fixture *f = fixture_new(&codec_jpeg);
            f->load.portable = true;
            f->load.pool = thread_pool_open(large ? 3 : 1);
            f->plan.turn = (enum xform)t;
            f->plan.turner = &turner_of_cells;
            CHECK(fixture_decode(f, file) == 0, "%s", f->err.text);
            const char *where = compare(&f->img, &want, f->img.turned);
            CHECK(!where, "%s: %s", xform_name((enum xform)t), where);
            CHECK(f->img.turned == (large ? (enum xform)t : XFORM_NONE),
                  "turned by %s", xform_name(f->img.turned));
            thread_pool_close(f->load.pool);
            fixture_free(f);
            free(want.samples);
            bytes_free(&file);
        }
}
