/* PNM, PAM and PFM files that are written here by hand are read as they should
 * be. */
#include "codecs/simple/netpbm.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/encode.h"
#include "tests/support/codec_read.h"
#include "tests/support/compare.h"
#include "tests/support/test.h"

/* A file that is a literal, which may have NULs in it. */
#define FILE_OF(literal)                                                       \
    {                                                                          \
        (uint8_t *)(literal), sizeof(literal) - 1, 0                           \
    }

static struct err err;
static struct warnings warnings;

static struct load_opts careful(void)
{
    warnings.count = 0;
    return (struct load_opts){
        .limits = { .pixels = 1 << 20, .bytes = 1 << 26 },
        .mem = mem_plain,
        .warnings = &warnings,
    };
}

/* The file in memory of exactly its size, so that sanitizers see every byte
 * that is read past its end. */
static int load(struct image *img, const struct codec *codec, struct bytes file,
                struct load_opts opts)
{
    struct bytes exact = { malloc(file.size + !file.size), file.size, 0 };
    *img = (struct image){ 0 };
    err.text[0] = '\0';
    if (file.size)
        memcpy(exact.data, file.data, file.size);
    int status = -1;
    if (codec->probe(exact.data, exact.size))
        status = codec_read(codec, img, exact, &opts, &err);
    CHECK(status == 0 || (!img->cells && !img->meta), "%s", codec->name);
    free(exact.data);
    return status;
}

static int save(struct bytes *file, const struct codec *codec,
                const struct image *img, const char *suffix)
{
    struct save_opts opts = { .suffix = suffix, .warnings = &warnings };
    *file = (struct bytes){ 0 };
    err.text[0] = '\0';
    return encode_as(codec, file, img, &opts, &err);
}

static double cell_at(const struct image *img, unsigned i, uint32_t x,
                      uint32_t y)
{
    const void *row = plane_row(&img->plane[i], y);
    return img->cell == CELL_U8    ? ((const uint8_t *)row)[x]
           : img->cell == CELL_U16 ? ((const uint16_t *)row)[x]
                                   : ((const float *)row)[x];
}

/* ---- Files by hand --------------------------------------------------------*/

struct known {
    const struct codec *codec;
    struct bytes file;
    uint32_t width, height, maxval;
    unsigned nplanes;
    enum color color;
    bool alpha;
    double cells[12];   /* plane by plane */
    struct bytes again; /* how it is written, if not as it was */
};

