/* APPn and COM segments are kept in order and byte for byte, apart from what a
 * turn makes false and what --strip drops. */
#include "codecs/codec.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/metadata.h"
#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

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
    struct bytes thumbnail = make_jpeg(&small);
    (void)t;
    must(bytes_append(to, "Exif\0", 6));
    add_exif(to, s, thumbnail);
    bytes_free(&thumbnail);
}

static void make_xmp(struct bytes *to, struct says s, enum xform t)
{
    (void)t;
    add_text(to, "http://ns.adobe.com/xap/1.0/");
    add_big(to, 0, 1);
    add_xmp(to, s);
}

/* Piece `i` of an Extended XMP of a GUID. The borders stand in the name of the
 * orientation, right before its value, and within the width: see add_xmp(). */
enum { PIECES = 4, XMP_MORE_LEAD = 35 + 40 };

static void make_piece(struct bytes *to, struct says s, unsigned i, char guid)
{
    struct bytes all = { 0 };
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
    bytes_free(&all);
}

#define PIECE(name, i, guid)                                                   \
    static void name(struct bytes *to, struct says s, enum xform t)            \
    {                                                                          \
        (void)t;                                                               \
        make_piece(to, s, i, guid);                                            \
    }
PIECE(make_piece_0, 0, 'A')
PIECE(make_piece_1, 1, 'A')
PIECE(make_piece_2, 2, 'A')
PIECE(make_piece_3, 3, 'A')
/* Another one, whose pieces come in another order, and between the others. */
PIECE(make_other_0, 0, 'B')
PIECE(make_other_1, 1, 'B')
PIECE(make_other_2, 2, 'B')
PIECE(make_other_3, 3, 'B')

