/* NPY arrays: types of cells, orders and axes are read, turned and written; all
 * others are refused. */

#include "codecs/base/byte_order.h"
#include "codecs/npy/header.h"
#include "tests/support/formats.h"

/* A file of a version, of this dictionary and this data. */
static struct bytes npy(unsigned version, const char *dictionary,
                        const void *data, size_t size)
{
    struct bytes file = { 0 };
    size_t n = strlen(dictionary);
    uint8_t lead[12] = "\x93NUMPY";
    lead[6] = (uint8_t)version;
    write_le16(lead + 8, (unsigned)n);
    must(bytes_append(&file, lead, version == 1 ? 10 : 12) &&
         bytes_append(&file, dictionary, n) && bytes_append(&file, data, size));
    return file;
}

#define DICTIONARY(descr, shape)                                               \
    "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"

#define FORTRAN(descr, shape)                                                  \
    "{'descr': '" descr "', 'fortran_order': True, 'shape': " shape ", }\n"

static void taken_as(enum layout layout, unsigned version,
                     const char *dictionary, const void *data, size_t size,
                     uint32_t width, uint32_t height, unsigned nplanes,
                     const double *want)
{
    struct bytes file = npy(version, dictionary, data, size);
    check_file_read(&codec_npy, LAYOUT * (int)layout, file.data, file.size,
                    width, height, nplanes, want, NULL);
    bytes_free(&file);
}

static void taken(unsigned version, const char *dictionary, const void *data,
                  size_t size, uint32_t width, uint32_t height,
                  unsigned nplanes, const double *want)
{
    taken_as(LAYOUT_AUTO, version, dictionary, data, size, width, height,
             nplanes, want);
}

static void refused(const char *dictionary, const void *data, size_t size,
                    const char *words)
{
    struct bytes file = npy(1, dictionary, data, size);
    check_refused(&codec_npy, file.data, file.size, words);
    bytes_free(&file);
}

