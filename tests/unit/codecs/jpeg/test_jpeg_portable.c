/* Metadata that other formats can hold is read from the segments of JPEG files,
 * written into segments. */
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/metadata.h"

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
static struct fixture *load(struct bytes *file, bool tolerant)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->load.portable = true;
    f->load.tolerant = tolerant;
    fixture_read(f, *file);
    bytes_free(file);
    return f;
}

/* ---- Read -----------------------------------------------------------------*/

TEST(taken)
{
    struct bytes file = make_jpeg(&picture), icc = make_profile(130000);
    owned_bytes exif = { 0 }, xmp = { 0 };
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
    owned_fixture *f = load(&file, false);
    const struct meta *m = f->img.meta;
    static const bool portable[] = { 1, 1, 0, 1, 1, 1, 1, 1, 0, 0 };
    CHECK(same_bytes(m->icc, icc), "the profile, of %zu bytes", m->icc.size);
    CHECK(same_bytes(m->exif, exif), "the first EXIF");
    CHECK(f->img.orientation == 6, "is %u", f->img.orientation);
    CHECK(same_bytes(m->xmp, xmp), "XMP");
    CHECK(same_bytes(m->comment, bytes_of("a comment")), "the first comment");
    CHECK(m->density.unit == DENSITY_INCH && m->density.x == 300 &&
              m->density.y == 72,
          "the density");
    CHECK(m->nblocks == COUNT(portable), "%zu", m->nblocks);
    for (size_t i = 0; i < m->nblocks && i < COUNT(portable); i++)
        CHECK(m->block[i].portable == portable[i], "%zu: %s", i,
              m->block[i].name);
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    bytes_free(&icc);
}

/* A profile of which a piece is missing costs no pixel: the picture is read,
 * and the pieces count as what another format cannot hold. */
TEST(cut_profile)
{
    owned_bytes icc = make_profile(130000);
    for (int tolerant = 0; tolerant < 2; tolerant++) {
        struct bytes file = make_jpeg(&picture);
        size_t at = 0;
        add_profile(&file, &at, icc, 1);
        owned_fixture *f = load(&file, tolerant);
        CHECK(f->img.meta->icc.size == 0, "a profile");
        for (unsigned i = 0; i < f->img.meta->nblocks; i++)
            CHECK(!f->img.meta->block[i].portable, "it counts as lost");
    }
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
    for (size_t i = 0; i < COUNT(given); i++) {
        struct bytes file = make_jpeg(&picture);
        uint8_t data[14] = "JFIF\0\1\2";
        memcpy(data + 7, given[i].jfif, 5);
        add_segment(&file, NULL, 0xe0, data, sizeof data);
        owned_fixture *f = load(&file, false);
        const struct density *is = &f->img.meta->density, *d = &given[i].d;
        CHECK(is->unit == d->unit, "%zu: unit %d", i, (int)is->unit);
        CHECK(d->unit == DENSITY_NONE || (is->x == d->x && is->y == d->y),
              "%zu: %g x %g", i, is->x, is->y);
    }
}

/* ---- Written --------------------------------------------------------------*/

/* A picture of a format that is not JPEG, and says nothing yet, to be written
 * as one.
 */
static struct fixture *make_foreign(void)
{
    struct bytes file = make_jpeg(&picture);
    struct fixture *f = load(&file, false);
    f->img.meta->codec = &codec_png;
    return f;
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
    owned_bytes data = headed(head, size, body);
    CHECK(segment_is(find_segment(list, marker, head), data), "%02x %s", marker,
          head);
}

static void check_written(enum strip strip)
{
    owned_fixture *f = make_foreign();
    struct meta *m = f->img.meta;
    owned_bytes exif = { 0 }, xmp = { 0 }, icc = make_profile(100000);
    const bool all = strip == STRIP_NOTHING;
    m->icc = make_profile(100000);
    add_exif(&m->exif, says, (struct bytes){ 0 });
    add_xmp(&m->xmp, says);
    add_text(&m->comment, "a comment");
    m->density = (struct density){ DENSITY_METER, 11811, 2835 };
    must(meta_add(m, "tIME", 0, "x", 1));
    add_exif(&exif, says_after(says, true, 1), (struct bytes){ 0 });
    add_xmp(&xmp, says_after(says, true, 1));

    turn_image(&f->img, XFORM_ROTATE_90);
    f->save.orientation = 1;
    f->save.strip = strip;
    fixture_write(f);
    CHECK(is_warned(&f->warnings, "tIME") == all, "of what is lost");
    const struct segments list = read_segments(f->made);
    const struct segment_seen *s = find_segment(&list, 0xe0, "JFIF");
    static const uint8_t density[2][5] = { { 0, 0, 1, 0, 1 },
                                           { 1, 0, 72, 1, 44 } };
    CHECK(s && s->size >= 14 && !memcmp(s->data + 7, density[all], 5),
          "the density");
    owned_bytes profile = read_profile(&list);
    CHECK(same_bytes(profile, strip == STRIP_ALL ? (struct bytes){ 0 } : icc),
          "the profile, of %zu bytes", profile.size);
    if (all) {
        check_body(&list, 0xe1, "Exif\0", 6, exif);
        check_body(&list, 0xe1, "http://ns.adobe.com/xap/1.0/", 29, xmp);
        check_body(&list, 0xfe, "", 0, bytes_of("a comment"));
    }
    CHECK(list.count == (all                  ? 6
                         : strip == STRIP_ALL ? 1
                                              : 3),
          "%zu segments", list.count);
}

TEST(written)
{
    for (int strip = STRIP_NOTHING; strip <= STRIP_ALL; strip++) {
        test_case("strip %d", strip);
        check_written((enum strip)strip);
    }
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
    for (size_t i = 0; i < COUNT(blocks); i++)
        for (size_t more = 0; more < 2; more++) {
            owned_fixture *f = make_foreign();
            struct meta *m = f->img.meta;
            struct bytes *all[] = { &m->exif, &m->xmp, &m->comment, &m->icc };
            *all[i] = make_profile(blocks[i].most + more);
            fixture_write(f);
            CHECK(is_warned(&f->warnings, blocks[i].words) == !!more,
                  "%s and %zu: %s", blocks[i].words, more,
                  f->warnings.list[0].text);
            const struct segments list = read_segments(f->made);
            CHECK(more ? list.count == 1 : list.count > 1, "%zu segments",
                  list.count);
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
    for (size_t i = 0; i < COUNT(given); i++) {
        owned_fixture *f = make_foreign();
        f->img.meta->density = given[i].d;
        fixture_write(f);
        const struct segments list = read_segments(f->made);
        const struct segment_seen *s = find_segment(&list, 0xe0, "JFIF");
        CHECK(s && !memcmp(s->data + 7, given[i].jfif, 5), "%zu", i);
        CHECK(is_warned(&f->warnings, "density") == given[i].lost, "%zu", i);
    }
}
