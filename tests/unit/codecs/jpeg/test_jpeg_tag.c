/* EXIF is right in JPEG files that are trimmed, or get a new tag in place of a
 * turn. */
#include "codecs/metadata/exif.h"

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/metadata.h"

static const struct coding picture = { 45, 27, JCS_YCbCr, .h = 2, .v = 2 };
static const struct says says = { 1, 45, 27 };

/* A file with this EXIF block, none if it is empty. */
static struct bytes make_file(struct bytes exif)
{
    struct bytes file = make_jpeg(&picture);
    size_t at = 0;
    add_segment(&file, &at, 0xe0, "JFIF\0\1\2\0\0\1\0\1\0\0", 14);
    if (exif.size)
        add_headed(&file, &at, 0xe1, "Exif\0", 6, exif);
    add_segment(&file, &at, 0xfe, "a comment", 9);
    return file;
}

static struct bytes write_as(struct bytes file, struct decode_plan plan,
                             unsigned orientation)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    plan.representation = REPRESENTATION_COEFFICIENTS;
    f->plan = plan;
    f->save.orientation = orientation;
    return fixture_turned(f, file);
}

/* An EXIF block of one tag, below or above that of orientation, and a link to a
 * second directory. */
static struct bytes make_other(unsigned tag)
{
    struct bytes exif = { 0 };
    must(bytes_append(&exif, "II*\0\10\0\0\0", 8));
    add_little(&exif, 1, 2);
    add_tag(&exif, tag, 3, 77);
    add_little(&exif, 26, 4);
    add_little(&exif, 0, 2);
    add_little(&exif, 0, 4);
    return exif;
}

/* Whether IFD0 of a little-endian block has both tags in order, and its link.
 */
static bool has_both(const uint8_t *exif, unsigned tag)
{
    const uint8_t *ifd = exif + read_le32(exif + 4);
    const unsigned low = tag < 0x112 ? tag : 0x112;
    const unsigned high = tag < 0x112 ? 0x112 : tag;
    return (read_le32(ifd) & 0xffff) == 2 &&
           (read_le32(ifd + 2) & 0xffff) == low &&
           (read_le32(ifd + 14) & 0xffff) == high &&
           read_le32(ifd + (tag < 0x112 ? 10 : 22)) == 77 &&
           read_le32(ifd + 26) == 26;
}

static void check_tagged(const char *name, struct bytes exif, unsigned tag)
{
    owned_bytes file = make_file(exif);
    for (unsigned orientation = 2; orientation <= 8; orientation++) {
        owned_bytes made =
            write_as(file, (struct decode_plan){ 0 }, orientation);
        test_case("%s, %u", name, orientation);
        const struct segments list = read_segments(made);
        CHECK(list.count == 3, "%zu", list.count);
        CHECK(list.segment[0].marker == 0xe0 && list.segment[2].marker == 0xfe,
              "the order");
        const struct segment_seen *s = find_segment(&list, 0xe1, "Exif");
        REQUIRE(s && exif_tag(s->data + 6, s->size - 6) == orientation,
                "the tag");
        CHECK(!tag || has_both(s->data + 6, tag), "the rest");
    }
    bytes_free(&exif);
}

TEST(tag)
{
    struct bytes none = { 0 }, full = { 0 };
    add_exif(&full, says, none);
    check_tagged("no EXIF", none, 0);
    check_tagged("a tag", full, 0);
    check_tagged("a lower tag", make_other(0x10f), 0x10f);
    check_tagged("a higher tag", make_other(0x131), 0x131);
    /* Where nothing has to be said, nothing is. */
    owned_bytes file = make_file(none);
    owned_bytes made = write_as(file, (struct decode_plan){ 0 }, 1);
    test_case("nothing");
    CHECK(same_bytes(made, file), "%zu bytes", made.size);
}

TEST(trimmed)
{
    const struct says after = { 1, 32, 16 };
    owned_bytes exif = { 0 }, is = { 0 }, xmp = { 0 }, is_xmp = { 0 };
    add_exif(&exif, says, (struct bytes){ 0 });
    add_exif(&is, after, (struct bytes){ 0 });
    add_xmp(&xmp, says);
    add_xmp(&is_xmp, after);
    owned_bytes file = make_file(exif), want = headed("Exif\0", 6, is),
                want_xmp = headed(XMP_HEAD, sizeof XMP_HEAD, is_xmp);
    add_headed(&file, NULL, 0xe1, XMP_HEAD, sizeof XMP_HEAD, xmp);
    owned_bytes made =
        write_as(file, (struct decode_plan){ .width = 32, .height = 16 }, 1);
    const struct segments list = read_segments(made);
    CHECK(segment_is(find_segment(&list, 0xe1, "Exif"), want), "EXIF");
    CHECK(segment_is(find_segment(&list, 0xe1, XMP_HEAD), want_xmp), "XMP");
}
