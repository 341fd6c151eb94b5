/* Metadata that other formats can hold is read from the chunks of PNG files,
 * and written into chunks. */

#include <zlib.h>

#include "tests/support/fixture.h"
#include "tests/support/metadata.h"
#include "tests/support/png_file.h"

static const struct shape shape = { 13, 9, 8, RGB, false };
static const char profile[] = "a profile, a profile, a profile";

/* A picture in the making: chunks go between head and pixels. */
static struct bytes begin_png(void)
{
    struct bytes file = { 0 };
    add_head(&file, &shape);
    return file;
}

static void end_png(struct bytes *file)
{
    add_pixels(file, &shape, 0, SIZE_MAX);
    add_end(file);
}

/* A chunk of a keyword, `lead` bytes of zeros, and text, deflated or not. */
static void add_worded(struct bytes *file, const char *name,
                       const char *keyword, size_t lead, bool deflated,
                       struct bytes text)
{
    owned_bytes data = { 0 };
    add_words(&data, keyword, lead, deflated, text);
    add_chunk(file, name, data.data, data.size);
}

static void add_density(struct bytes *file, uint32_t x, uint32_t y, int unit)
{
    owned_bytes data = { 0 };
    uint8_t byte = (uint8_t)unit;
    add_big(&data, x, 4);
    add_big(&data, y, 4);
    must(bytes_append(&data, &byte, 1));
    add_chunk(file, "pHYs", data.data, data.size);
}

/* Ends, decodes and frees the file. */
static struct fixture *load(struct bytes *file)
{
    struct fixture *f = fixture_new(&codec_png);
    f->load.portable = true;
    end_png(file);
    fixture_read(f, *file);
    bytes_free(file);
    return f;
}

/* ---- Read -----------------------------------------------------------------*/

TEST(taken)
{
    struct bytes file = begin_png(), exif = { 0 }, xmp = { 0 };
    add_exif(&exif, (struct says){ 7, 13, 9 }, (struct bytes){ 0 });
    add_xmp(&xmp, (struct says){ 7, 13, 9 });
    add_worded(&file, "iCCP", "name", 1, true, bytes_of(profile));
    add_density(&file, 3000, 2000, 1);
    add_chunk(&file, "gAMA", "\0\0\xb1\x8f", 4);
    add_chunk(&file, "eXIf", exif.data, exif.size);
    add_chunk(&file, "eXIf", "II*\0\10\0\0\0\0\0", 10);
    add_worded(&file, "iTXt", "XML:com.adobe.xmp", 4, false, xmp);
    add_worded(&file, "zTXt", "Comment", 1, true, bytes_of("a comment"));
    add_worded(&file, "tEXt", "Comment", 0, false, bytes_of("a second one"));
    add_worded(&file, "tEXt", "Title", 0, false, bytes_of("a title"));
    owned_fixture *f = load(&file);
    const struct meta *m = f->img.meta;
    static const bool portable[] = { 1, 1, 0, 1, 0, 1, 1, 0, 0 };
    CHECK(same_bytes(m->icc, bytes_of(profile)), "the profile");
    CHECK(same_bytes(m->exif, exif), "the first EXIF");
    CHECK(f->img.orientation == 7, "is %u", f->img.orientation);
    CHECK(same_bytes(m->xmp, xmp), "XMP");
    CHECK(same_bytes(m->comment, bytes_of("a comment")), "the first comment");
    CHECK(m->density.unit == DENSITY_METER && m->density.x == 3000 &&
              m->density.y == 2000,
          "the density");
    CHECK(m->nblocks == COUNT(portable), "%zu", m->nblocks);
    for (size_t i = 0; i < m->nblocks && i < COUNT(portable); i++)
        CHECK(m->block[i].portable == portable[i], "%zu: %s", i,
              m->block[i].name);
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    bytes_free(&exif);
    bytes_free(&xmp);
}

