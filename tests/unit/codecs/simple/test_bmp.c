/* BMP files of every layout are read, keep what they say when they are written
 * again, and a cut file is never taken for a whole one. */
#include "codecs/simple/simple.h"

#include "tests/support/formats.h"

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
    owned_bytes file = make_bmp(b);
    uint32_t height = (uint32_t)(b.height < 0 ? -b.height : b.height);
    check_file(&codec_bmp, file.data, file.size, (uint32_t)b.width, height,
               nplanes, want, said);
    check_cuts(&codec_bmp, file.data, file.size, 0);
}

static void bmp_refused(struct bmp b, const char *words)
{
    owned_bytes file = make_bmp(b);
    check_refused(&codec_bmp, file.data, file.size, words);
}

static struct bmp of(int32_t width, int32_t height, unsigned bits,
                     const char *pixels, size_t size)
{
    return (struct bmp){ .width = width,
                         .height = height,
                         .bits = bits,
                         .pixels = pixels,
                         .pixels_size = size };
}

/* The same with other pixels. */
static struct bmp having(struct bmp b, const char *pixels, size_t size)
{
    b.pixels = pixels;
    b.pixels_size = size;
    return b;
}

/* The same with what stands before them: colors, or masks and coding 3. */
static struct bmp behind(const char *colors, size_t size, struct bmp b)
{
    b.palette = colors;
    b.palette_size = size;
    return b;
}

static struct bmp masked(const char *masks, size_t size, uint32_t header,
                         struct bmp b)
{
    b.coding = 3;
    b.header = header;
    return behind(masks, size, b);
}

/* Three colors: 1 2 3, 4 5 6 and 7 8 9, blue first. */
#define PALETTE TEXT("\3\2\1\0\6\5\4\0\x09\x08\x07\0")
#define A       1, 2, 3
#define B       4, 5, 6
#define C       7, 8, 9
/* Red, green, blue and alpha of a pixel of four bytes "abcd". */
#define FOUR_MASKS TEXT("\0\0\xff\0\0\xff\0\0\xff\0\0\0\0\0\0\xff")

static const char lost[] = "its palette is not kept, only its colors";

TEST(bmp_palettes)
{
    const double eight[] = { B, C, A, A }; /* the bottom row comes first */
    struct bmp b = behind(PALETTE, of(2, 2, 8, TEXT("\0\0..\1\2..")));
    bmp_is(b, 3, eight, lost);
    b.colors = 3;
    bmp_is(b, 3, eight, lost);
    b.header = 124;
    bmp_is(b, 3, eight, lost);
    b = behind(TEXT("\3\2\1\6\5\4\x09\x08\x07"), b);
    b.header = 12;
    bmp_is(b, 3, eight, lost);
    b = behind(TEXT("\3\2\1\6\5\4"), of(2, 1, 1, TEXT("\x40...")));
    b.header = 12;
    bmp_is(b, 3, SAMPLES(A, B), lost);
    /* A color past the palette is black, and so is one past those in use. */
    b = behind(PALETTE, of(2, -1, 8, TEXT("\xff\2..")));
    b.colors = 2;
    bmp_is(b, 3, SAMPLES(0, 0, 0, 0, 0, 0), lost);
    /* It ends where the pixels begin: they are no colors. */
    bmp_is(behind(PALETTE, of(2, 1, 8, TEXT("\3\1.."))), 3, SAMPLES(0, 0, 0, B),
           lost);
    bmp_is(behind(PALETTE, of(3, -2, 4, TEXT("\x01\x20..\x22\x1f.."))), 3,
           SAMPLES(A, B, C, C, C, B), lost);
    bmp_is(behind(TEXT("\3\2\1\0\6\5\4\0"), of(9, 1, 1, TEXT("\x01\x80.."))), 3,
           SAMPLES(A, A, A, A, A, A, A, B, B), lost);
}

