/* PNM, PAM and PFM files are read, keep what they say when they are written
 * again, or are refused. */
#include "codecs/simple/simple.h"

#include "tests/support/formats.h"

static const uint32_t maxvals[] = { 1, 2, 15, 100, 255, 256, 1023, 65535 };
enum { MAXVALS = COUNT(maxvals) };

static enum cell cell_of(uint32_t maxval)
{
    return maxval > 255 ? CELL_U16 : CELL_U8;
}

/* ---- PNM ------------------------------------------------------------------*/

TEST(pnm_files)
{
    const struct codec *c = &codec_pnm;
    /* In PBM 1 is black. */
    FILE_IS(c, "P1\n3 2\n1 0 1\n010", 3, 2, 1, 0, 1, 0, 1, 0, 1);
    FILE_IS(c, "P4\n10 2\n\xa5\x7f\x0f\x80", 10, 2, 1, 0, 1, 0, 1, 1, 0, 1, 0,
            1, 0, /**/ 1, 1, 1, 1, 0, 0, 0, 0, 0, 1);
    FILE_IS(c, "P2 2 2 15\n0 1\n14 15\n", 2, 2, 1, 0, 1, 14, 15);
    FILE_IS(c, "P5\n3 1\n255\n\x00\x80\xff", 3, 1, 1, 0, 128, 255);
    FILE_IS(c, "P5\n2 1\n1023\n\x03\xff\x01\x00", 2, 1, 1, 1023, 256);
    FILE_IS(c, "P3 1 2 300 1 2 3 298 299 300", 1, 2, 3, 1, 2, 3, 298, 299, 300);
    FILE_IS(c, "P6\n2 1\n255\nabcdef", 2, 1, 3, 97, 98, 99, 100, 101, 102);
    FILE_IS(c, "P6\n1 1\n65535\n\x01\x02\xfe\xff\xff\xff", 1, 1, 3, 0x102,
            0xfeff, 65535);
    /* Blanks and comments in the header; pixels that look like them. */
    FILE_IS(c, "P5# a\n#\n 2 # b\n\t1\r\n\v255\n# ", 2, 1, 1, '#', ' ');
    FILE_IS(c, "P5 1 1 255 \n\n \n", 1, 1, 1, '\n');
    FILE_IS(c, "P2 2 1 9 # b\n1#c\n2# d", 2, 1, 1, 1, 2);
    FILE_IS(c, "P1 3 1 # a\n1#b\n01#c", 3, 1, 1, 0, 1, 0);
}

TEST(pnm_kept)
{
#define KEPT(file, suffix, want)                                               \
    check_rewritten(&codec_pnm, TEXT(file), suffix, XFORM_NONE, TEXT(want))
    KEPT("P1\n# a\n#b\n2 1\n0 1\n", "pnm", "P4\n# a\n#b\n2 1\n\x40");
    KEPT("P2 3 1 9 1 # c\n2 3", "pgm", "P5\n# c\n3 1\n9\n\1\2\3");
    KEPT("P3 1 1\n300\n1 2 300", "ppm", "P6\n1 1\n300\n\0\1\0\2\1\x2c");
    KEPT("P4\n3 1\n\xbf", "pbm", "P4\n3 1\n\xa0");
    KEPT("P5\n#\n2 1\n9\n\1\2", "", "P5\n#\n2 1\n9\n\1\2");
    KEPT("P6\n1 1\n9\n\1\2\3", "pnm", "P6\n1 1\n9\n\1\2\3");
    /* A PGM of maxval 1 stays one, unless a .pbm is asked for. */
    KEPT("P5\n2 1\n1\n\0\1", "pnm", "P5\n2 1\n1\n\0\1");
    KEPT("P5\n2 1\n1\n\0\1", "PBM", "P4\n2 1\n\x80");
    KEPT("P2 2 1 1 0 1", "pbm", "P4\n2 1\n\x80");
    KEPT("P4\n2 1\n\x80", "pgm", "P5\n2 1\n1\n\0\1");
    /* Gray is three times itself; bits too. */
    KEPT("P5\n2 1\n9\n\1\2", "ppm", "P6\n2 1\n9\n\1\1\1\2\2\2");
    KEPT("P1 2 1 1 0", "ppm", "P6\n2 1\n1\n\0\0\0\1\1\1");
    KEPT("P4\n2 1\n\x40", "PPM", "P6\n2 1\n1\n\1\1\1\0\0\0");
    KEPT("P1 2 1 0 1", "pgm", "P5\n2 1\n1\n\1\0");
#undef KEPT
}

