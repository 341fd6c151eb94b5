/* Resources of Photoshop that depend on the orientation are turned, and all
 * others are kept. */
#include "codecs/metadata/blocks.h"

#include "codecs/image/meta.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/metadata.h"
#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

enum { W = 48, H = 32, THUMB_W = 24, THUMB_H = 16 };
static const struct coding thumb_coding = { THUMB_W, THUMB_H, JCS_YCbCr, .h = 2,
                                            .v = 2 };

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
    struct bytes data = { 0 };
    add_big(&data, 6, 2); /* a fill rule, which has no points */
    for (int i = 0; i < 6; i++)
        add_big(&data, 7, 4);
    add_big(&data, 2, 2);
    for (int i = 0; i < 3; i++) {
        add_big(&data, y, 4);
        add_big(&data, x, 4);
    }
    add_resource(to, 2001, "a path", data.data, data.size);
    bytes_free(&data);
}

static void add_resolution(struct bytes *to, uint32_t x, uint32_t y)
{
    struct bytes data = { 0 };
    add_big(&data, x, 4);
    add_big(&data, 0x10001, 4);
    add_big(&data, y, 4);
    add_big(&data, 0x10001, 4);
    add_resource(to, 0x03ed, "", data.data, data.size);
    bytes_free(&data);
}