/* With sRGB, gAMA and cHRM add no information. */
TEST(repeats)
{
    struct bytes file = begin_png();
    add_chunk(&file, "gAMA", "\0\0\xb1\x8f", 4);
    add_chunk(&file, "sRGB", "\0", 1);
    add_density(&file, 2, 3, 0);
    owned_fixture *f = load(&file);
    for (size_t i = 0; i < f->img.meta->nblocks; i++)
        CHECK(f->img.meta->block[i].portable, "%s", f->img.meta->block[i].name);
    CHECK(f->img.meta->density.unit == DENSITY_ASPECT, "2 : 3");
}

/* What is malformed is not taken, and so it counts as lost. */
TEST(malformed)
{
    static const struct {
        const char *name, *data;
        size_t size;
    } bad[] = {
        { "iCCP", "no end", 6 },
        { "iCCP", "end\0", 4 },
        { "iCCP", "", 0 },
        { "pHYs", "12345678", 8 },
        { "iTXt", "XML:com.adobe.xmp\0", 18 },
        { "iTXt", "XML:com.adobe.xmp\0\0\0en\0no end", 29 },
        { "zTXt", "Comment\0", 8 },
        { "zTXt", "Comment\0\1x", 10 },
        { "tRNS", "1234567", 7 },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct bytes file = begin_png();
        add_chunk(&file, bad[i].name, bad[i].data, bad[i].size);
        owned_fixture *f = load(&file);
        const struct meta *m = f->img.meta;
        CHECK(!m->icc.size && !m->xmp.size && !m->comment.size &&
                  !m->exif.size && !m->keyed && m->density.unit == 0,
              "%zu: %s", i, bad[i].name);
        CHECK(!m->block[0].portable, "%zu: %s", i, bad[i].name);
    }
}

/* ---- What does not inflate ------------------------------------------------*/

static const struct {
    const char *name, *keyword;
    size_t lead;
} deflated[] = {
    { "iCCP", "name", 1 },
    { "zTXt", "Comment", 1 },
    { "zTXt", "XML:com.adobe.xmp", 1 },
};
enum { DEFLATED = COUNT(deflated) };

/* Asked for the portable fields, it is refused, or left with a warning; else it
 * passes as it is. */
static void check_damaged(unsigned i, struct bytes z, const char *words)
{
    owned_bytes file = begin_png();
    owned_fixture *f = fixture_new(&codec_png);
    add_worded(&file, deflated[i].name, deflated[i].keyword, deflated[i].lead,
               false, z);
    end_png(&file);

    fixture_read(f, file);
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    fixture_write(f);
    const struct chunks a = read_chunks(file), b = read_chunks(f->made);
    const struct chunk *p = find_chunk(&a, deflated[i].name);
    const struct chunk *q = find_chunk(&b, deflated[i].name);
    bool xmp = i == 2; /* which might say something false after the turn */
    CHECK(xmp ? !q
              : chunk_is(q, (struct bytes){ (uint8_t *)(uintptr_t)p->data,
                                            p->size, 0 }),
          "%s passes", deflated[i].name);
    CHECK(is_warned(&f->warnings, words) == xmp, "warnings");
    f->warnings.count = 0;

    f->load.portable = true;
    CHECK(fixture_decode(f, file), "it is taken");
    CHECK(strstr(f->err.text, words), "%s", f->err.text);
    f->load.tolerant = true;
    fixture_read(f, file);
    CHECK(is_warned(&f->warnings, words), "no warning");
    CHECK(!f->img.meta->icc.size && !f->img.meta->comment.size &&
              !f->img.meta->xmp.size,
          "nothing of it is taken");
    CHECK(!f->img.meta->block[0].portable, "it counts as lost");
}

TEST(bomb)
{
    size_t size = (64u << 20) + 1;
    uLongf made = size / 100;
    owned_memory uint8_t *zeros = calloc(size, 1), *data = malloc(made);
    must(zeros && data && compress2(data, &made, zeros, size, 1) == Z_OK);
    struct bytes z = { .data = data, .size = made };
    for (unsigned i = 0; i < DEFLATED; i++)
        check_damaged(i, z, "64 MiB");
}

