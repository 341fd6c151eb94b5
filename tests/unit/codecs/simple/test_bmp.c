/* BMP files of every layout are read, keep what they say when they are written
 * again, and a cut file is never taken for a whole one. */
#include "codecs/simple/simple.h"

#include "tests/support/formats.h"

static const char cut[] = "cut short, read as far as it goes";

/* The fields of a BMP that the tests vary. */
struct bmp {
    uint32_t header; /* its size; 0: 40 */
    int32_t width, height;
    unsigned bits;
    uint32_t coding, colors;
    const char *palette; /* and masks: what stands before the pixels */
    size_t palette_size;
    const char *pixels;
    size_t pixels_size;
};

static struct bytes make_bmp(struct bmp b)
{
    struct bytes file = { 0 };
    uint8_t head[14 + 124] = "BM";
    uint32_t size = b.header ? b.header : 40;
    write_le32(head + 10, (uint32_t)(14 + size + b.palette_size));
    write_le32(head + 14, size);
    if (size == 12) {
        write_le16(head + 18, (unsigned)b.width);
        write_le16(head + 20, (unsigned)b.height);
        write_le16(head + 22, 1);
        write_le16(head + 24, b.bits);
    } else {
        write_le32(head + 18, (uint32_t)b.width);
        write_le32(head + 22, (uint32_t)b.height);
        write_le16(head + 26, 1);
        write_le16(head + 28, b.bits);
        write_le32(head + 30, b.coding);
        write_le32(head + 46, b.colors);
    }
    if (size > 40 && b.coding == 3) { /* the masks are in the header */
        memcpy(head + 54, b.palette, b.palette_size);
        write_le32(head + 10, 14 + size);
        b.palette_size = 0;
    }
    must(bytes_append(&file, head, 14 + size));
    must(bytes_append(&file, b.palette, b.palette_size));
    must(bytes_append(&file, b.pixels, b.pixels_size));
    return file;
}

static void bmp_is(struct bmp b, unsigned nplanes, const double *want,
                   const char *said)
{
    struct bytes file = make_bmp(b);
    uint32_t height = (uint32_t)(b.height < 0 ? -b.height : b.height);
    check_file(&codec_bmp, file.data, file.size, (uint32_t)b.width, height,
               nplanes, want, said);
    check_cuts(&codec_bmp, file.data, file.size, 0);
    bytes_free(&file);
}

static void bmp_refused(struct bmp b, const char *words)
{
    struct bytes file = make_bmp(b);
    check_refused(&codec_bmp, file.data, file.size, words);
    bytes_free(&file);
}

/* Three colors: 1 2 3, 4 5 6 and 7 8 9, blue first. */
#define PALETTE           "\3\2\1\0\6\5\4\0\x09\x08\x07\0"
#define CORE_PALETTE      "\3\2\1\6\5\4\x09\x08\x07"
#define BYTES(name, text) .name = text, .name##_size = sizeof text - 1

