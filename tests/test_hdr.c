/* HDR: exact floats, the header in order, and no cut that goes unnoticed or on
 * for ever. */
#include <float.h>
#include <math.h>

#include "tests/formats.h"

#define TEXT(text) text, sizeof text - 1
#define SAMPLES(...) ((const double[]){ __VA_ARGS__ })
#define HEAD "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n"

static const struct codec *const c = &codec_hdr;

/* A pixel is three mantissas of 8 bits and an exponent: m * 2^(e - 136). */
static void test_pixels(void)
{
    check_file(c, TEXT(HEAD "-Y 1 +X 3\n\x80\x40\xff\x81"
                            "\xff\x00\x80\x88"
                            "\x80\x01\x00\x80"),
               3, 1, 3,
               SAMPLES(1, 0.5, 255 / 128.0, 255, 0, 128, 0.5, 1 / 256.0, 0),
               NULL);
    /* The largest, the smallest, and black, whose mantissas mean nothing. */
    check_file(c, TEXT(HEAD "-Y 2 +X 2\n\xff\x80\0\xff\x80\0\0\1"
                            "\0\0\0\0\7\7\7\0"),
               2, 2, 3,
               SAMPLES(255 * 0x1p119, 128 * 0x1p119, 0, 0x1p-128, 0, 0, 0, 0, 0,
                       0, 0, 0),
               NULL);
    check_file(c, TEXT("#?RGBE\n# a\nFORMAT=32-bit_rle_rgbe\nX=\n\n"
                       "-Y 1 +X 1\n\x80\x80\x80\x81"),
               1, 1, 3, SAMPLES(1, 1, 1), NULL);
}

#define ROW "\2\2\0\x0a"

/* Each component of a row is coded for itself, as runs and literals. */
static void test_packets(void)
{
    double want[2 * 10 * 3];
    for (int i = 0; i < 60; i++)
        want[i] = i % 3 ? 1 : 0.5;
    want[0] = 1;
    want[30 + 9 * 3] = 255 / 128.0;
    static const char file[] = HEAD "-Y 2 +X 10\n" ROW "\1\x80\x89\x40"
                                    "\x8a\x80\x85\x80\5\x80\x80\x80\x80\x80"
                                    "\x8a\x81" ROW
                                    "\x89\x40\1\xff\x8a\x80\x8a\x80\x8a\x81";
    check_file(c, TEXT(file), 10, 2, 3, want, NULL);
    check_cuts(c, TEXT(file), 0);
    check_hostile(c, TEXT(file), sizeof file - 1);
    /* A row of 8 and more may also be plain. */
    for (int i = 0; i < 30; i++)
        want[i] = i % 3 ? 0 : 1;
    check_file(c, TEXT(HEAD "-Y 1 +X 10\n\x80\0\0\x81\x80\0\0\x81\x80\0\0\x81"
                            "\x80\0\0\x81\x80\0\0\x81\x80\0\0\x81\x80\0\0\x81"
                            "\x80\0\0\x81\x80\0\0\x81\x80\0\0\x81"),
               10, 1, 3, want, NULL);
}

static void test_damaged(void)
{
    static const char cut[] = "cut short, read as far as it goes";
    static const char plain[] = HEAD "-Y 2 +X 2\n\x80\x80\x80\x81"
                                     "\x80\x80\x80\x82\x80\x80\x80\x83"
                                     "\x80\x80\x80\x84";
    check_cuts(c, TEXT(plain), 0);
    check_hostile(c, TEXT(plain), sizeof plain - 1);
    check_tolerated(c, plain, sizeof plain - 2,
                    SAMPLES(1, 1, 1, 2, 2, 2, 0, 0, 0, 0, 0, 0), cut);
    double want[2 * 8 * 3] = { 0 };
    for (int i = 0; i < 24; i++)
        want[i] = 1;
#define GOOD "\2\2\0\x08\x88\x80\x88\x80\x88\x80\x88\x81"
    check_tolerated(c, TEXT(HEAD "-Y 2 +X 8\n" GOOD "\2\2\0\x08\x88"), want,
                    cut);
    check_tolerated(c, TEXT(HEAD "-Y 2 +X 8\n" GOOD "\x80\x80\x80\x81"), want,
                    cut);
    check_refused(c, TEXT(HEAD "-Y 2 +X 8\n" GOOD "\2\2\0\x08\x88"),
                  "cut short in row 1");
    /* stb_image waits for ever for a run of 0 to end. */
    check_refused(c, TEXT(HEAD "-Y 1 +X 8\n\2\2\0\x08\0\0\0\0\0\0\0\0\0\0"),
                  "row 0 is coded in a wrong or in an old way");
    check_refused(c, TEXT(HEAD "-Y 1 +X 8\n\2\2\0\x08\x89\x80\x88\x80"),
                  "row 0 is coded in a wrong or in an old way");
    check_refused(c, TEXT(HEAD "-Y 1 +X 8\n\2\2\0\x09\x89\x80\x89\x80"),
                  "row 0 is coded in a wrong or in an old way");
    /* It begins anew where a row that is not coded follows one that is. */
    check_refused(c, TEXT(HEAD "-Y 2 +X 8\n" GOOD "\x80\x80\x80\x81"),
                  "row 1 is coded in a wrong or in an old way");
    /* The run of before 1991: it repeats the pixel before. */
    check_refused(c, TEXT(HEAD "-Y 1 +X 2\n\x80\x80\x80\x81\1\1\1\1"),
                  "row 0 is coded in a wrong or in an old way");
    check_file(c, TEXT(HEAD "-Y 1 +X 1\n\x80\x80\x80\x81more"), 1, 1, 3,
               SAMPLES(1, 1, 1), "4 bytes after the picture are not kept");
}