static void add_thumbnail(struct bytes *to, struct bytes jpeg)
{
    struct bytes data = { 0 };
    add_big(&data, 1, 4);
    add_big(&data, THUMB_W, 4);
    add_big(&data, THUMB_H, 4);
    add_big(&data, THUMB_W * 3, 4);
    add_big(&data, THUMB_W * 3 * THUMB_H, 4);
    add_big(&data, (uint32_t)jpeg.size, 4);
    add_big(&data, 24 << 16 | 1, 4);
    must(bytes_append(&data, jpeg.data, jpeg.size));
    add_resource(to, 0x040c, "", data.data, data.size);
    bytes_free(&data);
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

static struct bytes make_block(struct bytes jpeg)
{
    struct bytes block = { 0 };
    add_before(&block, XFORM_NONE);
    add_thumbnail(&block, jpeg);
    add_behind(&block);
    return block;
}

static int turn(struct bytes *block, size_t room, enum xform t,
                struct warnings *warnings)
{
    bool flip = xform_transposes(t);
    const struct image img = { .width = flip ? H : W,
                               .height = flip ? W : H,
                               .orientation = 1,
                               .turned = t };
    struct save_opts opts = plain_save(warnings);
    struct err err;
    return photoshop_turn(block, room, &img, &opts, &err);
}

static void check_thumbnail(const uint8_t *data, size_t size, enum xform t)
{
    bool flip = xform_transposes(t);
    uint32_t w = flip ? THUMB_H : THUMB_W, h = flip ? THUMB_W : THUMB_H;
    CHECK(read_be32(data + 4) == w && read_be32(data + 8) == h, "its size");
    CHECK(read_be32(data + 12) == 3 * w, "bytes of a row");
    CHECK(read_be32(data + 16) == 3 * w * h, "all bytes");
    CHECK(read_be32(data + 20) == size - 28, "bytes of the file");
    struct bytes is = { .data = (uint8_t *)(uintptr_t)data + 28,
                        .size = size - 28 };
    CHECK(memmem(is.data, is.size, "\xff\xc1\0\x11", 4), "its frame");
    struct decoded d = libjpeg_decode(is, JCS_RGB);
    int most = 0;
    uint32_t sx, sy;
    for (uint32_t y = 0; y < d.coding.height; y++)
        for (uint32_t x = 0; x < d.coding.width; x++) {
            turn_source(t, THUMB_W, THUMB_H, x, y, &sx, &sy);
            int off = (int)decoded_at(&d, 0, x, y) -
                      (int)jpeg_sample(0, sx, sy, THUMB_W, THUMB_H);
            most = abs(off) > most ? abs(off) : most;
        }
    CHECK(d.coding.width == w && most <= 12, "off by %d after %s", most,
          xform_name(t));
    free(d.samples);
}

/* An extended one, which stays one. */
TEST(turns)
{
    struct bytes jpeg = make_jpeg(&thumb_coding);
    uint8_t *frame = memmem(jpeg.data, jpeg.size, "\xff\xc0\0\x11", 4);
    must(frame != NULL);
    frame[1] = 0xc1;
    for (int i = 1; i < XFORM_COUNT; i++) {
        enum xform t = (enum xform)i;
        struct warnings warnings = { 0 };
        struct bytes is = make_block(jpeg), before = { 0 }, behind = { 0 };
        add_before(&before, t);
        add_behind(&behind);
        CHECK(!turn(&is, 65519, t, &warnings) && !warnings.count, "%s",
              warnings.list[0].text);
        CHECK(is.size > before.size + behind.size + 12 &&
                  !memcmp(is.data, before.data, before.size),
              "before it, after %s", xform_name(t));
        CHECK(
            !memcmp(is.data + is.size - behind.size, behind.data, behind.size),
            "behind it");
        const uint8_t *p = is.data + before.size;
        size_t size = read_be32(p + 8);
        CHECK(before.size + 12 + size + (size & 1) + behind.size == is.size,
              "%zu", size);
        check_thumbnail(p + 12, size, t);
        bytes_free(&behind);
        bytes_free(&before);
        bytes_free(&is);
    }
    bytes_free(&jpeg);
}

/* One that cannot be turned goes, and nothing else does. */
static void check_dropped(struct bytes jpeg, size_t room)
{
    struct warnings warnings = { 0 };
    struct bytes is = make_block(jpeg), left = { 0 };
    add_before(&left, XFORM_MIRROR_X);
    add_behind(&left);
    CHECK(!turn(&is, room ? room : is.size, XFORM_MIRROR_X, &warnings),
          "memory");
    CHECK(is_warned(&warnings, "thumbnail of Photoshop"), "a warning");
    CHECK(is.size == left.size && !memcmp(is.data, left.data, left.size),
          "all else");
    bytes_free(&left);
    bytes_free(&is);
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
    struct bytes is = { 0 }, want = { 0 };
    struct err err;
    add_path(&is, ONE / 8, ONE / 4);
    add_path(&want, ONE - ONE / 4, ONE / 4);
    CHECK(!photoshop_turn(&is, 65519, &img, &opts, &err), "memory");
    CHECK(is.size == want.size && !memcmp(is.data, want.data, is.size),
          "the path");
    bytes_free(&want);
    bytes_free(&is);
}

TEST(dropped)
{
    struct coding rough = thumb_coding;
    struct bytes broken = { (uint8_t *)(uintptr_t) "no picture", 10, 0 };
    rough.width -= 1;
    rough.quality = 5; /* it grows when all of it is coded anew */
    struct bytes jpeg = make_jpeg(&rough);
    check_dropped(broken, 65519);
    check_dropped(jpeg, 0);
    bytes_free(&jpeg);
}

TEST(hostile)
{
    struct bytes jpeg = make_jpeg(&thumb_coding);
    struct bytes block = make_block(jpeg);
    size_t end = block.size - jpeg.size;
    for (size_t i = 0; i < block.size; i += i < end ? 1 : 37)
        for (unsigned k = 0; k < 5; k++) {
            static const uint8_t bytes[] = { 0, 1, 0x7f, 0xff };
            struct warnings warnings = { 0 };
            struct bytes copy = { 0 };
            must(bytes_append(&copy, block.data, k < 4 ? block.size : i + 1));
            if (k < 4)
                copy.data[i] = bytes[k];
            size_t room = copy.size + 100;
            CHECK(!turn(&copy, room, XFORM_ROTATE_90, &warnings), "byte %zu",
                  i);
            CHECK(copy.size <= room, "%zu", copy.size);
            bytes_free(&copy);
        }
    bytes_free(&block);
    bytes_free(&jpeg);
}
