/* Metadata that other formats can hold is read from the segments of JPEG files,
 * written into segments, and survives the way there and back. */
#include "codecs/codec.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/metadata.h"
#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

static const struct coding picture = { 48, 32, JCS_YCbCr, .h = 2, .v = 2 };
static const struct says says = { 6, 48, 32 };

static struct bytes make_profile(size_t size)
{
    struct bytes data = { 0 };
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)(i * i >> 5 ^ i);
        must(bytes_append(&data, &byte, 1));
    }
    return data;
}

static bool is_text(struct bytes is, const char *text)
{
    return is.size == strlen(text) && memcmp(is.data, text, is.size) == 0;
}

/* A segment of a head and a body. */
static void add_headed(struct bytes *file, size_t *at, unsigned marker,
                       const char *head, size_t size, struct bytes body)
{
    struct bytes data = { 0 };
    must(bytes_append(&data, head, size) &&
         bytes_append(&data, body.data, body.size));
    add_segment(file, at, marker, data.data, data.size);
    bytes_free(&data);
}

/* A profile in pieces of 60000 bytes; the last `missing` of them are not
 * there. */
static void add_profile(struct bytes *file, size_t *at, struct bytes icc,
                        size_t missing)
{
    enum { PIECE = 60000 };
    size_t pieces = (icc.size + PIECE - 1) / PIECE;
    for (size_t i = 0; i + missing < pieces; i++) {
        char head[] = "ICC_PROFILE\0??";
        head[12] = (char)(i + 1);
        head[13] = (char)pieces;
        size_t left = icc.size - i * PIECE;
        struct bytes piece = { .data = icc.data + i * PIECE,
                               .size = left < PIECE ? left : PIECE };
        add_headed(file, at, 0xe2, head, 14, piece);
    }
}

/* Decodes and frees the file. */
static int load(struct image *img, struct bytes *file, bool tolerant,
                struct warnings *warnings, struct err *err)
{
    struct load_opts opts = small_load(warnings);
    opts.portable = true;
    opts.tolerant = tolerant;
    int status = codec_read(&codec_jpeg, img, *file, &opts, err);
    bytes_free(file);
    return status;
}

/* ---- Read -----------------------------------------------------------------*/

TEST(taken)
{
    struct bytes file = make_jpeg(&picture), icc = make_profile(130000);
    struct bytes exif = { 0 }, xmp = { 0 };
    struct warnings warnings = { 0 };
    struct image img = { 0 };
    struct err err = { .text = "" };
    size_t at = 0;
    add_exif(&exif, says, (struct bytes){ 0 });
    add_xmp(&xmp, says);
    add_segment(&file, &at, 0xe0, "JFIF\0\1\2\1\1\x2c\0\x48\0\0", 14);
    add_headed(&file, &at, 0xe1, "Exif\0", 6, exif);
    add_segment(&file, &at, 0xe1, "Exif\0\0II*\0\10\0\0\0\0\0", 16);
    add_headed(&file, &at, 0xe1, "http://ns.adobe.com/xap/1.0/", 29, xmp);
    add_profile(&file, &at, icc, 0);
    add_segment(&file, &at, 0xfe, "a comment", 9);
    add_segment(&file, &at, 0xfe, "a second one", 12);
    add_segment(&file, &at, 0xed, "Photoshop 3.0\0", 14);
    CHECK(!load(&img, &file, false, &warnings, &err), "%s", err.text);
    if (img.meta) {
        const struct meta *m = img.meta;
        static const bool portable[] = { 1, 1, 0, 1, 1, 1, 1, 1, 0, 0 };
        CHECK(same_bytes(m->icc, icc), "the profile, of %zu bytes",
              m->icc.size);
        CHECK(same_bytes(m->exif, exif), "the first EXIF");
        CHECK(img.orientation == 6, "is %u", img.orientation);
        CHECK(same_bytes(m->xmp, xmp), "XMP");
        CHECK(is_text(m->comment, "a comment"), "the first comment");
        CHECK(m->density.unit == DENSITY_INCH && m->density.x == 300 &&
                  m->density.y == 72,
              "the density");
        CHECK(m->nblocks == 10, "%zu", m->nblocks);
        for (size_t i = 0; i < m->nblocks && i < 10; i++)
            CHECK(m->block[i].portable == portable[i], "%zu: %s", i,
                  m->block[i].name);
    }
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
    image_free(&img);
    bytes_free(&icc);
    bytes_free(&exif);
    bytes_free(&xmp);
}

