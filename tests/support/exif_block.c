/* EXIF blocks as the tests build and read them; see exif_block.h. */
#include "tests/support/exif_block.h"

#include <string.h>

#include "tests/support/must.h"

void block_put16(struct exif_block *b, size_t at, unsigned v)
{
    b->data[at + b->big] = v & 255;
    b->data[at + !b->big] = v >> 8 & 255;
}

void block_put32(struct exif_block *b, size_t at, uint32_t v)
{
    block_put16(b, at + (b->big ? 2 : 0), v & 65535);
    block_put16(b, at + (b->big ? 0 : 2), v >> 16);
}

unsigned block_get16(const struct exif_block *b, size_t at)
{
    return b->data[at + !b->big] << 8 | b->data[at + b->big];
}

uint32_t block_get32(const struct exif_block *b, size_t at)
{
    unsigned low = block_get16(b, at + (b->big ? 2 : 0));
    return (uint32_t)block_get16(b, at + (b->big ? 0 : 2)) << 16 | low;
}

void block_start(struct exif_block *b, bool big)
{
    memset(b, 0, sizeof *b);
    b->big = big;
    memcpy(b->data, big ? "MM\0*" : "II*\0", 4);
    b->size = 8;
}

size_t block_add16(struct exif_block *b, unsigned v)
{
    block_put16(b, b->size, v);
    b->size += 2;
    return b->size - 2;
}

size_t block_add32(struct exif_block *b, uint32_t v)
{
    block_put32(b, b->size, v);
    b->size += 4;
    return b->size - 4;
}

size_t block_add_bytes(struct exif_block *b, const void *data, size_t size)
{
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return b->size - size;
}

size_t block_add_entry(struct exif_block *b, unsigned tag, unsigned type,
                       uint32_t count, uint32_t value)
{
    size_t at = block_add16(b, tag);
    block_add16(b, type);
    block_add32(b, count);
    block_add32(b, 0);
    if (count == 1 && type == U8)
        b->data[at + 8] = (uint8_t)value;
    else if (count == 1 && type == U16)
        block_put16(b, at + 8, value);
    else
        block_put32(b, at + 8, value);
    return at;
}

size_t block_entry(const struct exif_block *b, size_t ifd, unsigned tag)
{
    for (unsigned i = 0; i < block_get16(b, ifd); i++)
        if (block_get16(b, ifd + 2 + 12 * i) == tag)
            return ifd + 2 + 12 * i;
    return 0;
}

uint32_t block_value(const struct exif_block *b, size_t ifd, unsigned tag)
{
    size_t at = block_entry(b, ifd, tag);
    unsigned type = block_get16(b, at + 2);
    return type == U8    ? b->data[at + 8]
           : type == U16 ? block_get16(b, at + 8)
                         : block_get32(b, at + 8);
}

const uint8_t camera_thumbnail[THUMB] = { 0xff, 0xd8, 1, 2, 3, 4, 5, 6, 7, 0 };

static void add_values(struct camera *c, struct camera_kind kind,
                       uint32_t ratio[4])
{
    struct exif_block *b = &c->b;
    for (uint32_t i = 0; i < 4; i++) {
        ratio[i] = (uint32_t)block_add32(b, 100 + i);
        block_add32(b, 1 + i);
    }
    c->area = b->size;
    block_add16(b, 5);
    block_add16(b, 2);
    if (kind.subject == 3)
        block_add16(b, 7);
    if (kind.subject == 4) {
        block_add16(b, 9);
        block_add16(b, 4);
    }
    /* This IFD contains an entry that looks like an orientation, but is
     * not. */
    c->maker = b->size;
    block_add16(b, 1);
    block_add_entry(b, 0x0112, U16, 1, 6);
    block_add_bytes(b, "maker note", 10);
}

static void add_exif_ifd(struct camera *c, struct camera_kind kind,
                         const uint32_t ratio[4])
{
    struct exif_block *b = &c->b;
    c->exif = block_add16(b, 7);
    block_add_entry(b, 0x927c, UNDEFINED, MAKER, (uint32_t)c->maker);
    size_t area =
        block_add_entry(b, 0x9214, U16, kind.subject, (uint32_t)c->area);
    if (kind.subject == 2) {
        c->area = area + 8;
        block_put16(b, area + 8, 5);
        block_put16(b, area + 10, 2);
    }
    block_add_entry(b, 0xa002, U16, 1, W);
    block_add_entry(b, 0xa003, U32, 1, H);
    block_add_entry(b, 0xa20e, RATIO, 1, ratio[0]);
    block_add_entry(b, 0xa20f, RATIO, 1, ratio[1]);
    size_t location = block_add_entry(b, 0xa214, U16, 2, 0);
    block_put16(b, location + 8, W - 1);
    block_put16(b, location + 10, 0);
    block_add32(b, 0);
}

static void add_ifd1(struct camera *c, const uint32_t ratio[4])
{
    struct exif_block *b = &c->b;
    c->ifd1 = block_add16(b, 8);
    block_add_entry(b, 0x0100, U16, 1, 160);
    block_add_entry(b, 0x0101, U16, 1, 120);
    block_add_entry(b, 0x0103, U16, 1, 6);
    block_add_entry(b, 0x0112, U16, 1, 6);
    block_add_entry(b, 0x011a, RATIO, 1, ratio[3]);
    block_add_entry(b, 0x011b, RATIO, 1, ratio[2]);
    block_add_entry(b, 0x0201, U32, 1, (uint32_t)c->thumb);
    block_add_entry(b, 0x0202, U32, 1, THUMB);
    block_add32(b, 0);
}

static void add_ifd0(struct camera *c, const uint32_t ratio[4])
{
    struct exif_block *b = &c->b;
    c->ifd0 = block_add16(b, 6);
    block_add_entry(b, 0x0100, U32, 1, W);
    block_add_entry(b, 0x0101, U16, 1, H);
    block_add_entry(b, 0x0112, U16, 1, 6);
    block_add_entry(b, 0x011a, RATIO, 1, ratio[2]);
    block_add_entry(b, 0x011b, RATIO, 1, ratio[3]);
    block_add_entry(b, 0x8769, U32, 1, (uint32_t)c->exif);
    block_add32(b, (uint32_t)c->ifd1);
    block_put32(b, 4, (uint32_t)c->ifd0);
}

struct camera camera_block(struct camera_kind kind)
{
    struct camera c = { 0 };
    uint32_t ratio[4];
    block_start(&c.b, kind.big);
    c.b.size += kind.odd;
    if (kind.thumb_inside)
        c.thumb = block_add_bytes(&c.b, camera_thumbnail, THUMB);
    add_values(&c, kind, ratio);
    add_exif_ifd(&c, kind, ratio);
    add_ifd1(&c, ratio);
    add_ifd0(&c, ratio);
    if (!kind.thumb_inside) {
        c.thumb = block_add_bytes(&c.b, camera_thumbnail, THUMB);
        block_put32(&c.b, block_entry(&c.b, c.ifd1, 0x0201) + 8,
                    (uint32_t)c.thumb);
    }
    return c;
}

void each_camera(void (*test)(struct camera_kind kind))
{
    for (unsigned i = 0; i < 24; i++) {
        struct camera_kind kind = { i & 1, i >> 1 & 1, 2 + i / 8, i >> 2 & 1 };
        test(kind);
    }
}

struct bytes block_bytes(const struct exif_block *b)
{
    struct bytes bytes = { 0 };
    must(bytes_append(&bytes, b->data, b->size));
    return bytes;
}

void block_allow(bool *may, size_t at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        may[at + i] = true;
}
