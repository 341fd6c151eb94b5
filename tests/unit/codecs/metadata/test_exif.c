/* EXIF blocks, built here byte by byte, are found and turned; damaged ones do
 * no harm. */
#include "codecs/metadata/exif.h"
#include "codecs/metadata/exif_gps.h"
#include "codecs/metadata/exif_thumbnail.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

/* ---- A builder that shares nothing with the code under test ---------------*/

struct block {
    uint8_t data[1024];
    size_t size;
    bool big;
};

static void put16(struct block *b, size_t at, unsigned v)
{
    b->data[at + b->big] = v & 255;
    b->data[at + !b->big] = v >> 8 & 255;
}

static void put32(struct block *b, size_t at, uint32_t v)
{
    put16(b, at + (b->big ? 2 : 0), v & 65535);
    put16(b, at + (b->big ? 0 : 2), v >> 16);
}

static unsigned get16(const struct block *b, size_t at)
{
    return b->data[at + !b->big] << 8 | b->data[at + b->big];
}

static uint32_t get32(const struct block *b, size_t at)
{
    unsigned low = get16(b, at + (b->big ? 2 : 0));
    return (uint32_t)get16(b, at + (b->big ? 0 : 2)) << 16 | low;
}

static void start(struct block *b, bool big)
{
    memset(b, 0, sizeof *b);
    b->big = big;
    memcpy(b->data, big ? "MM\0*" : "II*\0", 4);
    b->size = 8;
}

static size_t add16(struct block *b, unsigned v)
{
    put16(b, b->size, v);
    b->size += 2;
    return b->size - 2;
}

static size_t add32(struct block *b, uint32_t v)
{
    put32(b, b->size, v);
    b->size += 4;
    return b->size - 4;
}

static size_t add_bytes(struct block *b, const void *data, size_t size)
{
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return b->size - size;
}

enum { U8 = 1, ASCII = 2, U16 = 3, U32 = 4, RATIO = 5, UNDEFINED = 7 };

/* Returns where it stands. `value` is one number of the type, or an offset. */
static size_t add_entry(struct block *b, unsigned tag, unsigned type,
                        uint32_t count, uint32_t value)
{
    size_t at = add16(b, tag);
    add16(b, type);
    add32(b, count);
    add32(b, 0);
    if (count == 1 && type == U8)
        b->data[at + 8] = (uint8_t)value;
    else if (count == 1 && type == U16)
        put16(b, at + 8, value);
    else
        put32(b, at + 8, value);
    return at;
}

/* The entry of a tag, in a block that is known to be good. */
static size_t entry_of(const struct block *b, size_t ifd, unsigned tag)
{
    for (unsigned i = 0; i < get16(b, ifd); i++)
        if (get16(b, ifd + 2 + 12 * i) == tag)
            return ifd + 2 + 12 * i;
    return 0;
}

static uint32_t value_of(const struct block *b, size_t ifd, unsigned tag)
{
    size_t at = entry_of(b, ifd, tag);
    unsigned type = get16(b, at + 2);
    return type == U8    ? b->data[at + 8]
           : type == U16 ? get16(b, at + 8)
                         : get32(b, at + 8);
}

/* A block as a camera writes it, but with its directories in an unusual order,
 * and at odd offsets if asked to. */
struct kind {
    bool big, odd;
    unsigned subject;  /* values of SubjectArea: 2, 3, 4 */
    bool thumb_inside; /* before other things, not at the end */
};

struct camera {
    struct block b;
    size_t ifd0, ifd1, exif, maker, area, thumb;
};

enum { W = 23, H = 11, MAKER = 24, THUMB = 20 };
static const uint8_t jpeg[THUMB] = { 0xff, 0xd8, 1, 2, 3, 4, 5, 6, 7, 0 };

static void add_values(struct camera *c, struct kind kind, uint32_t ratio[4])
{
    struct block *b = &c->b;
    for (uint32_t i = 0; i < 4; i++) {
        ratio[i] = (uint32_t)add32(b, 100 + i);
        add32(b, 1 + i);
    }
    c->area = b->size;
    add16(b, 5);
    add16(b, 2);
    if (kind.subject == 3)
        add16(b, 7);
    if (kind.subject == 4) {
        add16(b, 9);
        add16(b, 4);
    }
    /* This IFD contains an entry that looks like an orientation, but is
     * not. */
    c->maker = b->size;
    add16(b, 1);
    add_entry(b, 0x0112, U16, 1, 6);
    add_bytes(b, "maker note", 10);
}