static void check_no_suffix(const char *file, const char *suffix,
                            const char *words)
{
    struct opened o = open_file(&codec_pnm, file, strlen(file), STRICT);
    struct save_opts opts = { .suffix = suffix, .warnings = &o.warnings };
    owned_bytes out = { 0 };
    CHECK(o.status == 0, "%s", o.err.text);
    CHECK(encode_as(&codec_pnm, &out, &o.img, &opts, &o.err) == -1 &&
              !strcmp(o.err.text, words),
          "%s", o.err.text);
    close_file(&o);
}

TEST(pnm_suffixes)
{
    check_no_suffix("P2 1 1 255 7", "pbm",
                    "a .pbm cannot hold gray of 8 bits; .pgm can");
    check_no_suffix("P3 1 1 1 1 1 1", "pbm",
                    "a .pbm cannot hold RGB of 1 bits; .ppm can");
    check_no_suffix("P3 1 1 1023 1 1 1", "pgm",
                    "a .pgm cannot hold RGB of 10 bits; .ppm can");
}

TEST(pnm_refused)
{
    const struct codec *c = &codec_pnm;
    REFUSED(c, "P7 1 1 255\n1", "probe");
    REFUSED(c, "P5 2 1 255\n1", "the image data is cut short: 1 bytes of 2");
    REFUSED(c, "P4 9 2\nabc", "the image data is cut short: 3 bytes of 4");
    REFUSED(c, "P5 1 1 0\n1", "maxval 0 is out of range; expected 1 to 65535");
    REFUSED(c, "P5 1 1 65536\n12",
            "maxval 65536 is out of range; expected 1 to 65535");
    REFUSED(c, "P5 0 1 255\n", "an empty picture: 0 x 1 pixels");
    REFUSED(c, "P5 -1 1 255\n", "its header has no size");
    REFUSED(c, "P5 99999999999 1 255\n", "its header has no size");
    REFUSED(c, "P5 1 1 255", "its header has no end");
    REFUSED(c, "P5 65536 2 255\n1",
            "65536 x 2 pixels are more than the 65536 of --max-pixels; "
            "--max-pixels 132K allows them");
    REFUSED(c, "P5 1 2 9\n\x09\x0a", "row 1 has a sample above the maxval, 9");
    REFUSED(c, "P6 1 1 1000\n\0\0\0\0\x03\xe9",
            "row 0 has a sample above the maxval, 1000");
    REFUSED(c, "P2 2 1 9 1 10", "column 1 of row 0 is not a number up to 9");
    REFUSED(c, "P2 2 1 9 1 2x", "1" MORE);
    REFUSED(c, "P1 1 2 1 2",
            "column 0 of row 1 is not a number up to "
            "1");
    REFUSED(c, "P5 1 1 255\n1P5 1 1 255\n2", "12" MORE);
}

TEST(pnm_tolerant)
{
    const struct codec *c = &codec_pnm;
    TOLERATED(c, "P5 2 2 255\n\1\2\3", CUT, 1, 2, 3, 0);
    TOLERATED(c, "P5 2 2 300\n\1\2\1", CUT, 258, 256, 0, 0);
    TOLERATED(c, "P6 1 2 255\n\1", CUT, 1, 0, 0, 0, 0, 0);
    TOLERATED(c, "P4 9 2\n\0\0", CUT, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0,
              0, 0, 0, 0);
    TOLERATED(c, "P2 2 2 9 1 2 3", CUT, 1, 2, 3, 0);
    TOLERATED(c, "P1 2 2 0", CUT, 1, 0, 0, 0);
    TOLERATED(c, "P5 1 1 255\n1P5", "2 bytes after the picture are not kept",
              '1');
    TOLERATED(c, "P5\n3 1\n100\n\x01\xff\x02",
              "samples above the maxval are taken as 100", 1, 100, 2);
    TOLERATED(c, "P6 1 1 1000\n\0\1\xff\xff\3\xe9",
              "samples above the maxval are taken as 1000", 1, 1000, 1000);
    TOLERATED(c, "P2 3 1 1000 1 2000 2",
              "samples above the maxval are taken as 1000", 1, 1000, 2);
}

