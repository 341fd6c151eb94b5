/* The pixels that our own decoder makes are those of libjpeg, bit for bit: of
 * all samplings, sizes and colors, however the picture is turned on its way. */
#include "codecs/jpeg/read_sequential.h"

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"

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

/* Compares with what libjpeg makes. Returns whether it was read. */
static bool check_file(struct bytes file, J_COLOR_SPACE space, enum xform t)
{
    const bool to_rgb = space == JCS_YCbCr;
    owned_decoded want = libjpeg_decode(file, to_rgb ? JCS_RGB : JCS_UNKNOWN);
    owned_image img = { 0 };
    bool read = read_own(&img, file, to_rgb, t);
    if (read)
        CHECK(image_distance(&img, &want, t) == 0, "%s", xform_name(t));
    return read;
}

static void check_coding(const struct coding *coding, unsigned noise,
                         enum xform t)
{
    owned_bytes file = make_noisy_jpeg(coding, noise);
    test_case("%u x %u, %d x %d, others %d x %d and %d x %d, %s", coding->width,
              coding->height, coding->h, coding->v, coding->others[0][0],
              coding->others[0][1], coding->others[1][0], coding->others[1][1],
              xform_name(t));
    CHECK(check_file(file, coding->space, t), "it was not read");
}

TEST(samplings_and_sizes)
{
    for (unsigned s = 0; s < JPEG_SAMPLINGS; s++)
        for (uint32_t n = 1; n <= 40; n++) {
            struct coding coding = sampled(s, n, 1 + n * 7 % 40);
            check_coding(&coding, n * 5 % 150, (enum xform)(n % XFORM_COUNT));
        }
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
    for (unsigned s = 0; s < JPEG_SAMPLINGS; s++)
        for (EACH_TURN(t)) {
            struct coding coding = sampled(s, 37, 600 + t * 37);
            coding.restart = t;
            check_coding(&coding, 40, t);
        }
}

TEST(colors)
{
    static const J_COLOR_SPACE spaces[] = { JCS_GRAYSCALE, JCS_RGB, JCS_CMYK,
                                            JCS_YCCK };
    struct coding apart = { 61,        75,     JCS_YCbCr,
                            .h = 2,    .v = 2, .scan = jpeg_scans_alone,
                            .scans = 3 };
    check_coding(&apart, 80, XFORM_NONE);
    for (unsigned i = 0; i < COUNT(spaces); i++)
        for (int k = 1; k <= 2; k++) {
            struct coding coding = { 50, 43, spaces[i], .h = k, .v = k };
            check_coding(&coding, 80, XFORM_ROTATE_90);
            coding.quality = 10;
            check_coding(&coding, 80, XFORM_NONE);
        }
}

/* With long steps coefficients are beyond what samples have. Then decoders
 * differ, and such a file is left to libjpeg; but whatever is read is right. */
TEST(long_steps)
{
    unsigned read = 0;
    for (int quality = 1; quality <= 100; quality++)
        for (unsigned longer = 0; longer < 2; longer++) {
            struct coding coding = { 40, 40, JCS_YCbCr, .h = 2, .v = 2 };
            coding.quality = quality;
            owned_bytes file = make_noisy_jpeg(&coding, 250);
            if (longer)
                jpeg_lengthen_steps(file);
            test_case("quality %d", quality);
            read += check_file(file, JCS_YCbCr, XFORM_NONE);
        }
    CHECK(read > 100 && read < 190, "%u read", read);
}

/* Five times black or white is 640 beyond the middle, which libjpeg's C code
 * wraps round; four times is the last that it does not. */
TEST(out_of_range)
{
    for (int white = 0; white <= 255; white += 255)
        for (uint8_t step = 4; step <= 5; step++) {
            owned_bytes file = make_plain_jpeg(16, (uint8_t)white, step);
            owned_image img = { 0 };
            CHECK(read_own(&img, file, true, XFORM_NONE) == (step == 4),
                  "%d, step %d", white, step);
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
    for (EACH_TURN(t))
        for (int large = 0; large < 2; large++) {
            struct coding coding = { 70, 300, JCS_YCbCr, .h = 2, .v = 2 };
            owned_bytes file = make_noisy_jpeg(&coding, 100);
            owned_decoded want = libjpeg_decode(file, JCS_RGB);
            owned_fixture *f = fixture_new(&codec_jpeg);
            f->load.portable = true;
            f->load.pool = thread_pool_open(large ? 3 : 1);
            f->plan.turn = t;
            f->plan.turner = &turner_of_cells;
            fixture_read(f, file);
            CHECK(image_distance(&f->img, &want, f->img.turned) == 0, "%s",
                  xform_name(t));
            CHECK(f->img.turned == (large ? t : XFORM_NONE), "turned by %s",
                  xform_name(f->img.turned));
            thread_pool_close(f->load.pool);
        }
}