static const struct known known[] = {
    { &codec_pnm,
      FILE_OF("P1\n3 2\n1 0 1\n010\n"),
      3,
      2,
      1,
      1,
      COLOR_GRAY,
      false,
      { 0, 1, 0, 1, 0, 1 },
      FILE_OF("P1\n3 2\n1 0 1\n0 1 0\n") },
    { &codec_pnm,
      FILE_OF("P1 3 1 # a\n1#b\n01#c"),
      3,
      1,
      1,
      1,
      COLOR_GRAY,
      false,
      { 0, 1, 0 },
      FILE_OF("P1\n# a\n#b\n#c\n3 1\n1 0 1\n") },
    { &codec_pnm,
      FILE_OF("P2\n2 2\n300\n0 1\n299 300\n"),
      2,
      2,
      300,
      1,
      COLOR_GRAY,
      false,
      { 0, 1, 299, 300 },
      FILE_OF("P2\n2 2\n300\n0 1\n299 300\n") },
    { &codec_pnm,
      FILE_OF("P3\n2 1\n15\n0 1 2 13 14 15"),
      2,
      1,
      15,
      3,
      COLOR_RGB,
      false,
      { 0, 13, 1, 14, 2, 15 },
      FILE_OF("P3\n2 1\n15\n0 1 2 13 14 15\n") },
    /* 10 columns are 2 bytes: 1011 0001, 01 and padding, which is dropped. */
    { &codec_pnm,
      FILE_OF("P4\n10 1\n\xb1\x7f"),
      10,
      1,
      1,
      1,
      COLOR_GRAY,
      false,
      { 0, 1, 0, 0, 1, 1, 1, 0, 1, 0 },
      FILE_OF("P4\n10 1\n\xb1\x40") },
    { &codec_pnm,
      FILE_OF("P5\n3 1\n255\n\x00\x80\xff"),
      3,
      1,
      255,
      1,
      COLOR_GRAY,
      false,
      { 0, 128, 255 },
      FILE_OF("") },
    { &codec_pnm,
      FILE_OF("P5\n2 1\n1\n\x00\x01"),
      2,
      1,
      1,
      1,
      COLOR_GRAY,
      false,
      { 0, 1 },
      FILE_OF("") },
    { &codec_pnm,
      FILE_OF("P5\n2 1\n1023\n\x03\xff\x01\x00"),
      2,
      1,
      1023,
      1,
      COLOR_GRAY,
      false,
      { 1023, 256 },
      FILE_OF("") },
    { &codec_pnm,
      FILE_OF("P5 1 2\n255# c\nAB"),
      1,
      2,
      255,
      1,
      COLOR_GRAY,
      false,
      { 'A', 'B' },
      FILE_OF("P5\n# c\n1 2\n255\nAB") },
    { &codec_pnm,
      FILE_OF("P6\n#one\n#\n2 1\n200\nabcdef"),
      2,
      1,
      200,
      3,
      COLOR_RGB,
      false,
      { 'a', 'd', 'b', 'e', 'c', 'f' },
      FILE_OF("P6\n#one\n#\n2 1\n200\nabcdef") },
    { &codec_pam,
      FILE_OF("P7\nWIDTH 1\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\n"
              "TUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nabcd"),
      1,
      2,
      255,
      2,
      COLOR_GRAY,
      true,
      { 'a', 'c', 'b', 'd' },
      FILE_OF("") },
    /* 1 is white, other than in PBM. */
    { &codec_pam,
      FILE_OF("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 1\n"
              "TUPLTYPE BLACKANDWHITE\nENDHDR\n\0\1"),
      2,
      1,
      1,
      1,
      COLOR_GRAY,
      false,
      { 0, 1 },
      FILE_OF("") },
    { &codec_pam,
      FILE_OF("P7\n# c\nDEPTH\t4\n\nMAXVAL 65535\nWIDTH 1\nHEIGHT 1\n"
              "TUPLTYPE\tRGB_ALPHA \nENDHDR \r\n\1\2\3\4\5\6\7\x08"),
      1,
      1,
      65535,
      4,
      COLOR_RGB,
      true,
      { 0x102, 0x304, 0x506, 0x708 },
      FILE_OF("P7\n# c\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 65535\n"
              "TUPLTYPE RGB_ALPHA\nENDHDR\n\1\2\3\4\5\6\7\x08") },
    { &codec_pam,
      FILE_OF("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 9\n"
              "TUPLTYPE my\nTUPLTYPE own\nENDHDR\n\1\2\3\4\5"),
      1,
      1,
      9,
      5,
      COLOR_OTHER,
      false,
      { 1, 2, 3, 4, 5 },
      FILE_OF("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 9\n"
              "TUPLTYPE my own\nENDHDR\n\1\2\3\4\5") },
    { &codec_pam, /* three channels are no GRAYSCALE */
      FILE_OF("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 9\n"
              "TUPLTYPE GRAYSCALE\nENDHDR\n\1\2\3"),
      1,
      1,
      9,
      3,
      COLOR_OTHER,
      false,
      { 1, 2, 3 },
      FILE_OF("") },
    /* The bottom row comes first. 1.0f is 3f800000, -2.5f c0200000. */
    { &codec_pfm,
      FILE_OF("Pf\n1 2\n-1.0\n\x00\x00\x80\x3f\x00\x00\x20\xc0"),
      1,
      2,
      0,
      1,
      COLOR_GRAY,
      false,
      { -2.5, 1 },
      FILE_OF("") },
    { &codec_pfm,
      FILE_OF("PF\n1 1\n0.25\n\x3f\x80\x00\x00\xc0\x20\x00\x00\x49\x74\x24"
              "\x00"),
      1,
      1,
      0,
      3,
      COLOR_RGB,
      false,
      { 1, -2.5, 1e6 },
      FILE_OF("") },
};
enum { KNOWN = sizeof known / sizeof *known };

static bool right_cells(const struct image *img, const double *cells)
{
    for (unsigned i = 0; i < img->nplanes; i++)
        for (uint32_t y = 0; y < img->height; y++)
            for (uint32_t x = 0; x < img->width; x++)
                if (cell_at(img, i, x, y) != *cells++)
                    return false;
    return true;
}