TEST(bmp_palettes)
{
    static const char said[] = "its palette is not kept, only its colors";
    const double eight[] = { 4, 5, 6, 7, 8, 9, 1, 2, 3, 1, 2, 3 };
    struct bmp b = { .width = 2,
                     .height = 2,
                     .bits = 8,
                     BYTES(palette, PALETTE),
                     BYTES(pixels, "\0\0..\1\2..") };
    bmp_is(b, 3, eight, said); /* the bottom row comes first */
    b.colors = 3;
    bmp_is(b, 3, eight, said);
    b.header = 124;
    bmp_is(b, 3, eight, said);
    b.header = 12;
    b.palette = CORE_PALETTE;
    b.palette_size = 9;
    bmp_is(b, 3, eight, said);
    /* A color past the palette is black, and so is one past those in use. */
    bmp_is((struct bmp){ .width = 2,
                         .height = -1,
                         .bits = 8,
                         .colors = 2,
                         BYTES(palette, PALETTE),
                         BYTES(pixels, "\xff\2..") },
           3, SAMPLES(0, 0, 0, 0, 0, 0), said);
    /* It ends where the pixels begin: they are no colors. */
    bmp_is((struct bmp){ .width = 2,
                         .height = 1,
                         .bits = 8,
                         BYTES(palette, PALETTE),
                         BYTES(pixels, "\3\1..") },
           3, SAMPLES(0, 0, 0, 4, 5, 6), said);
    bmp_is((struct bmp){ .width = 3,
                         .height = -2,
                         .bits = 4,
                         BYTES(palette, PALETTE),
                         BYTES(pixels, "\x01\x20..\x22\x1f..") },
           3, SAMPLES(1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 8, 9, 7, 8, 9, 4, 5, 6),
           said);
    bmp_is((struct bmp){ .width = 9,
                         .height = 1,
                         .bits = 1,
                         BYTES(palette, "\3\2\1\0\6\5\4\0"),
                         BYTES(pixels, "\x01\x80..") },
           3,
           SAMPLES(1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2,
                   3, 4, 5, 6, 4, 5, 6),
           said);
    bmp_is((struct bmp){ .header = 12,
                         .width = 2,
                         .height = 1,
                         .bits = 1,
                         BYTES(palette, "\3\2\1\6\5\4"),
                         BYTES(pixels, "\x40...") },
           3, SAMPLES(1, 2, 3, 4, 5, 6), said);
}

/* A pixel of "abc" is blue a, green b, red c. */
TEST(bmp_colors)
{
    const double two[] = { 'c', 'b', 'a', 'f', 'e', 'd' };
    struct bmp b = {
        .width = 1, .height = 2, .bits = 24, BYTES(pixels, "def.abc.")
    };
    bmp_is(b, 3, two, NULL);
    b.header = 12;
    bmp_is(b, 3, two, NULL);
    b.header = 108;
    bmp_is(b, 3, two, NULL);
    b = (struct bmp){ .width = 1,
                      .height = -2,
                      .bits = 24,
                      BYTES(palette, "a gap"),
                      BYTES(pixels, "abc.def.") };
    bmp_is(b, 3, two, NULL);
    /* The fourth byte of 32 bits is alpha, if any is not 0. */
    bmp_is(
        (struct bmp){
            .width = 2, .height = 1, .bits = 32, BYTES(pixels, "abc\0def\1") },
        4, SAMPLES('c', 'b', 'a', 0, 'f', 'e', 'd', 1), NULL);
    bmp_is(
        (struct bmp){
            .width = 2, .height = 1, .bits = 32, BYTES(pixels, "abc\0def\0") },
        4, SAMPLES('c', 'b', 'a', 255, 'f', 'e', 'd', 255), NULL);
    /* Masks behind a header of 40 have no alpha; those in one of 108 may. */
    bmp_is((struct bmp){ .width = 1,
                         .height = 1,
                         .bits = 32,
                         .coding = 3,
                         BYTES(palette, "\xff\0\0\0\0\xff\0\0\0\0\xff\0"),
                         BYTES(pixels, "abc.") },
           3, SAMPLES('a', 'b', 'c'), NULL);
    for (uint32_t size = 56; size <= 124; size++)
        if (size == 56 || size == 108 || size == 124)
            bmp_is((struct bmp){ .header = size,
                                 .width = 1,
                                 .height = 1,
                                 .bits = 32,
                                 .coding = 3,
                                 BYTES(palette, "\0\0\xff\0\0\xff\0\0\xff\0\0\0"
                                                "\0\0\0\xff"),
                                 BYTES(pixels, "abc\0") },
                   4, SAMPLES('c', 'b', 'a', 0), NULL);
    /* 5 bits each: 31 is 255, 16 is 132 and 1 is 8. */
    bmp_is((struct bmp){ .width = 2,
                         .height = 1,
                         .bits = 16,
                         BYTES(pixels, "\x1f\x42\x00\x04") },
           3, SAMPLES(132, 132, 255, 8, 0, 0), "its 16 bits a pixel become 24");
    /* 5, 6 and 5 bits: 63 is 255. */
    bmp_is((struct bmp){ .width = 2,
                         .height = 1,
                         .bits = 16,
                         .coding = 3,
                         BYTES(palette, "\0\xf8\0\0\xe0\x07\0\0\x1f\0\0\0"),
                         BYTES(pixels, "\xe0\x07\x1f\xf8") },
           3, SAMPLES(0, 255, 0, 255, 0, 255), "its 16 bits a pixel become 24");
}

