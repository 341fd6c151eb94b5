/* Extended XMP follows the turn: its pieces still fit together, and its GUID is
 * still the digest of the whole. */
#include <nettle/md5.h>

#include "codecs/base/byte_order.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"

#define MORE "http://ns.adobe.com/xmp/extension/"
enum { GUID = 32, LEAD = sizeof MORE + GUID + 8, SEGMENT_MAX = 65533 };

static void print_guid(char guid[GUID + 1], const void *text, size_t size)
{
    uint8_t digest[MD5_DIGEST_SIZE];
    struct md5_ctx sum;
    md5_init(&sum);
    md5_update(&sum, size, text);
    md5_digest(&sum, sizeof digest, digest);
    for (unsigned i = 0; i < sizeof digest; i++)
        snprintf(guid + 2 * i, 3, "%02X", (unsigned)digest[i]);
}

static void add_piece(struct bytes *file, size_t *at, const char *guid,
                      struct bytes text, size_t from, size_t to)
{
    owned_bytes data = { 0 };
    uint8_t numbers[8];
    write_be32(numbers, text.size);
    write_be32(numbers + 4, from);
    must(bytes_append(&data, MORE, sizeof MORE) &&
         bytes_append(&data, guid, GUID) &&
         bytes_append(&data, numbers, sizeof numbers) &&
         bytes_append(&data, text.data + from, to - from));
    add_segment(file, at, 0xe1, data.data, data.size);
}

/* A packet that names the other one, and that in pieces cut at `cut`, the last
 * one first. */
static struct bytes make_file(struct bytes text, const char *guid, size_t cut)
{
    static const struct coding coding = { 16, 8, JCS_GRAYSCALE, .h = 1 };
    struct bytes file = make_jpeg(&coding);
    char packet[200];
    size_t at = 0;
    snprintf(packet, sizeof packet, "<a xmpNote:HasExtendedXMP=\"%s\"/>", guid);
    add_headed(&file, &at, 0xe1, XMP_HEAD, sizeof XMP_HEAD, bytes_of(packet));
    add_piece(&file, &at, guid, text, cut, text.size);
    add_piece(&file, &at, guid, text, 0, cut);
    return file;
}

/* Frees the file. */
static struct bytes turned(struct bytes *file, struct warnings *warnings)
{
    struct bytes made = turn_jpeg(*file, XFORM_MIRROR_X, warnings);
    bytes_free(file);
    return made;
}

/* The pieces of a file hold `text`, and all name `guid`. */
static void check_file(struct bytes file, struct bytes text, const char *guid,
                       size_t cut)
{
    const struct segments list = read_segments(file);
    REQUIRE(list.count == 3, "%zu", list.count);
    const struct segment_seen *s = list.segment;
    CHECK(memmem(s->data, s->size, guid, GUID) != NULL, "it is named");
    for (size_t i = 1; i < 3; i++) {
        size_t from = i == 1 ? cut : 0, size = i == 1 ? text.size - cut : cut;
        const uint8_t *p = s[i].data + sizeof MORE;
        CHECK(!memcmp(p, guid, GUID), "GUID %.32s, not %s", (const char *)p,
              guid);
        CHECK(read_be32(p + GUID) == text.size, "the whole");
        CHECK(read_be32(p + GUID + 4) == from, "the place");
        CHECK(s[i].size == LEAD + size &&
                  !memcmp(s[i].data + LEAD, text.data + from, size),
              "%.*s", (int)(s[i].size - LEAD), (const char *)s[i].data + LEAD);
    }
}

static void check_turn(const char *before, const char *after, bool digest)
{
    struct bytes was = { (uint8_t *)(uintptr_t)before, strlen(before), 0 };
    struct bytes is = { (uint8_t *)(uintptr_t)after, strlen(after), 0 };
    char guid[GUID + 1] = "0123456789ABCDEF0123456789ABCDEF";
    struct warnings warnings = { 0 };
    if (digest)
        print_guid(guid, before, was.size);
    struct bytes file = make_file(was, guid, 5);
    owned_bytes made = turned(&file, &warnings);
    if (digest)
        print_guid(guid, after, is.size);
    check_file(made, is, guid, 5);
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
}

TEST(guid)
{
    for (unsigned digest = 0; digest < 2; digest++) {
        check_turn("<a tiff:Orientation='6'/>", "<a tiff:Orientation='1'/>",
                   digest);
        check_turn("<a stArea:x='1e-05'/>", "<a stArea:x='0.999990000'/>",
                   digest);
        check_turn("<a stArea:x='0.50'/>", "<a stArea:x='0.50'/>", digest);
        check_turn("<a stArea:x='1e0'/><a tiff:Orientation='2'/>",
                   "<a stArea:x='0.000000000'/><a tiff:Orientation='1'/>",
                   digest);
    }
}

/* A full last piece cannot grow: the packet is kept unchanged, with a
 * warning. */
TEST(full)
{
    owned_bytes text = { 0 };
    struct warnings warnings = { 0 };
    char guid[GUID + 1];
    const size_t size = 5 + SEGMENT_MAX - LEAD;
    must(bytes_append(&text, "<a stArea:x='1e-05'/>", 21));
    while (text.size < size)
        must(bytes_append(&text, " ", 1));
    print_guid(guid, text.data, text.size);
    struct bytes file = make_file(text, guid, 5);
    owned_bytes made = turned(&file, &warnings);
    check_file(made, text, guid, 5);
    CHECK(is_warned(&warnings, "no room"), "a warning");
}

/* If a piece is missing, the others are turned and stay at their places. */
TEST(missing)
{
    static const char before[] = "<a tiff:Orientation='6'/>";
    struct bytes text = { (uint8_t *)(uintptr_t)before, sizeof before - 1, 0 };
    struct bytes file = make_file(text, "0123456789ABCDEF0123456789ABCDEF", 5);
    struct warnings warnings = { 0 };
    struct segments list = read_segments(file);
    /* Its whole is said to be larger. */
    uint8_t *whole =
        file.data + (list.segment[1].data - file.data) + sizeof MORE + GUID;
    write_be32(whole, 1000);
    owned_bytes made = turned(&file, &warnings);
    list = read_segments(made);
    CHECK(read_be32(list.segment[1].data + sizeof MORE + GUID) == 1000, "left");
    CHECK(memmem(made.data, made.size, "Orientation='1'", 15) != NULL, "%s",
          "turned");
}

/* Portions that nobody names stay as they are, unless something is to be taken
 * out of what the file says. */
TEST(unnamed)
{
    static const char before[] = "<a tiff:Orientation='6'/>";
    struct bytes text = { (uint8_t *)(uintptr_t)before, sizeof before - 1, 0 };
    for (unsigned drop = 0; drop <= DROP_GPS; drop++) {
        owned_fixture *f = fixture_new(&codec_jpeg);
        owned_bytes file =
            make_file(text, "0123456789ABCDEF0123456789ABCDEF", 5);
        uint8_t *name = memmem(file.data, file.size, "012345", 6);
        *name = 'F';
        f->save.orientation = 1;
        f->save.drop = drop;
        fixture_read(f, file);
        fixture_write(f);
        const struct segments list = read_segments(f->made);
        CHECK(list.count == (drop ? 1 : 3), "%zu segments", list.count);
        CHECK(drop || memmem(f->made.data, f->made.size, "Orientation='6'", 15),
              "turned");
    }
}