TEST(files)
{
    taken(1, DICTIONARY("|u1", "(2, 3)"), TEXT("abcdef"), 3, 2, 1,
          SAMPLES(97, 98, 99, 100, 101, 102));
    taken(1, DICTIONARY("<u1", "(1, 1, 5)"), TEXT("abcde"), 5, 1, 1,
          SAMPLES(97, 98, 99, 100, 101));
    taken(2, DICTIONARY("<u2", "(1, 2)"), TEXT("\1\0\xff\xfe"), 2, 1, 1,
          SAMPLES(1, 0xfeff));
    taken(3, DICTIONARY(">u2", "(1, 2)"), TEXT("\1\0\xff\xfe"), 2, 1, 1,
          SAMPLES(256, 0xfffe));
    taken(1, DICTIONARY("<f4", "(2, 1)"), TEXT("\0\0\x80\x3f\0\0\0\xc0"), 1, 2,
          1, SAMPLES(1, -2));
    taken(1, DICTIONARY(">f4", "(2, 1)"), TEXT("\x3f\x80\0\0\xc0\0\0\0"), 1, 2,
          1, SAMPLES(1, -2));
    /* As other programs write them. */
    taken(1, "{'shape':(2,3),'fortran_order':False,'descr':'=u1'}",
          TEXT("abcdef"), 3, 2, 1, SAMPLES(97, 98, 99, 100, 101, 102));
    taken(1, "{\"descr\": \"|u1\", 'fortran_order': False, 'shape': (2L, 1L)}",
          TEXT("ab"), 1, 2, 1, SAMPLES(97, 98));
    /* C x H x W: all of a plane, then all of the next. H x W x C: all of a
     * pixel. */
    taken_as(LAYOUT_CHW, 1, DICTIONARY("|u1", "(3, 1, 2)"), TEXT("abcdef"), 2,
             1, 3, SAMPLES(97, 99, 101, 98, 100, 102));
    taken_as(LAYOUT_HWC, 1, DICTIONARY("|u1", "(3, 1, 2)"), TEXT("abcdef"), 1,
             3, 2, SAMPLES(97, 98, 99, 100, 101, 102));
    taken(1, DICTIONARY("|u1", "(5, 1, 2)"), TEXT("abcdefghij"), 1, 5, 2,
          SAMPLES(97, 98, 99, 100, 101, 102, 103, 104, 105, 106));
    taken(1, DICTIONARY("|u1", "(2, 1, 5)"), TEXT("abcdefghij"), 5, 1, 2,
          SAMPLES(97, 102, 98, 103, 99, 104, 100, 105, 101, 106));
    taken_as(LAYOUT_HWC, 1, DICTIONARY(">u2", "(1, 1, 2)"), TEXT("abcd"), 1, 1,
             2, SAMPLES(0x6162, 0x6364));
    /* One picture, with an axis that says so. */
    taken_as(LAYOUT_NCHW, 1, DICTIONARY("|u1", "(1, 3, 1, 2)"), TEXT("abcdef"),
             2, 1, 3, SAMPLES(97, 99, 101, 98, 100, 102));
    taken_as(LAYOUT_NHW, 1, DICTIONARY("|u1", "(1, 3, 2)"), TEXT("abcdef"), 2,
             3, 1, SAMPLES(97, 98, 99, 100, 101, 102));
    /* Fortran order: all of a column, then all of the next. */
    taken(1, FORTRAN("|u1", "(2, 3)"), TEXT("abcdef"), 3, 2, 1,
          SAMPLES(97, 99, 101, 98, 100, 102));
    taken_as(LAYOUT_HWC, 1, FORTRAN("|u1", "(1, 2, 3)"), TEXT("abcdef"), 2, 1,
             3, SAMPLES(97, 99, 101, 98, 100, 102));
    taken_as(LAYOUT_CHW, 1, FORTRAN("|u1", "(3, 1, 2)"), TEXT("abcdef"), 2, 1,
             3, SAMPLES(97, 98, 99, 100, 101, 102));
    /* Keys in any order, other quotes and blanks, and nothing behind. */
    taken(1, "{\"shape\":(1,2) , \"descr\" : \"|u1\",\n'fortran_order':False}",
          TEXT("ab"), 2, 1, 1, SAMPLES(97, 98));
}

TEST(colors)
{
    static const struct {
        const char *dictionary;
        enum color color;
        bool alpha;
        unsigned nplanes;
    } shapes[] = {
        { DICTIONARY("|u1", "(9, 9)"), COLOR_GRAY, false, 1 },
        { DICTIONARY("|u1", "(1, 9, 9)"), COLOR_GRAY, false, 1 },
        { DICTIONARY("|u1", "(2, 9, 9)"), COLOR_GRAY, true, 2 },
        { DICTIONARY("|u1", "(3, 9, 9)"), COLOR_RGB, false, 3 },
        { DICTIONARY("|u1", "(4, 9, 9)"), COLOR_RGB, true, 4 },
        { DICTIONARY("|u1", "(9, 9, 1)"), COLOR_GRAY, false, 1 },
        { DICTIONARY("|u1", "(9, 9, 2)"), COLOR_GRAY, true, 2 },
        { DICTIONARY("|u1", "(9, 9, 3)"), COLOR_RGB, false, 3 },
        { DICTIONARY("|u1", "(9, 9, 4)"), COLOR_RGB, true, 4 },
    };
    static const char data[4 * 81];
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct bytes file =
            npy(1, shapes[i].dictionary, data, 81 * shapes[i].nplanes);
        struct opened o = open_file(&codec_npy, file.data, file.size, STRICT);
        CHECK(o.status == 0 && o.img.color == shapes[i].color &&
                  o.img.alpha == shapes[i].alpha &&
                  o.img.nplanes == shapes[i].nplanes && o.img.width == 9,
              "%s: %s", shapes[i].dictionary, o.err.text);
        close_file(&o);
        bytes_free(&file);
    }
    taken_as(LAYOUT_CHW, 1, DICTIONARY("|u1", "(5, 1, 1)"), TEXT("abcde"), 1, 1,
             5, SAMPLES(97, 98, 99, 100, 101));
    taken_as(LAYOUT_HWC, 1, DICTIONARY("|u1", "(1, 1, 5)"), TEXT("abcde"), 1, 1,
             5, SAMPLES(97, 98, 99, 100, 101));
}