TEST(known)
{
    for (size_t i = 0; i < KNOWN; i++) {
        const struct known *k = &known[i];
        struct image img;
        struct bytes again;
        if (load(&img, k->codec, k->file, careful())) {
            CHECK(false, "file %zu: %s", i, err.text);
            continue;
        }
        CHECK(img.width == k->width && img.height == k->height, "file %zu", i);
        CHECK(img.maxval == k->maxval, "file %zu", i);
        CHECK(img.nplanes == k->nplanes, "file %zu", i);
        CHECK(img.color == k->color && img.alpha == k->alpha, "file %zu", i);
        CHECK(right_cells(&img, k->cells), "file %zu", i);
        CHECK(warnings.count == 0, "file %zu: %s", i, warnings.list[0].text);
        struct bytes want = k->again.size ? k->again : k->file;
        CHECK(!save(&again, k->codec, &img, ""), "file %zu: %s", i, err.text);
        CHECK(again.size == want.size &&
                  !memcmp(again.data, want.data, want.size),
              "file %zu: %.*s", i, (int)again.size, again.data);
        bytes_free(&again);
        image_free(&img);
    }
}

/* ---- What is refused ------------------------------------------------------*/

TEST(refused)
{
    static const struct {
        const struct codec *codec;
        struct bytes file;
    } cases[] = {
        { &codec_pnm, FILE_OF("P5\n1 1\n0\nA") },
        { &codec_pnm, FILE_OF("P5\n1 1\n65536\nAB") },
        { &codec_pnm, FILE_OF("P5\n0 1\n255\n") },
        { &codec_pnm, FILE_OF("P5\n-1 1\n255\nA") },
        { &codec_pnm, FILE_OF("P5\n99999999999999999999 1\n255\nA") },
        { &codec_pnm, FILE_OF("P5\n2147483647 2147483647\n255\nA") },
        { &codec_pnm, FILE_OF("P5\n1 1\n100\n\x65") },
        { &codec_pnm, FILE_OF("P5\n1 1\n1000\n\x03\xe9") },
        { &codec_pnm, FILE_OF("P2\n1 1\n100\n101\n") },
        { &codec_pnm, FILE_OF("P2\n1 1\n100\nx\n") },
        { &codec_pnm, FILE_OF("P1\n1 1\n2\n") },
        { &codec_pnm, FILE_OF("P5\n1 1\n255\nAP5\n1 1\n255\nB") },
        { &codec_pnm, FILE_OF("P2\n1 1\n255\n1 2\n") },
        { &codec_pam, FILE_OF("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nENDHDR\nA") },
        { &codec_pam, FILE_OF("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 65\nMAXVAL 1\n"
                              "ENDHDR\nA") },
        { &codec_pam, FILE_OF("P7\nWIDTH 1\nWIDTH 1\nHEIGHT 1\nDEPTH 1\n"
                              "MAXVAL 255\nENDHDR\nA") },
        { &codec_pam, FILE_OF("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\n"
                              "COLOR 1\nENDHDR\nA") },
        { &codec_pfm, FILE_OF("Pf\n1 1\n0\n\0\0\0\0") },
        { &codec_pfm, FILE_OF("Pf\n1 1\nnan\n\0\0\0\0") },
        { &codec_pfm, FILE_OF("Pf\n1 1\n-1.0x\n\0\0\0\0") },
        { &codec_pfm, FILE_OF("Pf\n1 1\n-1.0\n\0\0\0\0\1") },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct image img;
        int status = load(&img, cases[i].codec, cases[i].file, careful());
        CHECK(status && *err.text, "file %zu: %.*s", i, (int)cases[i].file.size,
              cases[i].file.data);
        image_free(&img);
    }
}

/* Cut off anywhere, a file of bytes is refused, and one of text is either
 * refused or loses what no reader could miss: the last digit or newline. */
TEST(cut)
{
    for (size_t i = 0; i < KNOWN; i++)
        for (size_t size = 0; size < known[i].file.size; size++) {
            struct bytes file = { known[i].file.data, size, 0 };
            bool text = strchr("123", file.data[1]) != NULL;
            struct image img;
            int status = load(&img, known[i].codec, file, careful());
            CHECK(status || (text && size + 4 >= known[i].file.size),
                  "file %zu, %zu bytes", i, size);
            image_free(&img);
            struct load_opts tolerant = careful();
            tolerant.tolerant = true;
            status = load(&img, known[i].codec, file, tolerant);
            CHECK(status || text || warnings.count > 0, "file %zu, %zu bytes",
                  i, size);
            image_free(&img);
        }
}

