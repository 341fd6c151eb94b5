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

#define BYTES(shape) DICTIONARY("|u1", shape)

#define FORTRAN(descr, shape)                                                  \
    "{'descr': '" descr "', 'fortran_order': True, 'shape': " shape ", }\n"

static void taken(enum layout layout, unsigned version, const char *dictionary,
                  const void *data, size_t size, uint32_t width,
                  uint32_t height, unsigned nplanes, const double *want)
{
    owned_bytes file = npy(version, dictionary, data, size);
    check_file_read(&codec_npy, LAYOUT * (int)layout, file.data, file.size,
                    width, height, nplanes, want, NULL);
}

#define TAKEN(layout, version, dictionary, cells, width, height, n, want)      \
    taken(LAYOUT_##layout, version, dictionary, TEXT(cells), width, height, n, \
          want)

static void refused(const char *dictionary, const void *data, size_t size,
                    const char *words)
{
    owned_bytes file = npy(1, dictionary, data, size);
    check_refused(&codec_npy, file.data, file.size, words);
}

static const double letters[] = {
    97, 98, 99, 100, 101, 102, 103, 104, 105, 106
};

TEST(files)
{
    TAKEN(AUTO, 1, BYTES("(2, 3)"), "abcdef", 3, 2, 1, letters);
    TAKEN(AUTO, 1, DICTIONARY("<u1", "(1, 1, 5)"), "abcde", 5, 1, 1, letters);
    TAKEN(AUTO, 2, DICTIONARY("<u2", "(1, 2)"), "\1\0\xff\xfe", 2, 1, 1,
          SAMPLES(1, 0xfeff));
    TAKEN(AUTO, 3, DICTIONARY(">u2", "(1, 2)"), "\1\0\xff\xfe", 2, 1, 1,
          SAMPLES(256, 0xfffe));
    TAKEN(AUTO, 1, DICTIONARY("<f4", "(2, 1)"), "\0\0\x80\x3f\0\0\0\xc0", 1, 2,
          1, SAMPLES(1, -2));
    TAKEN(AUTO, 1, DICTIONARY(">f4", "(2, 1)"), "\x3f\x80\0\0\xc0\0\0\0", 1, 2,
          1, SAMPLES(1, -2));
    /* As other programs write them. */
    TAKEN(AUTO, 1, "{'shape':(2,3),'fortran_order':False,'descr':'=u1'}",
          "abcdef", 3, 2, 1, letters);
    TAKEN(AUTO, 1,
          "{\"descr\": \"|u1\", 'fortran_order': False, 'shape': (2L, 1L)}",
          "ab", 1, 2, 1, letters);
    /* C x H x W: all of a plane, then all of the next. H x W x C: all of a
     * pixel. */
    TAKEN(CHW, 1, BYTES("(3, 1, 2)"), "abcdef", 2, 1, 3,
          SAMPLES(97, 99, 101, 98, 100, 102));
    TAKEN(HWC, 1, BYTES("(3, 1, 2)"), "abcdef", 1, 3, 2, letters);
    TAKEN(AUTO, 1, BYTES("(5, 1, 2)"), "abcdefghij", 1, 5, 2, letters);
    TAKEN(AUTO, 1, BYTES("(2, 1, 5)"), "abcdefghij", 5, 1, 2,
          SAMPLES(97, 102, 98, 103, 99, 104, 100, 105, 101, 106));
    TAKEN(HWC, 1, DICTIONARY(">u2", "(1, 1, 2)"), "abcd", 1, 1, 2,
          SAMPLES(0x6162, 0x6364));
    /* One picture, with an axis that says so. */
    TAKEN(NCHW, 1, BYTES("(1, 3, 1, 2)"), "abcdef", 2, 1, 3,
          SAMPLES(97, 99, 101, 98, 100, 102));
    TAKEN(NHW, 1, BYTES("(1, 3, 2)"), "abcdef", 2, 3, 1, letters);
    /* Fortran order: all of a column, then all of the next. */
    TAKEN(AUTO, 1, FORTRAN("|u1", "(2, 3)"), "abcdef", 3, 2, 1,
          SAMPLES(97, 99, 101, 98, 100, 102));
    TAKEN(HWC, 1, FORTRAN("|u1", "(1, 2, 3)"), "abcdef", 2, 1, 3,
          SAMPLES(97, 99, 101, 98, 100, 102));
    TAKEN(CHW, 1, FORTRAN("|u1", "(3, 1, 2)"), "abcdef", 2, 1, 3, letters);
    /* Keys in any order, other quotes and blanks, and nothing behind. */
    TAKEN(AUTO, 1,
          "{\"shape\":(1,2) , \"descr\" : \"|u1\",\n'fortran_order':False}",
          "ab", 2, 1, 1, letters);
}

