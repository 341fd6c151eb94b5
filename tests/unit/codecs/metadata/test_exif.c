/* EXIF blocks, built here byte by byte, are found and turned; damaged ones do
 * no harm. */
#include "codecs/metadata/exif.h"

#include "tests/support/exif_block.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

/* ---- Orientation ----------------------------------------------------------*/

/* A block with one entry. */
static struct exif_block one_entry(bool big, unsigned tag, unsigned type,
                                   uint32_t count, uint32_t value)
{
    struct exif_block b;
    block_start(&b, big);
    block_put32(&b, 4, 8);
    block_add16(&b, 1);
    block_add_entry(&b, tag, type, count, value);
    block_add32(&b, 0);
    return b;
}

static unsigned orientation_of(struct exif_block b)
{
    return exif_tag(b.data, b.size);
}

static void turn(struct exif_block *b, enum xform t, unsigned orientation,
                 uint32_t width, uint32_t height)
{
    const struct change change = { t, width, height, width, height };
    exif_turn(b->data, b->size, &change, orientation);
}

TEST(orientation)
{
    for (unsigned big = 0; big < 2; big++) {
        for (unsigned n = 0; n < 12; n++) {
            unsigned want = n <= 8 ? n : 0;
            static const unsigned types[] = { U8, U16, U32 };
            for (unsigned i = 0; i < 3; i++) {
                struct exif_block b = one_entry(big, 0x0112, types[i], 1, n);
                CHECK(orientation_of(b) == want, "%u as type %u", n, types[i]);
                turn(&b, XFORM_NONE, 3, 1, 1);
                CHECK(orientation_of(b) == 3, "%u as type %u", n, types[i]);
            }
        }
        static const struct {
            unsigned tag, type;
            uint32_t count, value;
        } bad[] = {
            { 0x0112, U16, 0, 6 },      { 0x0112, U16, 2, 0x60006 },
            { 0x0112, U16, 65535, 8 },  { 0x0112, U32, 0xffffffff, 8 },
            { 0x0112, ASCII, 1, 6 },    { 0x0112, RATIO, 1, 8 },
            { 0x0112, 0, 1, 6 },        { 0x0112, 999, 1, 6 },
            { 0x0112, U16, 1, 0xff06 }, { 0x0112, U32, 1, 0x10006 },
            { 0x0113, U16, 1, 6 },
        };
        for (unsigned i = 0; i < COUNT(bad); i++) {
            struct exif_block b = one_entry(big, bad[i].tag, bad[i].type,
                                            bad[i].count, bad[i].value);
            CHECK(orientation_of(b) == 0, "bad entry %u", i);
        }
    }
    CHECK(exif_tag(NULL, 0) == 0, "nothing at all");
    struct exif_block b = one_entry(false, 0x0112, U16, 1, 6);
    b.data[1] = 'M';
    CHECK(orientation_of(b) == 0, "IM");
    b = one_entry(false, 0x0112, U16, 1, 6);
    b.data[2] = 43;
    CHECK(orientation_of(b) == 0, "43");
    b = one_entry(false, 0x0112, U16, 1, 6);
    block_put16(&b, 8, 65535);
    CHECK(orientation_of(b) == 6, "more entries claimed than there are");
}

TEST(first_counts)
{
    struct exif_block b;
    block_start(&b, true);
    block_put32(&b, 4, 8);
    block_add16(&b, 2);
    block_add_entry(&b, 0x0112, U16, 1, 5);
    block_add_entry(&b, 0x0112, U16, 1, 7);
    block_add32(&b, 0);
    CHECK(orientation_of(b) == 5, "the first of two");
    turn(&b, XFORM_NONE, 2, 1, 1);
    CHECK(block_get16(&b, 10 + 8) == 2 && block_get16(&b, 22 + 8) == 2,
          "both are set");
}

/* ---- The turn -------------------------------------------------------------*/

/* Where a pixel goes, found by asking of each pixel of the turned picture where
 * it comes from. */
static void oracle_point(enum xform t, uint32_t w, uint32_t h, unsigned p[2])
{
    const bool swap = oracle[t].xy != 0;
    uint32_t sx, sy;
    for (uint32_t i = 0; i < w * h; i++) {
        const uint32_t across = swap ? h : w, x = i % across, y = i / across;
        turn_source(t, w, h, x, y, &sx, &sy);
        if (sx == p[0] && sy == p[1]) {
            p[0] = x;
            p[1] = y;
            return;
        }
    }
}

static void check_pair(const struct exif_block *was,
                       const struct exif_block *is, size_t ifd, unsigned tag,
                       bool swapped)
{
    uint32_t x = block_value(was, ifd, tag), y = block_value(was, ifd, tag + 1);
    CHECK(block_value(is, ifd, tag) == (swapped ? y : x), "%04x", tag);
    CHECK(block_value(is, ifd, tag + 1) == (swapped ? x : y), "%04x", tag + 1);
}