TEST(cut_text)
{
    owned_bytes z = { 0 };
    add_deflated(&z, profile, sizeof profile);
    z.size--;
    for (unsigned i = 0; i < DEFLATED; i++) {
        check_damaged(i, z, "damaged");
        check_damaged(i, bytes_of("no zlib stream"), "damaged");
        check_damaged(i, bytes_of("\x78"), "damaged");
    }
}

/* ---- Written --------------------------------------------------------------*/

/* The same picture, but of another format. */
static struct fixture *make_foreign(void)
{
    struct bytes file = begin_png();
    struct fixture *f = load(&file);
    f->load.portable = false;
    f->img.meta->codec = &codec_jpeg;
    return f;
}

TEST(written)
{
    owned_fixture *f = make_foreign();
    owned_bytes exif_after = { 0 }, text = { 0 };
    struct says s = { 7, 13, 9 };
    struct meta *m = f->img.meta;
    add_text(&m->icc, profile);
    add_exif(&m->exif, s, (struct bytes){ 0 });
    add_xmp(&m->xmp, s);
    add_text(&m->comment, "a comment");
    m->density = (struct density){ DENSITY_INCH, 300, 72 };
    must(meta_add(m, "APP9", 0, "x", 1));
    add_exif(&exif_after, says_after(s, true, 1), (struct bytes){ 0 });
    must(bytes_append(&text, "XML:com.adobe.xmp\0\0\0\0", 22));
    add_xmp(&text, says_after(s, true, 1));

    turn_image(&f->img, XFORM_ROTATE_270);
    f->save.orientation = 1;
    fixture_write(f);
    CHECK(is_warned(&f->warnings, "APP9"), "of what is lost");
    const struct chunks list = read_chunks(f->made);
    const struct chunk *c = find_chunk(&list, "eXIf");
    CHECK(chunk_is(c, exif_after), "EXIF");
    c = find_chunk(&list, "pHYs");
    CHECK(c && c->size == 9 && read_be32(c->data) == 2835 &&
              read_be32(c->data + 4) == 11811 && c->data[8] == 1,
          "the density, exchanged, a meter");
    c = find_chunk(&list, "iTXt");
    CHECK(chunk_is(c, text), "XMP");
    if (c && strcmp(c[1].name, "iTXt") == 0)
        CHECK(c[1].size == 12 + 9 && !memcmp(c[1].data + 12, "a comment", 9),
              "the comment");
    else
        CHECK(!c, "there is one iTXt");
    uint8_t icc[100];
    uLongf size = sizeof icc;
    c = find_chunk(&list, "iCCP");
    CHECK(c && c->size > 13 && !memcmp(c->data, "ICC profile\0", 13) &&
              uncompress(icc, &size, c->data + 13, c->size - 13) == Z_OK &&
              size == strlen(profile) && !memcmp(icc, profile, size),
          "the profile");
}

/* A density that the chunk cannot hold is named, not dropped in silence. */
TEST(densities)
{
    static const struct {
        struct density d;
        uint32_t x, y;
        unsigned unit;
    } given[] = {
        { { DENSITY_INCH, 72, 72 }, 2835, 2835, 1 },
        { { DENSITY_METER, 10000, 1 }, 10000, 1, 1 },
        { { DENSITY_ASPECT, 4, 3 }, 4, 3, 0 },
        { { DENSITY_METER, 1e12, 1 }, 0, 0, 2 },
        { { DENSITY_INCH, 0, 5 }, 0, 0, 2 },
    };
    for (size_t i = 0; i < COUNT(given); i++) {
        owned_fixture *f = make_foreign();
        f->img.meta->density = given[i].d;
        fixture_write(f);
        const struct chunks list = read_chunks(f->made);
        const struct chunk *c = find_chunk(&list, "pHYs");
        if (given[i].unit == 2)
            CHECK(!c && is_warned(&f->warnings, "density"), "%zu", i);
        else
            CHECK(c && read_be32(c->data) == given[i].x &&
                      read_be32(c->data + 4) == given[i].y &&
                      c->data[8] == given[i].unit && !f->warnings.count,
                  "%zu", i);
    }
}
