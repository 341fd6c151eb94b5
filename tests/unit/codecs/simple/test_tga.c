/* TGA files of every layout are read, keep what they say when they are written
 * again, and a cut file is never taken for a whole one. */
#include "codecs/simple/simple.h"

#include "tests/support/formats.h"

enum { LEFT_UP = 0, RIGHT_UP = 0x10, LEFT_DOWN = 0x20, RIGHT_DOWN = 0x30 };

static struct bytes make_tga(unsigned type, unsigned bits, unsigned width,
                             unsigned height, unsigned descriptor,
                             const char *pixels, size_t size)
{
    struct bytes file = { 0 };
    uint8_t head[18] = { 0 };
    head[2] = (uint8_t)type;
    write_le16(head + 12, width);
    write_le16(head + 14, height);
    head[16] = (uint8_t)bits;
    head[17] = (uint8_t)descriptor;
    must(bytes_append(&file, head, sizeof head));
    must(bytes_append(&file, pixels, size));
    return file;
}

#define TGA(type, bits, width, height, descriptor, cells)                      \
    make_tga(type, bits, width, height, descriptor, TEXT(cells))

/* What stands between the header and the pixels. */
static void insert(struct bytes *file, const char *data, size_t size)
{
    must(bytes_append(file, data, size));
    memmove(file->data + 18 + size, file->data + 18, file->size - 18 - size);
    memcpy(file->data + 18, data, size);
}

static struct bytes with_palette(struct bytes file, unsigned bits,
                                 const char *colors, size_t size)
{
    file.data[1] = 1;
    file.data[5] = (uint8_t)(8 * size / bits);
    file.data[7] = (uint8_t)bits;
    insert(&file, colors, size);
    return file;
}

static void tga_is(struct bytes file, unsigned nplanes, const double *want,
                   const char *said)
{
    check_file(&codec_tga, file.data, file.size, read_le16(file.data + 12),
               read_le16(file.data + 14), nplanes, want, said);
    check_cuts(&codec_tga, file.data, file.size, 0);
    check_hostile(&codec_tga, file.data, file.size, 18);
    bytes_free(&file);
}

TEST(tga_files)
{
    const double four[] = { 'a', 'b', 'c', 'd' };
    tga_is(TGA(3, 8, 2, 2, LEFT_DOWN, "abcd"), 1, four, NULL);
    tga_is(TGA(3, 8, 2, 2, LEFT_UP, "cdab"), 1, four, NULL);
    tga_is(TGA(3, 8, 2, 2, RIGHT_DOWN, "badc"), 1, four, NULL);
    tga_is(TGA(3, 8, 2, 2, RIGHT_UP, "dcba"), 1, four, NULL);
    tga_is(TGA(3, 16, 2, 1, LEFT_DOWN | 8, "abcd"), 2, four, NULL);
    tga_is(TGA(2, 24, 1, 2, LEFT_UP, "abcdef"), 3,
           SAMPLES('f', 'e', 'd', 'c', 'b', 'a'), NULL);
    tga_is(TGA(2, 32, 2, 1, RIGHT_UP | 8, "abc\0efgh"), 4,
           SAMPLES('g', 'f', 'e', 'h', 'c', 'b', 'a', 0), NULL);
    /* 5 bits each: 31 is 255, 16 is 131 and 1 is 8. */
    tga_is(TGA(2, 16, 2, 1, LEFT_DOWN, "\x1f\x42\x00\x04"), 3,
           SAMPLES(131, 131, 255, 8, 0, 0), "its 16 bits a pixel become 24");
    tga_is(TGA(2, 16, 1, 1, LEFT_DOWN | 1, "\x1f\xc2"), 3,
           SAMPLES(131, 131, 255),
           "its 16 bits a pixel become 24 without alpha");
    tga_is(TGA(2, 15, 1, 1, LEFT_DOWN, "\x1f\x00"), 3, SAMPLES(0, 0, 255),
           "its 15 bits a pixel become 24");
}