/* Fields of all sizes: the bits are repeated, so that the largest is 255. */
TEST(bmp_fields)
{
    static const uint8_t wide[8] = { 0xff, 0xaa, 0xb6, 0xbb,
                                     0xbd, 0xbe, 0xbf, 0xbf };
    for (unsigned bits = 1; bits <= 8; bits++) {
        char masks[16] = { 0 }, pixel[4];
        uint32_t mask = (1u << bits) - 1, value = 0xbf >> (8 - bits);
        write_le32((uint8_t *)masks, mask);
        write_le32((uint8_t *)masks + 4, mask << 9);
        write_le32((uint8_t *)masks + 8, mask << 24);
        write_le32((uint8_t *)masks + 12, 1u << 23);
        write_le32((uint8_t *)pixel, value | mask << 9 | 1u << 23);
        bmp_is((struct bmp){ .header = 108,
                             .width = 1,
                             .height = 1,
                             .bits = 32,
                             .coding = 3,
                             .palette = masks,
                             .palette_size = 16,
                             .pixels = pixel,
                             .pixels_size = 4 },
               4, SAMPLES(wide[bits - 1], 255, 0, 255), NULL);
    }
}

/* Runs, indices as they are, ends of rows and moves; what is passed over has
 * index 0. The last row comes first. */
TEST(bmp_runs)
{
    static const char said[] = "its palette is not kept, only its colors";
#define A 1, 2, 3
#define B 4, 5, 6
#define C 7, 8, 9
    struct bmp b = { .width = 4,
                     .height = 2,
                     .bits = 8,
                     .coding = 1,
                     BYTES(palette, PALETTE),
                     BYTES(pixels, "\3\1\1\2\0\0\0\3\2\0\1\0\1\1\0\1") };
    struct bytes file = make_bmp(b);
    check_file(&codec_bmp, file.data, file.size, 4, 2, 3,
               SAMPLES(C, A, B, B, B, B, B, C), said);
    check_cuts(&codec_bmp, file.data, file.size, 2); /* the mark of the end */
    check_hostile(&codec_bmp, file.data, file.size, file.size);
    bytes_free(&file);
    /* It may end early, and move. */
    b.pixels = "\0\2\1\1\2\1\0\1";
    b.pixels_size = 8;
    bmp_is(b, 3, SAMPLES(A, B, B, A, A, A, A, A), said);
    /* Halves of a byte take turns, and whole pairs of bytes are literals. */
    b.bits = 4;
    b.coding = 2;
    b.width = 5;
    b.height = -2;
    b.pixels = "\5\x12\0\0\0\3\x21\x20\2\x11\0\1";
    b.pixels_size = 12;
    file = make_bmp(b);
    check_file(&codec_bmp, file.data, file.size, 5, 2, 3,
               SAMPLES(B, C, B, C, B, C, B, C, B, B), said);
    check_cuts(&codec_bmp, file.data, file.size, 2);
    bytes_free(&file);
    b.pixels = "\5\x12\0\0\6\x12\0\1";
    b.pixels_size = 8;
    bmp_refused(b, "row 1 is malformed");
    b.pixels = "\5\x12\0\0\0\2\0\2\0\1";
    b.pixels_size = 10;
    bmp_refused(b, "row 1 is malformed");
    b.pixels = "\5\x12\0\0\0\5\0\0";
    b.pixels_size = 8;
    bmp_refused(b, "cut short in row 1");
    file = make_bmp(b);
    struct opened o = open_file(&codec_bmp, file.data, file.size, TOLERANT);
    CHECK(o.status == 0 && o.warnings.count == 2 &&
              !strcmp(o.warnings.list[0].text, cut) &&
              has_samples(&o.img, SAMPLES(B, C, B, C, B, A, A, A, A, A)),
          "%s", o.warnings.list[0].text);
    bytes_free(&file);
    close_file(&o);
}