static void check_subject(const struct camera *c, const struct exif_block *is,
                          struct camera_kind kind, enum xform t)
{
    bool swap = xform_transposes(t);
    unsigned area[2] = { 5, 2 }, location[2] = { W - 1, 0 };
    oracle_point(t, W, H, area);
    oracle_point(t, W, H, location);
    CHECK(block_get16(is, c->area) == area[0], "%s", xform_name(t));
    CHECK(block_get16(is, c->area + 2) == area[1], "%s", xform_name(t));
    if (kind.subject == 3)
        CHECK(block_get16(is, c->area + 4) == 7, "%s", xform_name(t));
    if (kind.subject == 4) {
        CHECK(block_get16(is, c->area + 4) == (swap ? 4 : 9), "%s",
              xform_name(t));
        CHECK(block_get16(is, c->area + 6) == (swap ? 9 : 4), "%s",
              xform_name(t));
    }
    size_t at = block_entry(is, c->exif, 0xa214) + 8;
    CHECK(block_get16(is, at) == location[0], "%s", xform_name(t));
    CHECK(block_get16(is, at + 2) == location[1], "%s", xform_name(t));
}

/* Nothing but the values named in exif.h has changed. */
static void check_rest(const struct camera *c, const struct exif_block *is,
                       struct camera_kind kind)
{
    bool may[sizeof is->data] = { false };
    static const unsigned pairs[] = { 0x0100, 0x011a, 0xa002, 0xa20e };
    const size_t ifds[] = { c->ifd0, c->ifd1, c->exif };
    for (unsigned i = 0; i < 3; i++) {
        size_t orientation = block_entry(is, ifds[i], 0x0112);
        size_t location = block_entry(is, ifds[i], 0xa214);
        if (orientation)
            block_allow(may, orientation + 8, 2);
        if (location)
            block_allow(may, location + 8, 4);
        for (unsigned j = 0; j < 4; j++) {
            size_t x = block_entry(is, ifds[i], pairs[j]);
            if (x)
                block_allow(may, x + 2, 10), block_allow(may, x + 12 + 2, 10);
        }
    }
    block_allow(may, c->area, 2 * kind.subject);
    for (size_t i = 0; i < is->size; i++)
        CHECK(may[i] || is->data[i] == c->b.data[i], "byte %zu", i);
    CHECK(!memcmp(is->data + c->maker, c->b.data + c->maker, MAKER), "maker");
}

EACH_CAMERA(turn)
{
    const struct camera c = camera_block(kind);
    for (unsigned i = 0; i < XFORM_COUNT; i++) {
        enum xform t = (enum xform)i;
        bool swap = xform_transposes(t);
        for (unsigned n = 0; n <= 8; n++) {
            struct exif_block b = c.b;
            turn(&b, t, n, W, H);
            CHECK(block_value(&b, c.ifd0, 0x0112) == (n ? n : 6), "%u", n);
            CHECK(block_value(&b, c.ifd1, 0x0112) == (n ? n : 6), "%u", n);
            CHECK(exif_tag(b.data, b.size) == (n ? n : 6), "%u", n);
            check_pair(&c.b, &b, c.ifd0, 0x0100, swap);
            check_pair(&c.b, &b, c.ifd0, 0x011a, swap);
            check_pair(&c.b, &b, c.ifd1, 0x0100, swap);
            check_pair(&c.b, &b, c.ifd1, 0x011a, swap);
            check_pair(&c.b, &b, c.exif, 0xa002, swap);
            check_pair(&c.b, &b, c.exif, 0xa20e, swap);
            check_subject(&c, &b, kind, t);
            check_rest(&c, &b, kind);
        }
    }
}

/* Of a picture that was trimmed the sizes are those of what is left, along the
 * axes that it has now; a subject is where it is in that, if it is there. */
EACH_CAMERA(trimmed)
{
    const struct camera c = camera_block(kind);
    for (unsigned i = 0; i < XFORM_COUNT; i++) {
        const enum xform t = (enum xform)i;
        const struct change change = { t, W, H, W - 3, H - 2 };
        const bool swap = xform_transposes(t);
        struct exif_block b = c.b;
        unsigned area[2] = { 5, 2 };
        exif_turn(b.data, b.size, &change, 0);
        oracle_point(t, W - 3, H - 2, area);
        const size_t location = block_entry(&b, c.exif, 0xa214) + 8;
        CHECK(block_get16(&b, c.area) == area[0] &&
                  block_get16(&b, c.area + 2) == area[1],
              "%s: the subject", xform_name(t));
        CHECK(block_get16(&b, location) == W - 1, "%s: trimmed off",
              xform_name(t));
        CHECK(block_value(&b, c.exif, 0xa002) == (swap ? H - 2 : W - 3),
              "%s: the width", xform_name(t));
        CHECK(block_value(&b, c.exif, 0xa003) == (swap ? W - 3 : H - 2),
              "%s: the height", xform_name(t));
    }
}