/* A profile of which a piece is missing costs no pixel: the picture is read,
 * and the pieces count as what another format cannot hold. */
TEST(cut_profile)
{
    struct bytes icc = make_profile(130000);
    for (int tolerant = 0; tolerant < 2; tolerant++) {
        struct bytes file = make_jpeg(&picture);
        struct warnings warnings = { 0 };
        struct image img = { 0 };
        struct err err = { .text = "" };
        size_t at = 0;
        add_profile(&file, &at, icc, 1);
        CHECK(load(&img, &file, tolerant, &warnings, &err) == 0, "%s",
              err.text);
        CHECK(img.meta && img.meta->icc.size == 0, "a profile");
        for (unsigned i = 0; img.meta && i < img.meta->nblocks; i++)
            CHECK(!img.meta->block[i].portable, "it counts as lost");
        image_free(&img);
    }
    bytes_free(&icc);
}

TEST(densities)
{
    static const struct {
        uint8_t jfif[5];
        struct density d;
    } given[] = {
        { { 0, 0, 1, 0, 1 }, { DENSITY_NONE, 0, 0 } },
        { { 0, 0, 4, 0, 3 }, { DENSITY_ASPECT, 4, 3 } },
        { { 1, 1, 44, 0, 72 }, { DENSITY_INCH, 300, 72 } },
        { { 2, 0, 100, 1, 0 }, { DENSITY_METER, 10000, 25600 } },
        { { 3, 0, 100, 1, 0 }, { DENSITY_NONE, 0, 0 } },
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct bytes file = make_jpeg(&picture);
        struct warnings warnings = { 0 };
        struct image img = { 0 };
        struct err err = { .text = "" };
        uint8_t data[14] = "JFIF\0\1\2";
        size_t at = 0;
        memcpy(data + 7, given[i].jfif, 5);
        add_segment(&file, &at, 0xe0, data, sizeof data);
        CHECK(!load(&img, &file, false, &warnings, &err), "%s", err.text);
        if (img.meta) {
            const struct density *is = &img.meta->density, *d = &given[i].d;
            CHECK(is->unit == d->unit, "%zu: unit %d", i, (int)is->unit);
            CHECK(d->unit == DENSITY_NONE || (is->x == d->x && is->y == d->y),
                  "%zu: %g x %g", i, is->x, is->y);
        }
        image_free(&img);
    }
}

/* ---- Written --------------------------------------------------------------*/

/* A picture of a format that is not JPEG, and says nothing yet. */
static struct image make_foreign(void)
{
    struct bytes file = make_jpeg(&picture);
    struct warnings warnings = { 0 };
    struct image img = { 0 };
    struct err err = { .text = "" };
    must(load(&img, &file, false, &warnings, &err) == 0);
    img.meta->codec = &codec_png;
    return img;
}

/* Puts together what stands in the segments of a profile. */
static struct bytes read_profile(const struct segments *list)
{
    struct bytes icc = { 0 };
    for (size_t i = 0; i < list->count; i++) {
        const struct segment_seen *s = &list->segment[i];
        if (s->marker == 0xe2 && s->size >= 14)
            must(bytes_append(&icc, s->data + 14, s->size - 14));
    }
    return icc;
}

static void check_body(const struct segments *list, unsigned marker,
                       const char *head, size_t size, struct bytes body)
{
    const struct segment_seen *s = find_segment(list, marker, head);
    CHECK(s && s->size == size + body.size &&
              !memcmp(s->data + size, body.data, body.size),
          "%02x %s", marker, head);
}