/* Arrays of numpy are written again unchanged, in every byte order, layout and
 * order of axes. */
static void check_kept(const char *dictionary, enum layout layout)
{
    char head[118 + 1]; /* so that the data begins at 128 */
    snprintf(head, sizeof head, "%-117.*s\n", (int)strlen(dictionary) - 1,
             dictionary);
    struct bytes file = npy(1, head, TEXT("abcdefgh"));
    struct opened o =
        open_file(&codec_npy, file.data, file.size, LAYOUT * (int)layout);
    struct bytes again = { 0 };
    CHECK(o.status == 0, "%s: %s", dictionary, o.err.text);
    if (o.status == 0)
        again = written(&codec_npy, &o.img, "npy", &o.warnings);
    CHECK(again.size == file.size && !memcmp(again.data, file.data, file.size),
          "%s, %s: %.*s", dictionary, layout_name(layout), (int)again.size,
          (const char *)again.data);
    bytes_free(&again);
    close_file(&o);
    bytes_free(&file);
}

TEST(kept)
{
    static const char *const dictionaries[] = {
        DICTIONARY("|u1", "(4, 2)"),       DICTIONARY("|u1", "(1, 4, 2)"),
        DICTIONARY("<u2", "(2, 2)"),       DICTIONARY(">u2", "(2, 1, 2)"),
        DICTIONARY("<f4", "(1, 1, 2)"),    DICTIONARY(">f4", "(2, 1)"),
        DICTIONARY("|u1", "(1, 1, 8, 1)"), FORTRAN("<u2", "(2, 2)"),
        FORTRAN("|u1", "(2, 2, 2)"),       FORTRAN("|u1", "(1, 2, 4, 1)"),
        FORTRAN(">u2", "(1, 2, 1, 2)"),    FORTRAN(">f4", "(2, 1)"),
    };
    for (size_t i = 0; i < COUNT(dictionaries); i++)
        for (int layout = LAYOUT_HWC; layout <= LAYOUT_CHW; layout++)
            check_kept(dictionaries[i], (enum layout)layout);
}

TEST(types_refused)
{
    static const char *const types[] = { "<f8", "<i2", "|b1",     "<u4",
                                         "<f2", "<c8", "<M8[ns]", "|S3" };
    static const char zeros[64];
    char dictionary[128], words[256];
    for (size_t i = 0; i < COUNT(types); i++) {
        size_t n = types[i][2] == '3' ? 3 : (size_t)(types[i][2] - '0');
        sprintf(dictionary, DICTIONARY("%s", "(1, 1)"), types[i]);
        sprintf(words,
                "cells of '%s' can be turned as NPY, but not converted; "
                "numpy.astype makes them u1, u2 or f4, which can",
                types[i]);
        refused(dictionary, zeros, n, words);
    }
}

TEST(unknown_types)
{
    static const char *const unknown[] = { "u1x", "", "q8", "<f0", "<f", "<8" };
    char dictionary[128], words[256];
    for (size_t i = 0; i < COUNT(unknown); i++) {
        sprintf(dictionary, DICTIONARY("%s", "(1, 1)"), unknown[i]);
        sprintf(words, "cells of the unknown type '%s' cannot be turned",
                unknown[i]);
        refused(dictionary, TEXT("a"), words);
    }
}

TEST(unknown_versions)
{
    char words[256];
    for (unsigned version = 0; version < 10; version += 1 + 3 * !version) {
        struct bytes file = npy(version, DICTIONARY("|u1", "(1, 1)"), "a", 1);
        sprintf(words, "version %u of NPY is unknown; 1 to 3 can be read",
                version);
        check_refused(&codec_npy, file.data, file.size, words);
        bytes_free(&file);
    }
}