/* Any byte changed to any other: no crash, and what is read can be written. */
TEST(changed)
{
    for (size_t i = 0; i < KNOWN; i++)
        for (size_t at = 0; at < known[i].file.size; at++)
            for (unsigned value = 0; value < 256; value++) {
                uint8_t data[256];
                struct bytes file = { data, known[i].file.size, 0 }, again;
                struct image img;
                memcpy(data, known[i].file.data, file.size);
                data[at] = (uint8_t)value;
                struct load_opts tolerant = careful();
                tolerant.tolerant = value & 1;
                tolerant.portable = value & 2;
                if (load(&img, known[i].codec, file, tolerant) == 0) {
                    CHECK(!save(&again, known[i].codec, &img, ""),
                          "file %zu, byte %zu, %u: %s", i, at, value, err.text);
                    bytes_free(&again);
                }
                image_free(&img);
            }
}

TEST(tolerant)
{
    struct load_opts tolerant = careful();
    struct image img;
    tolerant.tolerant = true;
    struct bytes over = FILE_OF("P5\n3 1\n100\n\x01\xff\x02");
    CHECK(!load(&img, &codec_pnm, over, tolerant), "%s", err.text);
    CHECK(right_cells(&img, (double[]){ 1, 100, 2 }), "clipped");
    CHECK(warnings.count == 1, "%u", warnings.count);
    image_free(&img);
    warnings.count = 0;
    struct bytes text = FILE_OF("P2\n3 1\n1000\n1 2000 2\n");
    CHECK(!load(&img, &codec_pnm, text, tolerant), "%s", err.text);
    CHECK(right_cells(&img, (double[]){ 1, 1000, 2 }), "clipped");
    CHECK(warnings.count == 1, "%u", warnings.count);
    image_free(&img);
    warnings.count = 0;
    struct bytes cut = FILE_OF("P2\n3 1\n255\n7\n");
    CHECK(!load(&img, &codec_pnm, cut, tolerant), "%s", err.text);
    CHECK(right_cells(&img, (double[]){ 7, 0, 0 }), "completed");
    CHECK(warnings.count == 1, "%u", warnings.count);
    image_free(&img);
}

/* ---- Round trips ----------------------------------------------------------*/

static void fill(struct image *img, uint64_t *state)
{
    for (unsigned i = 0; i < img->nplanes; i++)
        for (uint32_t y = 0; y < img->height; y++) {
            void *row = plane_row(&img->plane[i], y);
            for (uint32_t x = 0; x < img->width; x++) {
                uint64_t r = test_random(state) >> 20;
                if (img->cell == CELL_U8)
                    ((uint8_t *)row)[x] = (uint8_t)(r % (img->maxval + 1));
                else if (img->cell == CELL_U16)
                    ((uint16_t *)row)[x] = (uint16_t)(r % (img->maxval + 1));
                else
                    ((float *)row)[x] = (float)(int32_t)r / 64;
            }
        }
}

static void check_trip(const struct codec *codec, uint32_t maxval,
                       unsigned nplanes, uint32_t width, bool ascii)
{
    struct netpbm_state text = { .digit = 1 };
    struct meta meta = { .codec = codec, .state = &text };
    struct image img = {
        .cell = !maxval        ? CELL_F32
                : maxval > 255 ? CELL_U16
                               : CELL_U8,
        .color = nplanes == 5  ? COLOR_OTHER
                 : nplanes > 2 ? COLOR_RGB
                               : COLOR_GRAY,
        .alpha = nplanes == 2 || nplanes == 4,
        .width = width,
        .height = 5,
        .maxval = maxval,
        .nplanes = nplanes,
    };
    struct image back;
    struct bytes file;
    uint64_t state = maxval * 64 + width + nplanes;
    if (image_alloc(&img, mem_plain, &err)) {
        CHECK(false, "%s", err.text);
        return;
    }
    fill(&img, &state);
    img.meta = ascii ? &meta : NULL;
    CHECK(!save(&file, codec, &img, ""), "%s", err.text);
    img.meta = NULL;
    struct load_opts opts = careful();
    opts.layout = LAYOUT_HWC;
    int status = load(&back, codec, file, opts);
    CHECK(!status && same_cells(&img, &back),
          "%s, maxval %u, %u planes, %u wide: %s", codec->name, maxval, nplanes,
          width, err.text);
    CHECK(status || (back.color == img.color && back.alpha == img.alpha),
          "%s, maxval %u, %u planes", codec->name, maxval, nplanes);
    if (ascii)
        for (size_t i = 0, column = 0; i < file.size; i++) {
            column = file.data[i] == '\n' ? 0 : column + 1;
            if (column > 70) {
                CHECK(false, "a line of more than 70 characters");
                break;
            }
        }
    image_free(&back);
    image_free(&img);
    bytes_free(&file);
}

