/* APPn and COM segments are kept in order and byte for byte, apart from what a
 * turn makes false and what --strip drops. */
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/metadata.h"

/* ---- A file that says all there is ----------------------------------------*/

static const struct coding picture = { 48, 32, JCS_YCbCr, .h = 2, .v = 2 };
static const struct coding small = { 20, 12, JCS_YCbCr, .h = 2, .v = 2 };
static const struct says before = { 6, 4800, 320 };

/* T.871: version, unit, densities, and a thumbnail of RGB, which is dropped by
 * a turn. */
static void make_jfif(struct bytes *to, struct says s, enum xform t)
{
    must(bytes_append(to, "JFIF\0\1\2\1", 8));
    add_big(to, 300 + s.width, 2);
    add_big(to, 300 + s.height, 2);
    must(bytes_append(to, t ? "\0" : "\1\1RGB", t ? 2 : 5));
}

static void make_exif(struct bytes *to, struct says s, enum xform t)
{
    owned_bytes thumbnail = make_jpeg(&small);
    (void)t;
    must(bytes_append(to, "Exif\0", 6));
    add_exif(to, s, thumbnail);
}

static void make_xmp(struct bytes *to, struct says s, enum xform t)
{
    (void)t;
    add_text(to, "http://ns.adobe.com/xap/1.0/");
    add_big(to, 0, 1);
    add_text(to, "<a xmpNote:HasExtendedXMP='"
                 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'/>");
    add_xmp(to, s);
}

/* Piece `i` of an Extended XMP of a GUID. The borders stand in the name of the
 * orientation, right before its value, and within the width: see add_xmp(). */
enum { PIECES = 4, XMP_MORE_LEAD = 35 + 40 };

static void make_piece(struct bytes *to, struct says s, unsigned i, char guid)
{
    owned_bytes all = { 0 };
    add_xmp(&all, s);
    must(bytes_append(&all, "", 1)); /* so that it is a string */
    const char *text = (const char *)all.data;
    const char *name = strstr(text, "entation"), *value = strstr(name, "=\"");
    const char *width = strstr(text, "ImageWidth=\"");
    must(name && value && width);
    const size_t border[PIECES + 1] = { 0, (size_t)(name - text),
                                        (size_t)(value + 2 - text),
                                        (size_t)(width + 13 - text),
                                        all.size - 1 };
    add_text(to, "http://ns.adobe.com/xmp/extension/");
    add_big(to, 0, 1);
    for (int k = 0; k < 32; k++)
        must(bytes_append(to, &guid, 1));
    add_big(to, (uint32_t)all.size - 1, 4);
    add_big(to, (uint32_t)border[i], 4);
    must(bytes_append(to, text + border[i], border[i + 1] - border[i]));
}

static const struct kind {
    const char *name;
    unsigned marker;
    enum { ALWAYS, UNLESS_STRIPPED, IF_COLOR, IF_UNTURNED } kept;
    /* One of these: what it holds; what makes it; a piece of the Extended XMP
     * of this GUID, of which there are two, in any order and mixed: A is named,
     * and B stays what it is. */
    const char *data;
    size_t size;
    void (*make)(struct bytes *to, struct says s, enum xform t);
    char guid;
    unsigned piece;
} kinds[] = {
#define TEXT(text) .data = text, .size = sizeof text - 1
#define PIECE(name, guid_, i)                                                  \
    {                                                                          \
        name, 0xe1, UNLESS_STRIPPED, .guid = guid_, .piece = i                 \
    }
    { "a comment", 0xfe, UNLESS_STRIPPED, TEXT("before JFIF") },
    { "JFIF", 0xe0, ALWAYS, .make = make_jfif },
    { "JFXX", 0xe0, IF_UNTURNED, TEXT("JFXX\0\x12\1\1rgb") },
    { "APP0", 0xe0, UNLESS_STRIPPED, TEXT("another") },
    PIECE("Extended XMP 0", 'A', 0),
    PIECE("other XMP 2", 'B', 2),
    PIECE("Extended XMP 1", 'A', 1),
    { "Exif", 0xe1, UNLESS_STRIPPED, .make = make_exif },
    PIECE("other XMP 0", 'B', 0),
    { "XMP", 0xe1, UNLESS_STRIPPED, .make = make_xmp },
    PIECE("Extended XMP 2", 'A', 2),
    PIECE("Extended XMP 3", 'A', 3),
    PIECE("other XMP 3", 'B', 3),
    PIECE("other XMP 1", 'B', 1),
    { "short XMP", 0xe1, UNLESS_STRIPPED,
      TEXT("http://ns.adobe.com/xmp/extension/\0short") },
    { "ICC", 0xe2, IF_COLOR, TEXT("ICC_PROFILE\0\1\2half") },
    { "MPF", 0xe2, UNLESS_STRIPPED, TEXT("MPF\0MM\0*") },
    { "more ICC", 0xe2, IF_COLOR, TEXT("ICC_PROFILE\0\2\2half") },
    { "nothing", 0xe7, UNLESS_STRIPPED, TEXT("") },
    { "JUMBF", 0xeb, UNLESS_STRIPPED, TEXT("JP\0\1\0\0\0\1jumb") },
    { "more JUMBF", 0xeb, UNLESS_STRIPPED, TEXT("JP\0\1\0\0\0\2jumb") },
    { "Photoshop", 0xed, UNLESS_STRIPPED, TEXT("Photoshop 3.0\0008BIM") },
    { "Adobe", 0xee, ALWAYS, TEXT("Adobe\0d\0\0\0\0\1") },
    { "APP15", 0xef, UNLESS_STRIPPED, TEXT("\xff\xd9\xff\0") },
    { "no comment", 0xfe, UNLESS_STRIPPED, TEXT("") },
};
enum { KINDS = COUNT(kinds) };

static struct bytes make_segment(const struct kind *kind, struct says s,
                                 enum xform t)
{
    struct bytes data = { 0 };
    if (kind->make)
        kind->make(&data, s, t);
    else if (kind->guid)
        make_piece(&data, kind->guid == 'A' ? s : before, kind->piece,
                   kind->guid);
    else
        must(bytes_append(&data, kind->data, kind->size));
    return data;
}

static struct bytes make_full(void)
{
    struct bytes file = make_jpeg(&picture);
    size_t at = 0;
    for (unsigned i = 0; i < KINDS; i++) {
        owned_bytes data = make_segment(&kinds[i], before, XFORM_NONE);
        add_segment(&file, &at, kinds[i].marker, data.data, data.size);
    }
    return file;
}

/* ---- What is written ------------------------------------------------------*/

static bool is_kept(const struct kind *kind, enum xform t, enum strip strip)
{
    switch (kind->kept) {
    case ALWAYS:
        return true;
    case IF_COLOR:
        return strip != STRIP_ALL;
    case IF_UNTURNED:
        return t == XFORM_NONE && strip == STRIP_NOTHING;
    case UNLESS_STRIPPED:
        return strip == STRIP_NOTHING;
    default:
        return false;
    }
}

/* All of the block but the thumbnail is made of the turned values; the
 * thumbnail is the small picture, turned. */
static void check_exif(const struct segment_seen *s, struct bytes expected,
                       enum xform t)
{
    const size_t lead = 6, length_at = lead + EXIF_IFD1 + 2 + 2 * 12 + 8;
    const size_t thumbnail_at = lead + EXIF_THUMBNAIL;
    REQUIRE(s->size > thumbnail_at, "%zu bytes", s->size);
    CHECK(!memcmp(s->data, expected.data, length_at), "Exif");
    struct bytes is = { .data = (uint8_t *)(uintptr_t)s->data + thumbnail_at,
                        .size = s->size - thumbnail_at };
    CHECK(read_le32(s->data + length_at) == is.size, "the thumbnail's size");
    owned_bytes was = make_jpeg(&small);
    if (t == XFORM_NONE)
        CHECK(same_bytes(is, was), "the thumbnail as it was");
    owned_decoded a = libjpeg_decode(is, JCS_RGB),
                  b = libjpeg_decode(was, JCS_RGB);
    int off = decoded_distance(&a, &b, t);
    CHECK(off <= 8, "the thumbnail is off by %d", off);
}

static void check_given(enum xform t, unsigned orientation, enum strip strip)
{
    owned_bytes file = make_full();
    owned_fixture *f = fixture_new(&codec_jpeg);
    test_case("%s, %u, strip %d", xform_name(t), orientation, (int)strip);
    f->save.orientation = orientation;
    f->save.strip = strip;
    fixture_read(f, file);
    CHECK(f->img.orientation == 6, "is %u", f->img.orientation);
    turn_image(&f->img, t);
    fixture_write(f);
    struct says after = says_after(before, xform_transposes(t), orientation);
    const struct segments list = read_segments(f->made);
    const struct segment_seen *s = list.segment;
    for (unsigned i = 0; i < KINDS && s < list.segment + list.count; i++) {
        if (!is_kept(&kinds[i], t, strip))
            continue;
        owned_bytes data = make_segment(&kinds[i], after, t);
        if (strip != STRIP_NOTHING && !strcmp(kinds[i].name, "JFIF")) {
            /* T.871, 10.1: no unit, a ratio of 1 to 1, a thumbnail of 0 x 0. */
            memcpy(data.data + 7, "\0\0\1\0\1\0", 7);
            data.size = 14;
        }
        CHECK(s->marker == kinds[i].marker, "%s is %02x", kinds[i].name,
              s->marker);
        if (kinds[i].make == make_exif)
            check_exif(s, data, t);
        else
            CHECK(segment_is(s, data), "%s", kinds[i].name);
        s++;
    }
    CHECK(s == list.segment + list.count, "%zu segments", list.count);
    const bool lost = strip == STRIP_NOTHING && t != XFORM_NONE;
    static const char *const words[] = { "JFIF", "JFXX", "C2PA" };
    for (unsigned i = 0; i < COUNT(words); i++)
        CHECK(is_warned(&f->warnings, words[i]) == lost, "of %s", words[i]);
    CHECK(f->warnings.count == (lost ? COUNT(words) : 0), "%u: %s",
          f->warnings.count, f->warnings.list[0].text);
}

TEST(all)
{
    for (EACH_TURN(t)) {
        check_given(t, 0, STRIP_NOTHING);
        check_given(t, 1, STRIP_NOTHING);
        check_given(t, 8, STRIP_NOTHING);
        check_given(t, 1, STRIP_METADATA);
        check_given(t, 1, STRIP_ALL);
    }
}

/* ---- Segments of all sizes ------------------------------------------------*/

/* Frees the file. */
static struct bytes turn_file(struct bytes *file, enum xform t,
                              struct warnings *warnings)
{
    struct bytes made = turn_jpeg(*file, t, warnings);
    bytes_free(file);
    return made;
}

enum { SEGMENT_MAX = 65533 };

TEST(long)
{
    struct bytes file = make_jpeg(&picture), data = { 0 };
    struct warnings warnings = { 0 };
    size_t at = 0;
    for (unsigned i = 0; i < SEGMENT_MAX; i++)
        add_big(&data, i * i >> 7, 1);
    for (unsigned marker = 0xe0; marker < 0xf0; marker++)
        add_segment(&file, &at, marker, data.data, data.size);
    add_segment(&file, &at, 0xfe, data.data, data.size);
    owned_bytes made = turn_file(&file, XFORM_ROTATE_90, &warnings);
    const struct segments list = read_segments(made);
    CHECK(list.count == 17, "%zu", list.count);
    for (size_t i = 0; i < list.count; i++)
        CHECK(segment_is(&list.segment[i], data), "%zu", i);
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
    bytes_free(&data);
}

/* A small file can have very many segments, nearly as many as are taken. */
TEST(many)
{
    enum { MANY = 60000 };
    struct bytes file = make_jpeg(&picture), made = { 0 };
    struct warnings warnings = { 0 };
    must(bytes_append(&made, file.data, 2));
    for (int i = 0; i < MANY; i++)
        must(bytes_append(&made, "\xff\xfe\0\2", 4));
    must(bytes_append(&made, file.data + 2, file.size - 2));
    bytes_free(&file);
    file = made;
    made = turn_file(&file, XFORM_ROTATE_90, &warnings);
    CHECK(made.size > 4 * MANY, "%zu", made.size);
    bytes_free(&made);
}

/* A thumbnail that grows when it is turned, in a block of `size` bytes. With
 * `behind` it does not lie at the end. */
static void check_room(size_t size, bool behind)
{
    struct coding rough = { 96, 80, JCS_YCbCr, .h = 2, .v = 2, .quality = 5 };
    struct bytes file = make_jpeg(&picture), thumbnail = make_jpeg(&rough);
    owned_bytes data = { 0 };
    struct warnings warnings = { 0 };
    const size_t lead = 6;
    size_t at = 0;
    must(bytes_append(&data, "Exif\0", 6));
    if (behind) {
        add_exif(&data, before, thumbnail);
        while (data.size < size)
            add_big(&data, 0x55, 1);
    } else {
        owned_bytes padded = { 0 };
        must(bytes_append(&padded, thumbnail.data, thumbnail.size));
        while (data.size + EXIF_THUMBNAIL + padded.size < size)
            add_big(&padded, 0x55, 1); /* after EOI: goes with it */
        add_exif(&data, before, padded);
    }
    add_segment(&file, &at, 0xe1, data.data, data.size);
    owned_bytes made = turn_file(&file, XFORM_ROTATE_180, &warnings);
    const struct segments list = read_segments(made);
    CHECK(list.count == 1, "one segment");
    const struct segment_seen *s = find_segment(&list, 0xe1, "Exif");
    REQUIRE(s && s->size <= SEGMENT_MAX, "its size");
    uint32_t next = read_le32(s->data + lead + EXIF_IFD - 4);
    bool dropped = is_warned(&warnings, "thumbnail");
    CHECK(dropped == !next, "a thumbnail or a warning");
    CHECK(!dropped || size + 600 > SEGMENT_MAX, "%zu: there was room", size);
    uint32_t from = read_le32(s->data + lead + EXIF_IFD1 + 2 + 12 + 8);
    uint32_t length = read_le32(s->data + lead + EXIF_IFD1 + 2 + 24 + 8);
    CHECK(dropped || from + length <= s->size - lead, "it lies within");
    if (behind)
        CHECK(s->data[size - 1] == 0x55, "what is behind stays");
    bytes_free(&thumbnail);
}

TEST(room)
{
    check_room(2000, false);
    check_room(2001, true);
    for (size_t size = SEGMENT_MAX - 3; size <= SEGMENT_MAX; size++) {
        check_room(size, false);
        check_room(size, true);
    }
}

/* A thumbnail that is damaged goes, with a warning. */
TEST(damaged_thumbnail)
{
    struct bytes file = make_jpeg(&picture), thumbnail = make_jpeg(&small);
    owned_bytes data = { 0 };
    struct warnings warnings = { 0 };
    thumbnail.size /= 2;
    add_exif(&data, before, thumbnail);
    add_headed(&file, NULL, 0xe1, "Exif\0", 6, data);
    owned_bytes made = turn_file(&file, XFORM_MIRROR_Y, &warnings);
    CHECK(is_warned(&warnings, "thumbnail cannot be turned"), "a warning");
    const struct segments list = read_segments(made);
    CHECK(list.count == 1, "one segment");
    const struct segment_seen *s = find_segment(&list, 0xe1, "Exif");
    CHECK(s && read_le32(s->data + 6 + EXIF_IFD - 4) == 0, "no second IFD");
    bytes_free(&thumbnail);
}