static void check_written(enum strip strip)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->img = make_foreign();
    struct meta *m = f->img.meta;
    struct bytes exif = { 0 }, xmp = { 0 };
    struct segments list;
    bool all = strip == STRIP_NOTHING;
    m->icc = make_profile(100000);
    add_exif(&m->exif, says, (struct bytes){ 0 });
    add_xmp(&m->xmp, says);
    add_text(&m->comment, "a comment");
    m->density = (struct density){ DENSITY_METER, 11811, 2835 };
    must(meta_add(m, "tIME", 0, "x", 1));
    struct bytes icc = { 0 };
    must(bytes_append(&icc, m->icc.data, m->icc.size));
    add_exif(&exif, says_after(says, true, 1), (struct bytes){ 0 });
    add_xmp(&xmp, says_after(says, true, 1));

    turn_image(&f->img, XFORM_ROTATE_90);
    f->save.orientation = 1;
    f->save.strip = strip;
    CHECK(!fixture_encode(f), "%s", f->err.text);
    CHECK(is_warned(&f->warnings, "tIME") == all, "of what is lost");
    CHECK(read_segments(&list, f->made), "no JPEG");
    const struct segment_seen *s = find_segment(&list, 0xe0, "JFIF");
    CHECK(s && s->size >= 14, "JFIF");
    static const uint8_t density[2][5] = { { 0, 0, 1, 0, 1 },
                                           { 1, 0, 72, 1, 44 } };
    CHECK(s && !memcmp(s->data + 7, density[all], 5), "the density");
    struct bytes profile = read_profile(&list);
    CHECK(same_bytes(profile, strip == STRIP_ALL ? (struct bytes){ 0 } : icc),
          "the profile, of %zu bytes", profile.size);
    struct bytes comment = { .data = (uint8_t *)"a comment", .size = 9 };
    if (all) {
        check_body(&list, 0xe1, "Exif", 6, exif);
        check_body(&list, 0xe1, "http://ns.adobe.com/xap/1.0/", 29, xmp);
        check_body(&list, 0xfe, "", 0, comment);
    }
    CHECK(list.count == (all                  ? 6
                         : strip == STRIP_ALL ? 1
                                              : 3),
          "%zu segments", list.count);
    fixture_free(f);
    bytes_free(&profile);
    bytes_free(&icc);
    bytes_free(&exif);
    bytes_free(&xmp);
}