/* Runs and literals, some of which go on in the next row; in every order. */
TEST(tga_packets)
{
    const double gray[] = { 'a', 'a', 'a', 'b', 'c', 'd' };
    tga_is(TGA(11, 8, 3, 2, LEFT_DOWN, "\202a\2bcd"), 1, gray, NULL);
    tga_is(TGA(11, 8, 2, 3, LEFT_DOWN, "\202a\0b\1cd"), 1, gray, NULL);
    tga_is(TGA(11, 8, 2, 3, RIGHT_UP, "\1dc\0b\202a"), 1, gray, NULL);
    tga_is(TGA(10, 24, 3, 1, LEFT_DOWN, "\0abc\201def"), 3,
           SAMPLES('c', 'b', 'a', 'f', 'e', 'd', 'f', 'e', 'd'), NULL);
    tga_is(TGA(10, 32, 2, 1, LEFT_DOWN | 8, "\1abcdefgh"), 4,
           SAMPLES('c', 'b', 'a', 'd', 'g', 'f', 'e', 'h'), NULL);
    tga_is(TGA(10, 16, 2, 1, LEFT_DOWN, "\x81\x1f\x00"), 3,
           SAMPLES(0, 0, 255, 0, 0, 255), "its 16 bits a pixel become 24");
    /* The last packet may claim more pixels than fit. */
    tga_is(TGA(11, 8, 2, 1, LEFT_DOWN, "\377a"), 1, SAMPLES('a', 'a'), NULL);
}

TEST(tga_palettes)
{
    static const char said[] = "its palette is not kept, only its colors";
    const struct bytes three[] = {
        TGA(1, 8, 2, 1, LEFT_DOWN, "\1\0"),
        TGA(1, 16, 2, 1, LEFT_DOWN, "\1\0\0\0"),
        TGA(9, 8, 2, 1, LEFT_DOWN, "\1\1\0"),
    };
    for (size_t i = 0; i < COUNT(three); i++)
        tga_is(with_palette(three[i], 24, TEXT("abcdef")), 3,
               SAMPLES('f', 'e', 'd', 'c', 'b', 'a'), said);
    tga_is(with_palette(TGA(1, 8, 2, 1, LEFT_UP, "\1\0"), 32, TEXT("abcdefgh")),
           4, SAMPLES('g', 'f', 'e', 'h', 'c', 'b', 'a', 'd'), said);
    tga_is(with_palette(TGA(1, 8, 1, 1, LEFT_UP, "\0"), 16, TEXT("\x1f\x00")),
           3, SAMPLES(0, 0, 255), said);
}

static void tga_refused(unsigned at, uint8_t value, const char *words)
{
    owned_bytes file =
        with_palette(TGA(1, 8, 2, 1, LEFT_DOWN, "\0\0"), 24, TEXT("abc"));
    file.data[at] = value;
    check_refused(&codec_tga, file.data, file.size, words);
}

TEST(tga_refused)
{
    tga_refused(1, 2, "probe");
    tga_refused(2, 0, "probe");
    tga_refused(2, 3,
                "it has a palette and colors; only one of them can be read");
    tga_refused(3, 1,
                "a palette of 1 colors from number 1 on; it must begin at 0");
    tga_refused(5, 0,
                "a palette of 0 colors from number 0 on; it must begin at 0");
    tga_refused(7, 8, "probe");
    tga_refused(12, 0, "probe");
    tga_refused(14, 2, "the image data is cut short: 2 bytes of 4");
    tga_refused(16, 24, "probe");
    tga_refused(17, 0x40,
                "its rows are interleaved; only plain ones can be read");
    tga_refused(0, 10, "the file is cut short");
}

/* Tolerant, what is missing is black; not a byte of it is left over. */
static void tolerated(struct bytes file, const double *want)
{
    check_tolerated(&codec_tga, file.data, file.size, want, CUT);
    bytes_free(&file);
}

