/* Resources of Photoshop that depend on the orientation are turned, a thumbnail
 * is dropped then, and all others are kept. */
#include "codecs/metadata/blocks.h"

#include "codecs/image/meta.h"

#include "tests/support/fixture.h"
#include "tests/support/metadata.h"

enum { W = 48, H = 32 };

static void add_resource(struct bytes *to, unsigned number, const char *name,
                         const void *data, size_t size)
{
    size_t length = strlen(name);
    must(bytes_append(to, "8BIM", 4));
    add_big(to, number, 2);
    add_big(to, (uint32_t)length, 1);
    must(bytes_append(to, name, length));
    must(bytes_append(to, "", !(length & 1)));
    add_big(to, (uint32_t)size, 4);
    must(bytes_append(to, data, size) && bytes_append(to, "", size & 1));
}

/* Of a knot at x, y, as shares with 24 bits behind the point. */
static void add_path(struct bytes *to, uint32_t x, uint32_t y)
{
    owned_bytes data = { 0 };
    add_big(&data, 6, 2); /* a fill rule, which has no points */
    for (int i = 0; i < 6; i++)
        add_big(&data, 7, 4);
    add_big(&data, 2, 2);
    for (int i = 0; i < 3; i++) {
        add_big(&data, y, 4);
        add_big(&data, x, 4);
    }
    add_resource(to, 2001, "a path", data.data, data.size);
}

static void add_resolution(struct bytes *to, uint32_t x, uint32_t y)
{
    owned_bytes data = { 0 };
    add_big(&data, x, 4);
    add_big(&data, 0x10001, 4);
    add_big(&data, y, 4);
    add_big(&data, 0x10001, 4);
    add_resource(to, 0x03ed, "", data.data, data.size);
}

/* All but the thumbnail, on either side of it. */
static void add_before(struct bytes *to, enum xform t)
{
    const uint32_t one = 1 << 24, x = 0x123456, y = (uint32_t)-0x1000;
    bool flip = xform_transposes(t);
    uint32_t px = flip ? y : x, py = flip ? x : y;
    add_resource(to, 0x0404, "", "\x1c\2\5\0\4IPTC", 9);
    add_resolution(to, flip ? 5 << 16 : 3 << 16, flip ? 3 << 16 : 5 << 16);
    add_path(to, t & XFORM_MIRROR_X ? one - px : px,
             t & XFORM_MIRROR_Y ? one - py : py);
}

static void add_behind(struct bytes *to)
{
    add_resource(to, 0x0425, "", "a digest of IPTC", 16);
    must(bytes_append(to, "8BIM and no more", 16));
}

static struct bytes make_block(void)
{
    struct bytes block = { 0 };
    add_before(&block, XFORM_NONE);
    add_resource(&block, 0x040c, "", "a thumbnail", 11);
    add_behind(&block);
    return block;
}

static int turn(struct bytes *block, enum xform t, struct warnings *warnings)
{
    bool flip = xform_transposes(t);
    const struct image img = { .width = flip ? H : W,
                               .height = flip ? W : H,
                               .orientation = 1,
                               .turned = t };
    struct save_opts opts = plain_save(warnings);
    struct err err;
    return photoshop_turn(block, &img, &opts, &err);
}

/* The thumbnail goes, and nothing else does. */
TEST(turns)
{
    for (int i = 1; i < XFORM_COUNT; i++) {
        enum xform t = (enum xform)i;
        struct warnings warnings = { 0 };
        owned_bytes is = make_block(), left = { 0 };
        add_before(&left, t);
        add_behind(&left);
        CHECK(!turn(&is, t, &warnings) && warnings.count == 1 &&
                  is_warned(&warnings, "thumbnail of Photoshop"),
              "%s", warnings.list[0].text);
        CHECK(is.size == left.size && !memcmp(is.data, left.data, left.size),
              "all else, after %s", xform_name(t));
    }
}

/* Shares of what was trimmed become shares of what is left. */
TEST(trimmed)
{
    enum { ONE = 1 << 24 };
    const struct image img = { .width = W,
                               .height = H,
                               .untrimmed_width = W * 2,
                               .untrimmed_height = H,
                               .turned = XFORM_MIRROR_X };
    struct warnings warnings = { 0 };
    struct save_opts opts = plain_save(&warnings);
    owned_bytes is = { 0 }, want = { 0 };
    struct err err;
    add_path(&is, ONE / 8, ONE / 4);
    add_path(&want, ONE - ONE / 4, ONE / 4);
    CHECK(!photoshop_turn(&is, &img, &opts, &err), "memory");
    CHECK(is.size == want.size && !memcmp(is.data, want.data, is.size),
          "the path");
}

TEST(hostile)
{
    owned_bytes block = make_block();
    for (size_t i = 0; i < block.size; i++)
        for (unsigned k = 0; k < 5; k++) {
            static const uint8_t bytes[] = { 0, 1, 0x7f, 0xff };
            struct warnings warnings = { 0 };
            owned_bytes copy = { 0 };
            must(bytes_append(&copy, block.data, k < 4 ? block.size : i + 1));
            const size_t size = copy.size;
            if (k < 4)
                copy.data[i] = bytes[k];
            CHECK(!turn(&copy, XFORM_ROTATE_90, &warnings), "byte %zu", i);
            CHECK(copy.size <= size, "%zu", copy.size);
        }
}