#define MALFORMED "its header is malformed"

static const struct {
    const char *dictionary, *cells;
    size_t size; /* of the cells */
    const char *words;
} refusals[] = {
    { DICTIONARY("|O", "(1, 1)"), TEXT("a"),
      "an array of Python objects cannot be turned; save it with a dtype "
      "of numbers" },
    { "{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (1, 1)}",
      TEXT("a"),
      "cells with fields, [('a', '|u1')], cannot be turned; save each "
      "field as an array of its own" },
    { DICTIONARY("|u1", "(1,)"), TEXT("a"),
      "shape (1,) has 1 axis, where pictures have 2 to 4; numpy.reshape "
      "makes them so" },
    { DICTIONARY("|u1", "()"), TEXT("a"),
      "shape () has 0 axes, where pictures have 2 to 4; numpy.reshape "
      "makes them so" },
    { DICTIONARY("|u1", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 7)"), TEXT("a"),
      "shape (1, 1, 1, 1, 1, 1, 1, 1, ...) has 10 axes, where pictures "
      "have 2 to 4; numpy.reshape makes them so" },
    { DICTIONARY("|u1", "(9, 0)"), TEXT(""),
      "shape (9, 0) has an axis of 0, so there is nothing to turn" },
    { DICTIONARY("|u1", "(4, 1, 4)"), TEXT("a"),
      "shape (4, 1, 4) can be read with the channels first or last; "
      "--layout chw or hwc says which" },
    { DICTIONARY("|u1", "(5, 1, 5)"), TEXT("a"),
      "shape (5, 1, 5) has no axis of 1 to 4 channels at its beginning "
      "or end; --layout chw, hwc or nhw says what its axes are" },
    { DICTIONARY("|u1", "(2, 1, 9, 9)"), TEXT(""),
      "0 bytes of data, where its shape needs 162" },
    { DICTIONARY("|u1", "(1, 4294967297)"), TEXT("a"),
      "4294967297 x 1 pixels: a side can have no more than 2147483647" },
    { FORTRAN("|u1", "(1, 4294967297)"), TEXT("a"),
      "4294967297 x 1 pixels: a side can have no more than 2147483647" },
    { DICTIONARY("|u1", "(1048577, 2, 2, 1)"), TEXT("a"),
      "shape (1048577, 2, 2, 1) can be read with the channels first or "
      "last; --layout nchw or nhwc says which" },
    { DICTIONARY("|u1", "(1048577, 9, 2, 1)"), TEXT("a"),
      "shape (1048577, 9, 2, 1) needs 36865K bytes, more than the 2048K "
      "of --max-memory; --max-memory 36865K allows them" },
    { DICTIONARY("<c16", "(900000000000000000, 9, 2, 1)"), TEXT("a"),
      "shape (900000000000000000, 9, 2, 1) needs more memory than can be "
      "counted" },
    { DICTIONARY("|u1", "(1, 99999999999999999999)"), TEXT("a"),
      "its header is malformed" },
    { DICTIONARY("|u1", "(1, -a)"), TEXT("a"), MALFORMED },
    { DICTIONARY("|u1", "(-1, 1)"), TEXT("a"), "its header is malformed" },
    { DICTIONARY("|u1", "(4611686018427387904, 4)"), TEXT("a"),
      "its header is malformed" },
    { DICTIONARY("|u1", "(1 1)"), TEXT("a"), MALFORMED },
    { DICTIONARY("|u1", "1, 1"), TEXT("a"), MALFORMED },
    { "{'descr': '|u1', 'shape': (1, 1)}", TEXT("a"), MALFORMED },
    { "{'descr': '|u1', 'fortran_order': 0, 'shape': (1, 1)}", TEXT("a"),
      MALFORMED },
    { "{'descr': [('a', '|u1'), 'fortran_order': False, 'shape': (1, 1)}",
      TEXT("a"), MALFORMED },
    { "{'descr': [", TEXT("a"), MALFORMED },
    { "{'descr': ['", TEXT("a"), MALFORMED },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), 'x': 1}",
      TEXT("a"), MALFORMED },
    { "", TEXT("a"), MALFORMED },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1)} more",
      TEXT("a"), MALFORMED },
    { "{'descr': '|u1' 'fortran_order': False 'shape': (1, 1)}", TEXT("a"),
      MALFORMED },
    { "{'descr': '|u1', 'fortran_order': False}", TEXT("a"), MALFORMED },
    { DICTIONARY("|u1", "(1, 18446744073709551619)"), TEXT("a"),
      "its header is malformed" },
    { DICTIONARY("|u1", "(1, 2)"), TEXT("a"),
      "1 bytes of data, where its shape needs 2" },
    { DICTIONARY("<u2", "(1, 2)"), TEXT("abcde"),
      "5 bytes of data, where its shape needs 4" },
};