TEST(tga_tolerant)
{
    tolerated(TGA(3, 8, 2, 2, LEFT_DOWN, "abc"), SAMPLES('a', 'b', 'c', 0));
    tolerated(TGA(2, 24, 1, 2, LEFT_DOWN, "abcd"),
              SAMPLES('c', 'b', 'a', 0, 0, 'd'));
    tolerated(TGA(11, 8, 2, 2, LEFT_DOWN, "\201a\1b"),
              SAMPLES('a', 'a', 'b', 0));
}

/* The image ID and the bits of alpha stay; areas that do not are named. */
TEST(tga_kept)
{
    static const double want[] = { 'c', 'b', 'a', 0 };
    struct warnings warnings = { 0 };
    owned_bytes file = TGA(2, 32, 1, 1, LEFT_DOWN | 0,
                           "abc\0\0\0\0\0\0\0\0\0TRUEVISION-XFILE.\0");
    file.data[0] = 4;
    insert(&file, TEXT("F\0or"));
    struct opened o = open_file(&codec_tga, file.data, file.size, STRICT);
    CHECK(o.status == 0 && o.warnings.count == 0, "%s", o.err.text);
    owned_bytes again = written(&codec_tga, &o.img, "tga", &warnings);
    CHECK(again.data[0] == 4 && !memcmp(again.data + 18, "F\0or", 4) &&
              again.data[17] == 0,
          "%u, %u", again.data[0], again.data[17]);
    close_file(&o);
    check_file(&codec_tga, again.data, again.size, 1, 1, 4, want, NULL);
    file.data[file.size - 26] = 1;
    check_file(&codec_tga, file.data, file.size, 1, 1, 4, want,
               "its extension and developer areas are not kept");
    file.data[file.size - 3] = 'x';
    check_file(&codec_tga, file.data, file.size, 1, 1, 4, want,
               "26 bytes after the picture are not kept");
}

/* A plain file stays plain, and one with runs has runs. */
TEST(tga_coding)
{
    struct bytes files[] = {
        TGA(3, 8, 4, 2, LEFT_UP, "aaaabbbc"),
        TGA(11, 8, 4, 2, LEFT_UP, "\203a\202b\0c"),
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        check_rewritten(&codec_tga, files[i].data, files[i].size, "tga",
                        XFORM_NONE, files[i].data, files[i].size);
        bytes_free(&files[i]);
    }
}

/* A picture from another format has runs, and so has what its own format makes
 * of that; which may find other runs, but always the same ones. */
static void check_runs(const struct image *img)
{
    struct warnings warnings = { 0 };
    struct err err;
    owned_bytes file = written(&codec_tga, img, "tga", &warnings);
    CHECK(file.data[2] == (img->nplanes < 3 ? 11 : 10), "type %u",
          file.data[2]);
    CHECK(codec_tga.check(file, img, NULL, &err) == 0, "%s", err.text);
    struct bytes again = written_again(&codec_tga, img, file, "tga");
    check_same_files(again, written_again(&codec_tga, img, again, "tga"),
                     "tga");
}

TEST(round_trips)
{
    for (uint32_t width = 1; width < 140; width += width < 9 ? 1 : 43)
        for (unsigned n = 1; n <= 4; n++) {
            owned_image img = random_picture(
                CELL_U8, 255, n < 3 ? COLOR_GRAY : COLOR_RGB, n, width, 7);
            check_runs(&img);
            memset(img.pixels.rows.cells, 7,
                   img.pixels.rows.size / 2); /* something to pack */
            check_runs(&img);
            for (unsigned i = 0; i < n; i++)
                for (uint32_t y = 0; y < 7; y++) {
                    uint8_t *row = plane_row(&img.plane[i], y);
                    for (uint32_t x = 0; x < width; x++)
                        row[x] = x * (y + 1) / 4 % 3; /* short runs */
                }
            check_runs(&img);
        }
}
