/* Blocks of metadata in PNG text, as ImageMagick writes them, are read and
 * written; damaged ones are left alone. */
#include "codecs/metadata/blocks.h"

#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"
#include "tests/support/fixture.h"

/* A block of one entry: 0x0112, SHORT, 1; the %c is a digit of its value. */
#define HEAD  "49492a00080000000100"
#define ENTRY "12010300010000000%c000000"
#define END   "00000000"
#define EXIF  "457869660000"
#define XMP                                                                    \
    "3C6120746966663A4F7269656E746174696F6E3D223%c222F3E" /* <a tiff:... */
#define LOW_XMP "3c6120746966663a4f7269656e746174696f6e3d223%c222f"
#define SIGN    "687474703a2f2f6e732e61646f62652e636f6d2f7861702f312e302f00"

static struct err err;

/* Turns what the text holds, as the metadata stage does. */
static void turn(struct bytes *text, enum xform t, unsigned orientation,
                 uint32_t width)
{
    const struct change change = { t, width, 11, width, 11 };
    enum block_kind kind = BLOCK_RAW_PROFILE;
    owned_bytes body = copied(text->data, text->size);
    CHECK(raw_profile_open(&body, &kind, &err) == 0, "%s", err.text);
    if (kind == BLOCK_XMP)
        xmp_turn(body.data, body.size, t, orientation);
    else if (kind == BLOCK_EXIF)
        exif_turn(body.data, body.size, &change, orientation);
    if (kind != BLOCK_RAW_PROFILE)
        CHECK(raw_profile_close(text, &body, &err) == 0, "%s", err.text);
}

static void check_turn(const char *before, unsigned orientation,
                       const char *after)
{
    owned_bytes text = copied(before, strlen(before));
    turn(&text, XFORM_NONE, orientation, 23);
    CHECK(text.size == strlen(after) && !memcmp(text.data, after, text.size),
          "%.*s\nis not\n%s", (int)text.size, (const char *)text.data, after);
}

/* However the digits stand, they are written as ImageMagick does. */
TEST(orientation)
{
    static const struct {
        const char *before, *after;
    } good[] = {
        { "\nexif\n      26\n" HEAD ENTRY END "\n",
          "\nexif\n      26\n" HEAD ENTRY END "\n" },
        { "\nAPP1\n      32\n" EXIF HEAD ENTRY END "\n",
          "\nAPP1\n      32\n" EXIF HEAD ENTRY END "\n" },
        { "exif\n26\n49492A00080000000100\n" ENTRY END,
          "exif\n      26\n" HEAD ENTRY END "\n" },
        { "\nxmp\n24\n" XMP, "\nxmp\n      24\n" LOW_XMP "\n" },
        { " \r\n exif\r\n 26\r\n 49 4\n92a\t00080000000100"
          "12010300010000000%c000000\r\n00000000\r\n",
          " \r\n exif\r\n      26\n" HEAD ENTRY END "\n" },
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        char before[400], after[400];
        snprintf(before, sizeof before, good[i].before, '6');
        for (unsigned n = 1; n <= 8; n++) {
            snprintf(after, sizeof after, good[i].after, (char)('0' + n));
            check_turn(before, n, after);
        }
    }
}

/* Puts another body into a text. */
static void check_body(const char *before, const char *with, size_t size,
                       const char *after)
{
    owned_bytes text = copied(before, strlen(before)),
                body = copied(with, size);
    CHECK(raw_profile_close(&text, &body, &err) == 0, "%s", err.text);
    CHECK(text.size == strlen(after) && !memcmp(text.data, after, text.size),
          "%.*s\nis not\n%s", (int)text.size, (const char *)text.data, after);
}

/* A body of another size: its sign stays, and digits stand on lines of 72. */
TEST(sizes)
{
    static const char forty[] = "<123456789012345678901234567890123456789";
    check_body("\nxmp\n       5\n3c61626364\n", "<ab", 3,
               "\nxmp\n       3\n3c6162\n");
    check_body("\nxmp\n3\n3C6162\nbehind\n", forty, 37,
               "\nxmp\n      37\n3c313233343536373839303132333435363738393031"
               "32333435"
               "36373839303132333435\n36\n");
    check_body("\nxmp\n3\n3c6162", forty, 36,
               "\nxmp\n      36\n3c313233343536373839303132333435363738393031"
               "3233343536373839303132333435\n");
    check_body("\nAPP1\n      32\n" SIGN "3C3E21", "<>", 2,
               "\nAPP1\n      31\n687474703a2f2f6e732e61646f62652e636f6d2f78"
               "61702f312e302f003c3e\n");
}

#define BLOCK HEAD "120103000100000006000000" END

TEST(damaged)
{
    static const char *const bad[] = {
        "",
        "\n",
        "exif",
        "\nexif\n",
        "\nexif\n26",
        "\nexif\n26\n",
        "\nexif\n0\n" BLOCK,
        "\nexif\n27\n" BLOCK,
        "\nexif\n-26\n" BLOCK,
        "\nexif\n2a\n" BLOCK,
        "\nexif\n4294967322\n" BLOCK,
        "\nexif\n18446744073709551642\n" BLOCK,
        "\nexif\n99999999999999999999999999\n" BLOCK,
        "\nexif\n26\nx" BLOCK,
        "\nexif\n26\n49492g00080000000100120103000100000006000000" END,
        "\nexif\n\n" BLOCK,
        "\n26\n" BLOCK,
        BLOCK,
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        check_turn(bad[i], 1, bad[i]);

    char all[] = "\nAPP1\n      32\n" EXIF BLOCK "\n";
    for (size_t size = 0; size < sizeof all - 2; size++) {
        owned_bytes text = copied(all, size);
        turn(&text, XFORM_ROTATE_90, 1, 23);
        CHECK(!memcmp(text.data, all, size), "cut to %zu", size);
    }
    for (size_t i = 0; i < sizeof all - 1; i++)
        for (unsigned byte = 0; byte < 256; byte++) {
            owned_bytes text = copied(all, sizeof all - 1);
            text.data[i] = (uint8_t)byte;
            turn(&text, XFORM_ROTATE_90, 1, 23);
        }
}