/* A pixel of "abc" is blue a, green b, red c. */
TEST(bmp_colors)
{
    static const uint32_t headers[] = { 56, 108, 124 };
    const double two[] = { 'c', 'b', 'a', 'f', 'e', 'd' };
    struct bmp b = of(1, 2, 24, TEXT("def.abc."));
    bmp_is(b, 3, two, NULL);
    b.header = 12;
    bmp_is(b, 3, two, NULL);
    b.header = 108;
    bmp_is(b, 3, two, NULL);
    bmp_is(behind(TEXT("a gap"), of(1, -2, 24, TEXT("abc.def."))), 3, two,
           NULL);
    /* The fourth byte of 32 bits is alpha, if any is not 0. */
    bmp_is(of(2, 1, 32, TEXT("abc\0def\1")), 4,
           SAMPLES('c', 'b', 'a', 0, 'f', 'e', 'd', 1), NULL);
    bmp_is(of(2, 1, 32, TEXT("abc\0def\0")), 4,
           SAMPLES('c', 'b', 'a', 255, 'f', 'e', 'd', 255), NULL);
    /* Masks behind a header of 40 have no alpha; those in one of 108 may. */
    bmp_is(masked(TEXT("\xff\0\0\0\0\xff\0\0\0\0\xff\0"), 40,
                  of(1, 1, 32, TEXT("abc."))),
           3, SAMPLES('a', 'b', 'c'), NULL);
    for (size_t i = 0; i < COUNT(headers); i++)
        bmp_is(masked(FOUR_MASKS, headers[i], of(1, 1, 32, TEXT("abc\0"))), 4,
               SAMPLES('c', 'b', 'a', 0), NULL);
    /* 5 bits each: 31 is 255, 16 is 132 and 1 is 8. */
    bmp_is(of(2, 1, 16, TEXT("\x1f\x42\x00\x04")), 3,
           SAMPLES(132, 132, 255, 8, 0, 0), "its 16 bits a pixel become 24");
    /* 5, 6 and 5 bits: 63 is 255. */
    bmp_is(masked(TEXT("\0\xf8\0\0\xe0\x07\0\0\x1f\0\0\0"), 40,
                  of(2, 1, 16, TEXT("\xe0\x07\x1f\xf8"))),
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
        bmp_is(masked(masks, 16, 108, of(1, 1, 32, pixel, 4)), 4,
               SAMPLES(wide[bits - 1], 255, 0, 255), NULL);
    }
}

/* The same of runs, where the mark of the end, of two bytes, may be missing. */
static void runs_are(struct bmp b, const double *want)
{
    owned_bytes file = make_bmp(b);
    const uint32_t height = (uint32_t)abs(b.height);
    check_file(&codec_bmp, file.data, file.size, (uint32_t)b.width, height, 3,
               want, lost);
    check_cuts(&codec_bmp, file.data, file.size, 2);
    check_hostile(&codec_bmp, file.data, file.size, file.size);
}

/* Runs, indices as they are, ends of rows and moves; what is passed over has
 * index 0. The last row comes first. */
TEST(bmp_runs)
{
    struct bmp b =
        behind(PALETTE, of(4, 2, 8, TEXT("\3\1\1\2\0\0\0\3\2\0\1\0\1\1\0\1")));
    b.coding = 1;
    runs_are(b, SAMPLES(C, A, B, B, B, B, B, C));
    /* It may end early, and move. */
    bmp_is(having(b, TEXT("\0\2\1\1\2\1\0\1")), 3,
           SAMPLES(A, B, B, A, A, A, A, A), lost);
    /* Halves of a byte take turns, and whole pairs of bytes are literals. */
    b = behind(PALETTE, of(5, -2, 4, TEXT("\5\x12\0\0\0\3\x21\x20\2\x11\0\1")));
    b.coding = 2;
    runs_are(b, SAMPLES(B, C, B, C, B, C, B, C, B, B));
    bmp_refused(having(b, TEXT("\5\x12\0\0\6\x12\0\1")), "row 1 is malformed");
    bmp_refused(having(b, TEXT("\5\x12\0\0\0\2\0\2\0\1")),
                "row 1 is malformed");
    b = having(b, TEXT("\5\x12\0\0\0\5\0\0"));
    bmp_refused(b, "cut short in row 1");
    owned_bytes file = make_bmp(b);
    struct opened o = open_file(&codec_bmp, file.data, file.size, TOLERANT);
    CHECK(o.status == 0 && o.warnings.count == 2 &&
              !strcmp(o.warnings.list[0].text, CUT) &&
              has_samples(&o.img, SAMPLES(B, C, B, C, B, A, A, A, A, A)),
          "%s", o.warnings.list[0].text);
    close_file(&o);
}

