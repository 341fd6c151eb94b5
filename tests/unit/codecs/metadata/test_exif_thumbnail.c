/* Thumbnails of EXIF blocks are found, replaced and dropped; all else in the
 * block is kept. */
#include "codecs/metadata/exif.h"

#include "tests/support/exif_block.h"
#include "tests/support/test.h"

static bool finds(const struct exif_block *b, size_t at, size_t length)
{
    const struct exif_thumbnail t = exif_thumbnail_find(b->data, b->size);
    return t.exists && t.at == at && t.length == length;
}

EACH_CAMERA(find_thumbnail)
{
    const struct camera c = camera_block(kind);
    CHECK(finds(&c.b, c.thumb, THUMB), "as it is");
    CHECK(exif_thumbnail_find(c.b.data, c.b.size).exists, "as it is");
    static const struct {
        unsigned tag, delta;
        uint32_t value;
    } bad[] = {
        { 0x0201, 8, 0xffffffff }, { 0x0201, 8, 0 }, { 0x0202, 8, 0xffffffff },
        { 0x0202, 8, 1024 },       { 0x0202, 8, 0 }, { 0x0201, 4, 2 },
        { 0x0202, 4, 0xffffffff },
    };
    for (unsigned i = 0; i < COUNT(bad); i++) {
        struct exif_block b = c.b;
        block_put32(&b, block_entry(&b, c.ifd1, bad[i].tag) + bad[i].delta,
                    bad[i].value);
        CHECK(!exif_thumbnail_find(b.data, b.size).exists, "%u", i);
    }
    struct exif_block b = c.b;
    b.data[c.thumb + 1] = 0xd9;
    CHECK(!exif_thumbnail_find(b.data, b.size).length, "no JPEG");
    CHECK(exif_thumbnail_find(b.data, b.size).exists, "but something");
    b = c.b;
    block_put16(&b, block_entry(&b, c.ifd1, 0x0103) + 8, 7);
    CHECK(finds(&b, c.thumb, THUMB), "a wrong Compression");
    b = c.b;
    block_put32(&b, c.ifd0 + 2 + 6 * 12, 0);
    CHECK(!exif_thumbnail_find(b.data, b.size).exists, "no IFD1");
    block_put32(&b, c.ifd0 + 2 + 6 * 12, (uint32_t)c.ifd0);
    CHECK(!exif_thumbnail_find(b.data, b.size).exists, "IFD1 is IFD0");
}

static struct exif_block block_of(const struct camera *c, struct bytes bytes)
{
    struct exif_block b = { .size = bytes.size, .big = c->b.big };
    memcpy(b.data, bytes.data, bytes.size);
    return b;
}

/* All but the thumbnail and the two numbers that lead to it is as before. */
static void check_kept(const struct camera *c, const struct exif_block *is)
{
    bool may[sizeof is->data] = { false };
    block_allow(may, c->thumb, THUMB);
    block_allow(may, block_entry(&c->b, c->ifd1, 0x0201) + 2, 10);
    block_allow(may, block_entry(&c->b, c->ifd1, 0x0202) + 2, 10);
    for (size_t i = 0; i < is->size && i < c->b.size; i++)
        CHECK(may[i] || is->data[i] == c->b.data[i], "byte %zu", i);
}

EACH_CAMERA(set_thumbnail)
{
    const struct camera c = camera_block(kind);
    uint8_t file[3 * THUMB] = { 0xff, 0xd8 };
    memset(file + 2, 0xaa, sizeof file - 2);
    for (size_t length = 2; length <= sizeof file; length++) {
        owned_bytes exif = block_bytes(&c.b);
        CHECK(exif_thumbnail_set(&exif, file, length) == 0, "%zu", length);
        struct exif_block b = block_of(&c, exif);
        size_t at = c.thumb, size = c.thumb + length;
        if (kind.thumb_inside) {
            if (length > THUMB)
                at = c.b.size + (c.b.size & 1);
            size = length > THUMB ? at + length : c.b.size;
            size_t zero = length > THUMB ? 0 : length;
            for (size_t i = zero; i < THUMB; i++)
                CHECK(b.data[c.thumb + i] == 0, "%zu: rest", length);
        }
        CHECK(finds(&b, at, length), "%zu", length);
        CHECK(b.size == size, "%zu: %zu, not %zu", length, b.size, size);
        CHECK(!memcmp(b.data + at, file, length), "%zu", length);
        check_kept(&c, &b);
        /* The old one back again: where it ends the block, nothing is left. */
        CHECK(exif_thumbnail_set(&exif, camera_thumbnail, THUMB) == 0, "%zu",
              length);
        b = block_of(&c, exif);
        if (!kind.thumb_inside)
            CHECK(b.size == c.b.size && !memcmp(b.data, c.b.data, b.size),
                  "%zu: back", length);
    }
}

