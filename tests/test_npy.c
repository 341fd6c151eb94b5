/* NPY: its headers, its kinds of cells, its axes, and what is refused. */
#include "tests/formats.h"

#define TEXT(text) text, sizeof text - 1
#define SAMPLES(...) ((const double[]){ __VA_ARGS__ })

/* A file of a version, of this dictionary and this data. */
static struct bytes npy(unsigned version, const char *dictionary,
                        const void *data, size_t size)
{
    struct bytes file = { 0 };
    size_t n = strlen(dictionary);
    uint8_t lead[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0,
                       n & 255, (uint8_t)(n >> 8), 0, 0 };
    if (!bytes_append(&file, lead, version == 1 ? 10 : 12) ||
        !bytes_append(&file, dictionary, n) || !bytes_append(&file, data, size))
        abort();
    return file;
}

#define DICTIONARY(descr, shape)                                               \
    "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"

static void taken(unsigned version, const char *dictionary, const void *data,
                  size_t size, uint32_t width, uint32_t height,
                  unsigned nplanes, const double *want)
{
    struct bytes file = npy(version, dictionary, data, size);
    check_file(&codec_npy, file.data, file.size, width, height, nplanes, want,
               NULL);
    bytes_free(&file);
}

static void refused(const char *dictionary, const void *data, size_t size,
                    const char *words)
{
    struct bytes file = npy(1, dictionary, data, size);
    check_refused(&codec_npy, file.data, file.size, words);
    bytes_free(&file);
}

static void test_files(void)
{
    taken(1, DICTIONARY("|u1", "(2, 3)"), TEXT("abcdef"), 3, 2, 1,
          SAMPLES(97, 98, 99, 100, 101, 102));
    taken(1, DICTIONARY("<u1", "(1, 1, 2)"), TEXT("ab"), 2, 1, 1,
          SAMPLES(97, 98));
    taken(2, DICTIONARY("<u2", "(1, 2)"), TEXT("\1\0\xff\xfe"), 2, 1, 1,
          SAMPLES(1, 0xfeff));
    taken(3, DICTIONARY(">u2", "(1, 2)"), TEXT("\1\0\xff\xfe"), 2, 1, 1,
          SAMPLES(256, 0xfffe));
    taken(1, DICTIONARY("<f4", "(2, 1)"), TEXT("\0\0\x80\x3f\0\0\0\xc0"), 1, 2,
          1, SAMPLES(1, -2));
    taken(1, DICTIONARY(">f4", "(2, 1)"), TEXT("\x3f\x80\0\0\xc0\0\0\0"), 1, 2,
          1, SAMPLES(1, -2));
    /* C x H x W: all of a plane, then all of the next. */
    taken(1, DICTIONARY("|u1", "(3, 1, 2)"), TEXT("abcdef"), 2, 1, 3,
          SAMPLES(97, 99, 101, 98, 100, 102));
    /* Keys in any order, other quotes and blanks, and nothing behind. */
    taken(1, "{\"shape\":(1,2) , \"descr\" : \"|u1\",\n'fortran_order':False}",
          TEXT("ab"), 2, 1, 1, SAMPLES(97, 98));
}

static void test_colors(void)
{
    static const struct {
        const char *dictionary;
        enum color color;
        bool alpha;
    } shapes[] = {
        { DICTIONARY("|u1", "(1, 1)"), COLOR_GRAY, false },
        { DICTIONARY("|u1", "(1, 1, 1)"), COLOR_GRAY, false },
        { DICTIONARY("|u1", "(2, 1, 1)"), COLOR_GRAY, true },
        { DICTIONARY("|u1", "(3, 1, 1)"), COLOR_RGB, false },
        { DICTIONARY("|u1", "(4, 1, 1)"), COLOR_RGB, true },
        { DICTIONARY("|u1", "(5, 1, 1)"), COLOR_OTHER, false },
        { DICTIONARY("|u1", "(64, 1, 1)"), COLOR_OTHER, false },
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        unsigned n = i ? (unsigned)atoi(strchr(shapes[i].dictionary, '(') + 1)
                       : 1;
        char data[64] = { 0 };
        struct bytes file = npy(1, shapes[i].dictionary, data, n);
        struct opened o = open_file(&codec_npy, file.data, file.size, STRICT);
        CHECK(o.status == 0 && o.img.color == shapes[i].color &&
                  o.img.alpha == shapes[i].alpha && o.img.nplanes == n,
              "%s: %s", shapes[i].dictionary, o.err.text);
        close_file(&o);
        bytes_free(&file);
    }
}

/* What numpy writes is written again as it was, whatever the byte order and
 * however many dimensions. */
static void test_kept(void)
{
    static const char *const dictionaries[] = {
        DICTIONARY("|u1", "(4, 2)"),    DICTIONARY("|u1", "(1, 4, 2)"),
        DICTIONARY("<u2", "(2, 2)"),    DICTIONARY(">u2", "(2, 1, 2)"),
        DICTIONARY("<f4", "(1, 1, 2)"), DICTIONARY(">f4", "(2, 1)"),
    };
    for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++) {
        char head[118 + 1]; /* so that the data begins at 128 */
        snprintf(head, sizeof head, "%-117.*s\n",
                 (int)strlen(dictionaries[i]) - 1, dictionaries[i]);
        struct bytes file = npy(1, head, TEXT("abcdefgh"));
        check_rewritten(&codec_npy, file.data, file.size, "npy", XFORM_NONE,
                        file.data, file.size);
        bytes_free(&file);
    }
}