TEST(bmp_refused)
{
    static const struct {
        uint32_t header;
        int32_t width, height;
        unsigned bits;
        uint32_t coding;
        const char *words;
    } bad[] = {
        { 40, 1, 1, 8, 2, "its header is malformed" },
        { 40, 1, 1, 8, 4, "compression 4 cannot be read; only 0 to 3 can" },
        { 40, 1, 1, 8, 3, "its header is malformed" },
        { 40, 1, 1, 2, 0,
          "2 bits a pixel; 1, 4, 8, 16, 24 and 32 can be read" },
        { 16, 1, 1, 24, 0,
          "a header of 16 bytes; 12 or 40 and more can be read" },
        { 40, -1, 1, 24, 0, "its header is malformed" },
        { 40, 0, 1, 24, 0, "an empty picture: 0 x 1 pixels" },
        { 40, 1, INT32_MIN, 24, 0,
          "1 x 2147483648 pixels: a side can have no more than 2147483647" },
        { 40, 1, 3, 24, 0, "the image data is cut short: 4 bytes of 12" },
    };
    const struct bmp deep = of(1, 1, 32, TEXT("abc."));
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct bmp b =
            of(bad[i].width, bad[i].height, bad[i].bits, TEXT("abc."));
        b.header = bad[i].header;
        b.coding = bad[i].coding;
        bmp_refused(b, bad[i].words);
    }
    bmp_refused(/* 10 bits each */
                masked(TEXT("\xff\3\0\0\0\xfc\x0f\0\0\0\xf0\x3f"), 40, deep),
                "a mask of 000003ff; one must be 1 to 8 bits in a row");
    bmp_refused(masked(TEXT("\xff\0\0\0\0\0\0\0\0\0\xff\0"), 40, deep),
                "a mask of 00000000; one must be 1 to 8 bits in a row");
    bmp_refused(masked(TEXT("\xff\0\0\0\0\xb1\0\0\0\0\xff\0"), 40, deep),
                "a mask of 0000b100; one must be 1 to 8 bits in a row");
}

TEST(bmp_damaged)
{
    const struct bmp some[] = {
        of(1, -2, 24, TEXT("abc.de")),
        behind(PALETTE, of(2, 1, 8, TEXT("\1\2.."))),
        masked(FOUR_MASKS, 108, of(1, 1, 32, TEXT("abcd"))),
    };
    for (size_t i = 0; i < COUNT(some); i++) {
        owned_bytes file = make_bmp(some[i]);
        if (i == 0)
            check_tolerated(&codec_bmp, file.data, file.size,
                            SAMPLES('c', 'b', 'a', 0, 'e', 'd'), CUT);
        check_hostile(&codec_bmp, file.data, file.size, i == 2 ? 122 : 54);
    }
}

/* Pixels a meter along x and y, as a picture of a density is written. */
static void density_is(struct density density, enum xform turned, uint32_t x,
                       uint32_t y, unsigned warnings_want)
{
    struct warnings warnings = { 0 };
    owned_image img = random_picture(CELL_U8, 255, COLOR_RGB, 3, 2, 2);
    img.meta = meta_new(&codec_png);
    img.meta->density = density;
    img.turned = turned;
    owned_bytes file = written(&codec_bmp, &img, "bmp", &warnings);
    CHECK(read_le32(file.data + 38) == x && read_le32(file.data + 42) == y,
          "%u, %u", read_le32(file.data + 38), read_le32(file.data + 42));
    CHECK(warnings.count == warnings_want, "%s", warnings.list[0].text);
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
    owned_bytes file = make_bmp(of(1, 1, 24, TEXT("abc\0")));
    write_le32(file.data + 2, 58);
    write_le32(file.data + 38, 2835);
    write_le32(file.data + 42, 1000);
    owned_bytes want = copied(file.data, file.size);
    write_le32(want.data + 38, 1000);
    write_le32(want.data + 42, 2835);
    check_rewritten(&codec_bmp, file.data, file.size, "bmp", XFORM_ROTATE_270,
                    want.data, want.size);
}

/* Other formats do not get an unused fourth byte. */
TEST(bmp_unused)
{
    for (int last = 0; last < 2; last++) {
        owned_bytes file =
            make_bmp(of(2, 1, 32, last ? "abc\0def\1" : "abc\0def\0", 8));
        struct opened o = open_file(&codec_bmp, file.data, file.size, PORTABLE);
        CHECK(o.img.nplanes == (last ? 4 : 3) && o.img.alpha == last,
              "%u planes", o.img.nplanes);
        close_file(&o);
    }
}

/* What was not said to be alpha is not said to be, and what was is. */
TEST(bmp_alpha)
{
    for (uint32_t coding = 0; coding <= 3; coding += 3) {
        const struct bmp b = of(1, 1, 32, TEXT("abcd"));
        struct warnings warnings = { 0 };
        owned_bytes file = make_bmp(coding ? masked(FOUR_MASKS, 108, b) : b);
        struct opened o = open_file(&codec_bmp, file.data, file.size, STRICT);
        owned_bytes again = written(&codec_bmp, &o.img, "bmp", &warnings);
        CHECK(read_le32(again.data + 30) == coding &&
                  read_le32(again.data + 66) == (coding ? 0xff000000 : 0),
              "coding %u, mask %x", read_le32(again.data + 30),
              read_le32(again.data + 66));
        check_file(&codec_bmp, again.data, again.size, 1, 1, 4,
                   SAMPLES('c', 'b', 'a', 'd'), NULL);
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
            owned_image img =
                random_picture(CELL_U8, 255, COLOR_RGB, n, width, 7);
            check_round_trip(&codec_bmp, &img, "bmp");
        }
}