TEST(pnm_round_trips)
{
    for (unsigned width = 1; width < 20; width++) {
        owned_image img = random_picture(CELL_U8, 1, COLOR_GRAY, 1, width, 5);
        check_round_trip(&codec_pnm, &img, "pbm");
    }
    for (size_t i = 0; i < MAXVALS; i++)
        for (unsigned n = 1; n <= 3; n += 2) {
            owned_image img =
                random_picture(cell_of(maxvals[i]), maxvals[i],
                               n == 1 ? COLOR_GRAY : COLOR_RGB, n, 37, 11);
            check_round_trip(&codec_pnm, &img, n == 1 ? "pgm" : "ppm");
        }
}

TEST(pnm_damaged)
{
#define DAMAGED(codec, head, pixels, blanks)                                   \
    check_cuts(codec, TEXT(head pixels), blanks);                              \
    check_hostile(codec, TEXT(head pixels), sizeof head)
    DAMAGED(&codec_pnm, "P1\n#c\n3 2\n", "101010", 0);
    DAMAGED(&codec_pnm, "P4\n#c\n10 2\n", "abcd", 0);
    DAMAGED(&codec_pnm, "P2 2 2\n15\n", "1 2 3 4\n", 1);
    DAMAGED(&codec_pnm, "P5\n2 2 # x\n255\n", "abcd", 0);
    DAMAGED(&codec_pnm, "P5 2 2\n1023\n", "\1\1\2\2\3\3\0\0", 0);
    DAMAGED(&codec_pnm, "P6\n2 1\n255\n", "abcdef", 0);
}

/* ---- PAM ------------------------------------------------------------------*/

#define PAM(w, h, depth, maxval, type)                                         \
    "P7\nWIDTH " w "\nHEIGHT " h "\nDEPTH " depth "\nMAXVAL " maxval "\n" type \
    "ENDHDR\n"

TEST(pam_files)
{
    const struct codec *c = &codec_pam;
    static const struct {
        const char *type;
        unsigned depth;
        enum color color;
        bool alpha;
    } types[] = {
        { "", 1, COLOR_GRAY, false },
        { "", 2, COLOR_GRAY, true },
        { "", 3, COLOR_RGB, false },
        { "", 4, COLOR_RGB, true },
        { "", 5, COLOR_OTHER, false },
        { "TUPLTYPE GRAYSCALE\n", 1, COLOR_GRAY, false },
        { "TUPLTYPE BLACKANDWHITE\n", 1, COLOR_GRAY, false },
        { "TUPLTYPE GRAYSCALE_ALPHA\n", 2, COLOR_GRAY, true },
        { "TUPLTYPE BLACKANDWHITE_ALPHA\n", 2, COLOR_GRAY, true },
        { "TUPLTYPE RGB\n", 3, COLOR_RGB, false },
        { "TUPLTYPE RGB_ALPHA\n", 4, COLOR_RGB, true },
        { "TUPLTYPE RGB\n", 4, COLOR_OTHER, false },
        { "TUPLTYPE GRAYSCALE\n", 3, COLOR_OTHER, false },
        { "TUPLTYPE depth map\n", 1, COLOR_OTHER, false },
    };
    for (size_t i = 0; i < COUNT(types); i++) {
        char file[128];
        int n = sprintf(file,
                        "P7\nWIDTH 1\nHEIGHT 1\nDEPTH %u\nMAXVAL 1\n%sENDHDR\n"
                        "%.*s",
                        types[i].depth, types[i].type, (int)types[i].depth,
                        "\1\1\1\1\1");
        struct opened o = open_file(c, file, (size_t)n, STRICT);
        CHECK(o.status == 0 && o.img.color == types[i].color &&
                  o.img.alpha == types[i].alpha,
              "%s: %s, %s", file, o.err.text, image_color_name(o.img.color));
        close_file(&o);
    }
    FILE_IS(c,
            "P7\n# c\nDEPTH\t4\n\nMAXVAL 65535\nWIDTH 1\nHEIGHT 1\n"
            "TUPLTYPE\tRGB_ALPHA \nENDHDR \r\n\1\2\3\4\5\6\7\x08",
            1, 1, 4, 0x102, 0x304, 0x506, 0x708);
    /* Keys stand in any order, with comments between. In PAM 1 is white. */
    FILE_IS(c,
            "P7\n# a\nMAXVAL 1\nDEPTH 1\n#b\nHEIGHT 1\nWIDTH 2\n"
            "ENDHDR\n\0\1",
            2, 1, 1, 0, 1);
    FILE_IS(c, PAM("2", "1", "2", "1023", "") "\0\1\0\2\3\0\3\xff", 2, 1, 2, 1,
            2, 768, 1023);
    FILE_IS(c, PAM("1", "2", "5", "255", "") "abcdefghij", 1, 2, 5, 97, 98, 99,
            100, 101, 102, 103, 104, 105, 106);
}