TEST(colors)
{
    static const struct {
        const char *dictionary;
        enum color color;
        bool alpha;
        unsigned nplanes;
    } shapes[] = {
        { BYTES("(9, 9)"), COLOR_GRAY, false, 1 },
        { BYTES("(1, 9, 9)"), COLOR_GRAY, false, 1 },
        { BYTES("(2, 9, 9)"), COLOR_GRAY, true, 2 },
        { BYTES("(3, 9, 9)"), COLOR_RGB, false, 3 },
        { BYTES("(4, 9, 9)"), COLOR_RGB, true, 4 },
        { BYTES("(9, 9, 1)"), COLOR_GRAY, false, 1 },
        { BYTES("(9, 9, 2)"), COLOR_GRAY, true, 2 },
        { BYTES("(9, 9, 3)"), COLOR_RGB, false, 3 },
        { BYTES("(9, 9, 4)"), COLOR_RGB, true, 4 },
    };
    static const char data[4 * 81];
    for (size_t i = 0; i < COUNT(shapes); i++) {
        owned_bytes file =
            npy(1, shapes[i].dictionary, data, 81 * shapes[i].nplanes);
        struct opened o = open_file(&codec_npy, file.data, file.size, STRICT);
        CHECK(o.status == 0 && o.img.color == shapes[i].color &&
                  o.img.alpha == shapes[i].alpha &&
                  o.img.nplanes == shapes[i].nplanes && o.img.width == 9,
              "%s: %s", shapes[i].dictionary, o.err.text);
        close_file(&o);
    }
    TAKEN(CHW, 1, BYTES("(5, 1, 1)"), "abcde", 1, 1, 5, letters);
    TAKEN(HWC, 1, BYTES("(1, 1, 5)"), "abcde", 1, 1, 5, letters);
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
        owned_bytes file = npy(version, BYTES("(1, 1)"), "a", 1);
        sprintf(words, "version %u of NPY is unknown; 1 to 3 can be read",
                version);
        check_refused(&codec_npy, file.data, file.size, words);
    }
}

/* With one cell, 'a'. */
static const struct {
    const char *dictionary, *words;
} refusals[] = {
    { DICTIONARY("|O", "(1, 1)"), "an array of Python objects cannot be "
                                  "turned; save it with a dtype of numbers" },
    { "{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (1, 1)}",
      "cells with fields, [('a', '|u1')], cannot be turned; save each field as "
      "an array of its own" },
    { BYTES("(1,)"), "shape (1,) has 1 axis, where pictures have 2 to 4; "
                     "numpy.reshape makes them so" },
    { BYTES("()"), "shape () has 0 axes, where pictures have 2 to 4; "
                   "numpy.reshape makes them so" },
    { BYTES("(1, 1, 1, 1, 1, 1, 1, 1, 1, 7)"),
      "shape (1, 1, 1, 1, 1, 1, 1, 1, ...) has 10 axes, where pictures have 2 "
      "to 4; numpy.reshape makes them so" },
    { BYTES("(4, 1, 4)"), "shape (4, 1, 4) can be read with the channels first "
                          "or last; --layout chw or hwc says which" },
    { BYTES("(5, 1, 5)"),
      "shape (5, 1, 5) has no axis of 1 to 4 channels at its beginning or end; "
      "--layout chw, hwc or nhw says what its axes are" },
    { BYTES("(1, 4294967297)"),
      "4294967297 x 1 pixels: a side can have no more than 2147483647" },
    { FORTRAN("|u1", "(1, 4294967297)"),
      "4294967297 x 1 pixels: a side can have no more than 2147483647" },
    { BYTES("(1048577, 2, 2, 1)"),
      "shape (1048577, 2, 2, 1) can be read with the channels first or last; "
      "--layout nchw or nhwc says which" },
    { BYTES("(1048577, 9, 2, 1)"),
      "shape (1048577, 9, 2, 1) needs 36865K bytes, more than the 2048K of "
      "--max-memory; --max-memory 36865K allows them" },
    { DICTIONARY("<c16", "(900000000000000000, 9, 2, 1)"),
      "shape (900000000000000000, 9, 2, 1) needs more memory than can be "
      "counted" },
    { BYTES("(1, 2)"), "1 bytes of data, where its shape needs 2" },
};