static void add_exif_ifd(struct camera *c, struct kind kind,
                         const uint32_t ratio[4])
{
    struct block *b = &c->b;
    c->exif = add16(b, 7);
    add_entry(b, 0x927c, UNDEFINED, MAKER, (uint32_t)c->maker);
    size_t area = add_entry(b, 0x9214, U16, kind.subject, (uint32_t)c->area);
    if (kind.subject == 2) {
        c->area = area + 8;
        put16(b, area + 8, 5);
        put16(b, area + 10, 2);
    }
    add_entry(b, 0xa002, U16, 1, W);
    add_entry(b, 0xa003, U32, 1, H);
    add_entry(b, 0xa20e, RATIO, 1, ratio[0]);
    add_entry(b, 0xa20f, RATIO, 1, ratio[1]);
    size_t location = add_entry(b, 0xa214, U16, 2, 0);
    put16(b, location + 8, W - 1);
    put16(b, location + 10, 0);
    add32(b, 0);
}

static void add_ifd1(struct camera *c, const uint32_t ratio[4])
{
    struct block *b = &c->b;
    c->ifd1 = add16(b, 8);
    add_entry(b, 0x0100, U16, 1, 160);
    add_entry(b, 0x0101, U16, 1, 120);
    add_entry(b, 0x0103, U16, 1, 6);
    add_entry(b, 0x0112, U16, 1, 6);
    add_entry(b, 0x011a, RATIO, 1, ratio[3]);
    add_entry(b, 0x011b, RATIO, 1, ratio[2]);
    add_entry(b, 0x0201, U32, 1, (uint32_t)c->thumb);
    add_entry(b, 0x0202, U32, 1, THUMB);
    add32(b, 0);
}

static void add_ifd0(struct camera *c, const uint32_t ratio[4])
{
    struct block *b = &c->b;
    c->ifd0 = add16(b, 6);
    add_entry(b, 0x0100, U32, 1, W);
    add_entry(b, 0x0101, U16, 1, H);
    add_entry(b, 0x0112, U16, 1, 6);
    add_entry(b, 0x011a, RATIO, 1, ratio[2]);
    add_entry(b, 0x011b, RATIO, 1, ratio[3]);
    add_entry(b, 0x8769, U32, 1, (uint32_t)c->exif);
    add32(b, (uint32_t)c->ifd1);
    put32(b, 4, (uint32_t)c->ifd0);
}

static struct camera camera(struct kind kind)
{
    struct camera c = { 0 };
    uint32_t ratio[4];
    start(&c.b, kind.big);
    c.b.size += kind.odd;
    if (kind.thumb_inside)
        c.thumb = add_bytes(&c.b, jpeg, THUMB);
    add_values(&c, kind, ratio);
    add_exif_ifd(&c, kind, ratio);
    add_ifd1(&c, ratio);
    add_ifd0(&c, ratio);
    if (!kind.thumb_inside) {
        c.thumb = add_bytes(&c.b, jpeg, THUMB);
        put32(&c.b, entry_of(&c.b, c.ifd1, 0x0201) + 8, (uint32_t)c.thumb);
    }
    return c;
}

/* Calls `test` with every kind of block. */
static void each_kind(void (*test)(struct kind kind))
{
    for (unsigned i = 0; i < 24; i++) {
        struct kind kind = { i & 1, i >> 1 & 1, 2 + i / 8, i >> 2 & 1 };
        test(kind);
    }
}

/* ---- Orientation ----------------------------------------------------------*/

/* A block with one entry. */
static struct block one_entry(bool big, unsigned tag, unsigned type,
                              uint32_t count, uint32_t value)
{
    struct block b;
    start(&b, big);
    put32(&b, 4, 8);
    add16(&b, 1);
    add_entry(&b, tag, type, count, value);
    add32(&b, 0);
    return b;
}

static unsigned orientation_of(struct block b)
{
    return exif_orientation(b.data, b.size);
}