static void test_headers_refused(void)
{
#define FORMAT "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n"
    check_refused(c, TEXT("#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\n"),
                  "its pixels are '32-bit_rle_xyze'; only 32-bit_rle_rgbe can "
                  "be read");
    check_refused(c, TEXT("#?RADIANCE\nFORMAT=\n\n-Y 1 +X 1\n"),
                  "its pixels are ''; only 32-bit_rle_rgbe can be read");
    check_refused(c, TEXT("#?RADIANCE\n\n-Y 1 +X 1\nabcd"),
                  "its header has no FORMAT");
    check_refused(c, TEXT(FORMAT "A"), "its header has no end");
    check_refused(c, TEXT(FORMAT "A\0\n\n-Y 1 +X 1\nabcd"),
                  "its header is malformed");
    check_refused(c, TEXT(HEAD), "its header has no size");
    static const char *const lines[] = {
        "+Y 1 +X 1",  "-Y 1 -X 1",   "+X 1 -Y 1", "-X 1 +Y 1",
        "-Y 1 +X 1x", "-Y 1 +X 1 2", "-Y 1",      "-Y x +X 1",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char file[128], words[128];
        int n = sprintf(file, HEAD "%s\nabcdabcd", lines[i]);
        sprintf(words, "its rows are not from the top left (%s)", lines[i]);
        check_refused(c, file, (size_t)n, words);
    }
    check_refused(c, TEXT(HEAD "-Y 0 +X 1\n"), "an empty picture: 1 x 0 pixels");
    check_refused(c, TEXT(HEAD "-Y 999999999 +X 1\n"),
                  "1 x 999999999 pixels are more than --max-pixels allows");
}

#define ONE "\x80\x80\x80\x81"

static void test_kept(void)
{
    static const char file[] =
        "#?RGBE\n# of f\nPIXASPECT=2\nEXPOSURE=2.0\nVIEW= -vp 1\n"
        "FORMAT=32-bit_rle_rgbe\nPIXASPECT= 0.8\nEXPOSURE=0.5\n\n-Y 1 +X 1\n" ONE;
    static const char turned[] =
        "#?RGBE\n# of f\nPIXASPECT=0.5\nEXPOSURE=2.0\nVIEW= -vp 1\n"
        "FORMAT=32-bit_rle_rgbe\nPIXASPECT=1.25\nEXPOSURE=0.5\n\n-Y 1 +X 1\n" ONE;
    check_rewritten(c, TEXT(file), "hdr", XFORM_ROTATE_180, TEXT(file));
    check_rewritten(c, TEXT(file), "hdr", XFORM_ROTATE_90, TEXT(turned));
    struct opened o = open_file(c, TEXT(file), NEUTRAL);
    struct warnings warnings = { 0 };
    struct bytes other = written(&codec_pfm, &o.img, "pfm", &warnings);
    CHECK(warnings.count == 1 &&
              !strcmp(warnings.list[0].text,
                      "PFM cannot hold, so it is not kept: header line, "
                      "PIXASPECT, EXPOSURE, VIEW"),
          "%s", warnings.list[0].text);
    bytes_free(&other);
    struct save_opts strip = { .suffix = "hdr", .strip = STRIP_METADATA,
                               .warnings = &warnings };
    static const char bare[] = "#?RGBE\nEXPOSURE=2.0\nFORMAT=32-bit_rle_rgbe\n"
                               "EXPOSURE=0.5\n\n-Y 1 +X 1\n" ONE;
    CHECK(c->encode(&other, &o.img, &strip, &o.err) == 0 &&
              other.size == sizeof bare - 1 &&
              !memcmp(other.data, bare, other.size),
          "%.*s", (int)other.size, (const char *)other.data);
    bytes_free(&other);
    close_file(&o);
}