/* EXIF 2.3, 4.6.7: from IFD0 to the Exif IFD to the Interoperability IFD. */
TEST(interop)
{
    struct exif_block b = one_entry(true, 0x8769, U32, 1, 26);
    block_add16(&b, 1);
    block_add_entry(&b, 0xa005, U32, 1, 44);
    block_add32(&b, 0);
    block_add16(&b, 2);
    block_add_entry(&b, 0x1001, U16, 1, W);
    block_add_entry(&b, 0x1002, U32, 1, H);
    block_add32(&b, 0);
    turn(&b, XFORM_MIRROR_X, 0, W, H);
    CHECK(block_value(&b, 44, 0x1001) == W, "axes stay");
    turn(&b, XFORM_TRANSPOSE, 0, W, H);
    CHECK(block_value(&b, 44, 0x1001) == H, "the width");
    CHECK(block_value(&b, 44, 0x1002) == W, "the length");
}

/* What cannot be said truly is left as it was. */
TEST(turn_leaves)
{
    struct exif_block b = one_entry(false, 0x0100, U16, 1, 640), was = b;
    turn(&b, XFORM_ROTATE_90, 0, 640, 480);
    CHECK(!memcmp(&b, &was, sizeof b), "a width without a length");

    b = one_entry(true, 0x9214, U16, 2, 700 << 16 | 10);
    was = b;
    turn(&b, XFORM_ROTATE_90, 0, 640, 480);
    CHECK(!memcmp(&b, &was, sizeof b), "a subject outside of the picture");

    b = one_entry(true, 0x9214, U16, 2, 10 << 16 | 10);
    was = b;
    turn(&b, XFORM_MIRROR_X, 0, 70000, 480);
    CHECK(!memcmp(&b, &was, sizeof b), "69989 in 16 bits");
    turn(&b, XFORM_MIRROR_Y, 0, 70000, 480);
    CHECK(block_get32(&b, 10 + 8) == (10 << 16 | 469), "what fits is turned");
}

/* ---- Hostile blocks -------------------------------------------------------*/

/* Calls every function on memory of exactly the size of the block, so that
 * sanitizers see each access beyond it. */
static void exercise(const struct exif_block *b)
{
    owned_bytes exif = block_bytes(b);
    unsigned n = exif_tag(exif.data, exif.size);
    CHECK(n <= 8, "%u", n);
    for (unsigned i = 0; i < XFORM_COUNT; i++) {
        const struct change change = { (enum xform)i, W, H, W - i / 4, H };
        exif_turn(exif.data, exif.size, &change, i);
    }
    struct exif_thumbnail t = exif_thumbnail_find(exif.data, exif.size);
    if (t.length) {
        CHECK(t.at < exif.size && t.length <= exif.size - t.at, "%zu", t.at);
        static const uint8_t file[50] = { 0xff, 0xd8 };
        CHECK(exif_thumbnail_set(&exif, file, 2) == 0, "short");
        CHECK(exif_thumbnail_set(&exif, file, sizeof file) == 0, "long");
        t = exif_thumbnail_find(exif.data, exif.size);
        CHECK(t.length == sizeof file, "still there");
    }
    exif_thumbnail_drop(&exif);
    CHECK(!exif_thumbnail_find(exif.data, exif.size).exists, "dropped");
}

EACH_CAMERA(damaged)
{
    const struct camera c = camera_block(kind);
    for (size_t size = 1; size < c.b.size; size++) {
        struct exif_block b = c.b;
        b.size = size;
        exercise(&b);
    }
    for (size_t i = 0; i < c.b.size; i++) {
        struct exif_block b = c.b;
        b.data[i] = 0;
        exercise(&b);
        b.data[i] = 255;
        exercise(&b);
    }
}

EACH_CAMERA(hostile)
{
    static const uint32_t numbers[] = { 0,        1,          7,
                                        8,        65535,      0x7fffffff,
                                        1u << 31, 0xfffffff4, 0xffffffff };
    const struct camera c = camera_block(kind);
    for (size_t at = 4; at + 4 <= c.b.size; at++)
        for (unsigned i = 0; i < COUNT(numbers); i++) {
            struct exif_block b = c.b;
            block_put32(&b, at, numbers[i]);
            exercise(&b);
        }
    /* Each directory leads to each, and to the middle of each. */
    const size_t links[] = { 4, c.ifd0 + 2 + 6 * 12,
                             block_entry(&c.b, c.ifd0, 0x8769) + 8,
                             c.ifd1 + 2 + 8 * 12 };
    for (unsigned i = 0; i < 4; i++)
        for (uint32_t to = 0; to < c.b.size; to++) {
            struct exif_block b = c.b;
            block_put32(&b, links[i], to);
            exercise(&b);
        }
}

/* What is there twice is exchanged once. */
TEST(shared_ifd)
{
    struct exif_block b;
    block_start(&b, false);
    block_put32(&b, 4, 8);
    block_add16(&b, 4);
    block_add_entry(&b, 0x0100, U16, 1, W);
    block_add_entry(&b, 0x0101, U16, 1, H);
    block_add_entry(&b, 0x8769, U32, 1, 8);
    block_add_entry(&b, 0x8825, U32, 1, 8);
    block_add32(&b, 8);
    turn(&b, XFORM_TRANSPOSE, 1, W, H);
    CHECK(block_value(&b, 8, 0x0100) == H && block_value(&b, 8, 0x0101) == W,
          "once");
}