static const char *const malformed[] = {
    BYTES("(1, 99999999999999999999)"),
    BYTES("(1, -a)"),
    BYTES("(-1, 1)"),
    BYTES("(4611686018427387904, 4)"),
    BYTES("(1 1)"),
    BYTES("1, 1"),
    "{'descr': '|u1', 'shape': (1, 1)}",
    "{'descr': '|u1', 'fortran_order': 0, 'shape': (1, 1)}",
    "{'descr': [('a', '|u1'), 'fortran_order': False, 'shape': (1, 1)}",
    "{'descr': [",
    "{'descr': ['",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), 'x': 1}",
    "",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1)} more",
    "{'descr': '|u1' 'fortran_order': False 'shape': (1, 1)}",
    "{'descr': '|u1', 'fortran_order': False}",
    BYTES("(1, 18446744073709551619)"),
};

TEST(refused)
{
    for (size_t i = 0; i < COUNT(refusals); i++)
        refused(refusals[i].dictionary, TEXT("a"), refusals[i].words);
    refused(BYTES("(9, 0)"), TEXT(""),
            "shape (9, 0) has an axis of 0, so there is nothing to turn");
    refused(BYTES("(2, 1, 9, 9)"), TEXT(""),
            "0 bytes of data, where its shape needs 162");
    refused(DICTIONARY("<u2", "(1, 2)"), TEXT("abcde"),
            "5 bytes of data, where its shape needs 4");
    for (size_t i = 0; i < COUNT(malformed); i++)
        refused(malformed[i], TEXT("a"), "its header is malformed");
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
    owned_bytes file = npy(1, BYTES("(9, 9, 3)"), zeros, 81 * 3);
    owned_bytes out = { 0 };
    struct image img = { 0 };
    struct err err;
    const struct turner turner = { .turn = turn_not, .tile = 1 };
    const struct save_opts save = { .turner = &turner };
    struct load_opts opts = { .limits = { .pixels = LIMIT_PIXELS,
                                          .bytes = LIMIT_BYTES },
                              .mem = mem_plain,
                              .save = &save };
    CHECK(codec_npy.turn(&out, &img, file, XFORM_ROTATE_90, &opts, &err) ==
                  -1 &&
              !strcmp(err.text, "no turn"),
          "%s", err.text);
}

TEST(round_trips)
{
    static const uint32_t maxvals[] = { 255, 65535, 0 };
    for (int cell = CELL_U8; cell <= CELL_F32; cell++)
        for (unsigned n = 1; n <= 5; n++) {
            enum color color = n > 4   ? COLOR_OTHER
                               : n > 2 ? COLOR_RGB
                                       : COLOR_GRAY;
            owned_image img =
                random_picture((enum cell)cell, maxvals[cell], color, n, 31, 9);
            check_round_trip(&codec_npy, &img, "npy");
            img.meta = codec_new_meta(&codec_npy);
            ((struct npy_state *)img.meta->state)->big_endian = true;
            check_round_trip(&codec_npy, &img, "npy");
        }
}