TEST(refused)
{
    for (size_t i = 0; i < COUNT(refusals); i++)
        refused(refusals[i].dictionary, refusals[i].cells, refusals[i].size,
                refusals[i].words);
}

TEST(damaged)
{
    struct bytes file =
        npy(1, DICTIONARY("<u2", "(2, 2)"), TEXT("\1\0\2\0\3\0\4"));
    check_tolerated(&codec_npy, file.data, file.size, SAMPLES(1, 2, 3, 4),
                    "7 bytes of data, where its shape needs 8");
    bytes_free(&file);
    file = npy(1, DICTIONARY("<f4", "(2, 1)"), TEXT("\0\0\x80\x3f"));
    check_tolerated(&codec_npy, file.data, file.size, SAMPLES(1, 0),
                    "4 bytes of data, where its shape needs 8");
    bytes_free(&file);
    for (unsigned version = 1; version <= 2; version++) {
        file =
            npy(version, DICTIONARY(">u2", "(6, 1, 1)"), TEXT("abcdefghijkl"));
        check_cuts(&codec_npy, file.data, file.size, 0);
        check_hostile(&codec_npy, file.data, file.size, file.size - 12);
        bytes_free(&file);
    }
}

/* ---- Arrays that stay arrays, whose turns tests/support/arrays.py shows ---*/

static int turn_not(void *context, struct image *dst, const struct image *src,
                    enum xform t, struct err *err)
{
    (void)context, (void)dst, (void)src, (void)t;
    return fail(err, "no turn");
}

/* A failure of the turner is that of the file. */
TEST(turn_fails)
{
    static const char zeros[81 * 3];
    struct bytes file = npy(1, DICTIONARY("|u1", "(9, 9, 3)"), zeros, 81 * 3);
    struct bytes out = { 0 };
    struct image img = { 0 };
    struct err err;
    const struct turner turner = { .turn = turn_not, .tile = 1 };
    struct load_opts opts = { .limits = { .pixels = LIMIT_PIXELS,
                                          .bytes = LIMIT_BYTES },
                              .mem = mem_plain,
                              .turner = &turner };
    CHECK(codec_npy.turn(&out, &img, file, XFORM_ROTATE_90, &opts, &err) ==
                  -1 &&
              !strcmp(err.text, "no turn"),
          "%s", err.text);
    bytes_free(&out);
    bytes_free(&file);
}

TEST(round_trips)
{
    static const uint32_t maxvals[] = { 255, 65535, 0 };
    for (int cell = CELL_U8; cell <= CELL_F32; cell++)
        for (unsigned n = 1; n <= 5; n++) {
            enum color color = n > 4   ? COLOR_OTHER
                               : n > 2 ? COLOR_RGB
                                       : COLOR_GRAY;
            struct image img =
                random_picture((enum cell)cell, maxvals[cell], color, n, 31, 9);
            check_round_trip(&codec_npy, &img, "npy");
            img.meta = codec_new_meta(&codec_npy);
            ((struct npy_state *)img.meta->state)->big_endian = true;
            check_round_trip(&codec_npy, &img, "npy");
            image_free(&img);
        }
}