/* All exponents that stb_image_write does not make black, and all mantissas, as
 * programs write them and not: the cells stay what they are. */
static void test_round_trips(void)
{
    uint64_t state = 7;
    for (unsigned width = 1; width < 300; width += width < 12 ? 1 : 97) {
        struct bytes file = { 0 };
        struct warnings warnings = { 0 };
        char head[128];
        int n = sprintf(head, HEAD "-Y 5 +X %u\n", width);
        bool good = bytes_append(&file, head, (size_t)n);
        for (unsigned i = 0; i < 5 * width && good; i++) {
            uint32_t r = (uint32_t)(test_random(&state) >> 32);
            uint8_t pixel[] = { r & 255, r >> 8 & 255, (r >> 16 & 255) | 2,
                                (uint8_t)(32 + (r >> 24) % 224) };
            if (i == 0)
                pixel[0] = 128; /* no sign of a coded row */
            good = bytes_append(&file, pixel, 4);
        }
        struct opened o = open_file(c, file.data, file.size, STRICT);
        CHECK(good && o.status == 0, "%s", o.err.text);
        struct bytes coded = written(c, &o.img, "hdr", &warnings);
        struct opened again = open_file(c, coded.data, coded.size, STRICT);
        CHECK(again.status == 0 && same_cells(&o.img, &again.img), "%u, %s",
              width, again.err.text);
        CHECK(warnings.count == 0, "%s", warnings.list[0].text);
        check_cuts(c, coded.data, width < 20 ? coded.size : 0, 0);
        close_file(&o);
        close_file(&again);
        bytes_free(&file);
        bytes_free(&coded);
    }
}

/* What floats become that are no pixels of an HDR, and what is said of it. */
static void becomes(float red, float green, double red_want, double green_want,
                    const char *said)
{
    struct warnings warnings = { 0 };
    struct image img = random_picture(CELL_F32, 0, COLOR_RGB, 3, 1, 1);
    *(float *)plane_row(&img.plane[0], 0) = red;
    *(float *)plane_row(&img.plane[1], 0) = green;
    *(float *)plane_row(&img.plane[2], 0) = 0;
    struct bytes file = written(c, &img, "hdr", &warnings);
    CHECK(warnings.count == (said != NULL) &&
              (!said || !strcmp(warnings.list[0].text, said)),
          "%g, %g: %u, %s", (double)red, (double)green, warnings.count,
          warnings.list[0].text);
    check_file(c, file.data, file.size, 1, 1, 3,
               SAMPLES(red_want, green_want, 0), NULL);
    bytes_free(&file);
    image_free(&img);
}

static void test_floats(void)
{
    static const char one[] =
        "1 samples are below or above what HDR can hold and are clipped";
    static const char two[] =
        "2 samples are below or above what HDR can hold and are clipped";
    static const char rounded[] =
        "1 samples have more than the 8 bits that HDR can hold and are rounded";
    becomes(1, 0.5f, 1, 0.5, NULL);
    becomes(0, 0, 0, 0, NULL);
    becomes(-1, 0.5f, 0, 0.5, one);
    becomes(NAN, -INFINITY, 0, 0, two);
    becomes(INFINITY, FLT_MAX, 255 * 0x1p119, 255 * 0x1p119, two);
    becomes(255 * 0x1p119f, 0, 255 * 0x1p119, 0, NULL);
    becomes(1e-33f, 1e-40f, 0, 0, two);
    becomes(1, 1 / 255.0f, 1, 1 / 128.0, rounded); /* to the nearer one */
    becomes(257 / 256.0f, 1, 129 / 128.0, 1, rounded);
    becomes(511 / 256.0f, 1, 255 / 128.0, 1, rounded); /* never up to 256 */
    becomes(1, 0x1p-20f, 1, 0, rounded);
}

int main(void)
{
    test_pixels();
    test_packets();
    test_damaged();
    test_headers_refused();
    test_kept();
    test_round_trips();
    test_floats();
    return test_end();
}
