/* HDR files keep exact values and the order of their header, and a cut file is
 * neither overlooked nor read forever. */
#include <float.h>
#include <math.h>

#include "tests/support/formats.h"

#define HEAD "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n"

static const struct codec *const c = &codec_hdr;

/* What a file is to other formats. */
static void floats_are(const void *file, size_t size, uint32_t width,
                       uint32_t height, const double *want, const char *said)
{
    check_file_read(c, PORTABLE, file, size, width, height, 3, want, said);
}

static void tolerated(const void *file, size_t size, uint32_t width,
                      uint32_t height, const double *want)
{
    check_file_read(c, PORTABLE | TOLERANT, file, size, width, height, 3, want,
                    CUT);
}

/* A pixel is three mantissas of 8 bits and an exponent: m * 2^(e - 136). */
TEST(pixels)
{
    floats_are(TEXT(HEAD "-Y 1 +X 3\n\x80\x40\xff\x81"
                         "\xff\x00\x80\x88"
                         "\x80\x01\x00\x80"),
               3, 1,
               SAMPLES(1, 0.5, 255 / 128.0, 255, 0, 128, 0.5, 1 / 256.0, 0),
               NULL);
    /* The largest, the smallest, and black, whose mantissas mean nothing. */
    floats_are(TEXT(HEAD "-Y 2 +X 2\n\xff\x80\0\xff\x80\0\0\1"
                         "\0\0\0\0\7\7\7\0"),
               2, 2,
               SAMPLES(255 * 0x1p119, 128 * 0x1p119, 0, 0x1p-128, 0, 0, 0, 0, 0,
                       0, 0, 0),
               NULL);
    floats_are(TEXT("#?RGBE\n# a\nFORMAT=32-bit_rle_rgbe\nX=\n\n"
                    "-Y 1 +X 1\n\x80\x80\x80\x81"),
               1, 1, SAMPLES(1, 1, 1), NULL);
}

#define ROW "\2\2\0\x0a"

/* Each component of a row is coded for itself, as runs and literals. */
TEST(packets)
{
    double want[2 * 10 * 3];
    for (int i = 0; i < 60; i++)
        want[i] = i % 3 ? 1 : 0.5;
    want[0] = 1;
    want[30 + 9 * 3] = 255 / 128.0;
    static const char file[] =
        HEAD "-Y 2 +X 10\n" ROW "\1\x80\x89\x40"
             "\x8a\x80\x85\x80\5\x80\x80\x80\x80\x80"
             "\x8a\x81" ROW "\x89\x40\1\xff\x8a\x80\x8a\x80\x8a\x81";
    floats_are(TEXT(file), 10, 2, want, NULL);
    check_cuts(c, TEXT(file), 0);
    check_hostile(c, TEXT(file), sizeof file - 1);
    /* A row of 8 and more may also be plain. */
    for (int i = 0; i < 30; i++)
        want[i] = i % 3 ? 0 : 1;
    floats_are(TEXT(HEAD "-Y 1 +X 10\n\x80\0\0\x81\x80\0\0\x81\x80\0\0\x81"
                         "\x80\0\0\x81\x80\0\0\x81\x80\0\0\x81\x80\0\0\x81"
                         "\x80\0\0\x81\x80\0\0\x81\x80\0\0\x81"),
               10, 1, want, NULL);
}

/* The run of before 1991 repeats a pixel; what follows it at once counts 256
 * times as much. Rows of both ways may stand in one file. */
TEST(old_runs)
{
    static double want[2 * 600 * 3];
    for (int i = 0; i < 2 * 600 * 3; i++)
        want[i] = i % 3 ? 0 : i / 3 % 600 < 599 ? 1 : 2;
    static const char row[] = "\x80\0\0\x81\1\1\1\x56\1\1\1\2\x80\0\0\x82";
    char file[256];
    int n = sprintf(file, HEAD "-Y 2 +X 600\n");
    memcpy(file + n, row, 16);
    memcpy(file + n + 16, row, 16);
    floats_are(file, (size_t)n + 32, 600, 2, want, NULL);
    check_hostile(c, file, (size_t)n + 32, (size_t)n + 32);
    for (int i = 0; i < 2 * 10 * 3; i++)
        want[i] = i % 3 ? 0 : 1;
    floats_are(TEXT(HEAD "-Y 2 +X 10\n\x80\0\0\x81\1\1\1\x09" ROW
                         "\x8a\x80\x8a\0\x8a\0\x8a\x81"),
               10, 2, want, NULL);
}