/* What no segment is long enough for is named, and the rest is written. */
TEST(too_long)
{
    static const struct {
        size_t most;
        const char *words;
    } blocks[] = {
        { 65533 - 6, "EXIF" },
        { 65533 - 29, "XMP" },
        { 65533, "comment" },
        { 255 * 65519, "ICC" },
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (size_t more = 0; more < 2; more++) {
            struct fixture *f = fixture_new(&codec_jpeg);
            f->img = make_foreign();
            struct meta *m = f->img.meta;
            struct bytes *all[] = { &m->exif, &m->xmp, &m->comment, &m->icc };
            struct segments list;
            *all[i] = make_profile(blocks[i].most + more);
            CHECK(!fixture_encode(f), "%s", f->err.text);
            CHECK(is_warned(&f->warnings, blocks[i].words) == !!more,
                  "%s and %zu: %s", blocks[i].words, more,
                  f->warnings.list[0].text);
            CHECK(read_segments(&list, f->made), "no JPEG");
            CHECK(more ? list.count == 1 : list.count > 1, "%zu segments",
                  list.count);
            fixture_free(f);
        }
}

TEST(odd_densities)
{
    static const struct {
        struct density d;
        uint8_t jfif[5];
        bool lost;
    } given[] = {
        { { DENSITY_INCH, 72, 300 }, { 1, 0, 72, 1, 44 }, false },
        { { DENSITY_ASPECT, 4, 3 }, { 0, 0, 4, 0, 3 }, false },
        { { DENSITY_METER, 3937, 7874 }, { 1, 0, 100, 0, 200 }, false },
        { { DENSITY_INCH, 65535, 1 }, { 1, 255, 255, 0, 1 }, false },
        { { DENSITY_INCH, 65536, 1 }, { 0, 0, 1, 0, 1 }, true },
        { { DENSITY_METER, 3, 3 }, { 0, 0, 1, 0, 1 }, true },
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct fixture *f = fixture_new(&codec_jpeg);
        f->img = make_foreign();
        struct segments list;
        f->img.meta->density = given[i].d;
        CHECK(!fixture_encode(f), "%s", f->err.text);
        CHECK(read_segments(&list, f->made), "no JPEG");
        const struct segment_seen *s = find_segment(&list, 0xe0, "JFIF");
        CHECK(s && !memcmp(s->data + 7, given[i].jfif, 5), "%zu", i);
        CHECK(is_warned(&f->warnings, "density") == given[i].lost, "%zu", i);
        fixture_free(f);
    }
}

/* ---- There and back -------------------------------------------------------*/

/* Writes img by `to`, and reads what was written: img is that afterwards. */
static void pass(struct image *img, const struct codec *to, enum xform t)
{
    struct fixture *f = fixture_new(to);
    turn_image(img, t);
    f->save.orientation = 1;
    f->load.portable = true;
    f->img = *img;
    CHECK(!fixture_encode(f), "%s: %s", to->name, f->err.text);
    CHECK(!fixture_decode(f, f->made), "%s: %s", to->name, f->err.text);
    CHECK(f->warnings.count == 0, "%s: %s", to->name, f->warnings.list[0].text);
    *img = fixture_take_img(f);
}

static bool is_near(double a, double b)
{
    return a > b * 0.999 && a < b * 1.001;
}

static void check_blocks(const struct image *img, struct bytes icc,
                         bool exchanged)
{
    struct bytes exif = { 0 }, xmp = { 0 };
    struct says after = says_after(says, exchanged, 1);
    const struct meta *m = img->meta;
    if (!m)
        return;
    double scale = m->density.unit == DENSITY_METER ? 0.0254 : 1;
    add_exif(&exif, after, (struct bytes){ 0 });
    add_xmp(&xmp, after);
    CHECK(img->orientation == 1, "is %u", img->orientation);
    CHECK(same_bytes(m->icc, icc), "the profile");
    CHECK(same_bytes(m->exif, exif), "EXIF");
    CHECK(same_bytes(m->xmp, xmp), "XMP");
    CHECK(is_text(m->comment, "a comment"), "the comment");
    CHECK(is_near(m->density.x * scale, exchanged ? 72 : 300) &&
              is_near(m->density.y * scale, exchanged ? 300 : 72),
          "%g x %g", m->density.x, m->density.y);
    for (size_t i = 0; i < m->nblocks; i++)
        CHECK(m->block[i].portable, "%s says more", m->block[i].name);
    bytes_free(&exif);
    bytes_free(&xmp);
}

TEST(round)
{
    struct image img = make_foreign();
    struct meta *m = img.meta;
    struct bytes icc = make_profile(70000);
    must(bytes_append(&m->icc, icc.data, icc.size));
    add_exif(&m->exif, says, (struct bytes){ 0 });
    add_xmp(&m->xmp, says);
    add_text(&m->comment, "a comment");
    m->density = (struct density){ DENSITY_INCH, 300, 72 };
    m->codec = &codec_bmp;

    pass(&img, &codec_png, XFORM_NONE);
    check_blocks(&img, icc, false);
    pass(&img, &codec_jpeg, XFORM_ROTATE_90);
    check_blocks(&img, icc, true);
    pass(&img, &codec_png, XFORM_MIRROR_X);
    check_blocks(&img, icc, true);
    pass(&img, &codec_jpeg, XFORM_TRANSPOSE);
    check_blocks(&img, icc, false);
    image_free(&img);
    bytes_free(&icc);
}

TEST(written)
{
    check_written(STRIP_NOTHING);
    check_written(STRIP_METADATA);
    check_written(STRIP_ALL);
}