static void test_refused(void)
{
    static const char malformed[] = "its header is malformed";
    static const char axes[] =
        "an array of %u dimensions, the first of %u; it must be H x W or C x H "
        "x W, with up to 64 channels";
    static const char *const types[] = { "<f8", "<i2", "|b1", "<u4", "u1",
                                         "",    "|O",  "<f2", "<c8" };
    char dictionary[128], words[128];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        sprintf(dictionary, DICTIONARY("%s", "(1, 1)"), types[i]);
        sprintf(words, "an array of '%s'; u1, u2 and f4 can be read", types[i]);
        refused(dictionary, TEXT("a"), words);
    }
    refused("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 1), }",
            TEXT("a"), "an array in Fortran order; only C order can be read");
    sprintf(words, axes, 1, 1);
    refused(DICTIONARY("|u1", "(1,)"), TEXT("a"), words);
    sprintf(words, axes, 0, 0);
    refused(DICTIONARY("|u1", "()"), TEXT("a"), words);
    sprintf(words, axes, 4, 1);
    refused(DICTIONARY("|u1", "(1, 1, 1, 1)"), TEXT("a"), words);
    sprintf(words, axes, 3, 65);
    refused(DICTIONARY("|u1", "(65, 1, 1)"), TEXT("a"), words);
    sprintf(words, axes, 3, 0);
    refused(DICTIONARY("|u1", "(0, 1, 1)"), TEXT("a"), words);
    refused(DICTIONARY("|u1", "(0, 1)"), TEXT(""),
            "an empty picture: 1 x 0 pixels");
    refused(DICTIONARY("|u1", "(1, 4294967297)"), TEXT("a"),
            "4294967297 x 1 pixels are more than --max-pixels allows");
    refused(DICTIONARY("|u1", "(1, 99999999999999999999)"), TEXT("a"),
            malformed);
    refused(DICTIONARY("|u1", "(-1, 1)"), TEXT("a"), malformed);
    refused(DICTIONARY("|u1", "(1 1)"), TEXT("a"), malformed);
    refused(DICTIONARY("|u1", "1, 1"), TEXT("a"), malformed);
    refused("{'descr': '|u1', 'shape': (1, 1)}", TEXT("a"), malformed);
    refused("{'descr': '|u1', 'fortran_order': 0, 'shape': (1, 1)}", TEXT("a"),
            malformed);
    refused("{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (1, 1)}",
            TEXT("a"), malformed);
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), 'x': 1}",
            TEXT("a"), malformed);
    refused("", TEXT("a"), malformed);
    refused(DICTIONARY("|u1", "(1, 2)"), TEXT("a"),
            "1 bytes of data, where its shape needs 2");
    refused(DICTIONARY("<u2", "(1, 2)"), TEXT("abcde"),
            "5 bytes of data, where its shape needs 4");
    for (unsigned version = 0; version < 10; version += 1 + 3 * !version) {
        struct bytes file = npy(version, DICTIONARY("|u1", "(1, 1)"), "a", 1);
        sprintf(words, "version %u of NPY is not known", version);
        check_refused(&codec_npy, file.data, file.size, words);
        bytes_free(&file);
    }
}

static void test_damaged(void)
{
    struct bytes file =
        npy(1, DICTIONARY("<u2", "(2, 1, 2)"), TEXT("\1\0\2\0\3\0\4"));
    check_tolerated(&codec_npy, file.data, file.size, SAMPLES(1, 3, 2, 4),
                    "7 bytes of data, where its shape needs 8");
    bytes_free(&file);
    file = npy(1, DICTIONARY("<f4", "(2, 1)"), TEXT("\0\0\x80\x3f"));
    check_tolerated(&codec_npy, file.data, file.size, SAMPLES(1, 0),
                    "4 bytes of data, where its shape needs 8");
    bytes_free(&file);
    for (unsigned version = 1; version <= 2; version++) {
        file = npy(version, DICTIONARY(">u2", "(2, 1, 2)"), TEXT("abcdefgh"));
        check_cuts(&codec_npy, file.data, file.size, 0);
        check_hostile(&codec_npy, file.data, file.size, file.size - 8);
        bytes_free(&file);
    }
}

static void test_round_trips(void)
{
    static const uint32_t maxvals[] = { 255, 65535, 0 };
    for (int cell = CELL_U8; cell <= CELL_F32; cell++)
        for (unsigned n = 1; n <= 5; n++) {
            enum color color = n > 4   ? COLOR_OTHER
                               : n > 2 ? COLOR_RGB
                                       : COLOR_GRAY;
            struct image img = random_picture((enum cell)cell, maxvals[cell],
                                              color, n, 31, 9);
            check_round_trip(&codec_npy, &img, "npy");
            img.meta = meta_new(&codec_npy);
            img.meta->big_endian = true;
            check_round_trip(&codec_npy, &img, "npy");
            image_free(&img);
        }
}

int main(void)
{
    test_files();
    test_colors();
    test_kept();
    test_refused();
    test_damaged();
    test_round_trips();
    return test_end();
}