TEST(damaged)
{
    static const char plain[] = HEAD "-Y 2 +X 2\n\x80\x80\x80\x81"
                                     "\x80\x80\x80\x82\x80\x80\x80\x83"
                                     "\x80\x80\x80\x84";
    check_cuts(c, TEXT(plain), 0);
    check_hostile(c, TEXT(plain), sizeof plain - 1);
    tolerated(plain, sizeof plain - 2, 2, 2,
              SAMPLES(1, 1, 1, 2, 2, 2, 0, 0, 0, 0, 0, 0));
    double want[2 * 8 * 3] = { 0 };
    for (int i = 0; i < 24; i++)
        want[i] = 1;
#define GOOD "\2\2\0\x08\x88\x80\x88\x80\x88\x80\x88\x81"
    tolerated(TEXT(HEAD "-Y 2 +X 8\n" GOOD "\2\2\0\x08\x88"), 8, 2, want);
    tolerated(TEXT(HEAD "-Y 2 +X 8\n" GOOD "\x80\x80\x80\x81"), 8, 2, want);
    tolerated(TEXT(HEAD "-Y 2 +X 8\n" GOOD "\2\2\0\x08\x89"), 8, 2, want);
    REFUSED(c, HEAD "-Y 2 +X 8\n" GOOD "\2\2\0\x08\x88", "cut short in row 1");
    REFUSED(c, HEAD "-Y 1 +X 8\n\2\2\0\x08\0\0\0\0\0\0\0\0\0\0",
            "row 0 is malformed");
    REFUSED(c, HEAD "-Y 1 +X 8\n\2\2\0\x08\x89\x80\x88\x80",
            "row 0 is malformed");
    REFUSED(c, HEAD "-Y 1 +X 8\n\2\2\0\x09\x89\x80\x89\x80",
            "row 0 is malformed");
    REFUSED(c, HEAD "-Y 2 +X 8\n" GOOD "\x80\x80\x80\x81",
            "cut short in row 1");
    /* A run of before 1991 needs a pixel before it, and ends with the row. */
    REFUSED(c, HEAD "-Y 1 +X 2\n\1\1\1\1\x80\x80\x80\x81",
            "row 0 is malformed");
    REFUSED(c, HEAD "-Y 1 +X 2\n\x80\x80\x80\x81\1\1\1\2",
            "row 0 is malformed");
    floats_are(TEXT(HEAD "-Y 1 +X 1\n\x80\x80\x80\x81more"), 1, 1,
               SAMPLES(1, 1, 1), "4 bytes after the picture are not kept");
}

TEST(headers_refused)
{
#define FORMAT "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n"
    REFUSED(c, "#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\n",
            "its pixels are '32-bit_rle_xyze'; only 32-bit_rle_rgbe can "
            "be read");
    REFUSED(c, "#?RADIANCE\nFORMAT=\n\n-Y 1 +X 1\n",
            "its pixels are ''; only 32-bit_rle_rgbe can be read");
    REFUSED(c, "#?RADIANCE\n\n-Y 1 +X 1\nabcd", "its header has no FORMAT");
    REFUSED(c, FORMAT "A", "its header has no end");
    REFUSED(c, FORMAT "A\0\n\n-Y 1 +X 1\nabcd", "its header is malformed");
    REFUSED(c, HEAD, "its header has no size");
    static const char *const lines[] = {
        "-Y 1 +Y 1",   "+X 1 -X 1", "Y 1 +X 1",  "-Y 1 +X 1x",
        "-Y 1 +X 1 2", "-Y 1",      "-Y x +X 1", "1 1",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        char file[128], words[128];
        int n = sprintf(file, HEAD "%s\nabcdabcd", lines[i]);
        sprintf(words, "its size is malformed (%s)", lines[i]);
        check_refused(c, file, (size_t)n, words);
    }
    REFUSED(c, HEAD "-Y 0 +X 1\n", "an empty picture: 1 x 0 pixels");
    REFUSED(c, HEAD "-Y 999999999 +X 1\n",
            "1 x 999999999 pixels are more than the 65536 of "
            "--max-pixels; --max-pixels 1000M allows them");
}

#define ONE "\x80\x80\x80\x81"

