/* The pixels of JPEG files of every color space and coding are decoded as
 * libjpeg decodes them, and are encoded again without more loss. */
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"

/* Adobe's segment: its name, version, two words of flags, and the transform. */
static const uint8_t adobe[] = {
    'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0
};

static const struct given {
    const char *name;
    struct coding coding;
    int adobe; /* the transform of Adobe's segment; -1: no segment */
    bool jfif;
    enum color color;
} kinds[] = {
/* YCbCr, and others: each with what is said of its coding. */
#define YCC(name, ...)                                                         \
    {                                                                          \
        name, { 45, 27, JCS_YCbCr, __VA_ARGS__ }, -1, true, COLOR_YCC          \
    }
#define IN(space, color, name, adobe, jfif, ...)                               \
    {                                                                          \
        name, { 45, 27, space, __VA_ARGS__ }, adobe, jfif, color               \
    }
    YCC("4:4:4", .h = 1),
    YCC("4:2:0", .h = 2, .v = 2),
    YCC("4:2:2", .h = 2),
    YCC("4:4:0", .v = 2),
    YCC("4:1:1", .h = 4),
    YCC("odd ids", .ids = { 4, 250, 7 }),
    YCC("progressive", .h = 2, .v = 2, .progressive = true),
    YCC("arithmetic", .h = 2, .v = 2, .arithmetic = true),
    YCC("progressive, arithmetic", .progressive = true, .arithmetic = true),
    YCC("restart", .h = 2, .v = 2, .restart = 2),
    YCC("progressive, restart", .restart = 3, .progressive = true),
    { "one pixel", { 1, 1, JCS_YCbCr, .h = 2, .v = 2 }, -1, true, COLOR_YCC },
    { "a row", { 77, 1, JCS_YCbCr, .h = 2, .v = 2 }, -1, true, COLOR_YCC },
    { "a column", { 1, 77, JCS_GRAYSCALE, .h = 1 }, -1, true, COLOR_GRAY },
    { "no segment", { 16, 16, JCS_YCbCr, .h = 1 }, -1, false, COLOR_YCC },
    IN(JCS_YCbCr, COLOR_YCC, "by Adobe", 1, false, .ids = { 'R', 'G', 'B' }),
    IN(JCS_RGB, COLOR_RGB, "RGB by Adobe", 0, false, .ids = { 1, 2, 3 }),
    IN(JCS_RGB, COLOR_RGB, "RGB by its ids", -1, false, .h = 1),
    IN(JCS_GRAYSCALE, COLOR_GRAY, "gray", -1, true, .h = 1),
    IN(JCS_GRAYSCALE, COLOR_GRAY, "gray, progressive", -1, true,
       .progressive = true),
    IN(JCS_CMYK, COLOR_CMYK, "CMYK", 0, false, .h = 1),
    IN(JCS_CMYK, COLOR_CMYK, "bare CMYK", -1, false, .h = 1),
    IN(JCS_CMYK, COLOR_CMYK, "CMYK, progressive", 0, false,
       .progressive = true),
    IN(JCS_YCCK, COLOR_YCCK, "YCCK", 2, false, .h = 1),
};
enum { KINDS = COUNT(kinds) };

static struct bytes make_kind(const struct given *kind)
{
    struct bytes file = make_jpeg(&kind->coding);
    size_t at = 0;
    uint8_t data[sizeof adobe];
    memcpy(data, adobe, sizeof data);
    data[11] = (uint8_t)kind->adobe;
    if (kind->jfif)
        add_segment(&file, &at, 0xe0, "JFIF\0\1\2\0\0\1\0\1\0\0", 14);
    if (kind->adobe >= 0)
        add_segment(&file, &at, 0xee, data, sizeof data);
    return file;
}

static bool is_shaped(const struct image *img, const struct coding *coding,
                      enum color color)
{
    return img->width == coding->width && img->height == coding->height &&
           img->cell == CELL_U8 && img->maxval == 255 && img->color == color &&
           img->nplanes == space_channels(coding->space) && !img->alpha &&
           img->orientation == 1 && img->turned == XFORM_NONE;
}

/* ---- In and out -----------------------------------------------------------*/

static void check_written(const struct given *kind, const struct decoded *from,
                          struct bytes made, enum xform t)
{
    const struct segments list = read_segments(made);
    const struct segment_seen *s = find_segment(&list, 0xee, "Adobe");
    CHECK(!!s == (kind->adobe >= 0), "Adobe");
    CHECK(!s || (s->size == sizeof adobe && s->data[11] == kind->adobe),
          "Adobe's transform");
    CHECK(!!find_segment(&list, 0xe0, "JFIF") == kind->jfif, "JFIF");
    CHECK(list.count == (size_t)kind->jfif + (kind->adobe >= 0), "%zu segments",
          list.count);