TEST(trips)
{
    static const uint32_t maxvals[] = { 1,   2,    15,   100,   255,
                                        256, 1023, 4095, 65534, 65535 };
    static const uint32_t widths[] = { 1, 7, 8, 9, 63, 64, 65, 257 };
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t m = 0; m < sizeof maxvals / sizeof *maxvals; m++) {
            for (unsigned n = 1; n <= 3; n += 2) {
                check_trip(&codec_pnm, maxvals[m], n, widths[w], false);
                check_trip(&codec_pnm, maxvals[m], n, widths[w], true);
            }
            for (unsigned n = 1; n <= 5; n++)
                check_trip(&codec_pam, maxvals[m], n, widths[w], false);
        }
        for (unsigned n = 1; n <= 5; n++) {
            check_trip(&codec_npy, 255, n, widths[w], false);
            check_trip(&codec_npy, 65535, n, widths[w], false);
            check_trip(&codec_npy, 0, n, widths[w], false);
        }
        check_trip(&codec_pfm, 0, 1, widths[w], false);
        check_trip(&codec_pfm, 0, 3, widths[w], false);
    }
}

/* ---- What the name asks for -----------------------------------------------*/

static void check_suffix(struct bytes file, const char *suffix,
                         struct bytes want)
{
    struct image img;
    struct bytes got;
    if (load(&img, &codec_pnm, file, careful())) {
        CHECK(false, "%s", err.text);
        return;
    }
    int status = save(&got, &codec_pnm, &img, suffix);
    if (!want.size)
        CHECK(status && *err.text, ".%s", suffix);
    else
        CHECK(!status && got.size == want.size &&
                  !memcmp(got.data, want.data, want.size),
              ".%s: %s%.*s", suffix, err.text, (int)got.size, got.data);
    bytes_free(&got);
    image_free(&img);
}

TEST(suffixes)
{
    const struct bytes bits = FILE_OF("P4\n2 1\n\x40"), none = FILE_OF(""),
                       gray = FILE_OF("P5\n2 1\n9\n\1\2"),
                       text = FILE_OF("P1\n2 1\n01\n"),
                       color = FILE_OF("P6\n1 1\n9\n\1\2\3");
    check_suffix(bits, "pbm", bits);
    check_suffix(bits, "pnm", bits);
    check_suffix(bits, "pgm", (struct bytes)FILE_OF("P5\n2 1\n1\n\1\0"));
    check_suffix(bits, "PPM",
                 (struct bytes)FILE_OF("P6\n2 1\n1\n\1\1\1\0\0\0"));
    check_suffix(text, "pgm", (struct bytes)FILE_OF("P2\n2 1\n1\n1 0\n"));
    check_suffix(gray, "pbm", none);
    check_suffix(gray, "pgm", gray);
    check_suffix(gray, "ppm",
                 (struct bytes)FILE_OF("P6\n2 1\n9\n\1\1\1\2\2\2"));
    check_suffix(color, "pbm", none);
    check_suffix(color, "pgm", none);
    check_suffix(color, "pnm", color);
}

/* From another format a comment comes as one text. */
TEST(comment)
{
    struct bytes gray = FILE_OF("P5\n# a\n#b\n1 1\n9\n\1"), file;
    struct load_opts portable = careful();
    struct image img;
    portable.portable = true;
    CHECK(!load(&img, &codec_pnm, gray, portable), "%s", err.text);
    CHECK(img.meta->comment.size == 3 &&
              !memcmp(img.meta->comment.data, "a\nb", 3),
          "%.*s", (int)img.meta->comment.size, img.meta->comment.data);
    bytes_append(&img.meta->comment, "\r\n\n#c", 5);
    static const char want[] = "P7\n# a\n# b\n# #c\nWIDTH 1\nHEIGHT 1\n"
                               "DEPTH 1\nMAXVAL 9\nTUPLTYPE GRAYSCALE\n"
                               "ENDHDR\n\1";
    CHECK(!save(&file, &codec_pam, &img, ""), "%s", err.text);
    CHECK(file.size == sizeof want - 1 && !memcmp(file.data, want, file.size),
          "%.*s", (int)file.size, file.data);
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
    bytes_free(&file);
    CHECK(!save(&file, &codec_npy, &img, ""), "%s", err.text);
    CHECK(warnings.count == 1, "%u", warnings.count);
    bytes_free(&file);
    image_free(&img);
}