TEST(kept)
{
    static const char file[] =
        "#?RGBE\n# of f\nPIXASPECT=2\nEXPOSURE=2.0\nVIEW= -vp 1\n"
        "FORMAT=32-bit_rle_rgbe\nPIXASPECT= 0.8\nEXPOSURE=0.5\n\n-Y 1 +X "
        "1\n" ONE;
    static const char turned[] =
        "#?RGBE\n# of f\nPIXASPECT=0.5\nEXPOSURE=2.0\nVIEW= -vp 1\n"
        "FORMAT=32-bit_rle_rgbe\nPIXASPECT=1.25\nEXPOSURE=0.5\n\n-Y 1 +X "
        "1\n" ONE;
    check_rewritten(c, TEXT(file), "hdr", XFORM_ROTATE_180, TEXT(file));
    check_rewritten(c, TEXT(file), "hdr", XFORM_ROTATE_90, TEXT(turned));
    struct opened o = open_file(c, TEXT(file), PORTABLE);
    struct warnings warnings = { 0 };
    struct bytes other = written(&codec_pfm, &o.img, "pfm", &warnings);
    CHECK(warnings.count == 1 &&
              !strcmp(warnings.list[0].text,
                      "PFM cannot hold, so it is not kept: header line, "
                      "PIXASPECT, EXPOSURE, VIEW"),
          "%s", warnings.list[0].text);
    bytes_free(&other);
    struct save_opts strip = { .suffix = "hdr",
                               .strip = STRIP_METADATA,
                               .warnings = &warnings };
    static const char bare[] = "#?RGBE\nEXPOSURE=2.0\nFORMAT=32-bit_rle_rgbe\n"
                               "EXPOSURE=0.5\n\n-Y 1 +X 1\n" ONE;
    CHECK(encode_as(c, &other, &o.img, &strip, &o.err) == 0 &&
              other.size == sizeof bare - 1 &&
              !memcmp(other.data, bare, other.size),
          "%.*s", (int)other.size, (const char *)other.data);
    bytes_free(&other);
    close_file(&o);
}

/* A file of pixels whose first one does not mark a coded row. */
static struct bytes make_file(const char *size, const uint8_t *pixels, size_t n)
{
    static const uint8_t first[] = { 128, 0, 0, 129 };
    struct bytes file = { 0 };
    must(bytes_append(&file, HEAD, sizeof HEAD - 1) &&
         bytes_append(&file, size, strlen(size)) &&
         bytes_append(&file, first, 4) && bytes_append(&file, pixels, 4 * n));
    return file;
}

/* Read in this way, it is written again without a word, and is the same. */
static void same_again(struct bytes file, int how)
{
    struct warnings warnings = { 0 };
    struct opened o = open_file(c, file.data, file.size, how);
    CHECK(o.status == 0, "%s", o.err.text);
    owned_bytes coded = written(c, &o.img, "hdr", &warnings);
    struct opened again = open_file(c, coded.data, coded.size, how);
    CHECK(again.status == 0 && same_cells(&o.img, &again.img), "%u, %s",
          o.img.width, again.err.text);
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
    check_cuts(c, coded.data, o.img.width < 20 ? coded.size : 0, 0);
    close_file(&o);
    close_file(&again);
}

/* Pixels as they are stored, and as floats, stay what they are: all exponents
 * and mantissas, as programs write them and not, with runs and without. */
TEST(round_trips)
{
    uint64_t state = 7;
    for (unsigned width = 1; width < 300; width += width < 30 ? 1 : 97) {
        uint8_t pixels[4 * 5 * 300];
        char size[32];
        for (unsigned i = 0; i < 4 * 5 * width; i += 4) {
            uint32_t r = (uint32_t)(test_random(&state) >> 32);
            bool same = i > 0 && r >> 29 > state % 8; /* runs of any length */
            for (unsigned k = 0; k < 4; k++)
                pixels[i + k] =
                    same && k % 2 ? pixels[i + k - 4] : (uint8_t)(r >> 8 * k);
            if (pixels[i] == 1)
                pixels[i] = 2; /* no sign of a run */
        }
        sprintf(size, "-Y 5 +X %u\n", width);
        owned_bytes file = make_file(size, pixels, 5 * width - 1);
        same_again(file, STRICT);
        same_again(file, PORTABLE);
    }
}

/* Floats that an HDR can hold are the same in one that they are converted to,
 * in rows of all widths: with runs and without. */
TEST(converted)
{
    uint64_t state = 7;
    for (unsigned width = 1; width < 600; width += width < 20 ? 1 : 97) {
        struct warnings warnings = { 0 };
        owned_image img = random_picture(CELL_F32, 0, COLOR_RGB, 3, width, 2);
        struct err err;
        for (unsigned i = 0; i < 3 * 2 * width; i++) {
            float *row = plane_row(&img.plane[i % 3], i / 3 / width);
            uint32_t r = (uint32_t)(test_random(&state) >> 32);
            row[i / 3 % width] =
                ldexpf((float)(r & 255 & (i / 3 % 5 ? ~0u : 7)),
                       (int)((i / 30 * 37) % 200) - 100);
        }
        owned_bytes file = written(c, &img, "hdr", &warnings);
        struct opened o = open_file(c, file.data, file.size, PORTABLE);
        CHECK(o.status == 0 && same_cells(&o.img, &img), "%u, %s", width,
              o.err.text);
        CHECK(warnings.count == 0, "%s", warnings.list[0].text);
        CHECK(c->check(file, &img, NULL, &err) == 0, "%s", err.text);
        close_file(&o);
    }
}