    owned_decoded is = libjpeg_decode(made, JCS_UNKNOWN);
    const struct coding *a = &from->coding, *b = &is.coding;
    CHECK(is.warnings == 0, "%ld warnings", is.warnings);
    CHECK(a->space == b->space && a->progressive == b->progressive &&
              a->arithmetic == b->arithmetic && a->restart == b->restart &&
              !memcmp(a->ids, b->ids, sizeof a->ids),
          "another coding");
    owned_fixture *f = fixture_new(&codec_jpeg);
    fixture_read(f, made);
    int off = image_distance(&f->img, from, t);
    CHECK(off <= 4, "off by %d", off);
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
}

static void check_kind(const struct given *kind, enum xform t)
{
    owned_bytes file = make_kind(kind);
    owned_fixture *f = fixture_new(&codec_jpeg);
    owned_decoded own = libjpeg_decode(file, JCS_UNKNOWN);
    test_case("%s, %s", kind->name, xform_name(t));
    CHECK(own.coding.space == kind->coding.space, "space %d",
          (int)own.coding.space);
    fixture_read(f, file);
    CHECK(is_shaped(&f->img, &kind->coding, kind->color), "another shape");
    CHECK(image_distance(&f->img, &own, XFORM_NONE) == 0, "other samples");
    turn_image(&f->img, t);
    fixture_write(f);
    check_written(kind, &own, f->made, t);
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
}

/* Asked for colors that other formats know, YCbCr is RGB. */
static void check_portable(const struct given *kind)
{
    owned_bytes file = make_kind(kind);
    owned_fixture *f = fixture_new(&codec_jpeg);
    bool ycc = kind->color == COLOR_YCC;
    owned_decoded own = libjpeg_decode(file, ycc ? JCS_RGB : JCS_UNKNOWN);
    f->load.portable = true;
    test_case("%s, portable", kind->name);
    fixture_read(f, file);
    CHECK(f->img.color == (ycc ? COLOR_RGB : kind->color), "another color");
    CHECK(image_distance(&f->img, &own, XFORM_NONE) == 0, "other samples");
}

TEST(kinds)
{
    for (unsigned i = 0; i < KINDS; i++) {
        for (EACH_TURN(t))
            check_kind(&kinds[i], t);
        check_portable(&kinds[i]);
    }
}

/* ---- From other formats ---------------------------------------------------*/

/* The most that img differs from jpeg_sample(). */
static int picture_distance(const struct image *img)
{
    int most = 0;
    for (unsigned c = 0; c < img->nplanes; c++)
        for (uint32_t y = 0; y < img->height; y++)
            for (uint32_t x = 0; x < img->width; x++) {
                unsigned to = jpeg_sample(c, x, y, img->width, img->height);
                int off = abs((int)cell_at(img, c, x, y) - (int)to);
                most = off > most ? off : most;
            }
    return most;
}

TEST(foreign)
{
    static const enum color colors[] = { COLOR_GRAY, COLOR_RGB, COLOR_YCC,
                                         COLOR_CMYK, COLOR_YCCK };
    for (size_t i = 0; i < COUNT(colors); i++) {
        owned_fixture *f = fixture_new(&codec_jpeg);
        f->img = jpeg_picture(colors[i], 45, 27, 0);
        unsigned nplanes = f->img.nplanes;
        bool rgb = colors[i] == COLOR_RGB;
        test_case("%s", image_color_name(colors[i]));
        fixture_write(f);
        f->load.portable = rgb; /* else YCbCr stays what it is */
        fixture_read(f, f->made);
        CHECK(f->img.color == colors[i] && f->img.nplanes == nplanes,
              "it is %s", image_color_name(f->img.color));
        int off = picture_distance(&f->img);
        CHECK(off <= (rgb ? 8 : 4), "off by %d", off);
        CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    }
}

/* Less quality is fewer bytes; below 90 chroma is subsampled. */
TEST(quality)
{
    owned_fixture *f = fixture_new(&codec_jpeg);
    f->img = jpeg_picture(COLOR_RGB, 160, 120, 0);
    size_t last = 0;
    static const int qualities[] = { 1, 50, 89, 90, 100 };
    for (size_t i = 0; i < COUNT(qualities); i++) {
        f->save.quality = qualities[i];
        fixture_write(f);
        owned_decoded is = libjpeg_decode(f->made, JCS_RGB);
        CHECK(f->made.size > last, "%d: %zu bytes", qualities[i], f->made.size);
        CHECK(is.coding.h == (qualities[i] < 90 ? 2 : 1), "%d: %d x %d",
              qualities[i], is.coding.h, is.coding.v);
        last = f->made.size;
    }
}

/* T.81 has 16 bits for each dimension, libjpeg a little less. */
TEST(too_long)
{
    owned_fixture *f = fixture_new(&codec_jpeg);
    f->img = jpeg_picture(COLOR_GRAY, 65501, 1, 0);
    CHECK(fixture_encode(f), "65501 columns");
    CHECK(strstr(f->err.text, "too many"), "%s", f->err.text);
}