TEST(set_short_thumbnail)
{
    struct camera c =
        camera_block((struct camera_kind){ true, false, 4, true });
    size_t entry = block_entry(&c.b, c.ifd1, 0x0201);
    block_put16(&c.b, entry + 2, U16);
    block_put16(&c.b, entry + 8, (unsigned)c.thumb);
    CHECK(finds(&c.b, c.thumb, THUMB), "a SHORT offset");
    owned_bytes exif = block_bytes(&c.b);
    uint8_t file[100] = { 0xff, 0xd8 };
    CHECK(exif_thumbnail_set(&exif, file, sizeof file) == 0, "set");
    struct exif_block b = block_of(&c, exif);
    CHECK(finds(&b, c.b.size + (c.b.size & 1), sizeof file), "found again");
}

/* A thumbnail that claims bytes of something else gets bytes of its own, and
 * takes none away with it. */
TEST(overlapping_thumbnail)
{
    struct camera c =
        camera_block((struct camera_kind){ false, false, 4, false });
    c.b.data[c.maker] = 0xff;
    c.b.data[c.maker + 1] = 0xd8;
    block_put32(&c.b, block_entry(&c.b, c.ifd1, 0x0201) + 8, (uint32_t)c.maker);
    block_put32(&c.b, block_entry(&c.b, c.ifd1, 0x0202) + 8, 10);
    CHECK(finds(&c.b, c.maker, 10), "in the maker note");
    struct bytes exif = block_bytes(&c.b);
    CHECK(exif_thumbnail_set(&exif, camera_thumbnail, 4) == 0, "set");
    struct exif_block b = block_of(&c, exif);
    CHECK(finds(&b, c.b.size, 4), "behind the end");
    CHECK(!memcmp(b.data + c.maker, c.b.data + c.maker, MAKER), "maker");
    bytes_free(&exif);

    exif = block_bytes(&c.b);
    exif_thumbnail_drop(&exif);
    CHECK(exif.size == c.b.size, "nothing cut");
    CHECK(!memcmp(exif.data + c.maker, c.b.data + c.maker, MAKER), "maker");
    CHECK(!exif_thumbnail_find(exif.data, exif.size).exists, "dropped");
    bytes_free(&exif);
}

EACH_CAMERA(drop_thumbnail)
{
    const struct camera c = camera_block(kind);
    owned_bytes exif = block_bytes(&c.b);
    exif_thumbnail_drop(&exif);
    CHECK(!exif_thumbnail_find(exif.data, exif.size).exists, "dropped");
    CHECK(exif.size == c.b.size - (kind.thumb_inside ? 0 : THUMB), "%zu",
          exif.size);
    struct exif_block b = block_of(&c, exif);
    CHECK(block_get32(&b, c.ifd0 + 2 + 6 * 12) == 0, "the link");
    block_put32(&b, c.ifd0 + 2 + 6 * 12, (uint32_t)c.ifd1);
    check_kept(&c, &b);
    if (kind.thumb_inside)
        for (size_t i = 0; i < THUMB; i++)
            CHECK(b.data[c.thumb + i] == 0, "byte %zu", i);
}

/* IFD0 without entries, and an IFD1 of two strips of 8 bytes. */
TEST(strips)
{
    for (unsigned big = 0; big < 2; big++) {
        struct exif_block b;
        block_start(&b, big);
        block_put32(&b, 4, 8);
        block_add16(&b, 0);
        block_add32(&b, 14);
        block_add16(&b, 3);
        block_add_entry(&b, 0x0103, U16, 1, 1);
        size_t strips = block_add_entry(&b, 0x0111, U16, 2, 0);
        size_t counts = block_add_entry(&b, 0x0117, U16, 2, 0);
        block_add32(&b, 0);
        block_put16(&b, strips + 8, (unsigned)b.size);
        block_put16(&b, strips + 10, (unsigned)b.size + 8);
        block_put16(&b, counts + 8, 8);
        block_put16(&b, counts + 10, 8);
        size_t pixels = block_add_bytes(&b, "\xff\xd8 pixels and more", 16);
        CHECK(exif_thumbnail_find(b.data, b.size).exists, "strips");
        CHECK(!exif_thumbnail_find(b.data, b.size).length, "no JPEG");
        owned_bytes exif = block_bytes(&b);
        CHECK(exif_thumbnail_set(&exif, camera_thumbnail, THUMB) == 0,
              "nothing to do");
        CHECK(exif.size == b.size && !memcmp(exif.data, b.data, b.size),
              "and nothing done");
        exif_thumbnail_drop(&exif);
        CHECK(exif.size == pixels, "both strips are gone");
        CHECK(!exif_thumbnail_find(exif.data, exif.size).exists, "dropped");
    }
}