/* In rows that are not coded, mantissas of 1, 1, 1 need another form. */
TEST(ones)
{
    struct warnings warnings = { 0 };
    struct opened o = open_file(c,
                                TEXT(HEAD "-Y 1 +X 3\n\x80\0\0\x81"
                                          "\x80\0\0\x81\x80\0\0\x81"),
                                STRICT);
    for (unsigned i = 0; i < 4; i++) {
        uint8_t *row = plane_row(&o.img.plane[i], 0);
        row[1] = row[2] = 1;
        row[1] = i == 3 ? 0x89 : 1;
    }
    owned_bytes file = written(c, &o.img, "hdr", &warnings);
    CHECK(warnings.count == 1 && !strcmp(warnings.list[0].text,
                                         "3 samples are below or above what "
                                         "HDR can hold and are clipped"),
          "%s", warnings.list[0].text);
    floats_are(file.data, file.size, 3, 1, SAMPLES(1, 0, 0, 2, 2, 2, 0, 0, 0),
               NULL);
    close_file(&o);
}

/* The order of the pixels is an orientation, which is folded into the turn or
 * left as it is. */
TEST(orders)
{
    static const char *const sizes[] = {
        "-Y 1 +X 1\n", "-Y 1 -X 1\n", "+Y 1 -X 1\n", "+Y 1 +X 1\n",
        "+X 1 -Y 1\n", "-X 1 -Y 1\n", "-X 1 +Y 1\n", "+X 1 +Y 1\n",
    };
    for (unsigned i = 1; i <= 8; i++) {
        struct warnings warnings = { 0 };
        struct bytes file = make_file(sizes[i - 1], NULL, 0), left = { 0 };
        struct opened o = open_file(c, file.data, file.size, STRICT);
        CHECK(o.status == 0 && o.img.orientation == i, "%s: %u", o.err.text,
              o.img.orientation);
        left = written(c, &o.img, "hdr", &warnings);
        CHECK(left.size == file.size &&
                  !memcmp(left.data, file.data, left.size),
              "%.*s", (int)left.size, (const char *)left.data);
        bytes_free(&left);
        struct save_opts upright = { .suffix = "hdr",
                                     .orientation = 1,
                                     .warnings = &warnings };
        CHECK(encode_as(c, &left, &o.img, &upright, &o.err) == 0, "%s",
              o.err.text);
        memcpy(file.data + sizeof HEAD - 1, sizes[0], strlen(sizes[0]));
        CHECK(left.size == file.size &&
                  !memcmp(left.data, file.data, left.size),
              "%.*s", (int)left.size, (const char *)left.data);
        bytes_free(&left);
        bytes_free(&file);
        close_file(&o);
    }
}

/* What floats become that are no pixels of an HDR, and what is said of it. */
static void becomes(float red, float green, double red_want, double green_want,
                    const char *said)
{
    struct warnings warnings = { 0 };
    owned_image img = random_picture(CELL_F32, 0, COLOR_RGB, 3, 1, 1);
    *(float *)plane_row(&img.plane[0], 0) = red;
    *(float *)plane_row(&img.plane[1], 0) = green;
    *(float *)plane_row(&img.plane[2], 0) = 0;
    owned_bytes file = written(c, &img, "hdr", &warnings);
    CHECK(warnings.count == (said != NULL) &&
              (!said || !strcmp(warnings.list[0].text, said)),
          "%g, %g: %u, %s", (double)red, (double)green, warnings.count,
          warnings.list[0].text);
    floats_are(file.data, file.size, 1, 1, SAMPLES(red_want, green_want, 0),
               NULL);
}

TEST(floats)
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
    becomes(0x1p-106f, 0x1p-113f, 0x1p-106, 0x1p-113, NULL);
    becomes(0x3p-115f, 0x1p-106f, 0x1p-113, 0x1p-106, rounded);
    becomes(0x1p-107f, 0x1p-110f, 0x1p-107, 0x1p-110, NULL);
    becomes(0x1p-107f, 1, 0, 1, rounded);
    becomes(1, 1 / 255.0f, 1, 1 / 128.0, rounded); /* to the nearer one */
    becomes(257 / 256.0f, 1, 129 / 128.0, 1, rounded);
    becomes(511 / 256.0f, 1, 255 / 128.0, 1, rounded); /* never up to 256 */
    becomes(1, 0x1p-20f, 1, 0, rounded);
}