TEST(pam_kept)
{
#define KEPT(file, want)                                                       \
    check_rewritten(&codec_pam, TEXT(file), "pam", XFORM_NONE, TEXT(want))
    KEPT(PAM("1", "1", "1", "1", "TUPLTYPE BLACKANDWHITE\n") "\1",
         PAM("1", "1", "1", "1", "TUPLTYPE BLACKANDWHITE\n") "\1");
    KEPT(PAM("1", "1", "1", "9", "TUPLTYPE depth map\n") "\1",
         PAM("1", "1", "1", "9", "TUPLTYPE depth map\n") "\1");
    KEPT(PAM("1", "1", "1", "9", "TUPLTYPE BLACKANDWHITES\n") "\1",
         PAM("1", "1", "1", "9", "TUPLTYPE BLACKANDWHITES\n") "\1");
    KEPT(PAM("1", "1", "1", "9", "") "\1", PAM("1", "1", "1", "9", "") "\1");
    KEPT(PAM("1", "1", "1", "9", "TUPLTYPE one \nTUPLTYPE  two\n") "\1",
         PAM("1", "1", "1", "9", "TUPLTYPE one two\n") "\1");
    KEPT("P7\n#x\nWIDTH 1\n# y\nHEIGHT 1\nDEPTH 1\nMAXVAL 300\nENDHDR\n\1\1",
         "P7\n#x\n# y\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 300\nENDHDR\n\1\1");
#undef KEPT
}

TEST(pam_refused)
{
    const struct codec *c = &codec_pam;
    REFUSED(c, PAM("1", "1", "65", "255", ""),
            "65 channels; from 1 to 64 can be read");
    REFUSED(c, PAM("1", "1", "0", "255", ""),
            "0 channels; from 1 to 64 can be read");
    REFUSED(c, PAM("1", "1", "1", "0", "") "1",
            "maxval 0 is out of range; expected 1 to 65535");
    REFUSED(c, "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nENDHDR\n1",
            "maxval 0 is out of range; expected 1 to 65535");
    REFUSED(c, "P7\nWIDTH 1\nWIDE 1\n", "its header has a wrong line: WIDE");
    REFUSED(c, "P7\nWIDTH 1\nWIDTH 1\n", "its header has a wrong line: WIDTH");
    REFUSED(c, "P7\nWIDTH x\n", "its header has a wrong line: WIDTH");
    REFUSED(c, "P7\nWIDTH 1\nHEIGHT 1\n", "its header has no end");
    REFUSED(
        c,
        PAM("1", "1", "1", "9", "TUPLTYPE 12345678901234567890123456789012\n"),
        "its tuple type is too long or not text");
    REFUSED(c, PAM("1", "1", "1", "9", "TUPLTYPE a\0b\n") "\1",
            "its tuple type is too long or not text");
    REFUSED(c, "P7\nWIDTH\0 1\n", "its header has no end");
    REFUSED(c, PAM("1", "1", "2", "9", "") "\1\x0a",
            "row 0 has a sample above the maxval, 9");
    REFUSED(c, PAM("1", "1", "1", "9", "") "\1P7", "2" MORE);
    TOLERATED(c, PAM("1", "2", "2", "9", "") "\1\2\3", CUT, 1, 2, 3, 0);
    DAMAGED(c, PAM("2", "1", "2", "255", "TUPLTYPE x\n"), "abcd", 0);
    DAMAGED(c, PAM("1", "2", "1", "300", ""), "\1\1\1\2", 0);
}

TEST(pam_round_trips)
{
    for (size_t i = 0; i < MAXVALS; i++)
        for (unsigned n = 1; n <= 5; n++) {
            enum color color = n > 4   ? COLOR_OTHER
                               : n > 2 ? COLOR_RGB
                                       : COLOR_GRAY;
            owned_image img = random_picture(cell_of(maxvals[i]), maxvals[i],
                                             color, n, 23, 7);
            check_round_trip(&codec_pam, &img, "pam");
        }
}

/* ---- PFM ------------------------------------------------------------------*/