TEST(bmp_refused)
{
    const struct bmp good = {
        .width = 1, .height = 1, .bits = 24, BYTES(pixels, "abc.")
    };
    struct bmp b = good;
    b.bits = 8;
    b.coding = 2;
    bmp_refused(b, "its header is malformed");
    b.coding = 4;
    bmp_refused(b, "compression 4 cannot be read; only 0 to 3 can");
    b.coding = 3;
    bmp_refused(b, "its header is malformed");
    b = good;
    b.bits = 2;
    bmp_refused(b, "2 bits a pixel; 1, 4, 8, 16, 24 and 32 can be read");
    b = good;
    b.header = 16;
    bmp_refused(b, "a header of 16 bytes; 12 or 40 and more can be read");
    b = good;
    b.width = -1;
    bmp_refused(b, "its header is malformed");
    b.width = 0;
    bmp_refused(b, "an empty picture: 0 x 1 pixels");
    b = good;
    b.height = INT32_MIN;
    bmp_refused(b, "1 x 2147483648 pixels: a side can have no more than "
                   "2147483647");
    b = good;
    b.height = 3;
    bmp_refused(b, "the image data is cut short: 4 bytes of 12");
    b = good;
    b.bits = 32;
    b.coding = 3;
    b.palette = "\xff\3\0\0\0\xfc\x0f\0\0\0\xf0\x3f"; /* 10 bits each */
    b.palette_size = 12;
    bmp_refused(b, "a mask of 000003ff; one must be 1 to 8 bits in a "
                   "row");
    b.palette = "\xff\0\0\0\0\0\0\0\0\0\xff\0";
    bmp_refused(b, "a mask of 00000000; one must be 1 to 8 bits in a row");
    b.palette = "\xff\0\0\0\0\xb1\0\0\0\0\xff\0";
    bmp_refused(b, "a mask of 0000b100; one must be 1 to 8 bits in a row");
}

TEST(bmp_damaged)
{
    struct bytes file = make_bmp((struct bmp){
        .width = 1, .height = -2, .bits = 24, BYTES(pixels, "abc.de") });
    check_tolerated(&codec_bmp, file.data, file.size,
                    SAMPLES('c', 'b', 'a', 0, 'e', 'd'), cut);
    check_hostile(&codec_bmp, file.data, file.size, 54);
    bytes_free(&file);
    file = make_bmp((struct bmp){ .width = 2,
                                  .height = 1,
                                  .bits = 8,
                                  BYTES(palette, PALETTE),
                                  BYTES(pixels, "\1\2..") });
    check_hostile(&codec_bmp, file.data, file.size, 54);
    bytes_free(&file);
    file = make_bmp((struct bmp){ .header = 108,
                                  .width = 1,
                                  .height = 1,
                                  .bits = 32,
                                  .coding = 3,
                                  BYTES(palette, "\0\0\xff\0\0\xff\0\0\xff\0\0"
                                                 "\0\0\0\0\xff"),
                                  BYTES(pixels, "abcd") });
    check_hostile(&codec_bmp, file.data, file.size, 122);
    bytes_free(&file);
}

/* Pixels a meter along x and y, as a picture of a density is written. */
static void density_is(struct density density, enum xform turned, uint32_t x,
                       uint32_t y, unsigned warnings_want)
{
    struct warnings warnings = { 0 };
    struct image img = random_picture(CELL_U8, 255, COLOR_RGB, 3, 2, 2);
    img.meta = meta_new(&codec_png);
    img.meta->density = density;
    img.turned = turned;
    struct bytes file = written(&codec_bmp, &img, "bmp", &warnings);
    CHECK(read_le32(file.data + 38) == x && read_le32(file.data + 42) == y,
          "%u, %u", read_le32(file.data + 38), read_le32(file.data + 42));
    CHECK(warnings.count == warnings_want, "%s", warnings.list[0].text);
    bytes_free(&file);
    image_free(&img);
}