TEST(orientation)
{
    for (unsigned big = 0; big < 2; big++) {
        for (unsigned n = 0; n < 12; n++) {
            unsigned want = n >= 1 && n <= 8 ? n : 1;
            static const unsigned types[] = { U8, U16, U32 };
            for (unsigned i = 0; i < 3; i++) {
                struct block b = one_entry(big, 0x0112, types[i], 1, n);
                CHECK(orientation_of(b) == want, "%u as type %u", n, types[i]);
                exif_turn(b.data, b.size, XFORM_NONE, 3, 1, 1);
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
        for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
            struct block b = one_entry(big, bad[i].tag, bad[i].type,
                                       bad[i].count, bad[i].value);
            CHECK(orientation_of(b) == 1, "bad entry %u", i);
        }
    }
    CHECK(exif_orientation(NULL, 0) == 1, "nothing at all");
    struct block b = one_entry(false, 0x0112, U16, 1, 6);
    b.data[1] = 'M';
    CHECK(orientation_of(b) == 1, "IM");
    b = one_entry(false, 0x0112, U16, 1, 6);
    b.data[2] = 43;
    CHECK(orientation_of(b) == 1, "43");
    b = one_entry(false, 0x0112, U16, 1, 6);
    put16(&b, 8, 65535);
    CHECK(orientation_of(b) == 6, "more entries claimed than there are");
}

TEST(first_counts)
{
    struct block b;
    start(&b, true);
    put32(&b, 4, 8);
    add16(&b, 2);
    add_entry(&b, 0x0112, U16, 1, 5);
    add_entry(&b, 0x0112, U16, 1, 7);
    add32(&b, 0);
    CHECK(orientation_of(b) == 5, "the first of two");
    exif_turn(b.data, b.size, XFORM_NONE, 2, 1, 1);
    CHECK(get16(&b, 10 + 8) == 2 && get16(&b, 22 + 8) == 2, "both are set");
}

/* ---- The turn -------------------------------------------------------------*/

/* Where a pixel goes, found by looking at each pixel of the turned picture and
 * asking the definition of the turn where it comes from. */
static void oracle_point(enum xform t, unsigned w, unsigned h, unsigned p[2])
{
    bool swap = xform_transposes(t);
    for (unsigned y = 0; y < (swap ? w : h); y++)
        for (unsigned x = 0; x < (swap ? h : w); x++) {
            const unsigned from[XFORM_COUNT][2] = {
                { x, y },         { w - 1 - x, y },
                { x, h - 1 - y }, { w - 1 - x, h - 1 - y },
                { y, x },         { y, h - 1 - x },
                { w - 1 - y, x }, { w - 1 - y, h - 1 - x },
            };
            if (from[t][0] == p[0] && from[t][1] == p[1]) {
                p[0] = x;
                p[1] = y;
                return;
            }
        }
}

static void check_pair(const struct block *was, const struct block *is,
                       size_t ifd, unsigned tag, bool swapped)
{
    uint32_t x = value_of(was, ifd, tag), y = value_of(was, ifd, tag + 1);
    CHECK(value_of(is, ifd, tag) == (swapped ? y : x), "%04x", tag);
    CHECK(value_of(is, ifd, tag + 1) == (swapped ? x : y), "%04x", tag + 1);
}

static void check_subject(const struct camera *c, const struct block *is,
                          struct kind kind, enum xform t)
{
    bool swap = xform_transposes(t);
    unsigned area[2] = { 5, 2 }, location[2] = { W - 1, 0 };
    oracle_point(t, W, H, area);
    oracle_point(t, W, H, location);
    CHECK(get16(is, c->area) == area[0], "%s", xform_name(t));
    CHECK(get16(is, c->area + 2) == area[1], "%s", xform_name(t));
    if (kind.subject == 3)
        CHECK(get16(is, c->area + 4) == 7, "%s", xform_name(t));
    if (kind.subject == 4) {
        CHECK(get16(is, c->area + 4) == (swap ? 4 : 9), "%s", xform_name(t));
        CHECK(get16(is, c->area + 6) == (swap ? 9 : 4), "%s", xform_name(t));
    }
    size_t at = entry_of(is, c->exif, 0xa214) + 8;
    CHECK(get16(is, at) == location[0], "%s", xform_name(t));
    CHECK(get16(is, at + 2) == location[1], "%s", xform_name(t));
}

static void allow(bool *may, size_t at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        may[at + i] = true;
}

/* Nothing but the values named in exif.h has changed. */
static void check_rest(const struct camera *c, const struct block *is,
                       struct kind kind)
{
    bool may[sizeof is->data] = { false };
    static const unsigned pairs[] = { 0x0100, 0x011a, 0xa002, 0xa20e };
    const size_t ifds[] = { c->ifd0, c->ifd1, c->exif };
    for (unsigned i = 0; i < 3; i++) {
        size_t orientation = entry_of(is, ifds[i], 0x0112);
        size_t location = entry_of(is, ifds[i], 0xa214);
        if (orientation)
            allow(may, orientation + 8, 2);
        if (location)
            allow(may, location + 8, 4);
        for (unsigned j = 0; j < 4; j++) {
            size_t x = entry_of(is, ifds[i], pairs[j]);
            if (x)
                allow(may, x + 2, 10), allow(may, x + 12 + 2, 10);
        }
    }
    allow(may, c->area, 2 * kind.subject);
    for (size_t i = 0; i < is->size; i++)
        CHECK(may[i] || is->data[i] == c->b.data[i], "byte %zu", i);
    CHECK(!memcmp(is->data + c->maker, c->b.data + c->maker, MAKER), "maker");
}

static void check_turn(struct kind kind)
{
    const struct camera c = camera(kind);
    for (unsigned i = 0; i < XFORM_COUNT; i++) {
        enum xform t = (enum xform)i;
        bool swap = xform_transposes(t);
        for (unsigned n = 0; n <= 8; n++) {
            struct block b = c.b;
            exif_turn(b.data, b.size, t, n, W, H);
            CHECK(value_of(&b, c.ifd0, 0x0112) == (n ? n : 6), "%u", n);
            CHECK(value_of(&b, c.ifd1, 0x0112) == (n ? n : 6), "%u", n);
            CHECK(exif_orientation(b.data, b.size) == (n ? n : 6), "%u", n);
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

static void check_turn_back(struct kind kind)
{
    const struct camera c = camera(kind);
    for (unsigned i = 0; i < XFORM_COUNT; i++) {
        enum xform t = (enum xform)i;
        bool swap = xform_transposes(t);
        struct block b = c.b;
        exif_turn(b.data, b.size, t, 0, W, H);
        CHECK(!memcmp(b.data, c.b.data, b.size) == (t == XFORM_NONE), "%s",
              xform_name(t));
        exif_turn(b.data, b.size, xform_inverse(t), 0, swap ? H : W,
                  swap ? W : H);
        CHECK(!memcmp(b.data, c.b.data, b.size), "%s", xform_name(t));
    }
}

/* EXIF 2.3, 4.6.7: from IFD0 to the Exif IFD to the Interoperability IFD. */
TEST(interop)
{
    struct block b = one_entry(true, 0x8769, U32, 1, 26);
    add16(&b, 1);
    add_entry(&b, 0xa005, U32, 1, 44);
    add32(&b, 0);
    add16(&b, 2);
    add_entry(&b, 0x1001, U16, 1, W);
    add_entry(&b, 0x1002, U32, 1, H);
    add32(&b, 0);
    exif_turn(b.data, b.size, XFORM_MIRROR_X, 0, W, H);
    CHECK(value_of(&b, 44, 0x1001) == W, "axes stay");
    exif_turn(b.data, b.size, XFORM_TRANSPOSE, 0, W, H);
    CHECK(value_of(&b, 44, 0x1001) == H, "the width");
    CHECK(value_of(&b, 44, 0x1002) == W, "the length");
}

/* What cannot be said truly is left as it was. */
TEST(turn_leaves)
{
    struct block b = one_entry(false, 0x0100, U16, 1, 640), was = b;
    exif_turn(b.data, b.size, XFORM_ROTATE_90, 0, 640, 480);
    CHECK(!memcmp(&b, &was, sizeof b), "a width without a length");

    b = one_entry(true, 0x9214, U16, 2, 700 << 16 | 10);
    was = b;
    exif_turn(b.data, b.size, XFORM_ROTATE_90, 0, 640, 480);
    CHECK(!memcmp(&b, &was, sizeof b), "a subject outside of the picture");

    b = one_entry(true, 0x9214, U16, 2, 10 << 16 | 10);
    was = b;
    exif_turn(b.data, b.size, XFORM_MIRROR_X, 0, 70000, 480);
    CHECK(!memcmp(&b, &was, sizeof b), "69989 in 16 bits");
    exif_turn(b.data, b.size, XFORM_MIRROR_Y, 0, 70000, 480);
    CHECK(get32(&b, 10 + 8) == (10 << 16 | 469), "what fits is turned");
}

/* ---- The thumbnail --------------------------------------------------------*/

static bool finds(const struct block *b, size_t at, size_t length)
{
    size_t found_at = 0, found_length = 0;
    return exif_thumbnail_find(b->data, b->size, &found_at, &found_length) &&
           found_at == at && found_length == length;
}

static void check_find_thumbnail(struct kind kind)
{
    const struct camera c = camera(kind);
    size_t at, length;
    CHECK(finds(&c.b, c.thumb, THUMB), "as it is");
    CHECK(exif_thumbnail_exists(c.b.data, c.b.size), "as it is");
    static const struct {
        unsigned tag, delta;
        uint32_t value;
    } bad[] = {
        { 0x0201, 8, 0xffffffff }, { 0x0201, 8, 0 }, { 0x0202, 8, 0xffffffff },
        { 0x0202, 8, 1024 },       { 0x0202, 8, 0 }, { 0x0201, 4, 2 },
        { 0x0202, 4, 0xffffffff },
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct block b = c.b;
        put32(&b, entry_of(&b, c.ifd1, bad[i].tag) + bad[i].delta,
              bad[i].value);
        CHECK(!exif_thumbnail_find(b.data, b.size, &at, &length), "%u", i);
        CHECK(!exif_thumbnail_exists(b.data, b.size), "%u", i);
    }
    struct block b = c.b;
    b.data[c.thumb + 1] = 0xd9;
    CHECK(!exif_thumbnail_find(b.data, b.size, &at, &length), "no JPEG");
    CHECK(exif_thumbnail_exists(b.data, b.size), "but something");
    b = c.b;
    put16(&b, entry_of(&b, c.ifd1, 0x0103) + 8, 7);
    CHECK(finds(&b, c.thumb, THUMB), "a wrong Compression");
    b = c.b;
    put32(&b, c.ifd0 + 2 + 6 * 12, 0);
    CHECK(!exif_thumbnail_exists(b.data, b.size), "no IFD1");
    put32(&b, c.ifd0 + 2 + 6 * 12, (uint32_t)c.ifd0);
    CHECK(!exif_thumbnail_exists(b.data, b.size), "IFD1 is IFD0");
}

/* A block in memory of its own, of exactly its size. */
static struct bytes own(const struct block *b)
{
    struct bytes bytes = { 0 };
    if (!bytes_append(&bytes, b->data, b->size))
        abort();
    return bytes;
}

static struct block block_of(const struct camera *c, struct bytes bytes)
{
    struct block b = { .size = bytes.size, .big = c->b.big };
    memcpy(b.data, bytes.data, bytes.size);
    return b;
}

/* All but the thumbnail and the two numbers that lead to it is as before. */
static void check_kept(const struct camera *c, const struct block *is)
{
    bool may[sizeof is->data] = { false };
    allow(may, c->thumb, THUMB);
    allow(may, entry_of(&c->b, c->ifd1, 0x0201) + 2, 10);
    allow(may, entry_of(&c->b, c->ifd1, 0x0202) + 2, 10);
    for (size_t i = 0; i < is->size && i < c->b.size; i++)
        CHECK(may[i] || is->data[i] == c->b.data[i], "byte %zu", i);
}

static void check_set_thumbnail(struct kind kind)
{
    const struct camera c = camera(kind);
    uint8_t file[3 * THUMB] = { 0xff, 0xd8 };
    memset(file + 2, 0xaa, sizeof file - 2);
    for (size_t length = 2; length <= sizeof file; length++) {
        struct bytes exif = own(&c.b);
        CHECK(exif_thumbnail_set(&exif, file, length) == 0, "%zu", length);
        struct block b = block_of(&c, exif);
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
        CHECK(exif_thumbnail_set(&exif, jpeg, THUMB) == 0, "%zu", length);
        b = block_of(&c, exif);
        if (!kind.thumb_inside)
            CHECK(b.size == c.b.size && !memcmp(b.data, c.b.data, b.size),
                  "%zu: back", length);
        bytes_free(&exif);
    }
}

TEST(set_short_thumbnail)
{
    struct camera c = camera((struct kind){ true, false, 4, true });
    size_t entry = entry_of(&c.b, c.ifd1, 0x0201);
    put16(&c.b, entry + 2, U16);
    put16(&c.b, entry + 8, (unsigned)c.thumb);
    CHECK(finds(&c.b, c.thumb, THUMB), "a SHORT offset");
    struct bytes exif = own(&c.b);
    uint8_t file[100] = { 0xff, 0xd8 };
    CHECK(exif_thumbnail_set(&exif, file, sizeof file) == 0, "set");
    struct block b = block_of(&c, exif);
    CHECK(finds(&b, c.b.size + (c.b.size & 1), sizeof file), "found again");
    bytes_free(&exif);
}

/* A thumbnail that claims bytes of something else gets bytes of its own, and
 * takes none away with it. */
TEST(overlapping_thumbnail)
{
    struct camera c = camera((struct kind){ false, false, 4, false });
    c.b.data[c.maker] = 0xff;
    c.b.data[c.maker + 1] = 0xd8;
    put32(&c.b, entry_of(&c.b, c.ifd1, 0x0201) + 8, (uint32_t)c.maker);
    put32(&c.b, entry_of(&c.b, c.ifd1, 0x0202) + 8, 10);
    CHECK(finds(&c.b, c.maker, 10), "in the maker note");
    struct bytes exif = own(&c.b);
    CHECK(exif_thumbnail_set(&exif, jpeg, 4) == 0, "set");
    struct block b = block_of(&c, exif);
    CHECK(finds(&b, c.b.size, 4), "behind the end");
    CHECK(!memcmp(b.data + c.maker, c.b.data + c.maker, MAKER), "maker");
    bytes_free(&exif);

    exif = own(&c.b);
    exif_thumbnail_drop(&exif);
    CHECK(exif.size == c.b.size, "nothing cut");
    CHECK(!memcmp(exif.data + c.maker, c.b.data + c.maker, MAKER), "maker");
    CHECK(!exif_thumbnail_exists(exif.data, exif.size), "dropped");
    bytes_free(&exif);
}

static void check_drop_thumbnail(struct kind kind)
{
    const struct camera c = camera(kind);
    struct bytes exif = own(&c.b);
    exif_thumbnail_drop(&exif);
    CHECK(!exif_thumbnail_exists(exif.data, exif.size), "dropped");
    CHECK(exif.size == c.b.size - (kind.thumb_inside ? 0 : THUMB), "%zu",
          exif.size);
    struct block b = block_of(&c, exif);
    CHECK(get32(&b, c.ifd0 + 2 + 6 * 12) == 0, "the link");
    put32(&b, c.ifd0 + 2 + 6 * 12, (uint32_t)c.ifd1);
    check_kept(&c, &b);
    if (kind.thumb_inside)
        for (size_t i = 0; i < THUMB; i++)
            CHECK(b.data[c.thumb + i] == 0, "byte %zu", i);
    bytes_free(&exif);
}

/* IFD0 without entries, and an IFD1 of two strips of 8 bytes. */
TEST(strips)
{
    for (unsigned big = 0; big < 2; big++) {
        struct block b;
        size_t at, length;
        start(&b, big);
        put32(&b, 4, 8);
        add16(&b, 0);
        add32(&b, 14);
        add16(&b, 3);
        add_entry(&b, 0x0103, U16, 1, 1);
        size_t strips = add_entry(&b, 0x0111, U16, 2, 0);
        size_t counts = add_entry(&b, 0x0117, U16, 2, 0);
        add32(&b, 0);
        put16(&b, strips + 8, (unsigned)b.size);
        put16(&b, strips + 10, (unsigned)b.size + 8);
        put16(&b, counts + 8, 8);
        put16(&b, counts + 10, 8);
        size_t pixels = add_bytes(&b, "\xff\xd8 pixels and more", 16);
        CHECK(exif_thumbnail_exists(b.data, b.size), "strips");
        CHECK(!exif_thumbnail_find(b.data, b.size, &at, &length), "no JPEG");
        struct bytes exif = own(&b);
        CHECK(exif_thumbnail_set(&exif, jpeg, THUMB) == 0, "nothing to do");
        CHECK(exif.size == b.size && !memcmp(exif.data, b.data, b.size),
              "and nothing done");
        exif_thumbnail_drop(&exif);
        CHECK(exif.size == pixels, "both strips are gone");
        CHECK(!exif_thumbnail_exists(exif.data, exif.size), "dropped");
        bytes_free(&exif);
    }
}

/* ---- Hostile blocks -------------------------------------------------------*/

/* Calls every function on memory of exactly the size of the block, so that
 * sanitizers see each access beyond it. */
static void exercise(const struct block *b)
{
    struct bytes exif = own(b);
    unsigned n = exif_orientation(exif.data, exif.size);
    CHECK(n >= 1 && n <= 8, "%u", n);
    for (unsigned i = 0; i < XFORM_COUNT; i++)
        exif_turn(exif.data, exif.size, (enum xform)i, i, W, H);
    size_t at, length;
    if (exif_thumbnail_find(exif.data, exif.size, &at, &length)) {
        CHECK(at < exif.size && length <= exif.size - at, "%zu", at);
        static const uint8_t file[50] = { 0xff, 0xd8 };
        CHECK(exif_thumbnail_set(&exif, file, 2) == 0, "short");
        CHECK(exif_thumbnail_set(&exif, file, sizeof file) == 0, "long");
        CHECK(exif_thumbnail_find(exif.data, exif.size, &at, &length) &&
                  length == sizeof file,
              "still there");
    }
    exif_thumbnail_drop(&exif);
    CHECK(!exif_thumbnail_exists(exif.data, exif.size), "dropped");
    bytes_free(&exif);
}

static void check_damaged(struct kind kind)
{
    const struct camera c = camera(kind);
    for (size_t size = 1; size < c.b.size; size++) {
        struct block b = c.b;
        b.size = size;
        exercise(&b);
    }
    for (size_t i = 0; i < c.b.size; i++) {
        struct block b = c.b;
        b.data[i] = 0;
        exercise(&b);
        b.data[i] = 255;
        exercise(&b);
    }
}

static void check_hostile(struct kind kind)
{
    static const uint32_t numbers[] = { 0,        1,          7,
                                        8,        65535,      0x7fffffff,
                                        1u << 31, 0xfffffff4, 0xffffffff };
    const struct camera c = camera(kind);
    for (size_t at = 4; at + 4 <= c.b.size; at++)
        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            struct block b = c.b;
            put32(&b, at, numbers[i]);
            exercise(&b);
        }
    /* Each directory leads to each, and to the middle of each. */
    const size_t links[] = { 4, c.ifd0 + 2 + 6 * 12,
                             entry_of(&c.b, c.ifd0, 0x8769) + 8,
                             c.ifd1 + 2 + 8 * 12 };
    for (unsigned i = 0; i < 4; i++)
        for (uint32_t to = 0; to < c.b.size; to++) {
            struct block b = c.b;
            put32(&b, links[i], to);
            exercise(&b);
        }
}

/* What is there twice is exchanged once. */
TEST(shared_ifd)
{
    struct block b;
    start(&b, false);
    put32(&b, 4, 8);
    add16(&b, 4);
    add_entry(&b, 0x0100, U16, 1, W);
    add_entry(&b, 0x0101, U16, 1, H);
    add_entry(&b, 0x8769, U32, 1, 8);
    add_entry(&b, 0x8825, U32, 1, 8);
    add32(&b, 8);
    exif_turn(b.data, b.size, XFORM_TRANSPOSE, 1, W, H);
    CHECK(value_of(&b, 8, 0x0100) == H && value_of(&b, 8, 0x0101) == W, "once");
}

TEST(turn)
{
    each_kind(check_turn);
}

TEST(turn_back)
{
    each_kind(check_turn_back);
}

TEST(find_thumbnail)
{
    each_kind(check_find_thumbnail);
}

TEST(set_thumbnail)
{
    each_kind(check_set_thumbnail);
}

TEST(drop_thumbnail)
{
    each_kind(check_drop_thumbnail);
}

TEST(damaged)
{
    each_kind(check_damaged);
}

TEST(hostile)
{
    each_kind(check_hostile);
}