static const struct kind {
    const char *name;
    unsigned marker;
    const char *data; /* where `make` does not know better */
    size_t size;
    void (*make)(struct bytes *to, struct says s, enum xform t);
    enum { ALWAYS, UNLESS_STRIPPED, IF_COLOR, IF_UNTURNED } kept;
} kinds[] = {
    { "a comment", 0xfe, "before JFIF", 11, NULL, UNLESS_STRIPPED },
    { "JFIF", 0xe0, NULL, 0, make_jfif, ALWAYS },
    { "JFXX", 0xe0, "JFXX\0\x12\1\1rgb", 11, NULL, IF_UNTURNED },
    { "APP0", 0xe0, "another", 7, NULL, UNLESS_STRIPPED },
    { "Extended XMP 0", 0xe1, NULL, 0, make_piece_0, UNLESS_STRIPPED },
    { "other XMP 2", 0xe1, NULL, 0, make_other_2, UNLESS_STRIPPED },
    { "Extended XMP 1", 0xe1, NULL, 0, make_piece_1, UNLESS_STRIPPED },
    { "Exif", 0xe1, NULL, 0, make_exif, UNLESS_STRIPPED },
    { "other XMP 0", 0xe1, NULL, 0, make_other_0, UNLESS_STRIPPED },
    { "XMP", 0xe1, NULL, 0, make_xmp, UNLESS_STRIPPED },
    { "Extended XMP 2", 0xe1, NULL, 0, make_piece_2, UNLESS_STRIPPED },
    { "Extended XMP 3", 0xe1, NULL, 0, make_piece_3, UNLESS_STRIPPED },
    { "other XMP 3", 0xe1, NULL, 0, make_other_3, UNLESS_STRIPPED },
    { "other XMP 1", 0xe1, NULL, 0, make_other_1, UNLESS_STRIPPED },
    { "short XMP", 0xe1, "http://ns.adobe.com/xmp/extension/\0short", 40, NULL,
      UNLESS_STRIPPED },
    { "ICC", 0xe2, "ICC_PROFILE\0\1\2half", 18, NULL, IF_COLOR },
    { "MPF", 0xe2, "MPF\0MM\0*", 8, NULL, UNLESS_STRIPPED },
    { "more ICC", 0xe2, "ICC_PROFILE\0\2\2half", 18, NULL, IF_COLOR },
    { "nothing", 0xe7, "", 0, NULL, UNLESS_STRIPPED },
    { "JUMBF", 0xeb, "JP\0\1\0\0\0\1jumb", 12, NULL, UNLESS_STRIPPED },
    { "more JUMBF", 0xeb, "JP\0\1\0\0\0\2jumb", 12, NULL, UNLESS_STRIPPED },
    { "Photoshop", 0xed, "Photoshop 3.0\0008BIM", 18, NULL, UNLESS_STRIPPED },
    { "Adobe", 0xee, "Adobe\0d\0\0\0\0\1", 12, NULL, ALWAYS },
    { "APP15", 0xef, "\xff\xd9\xff\0", 4, NULL, UNLESS_STRIPPED },
    { "no comment", 0xfe, "", 0, NULL, UNLESS_STRIPPED },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct bytes make_segment(const struct kind *kind, struct says s,
                                 enum xform t)
{
    struct bytes data = { 0 };
    if (kind->make)
        kind->make(&data, s, t);
    else
        must(bytes_append(&data, kind->data, kind->size));
    return data;
}

static struct bytes make_full(void)
{
    struct bytes file = make_jpeg(&picture);
    size_t at = 0;
    for (unsigned i = 0; i < KINDS; i++) {
        struct bytes data = make_segment(&kinds[i], before, XFORM_NONE);
        add_segment(&file, &at, kinds[i].marker, data.data, data.size);
        bytes_free(&data);
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

/* The most that a sample of `is` differs from `was`, turned. */
static int turned_distance(const struct decoded *is, const struct decoded *was,
                           enum xform t)
{
    bool flip = xform_transposes(t);
    uint32_t w = was->coding.width, h = was->coding.height, sx, sy;
    int most = 0;
    if (is->coding.width != (flip ? h : w) ||
        is->coding.height != (flip ? w : h) || is->channels != was->channels)
        return 1000;
    for (unsigned c = 0; c < is->channels; c++)
        for (uint32_t y = 0; y < is->coding.height; y++)
            for (uint32_t x = 0; x < is->coding.width; x++) {
                turn_source(t, w, h, x, y, &sx, &sy);
                int off = abs((int)decoded_at(is, c, x, y) -
                              (int)decoded_at(was, c, sx, sy));
                most = off > most ? off : most;
            }
    return most;
}

/* All of the block but the thumbnail is made of the turned values; the
 * thumbnail is the small picture, turned. */
static void check_exif(const struct segment_seen *s, struct bytes expected,
                       enum xform t)
{
    const size_t lead = 6, length_at = lead + EXIF_IFD1 + 2 + 2 * 12 + 8;
    const size_t thumbnail_at = lead + EXIF_THUMBNAIL;
    CHECK(s->size > thumbnail_at, "%zu bytes", s->size);
    if (s->size <= thumbnail_at)
        return;
    CHECK(!memcmp(s->data, expected.data, length_at), "Exif after %s",
          xform_name(t));
    struct bytes is = { .data = (uint8_t *)(uintptr_t)s->data + thumbnail_at,
                        .size = s->size - thumbnail_at };
    CHECK(read_le32(s->data + length_at) == is.size, "the thumbnail's size");
    struct bytes was = make_jpeg(&small);
    if (t == XFORM_NONE)
        CHECK(is.size == was.size && !memcmp(is.data, was.data, is.size),
              "the thumbnail as it was");
    struct decoded a = libjpeg_decode(is, JCS_RGB),
                   b = libjpeg_decode(was, JCS_RGB);
    int off = turned_distance(&a, &b, t);
    CHECK(off <= 8, "the thumbnail is off by %d after %s", off, xform_name(t));
    free(a.samples);
    free(b.samples);
    bytes_free(&was);
}

/* T.871, 10.1: no unit, a ratio of 1 to 1, a thumbnail of 0 x 0. */
static void strip_jfif(struct bytes *jfif)
{
    memcpy(jfif->data + 7, "\0\0\1\0\1\0", 7);
    jfif->size = 14;
}

static void check_segments(struct bytes file, enum xform t,
                           unsigned orientation, enum strip strip)
{
    struct says after = says_after(before, xform_transposes(t), orientation);
    struct segments list;
    CHECK(read_segments(&list, file), "no JPEG");
    const struct segment_seen *s = list.segment;
    for (unsigned i = 0; i < KINDS && s < list.segment + list.count; i++) {
        if (!is_kept(&kinds[i], t, strip))
            continue;
        struct bytes data = make_segment(&kinds[i], after, t);
        if (strip != STRIP_NOTHING && !strcmp(kinds[i].name, "JFIF"))
            strip_jfif(&data);
        CHECK(s->marker == kinds[i].marker, "%s is %02x", kinds[i].name,
              s->marker);
        if (kinds[i].make == make_exif)
            check_exif(s, data, t);
        else
            CHECK(s->size == data.size &&
                      (!s->size || !memcmp(s->data, data.data, s->size)),
                  "%s after %s, %u", kinds[i].name, xform_name(t), orientation);
        bytes_free(&data);
        s++;
    }
    CHECK(s == list.segment + list.count, "%zu segments", list.count);
}

static void check_given(enum xform t, unsigned orientation, enum strip strip)
{
    struct bytes file = make_full();
    struct fixture *f = fixture_new(&codec_jpeg);
    f->save.orientation = orientation;
    f->save.strip = strip;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    if (f->img.pixels.kind) {
        CHECK(f->img.orientation == 6, "is %u", f->img.orientation);
        turn_image(&f->img, t);
        CHECK(!fixture_encode(f), "%s", f->err.text);
        check_segments(f->made, t, orientation, strip);
    }
    bool lost = strip == STRIP_NOTHING;
    CHECK(is_warned(&f->warnings, "JFIF") == (lost && t), "of what is lost");
    CHECK(is_warned(&f->warnings, "JFXX") == (lost && t), "of what is lost");
    CHECK(is_warned(&f->warnings, "C2PA") == (lost && t), "of what is false");
    CHECK(f->warnings.count == (lost && t ? 3 : 0), "%u: %s", f->warnings.count,
          f->warnings.list[0].text);
    fixture_free(f);
    bytes_free(&file);
}

TEST(all)
{
    for (int t = 0; t < XFORM_COUNT; t++) {
        check_given((enum xform)t, 0, STRIP_NOTHING);
        check_given((enum xform)t, 1, STRIP_NOTHING);
        check_given((enum xform)t, 8, STRIP_NOTHING);
        check_given((enum xform)t, 1, STRIP_METADATA);
        check_given((enum xform)t, 1, STRIP_ALL);
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
    struct segments list;
    size_t at = 0;
    for (unsigned i = 0; i < SEGMENT_MAX; i++)
        add_big(&data, i * i >> 7, 1);
    for (unsigned marker = 0xe0; marker < 0xf0; marker++)
        add_segment(&file, &at, marker, data.data, data.size);
    add_segment(&file, &at, 0xfe, data.data, data.size);
    struct bytes made = turn_file(&file, XFORM_ROTATE_90, &warnings);
    CHECK(read_segments(&list, made) && list.count == 17, "%zu", list.count);
    for (size_t i = 0; i < list.count; i++)
        CHECK(list.segment[i].size == data.size &&
                  !memcmp(list.segment[i].data, data.data, data.size),
              "%zu", i);
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
    bytes_free(&data);
    bytes_free(&made);
}

/* A small file can have very many segments; each is looked at a few times. */
TEST(many)
{
    enum { MANY = 60000 };
    struct bytes file = make_jpeg(&picture), made = { 0 };
    struct warnings warnings = { 0 };
    const clock_t begin = clock();
    must(bytes_append(&made, file.data, 2));
    for (int i = 0; i < MANY; i++)
        must(bytes_append(&made, "\xff\xfe\0\2", 4));
    must(bytes_append(&made, file.data + 2, file.size - 2));
    bytes_free(&file);
    file = made;
    made = turn_file(&file, XFORM_ROTATE_90, &warnings);
    CHECK(made.size > 4 * MANY, "%zu", made.size);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    CHECK(seconds < 5, "%g s", seconds);
    bytes_free(&made);
}

/* A thumbnail that grows when it is turned, in a block of `size` bytes. With
 * `behind` it does not lie at the end. */
static void check_room(size_t size, bool behind)
{
    struct coding rough = { 96, 80, JCS_YCbCr, .h = 2, .v = 2, .quality = 5 };
    struct bytes file = make_jpeg(&picture), thumbnail = make_jpeg(&rough);
    struct bytes data = { 0 };
    struct warnings warnings = { 0 };
    struct segments list;
    const size_t lead = 6;
    size_t at = 0;
    must(bytes_append(&data, "Exif\0", 6));
    if (behind) {
        add_exif(&data, before, thumbnail);
        while (data.size < size)
            add_big(&data, 0x55, 1);
    } else {
        struct bytes padded = { 0 };
        must(bytes_append(&padded, thumbnail.data, thumbnail.size));
        while (data.size + EXIF_THUMBNAIL + padded.size < size)
            add_big(&padded, 0x55, 1); /* after EOI: goes with it */
        add_exif(&data, before, padded);
        bytes_free(&padded);
    }
    add_segment(&file, &at, 0xe1, data.data, data.size);
    struct bytes made = turn_file(&file, XFORM_ROTATE_180, &warnings);
    CHECK(read_segments(&list, made) && list.count == 1, "one segment");
    const struct segment_seen *s = find_segment(&list, 0xe1, "Exif");
    CHECK(s && s->size <= SEGMENT_MAX, "its size");
    if (s) {
        uint32_t next = read_le32(s->data + lead + EXIF_IFD - 4);
        bool dropped = is_warned(&warnings, "thumbnail");
        CHECK(dropped == !next, "a thumbnail or a warning");
        CHECK(!dropped || size + 600 > SEGMENT_MAX, "%zu: there was room",
              size);
        uint32_t from = read_le32(s->data + lead + EXIF_IFD1 + 2 + 12 + 8);
        uint32_t length = read_le32(s->data + lead + EXIF_IFD1 + 2 + 24 + 8);
        CHECK(dropped || from + length <= s->size - lead, "it lies within");
        if (behind)
            CHECK(s->data[size - 1] == 0x55, "what is behind stays");
    }
    bytes_free(&made);
    bytes_free(&data);
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
    struct bytes data = { 0 };
    struct warnings warnings = { 0 };
    struct segments list;
    size_t at = 0;
    thumbnail.size /= 2;
    must(bytes_append(&data, "Exif\0", 6));
    add_exif(&data, before, thumbnail);
    add_segment(&file, &at, 0xe1, data.data, data.size);
    struct bytes made = turn_file(&file, XFORM_MIRROR_Y, &warnings);
    CHECK(is_warned(&warnings, "thumbnail cannot be turned"), "a warning");
    CHECK(read_segments(&list, made) && list.count == 1, "one segment");
    const struct segment_seen *s = find_segment(&list, 0xe1, "Exif");
    CHECK(s && read_le32(s->data + 6 + EXIF_IFD - 4) == 0, "no second IFD");
    bytes_free(&made);
    bytes_free(&data);
    bytes_free(&thumbnail);
}