TEST(pfm_files)
{
    const struct codec *c = &codec_pfm;
    /* 1.0 is 3f800000, -2.0 c0000000, 0.5 3f000000. The bottom row is first. */
    FILE_IS(c, "Pf\n1 2\n-1.0\n\0\0\x80\x3f\0\0\0\xc0", 1, 2, 1, -2, 1);
    FILE_IS(c, "Pf 1 2 2.5 \x3f\x80\0\0\xc0\0\0\0", 1, 2, 1, -2, 1);
    FILE_IS(c, "PF\n1 1\n1\n\x3f\0\0\0\x3f\x80\0\0\0\0\0\1", 1, 1, 3, 0.5, 1,
            0x1p-149);
#define KEPT(file) check_rewritten(c, TEXT(file), "pfm", XFORM_NONE, TEXT(file))
    KEPT("Pf\n1 1\n-1.0\nabcd");
    KEPT("Pf\n# scale and order\n1 1\n2.50e0\nabcd");
    KEPT("PF\n1 1\n-0.000001\nabcdefghijkl");
#undef KEPT
    REFUSED(c, "Pf 1 1 0 abcd", "its scale must be a number other than 0");
    REFUSED(c, "Pf 1 1 nan abcd", "its scale must be a number other than 0");
    REFUSED(c, "Pf 1 1 1x abcd", "its scale must be a number other than 0");
    REFUSED(c, "Pf 1 1 -1 abcdPf", "2" MORE);
    TOLERATED(c, "Pf 1 2 1 \x3f\x80", CUT, 0, 1);
    DAMAGED(c, "Pf\n#c\n1 2\n-1.0\n", "abcdabcd", 0);
    DAMAGED(c, "PF 1 1 1 ", "abcdabcdabcd", 0);
    for (unsigned n = 1; n <= 3; n += 2) {
        owned_image img = random_picture(
            CELL_F32, 0, n == 1 ? COLOR_GRAY : COLOR_RGB, n, 37, 11);
        check_round_trip(c, &img, "pfm");
        img.meta = codec_new_meta(c);
        *(struct netpbm_state *)img.meta->state =
            (struct netpbm_state){ .scale = "1", .big_endian = true };
        check_round_trip(c, &img, "pfm");
    }
}

/* ---- All ------------------------------------------------------------------*/

/* What other formats hold as a comment, and what they lose; and a comment that
 * comes from one. */
TEST(portable)
{
    struct opened o =
        open_file(&codec_pfm, TEXT("Pf\n# a\n#\n#b\n1 1\n-2\nabcd"), PORTABLE);
    struct warnings warnings = { 0 };
    CHECK(o.status == 0, "%s", o.err.text);
    CHECK(o.img.meta->comment.size == 4 &&
              !memcmp(o.img.meta->comment.data, "a\n\nb", 4),
          "%.*s", (int)o.img.meta->comment.size,
          (const char *)o.img.meta->comment.data);
    struct bytes file = written(&codec_npy, &o.img, "npy", &warnings);
    CHECK(warnings.count == 1 &&
              !strcmp(warnings.list[0].text,
                      "NPY cannot hold, so it is not kept: comment, scale"),
          "%s", warnings.list[0].text);
    bytes_free(&file);
    close_file(&o);
    o = open_file(&codec_pnm, TEXT("P5\n# a\n#b\n1 1\n9\n\1"), PORTABLE);
    must(bytes_append(&o.img.meta->comment, "\r\n\n#c", 5));
    warnings.count = 0;
    file = written(&codec_pam, &o.img, "pam", &warnings);
    CHECK(memmem(file.data, file.size, TEXT("P7\n# a\n# b\n# #c\nWIDTH")) &&
              warnings.count == 0,
          "%.*s", (int)file.size, (const char *)file.data);
    bytes_free(&file);
    close_file(&o);
    /* A type for single bits is wrong for deeper samples. */
    o = open_file(
        &codec_pam,
        TEXT(PAM("1", "1", "1", "1", "TUPLTYPE BLACKANDWHITE\n") "\1"), STRICT);
    o.img.maxval = 255;
    file = written(&codec_pam, &o.img, "pam", &warnings);
    CHECK(memmem(file.data, file.size, TEXT("TUPLTYPE GRAYSCALE\n")), "%.*s",
          (int)file.size, (const char *)file.data);
    bytes_free(&file);
    close_file(&o);
}