TEST(bmp_density)
{
    density_is((struct density){ DENSITY_METER, 7, 9 }, XFORM_MIRROR_X, 7, 9,
               0);
    density_is((struct density){ DENSITY_METER, 7, 9 }, XFORM_ROTATE_90, 9, 7,
               0);
    density_is((struct density){ DENSITY_INCH, 300, 72 }, XFORM_TRANSPOSE, 2835,
               11811, 0);
    density_is((struct density){ DENSITY_ASPECT, 1, 1 }, XFORM_NONE, 0, 0, 0);
    density_is((struct density){ DENSITY_ASPECT, 2, 1 }, XFORM_NONE, 0, 0, 1);
    /* In its own format a turn by 90 degrees changes nothing else in this
     * file. */
    struct bytes file = make_bmp((struct bmp){
        .width = 1, .height = 1, .bits = 24, BYTES(pixels, "abc\0") });
    struct bytes want = { 0 };
    write_le32(file.data + 2, 58);
    write_le32(file.data + 38, 2835);
    write_le32(file.data + 42, 1000);
    must(bytes_append(&want, file.data, file.size));
    write_le32(want.data + 38, 1000);
    write_le32(want.data + 42, 2835);
    check_rewritten(&codec_bmp, file.data, file.size, "bmp", XFORM_ROTATE_270,
                    want.data, want.size);
    bytes_free(&want);
    bytes_free(&file);
}

/* Other formats do not get an unused fourth byte. */
TEST(bmp_unused)
{
    for (int last = 0; last < 2; last++) {
        struct bytes file =
            make_bmp((struct bmp){ .width = 2,
                                   .height = 1,
                                   .bits = 32,
                                   .pixels = last ? "abc\0def\1" : "abc\0def\0",
                                   .pixels_size = 8 });
        struct opened o = open_file(&codec_bmp, file.data, file.size, PORTABLE);
        CHECK(o.img.nplanes == (last ? 4 : 3) && o.img.alpha == last,
              "%u planes", o.img.nplanes);
        bytes_free(&file);
        close_file(&o);
    }
}

/* What was not said to be alpha is not said to be, and what was is. */
TEST(bmp_alpha)
{
    for (uint32_t coding = 0; coding <= 3; coding += 3) {
        struct warnings warnings = { 0 };
        struct bytes file =
            make_bmp((struct bmp){ .header = coding ? 108 : 40,
                                   .width = 1,
                                   .height = 1,
                                   .bits = 32,
                                   .coding = coding,
                                   .palette = "\0\0\xff\0\0\xff\0\0\xff\0\0\0"
                                              "\0\0\0\xff",
                                   .palette_size = coding ? 16 : 0,
                                   BYTES(pixels, "abcd") });
        struct opened o = open_file(&codec_bmp, file.data, file.size, STRICT);
        struct bytes again = written(&codec_bmp, &o.img, "bmp", &warnings);
        CHECK(read_le32(again.data + 30) == coding &&
                  read_le32(again.data + 66) == (coding ? 0xff000000 : 0),
              "coding %u, mask %x", read_le32(again.data + 30),
              read_le32(again.data + 66));
        check_file(&codec_bmp, again.data, again.size, 1, 1, 4,
                   SAMPLES('c', 'b', 'a', 'd'), NULL);
        bytes_free(&again);
        bytes_free(&file);
        close_file(&o);
    }
}

/* A picture of another format is refused before memory is asked for, if it has
 * more bytes than its header can count. */
TEST(too_large)
{
    const struct save_opts opts = { .suffix = "bmp" };
    const struct image img = {
        .color = COLOR_RGB, .nplanes = 3, .width = 40000, .height = 40000
    };
    struct bytes file = { 0 };
    struct err err = { 0 };
    CHECK(encode_as(&codec_bmp, &file, &img, &opts, &err) == -1 && !file.data &&
              !strcmp(err.text, "40000 x 40000 pixels are too many; a BMP "
                                "has up to 4 GiB"),
          "%s", err.text);
}

TEST(round_trips)
{
    for (uint32_t width = 1; width < 140; width += width < 9 ? 1 : 43)
        for (unsigned n = 3; n <= 4; n++) {
            struct image img =
                random_picture(CELL_U8, 255, COLOR_RGB, n, width, 7);
            check_round_trip(&codec_bmp, &img, "bmp");
            image_free(&img);
        }
}
