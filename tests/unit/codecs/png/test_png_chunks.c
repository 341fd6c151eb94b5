/* Chunks of PNG files are kept in place and byte for byte, apart from what a
 * turn makes false and what --strip drops. */

#include <zlib.h>

#include "tests/support/fixture.h"
#include "tests/support/metadata.h"
#include "tests/support/png_file.h"

/* ---- One chunk of every kind ----------------------------------------------*/

/* Large enough that deflate leaves nothing of it as it is. */
static const char words[] = "words and words and words and more words";

/* A keyword with its zero, and `more` further ones. */
static void add_keyword(struct bytes *to, const char *keyword, size_t more)
{
    add_words(to, keyword, more, false, (struct bytes){ 0 });
}

static void make_pair(struct bytes *to, struct says s)
{
    add_big(to, 70000 + s.width, 4);
    add_big(to, 70000 + s.height, 4);
}

static void make_phys(struct bytes *to, struct says s)
{
    make_pair(to, s);
    must(bytes_append(to, "\1", 1));
}

static void make_canvas(struct bytes *to, struct says s)
{
    make_pair(to, s);
    add_big(to, s.width, 4);
    add_big(to, s.height, 4);
}

/* Numbers of different lengths. */
static void make_scale(struct bytes *to, struct says s)
{
    char text[60];
    snprintf(text, sizeof text, "\1%u.%0*u", s.width, (int)s.width, 1u);
    add_keyword(to, text, 0);
    snprintf(text, sizeof text, "%u.%0*u", s.height, (int)s.height, 1u);
    add_text(to, text);
}

static void make_orientation(struct bytes *to, struct says s)
{
    uint8_t value = (uint8_t)s.orientation;
    must(bytes_append(to, &value, 1));
}

static void make_exif(struct bytes *to, struct says s)
{
    add_exif(to, s, (struct bytes){ 0 });
}

static void make_xmp(struct bytes *to, struct says s)
{
    add_keyword(to, "XML:com.adobe.xmp", 4);
    add_xmp(to, s);
}

static void make_deflated_xmp(struct bytes *to, struct says s)
{
    owned_bytes text = { 0 };
    add_keyword(to, "XML:com.adobe.xmp", 0);
    must(bytes_append(to, "\1\0en\0", 5));
    add_keyword(to, "translated", 0);
    add_xmp(&text, s);
    add_deflated(to, text.data, text.size);
}

static void make_raw(struct bytes *to, struct says s)
{
    owned_bytes block = { 0 };
    add_keyword(to, "Raw profile type exif", 0);
    make_exif(&block, s);
    add_raw_profile(to, "exif", block);
}

static void make_deflated_raw(struct bytes *to, struct says s)
{
    owned_bytes block = { 0 }, text = { 0 };
    add_keyword(to, "Raw profile type APP1", 1);
    must(bytes_append(&block, "Exif\0", 6));
    make_exif(&block, s);
    add_raw_profile(&text, "app1", block);
    add_deflated(to, text.data, text.size);
}

static void make_raw_xmp(struct bytes *to, struct says s)
{
    owned_bytes block = { 0 };
    add_keyword(to, "Raw profile type xmp", 0);
    add_xmp(&block, s);
    add_raw_profile(to, "xmp", block);
}

/* Where the deflated text of a chunk begins; 0: it is not deflated. */
enum { XMP_LEAD = 18 + 2 + 3 + 11, RAW_LEAD = 23 };

static const struct kind {
    char name[5];
    size_t size; /* of any bytes, if nothing else is said of them */
    void (*make)(struct bytes *to, struct says s);
    const char *keyword; /* `lead` more zeros follow, and `words` */
    size_t lead;
    bool deflates; /* those */
    size_t deflated;
    bool color; /* --strip keeps it */
} kinds[] = {
    { "gAMA", .size = 4, .color = true },
    { "cHRM", .size = 32, .color = true },
    { "sRGB", .size = 1, .color = true },
    { "iCCP", .keyword = "a profile", .lead = 1, .deflates = true,
      .color = true },
    { "cICP", .size = 4, .color = true },
    { "mDCV", .size = 24, .color = true },
    { "cLLI", .size = 8, .color = true },
    { "sBIT", .size = 3, .color = true },
    { "bKGD", .size = 6 },
    { "hIST", .size = 10 },
    { "sPLT", .size = 40 },
    { "tIME", .size = 7 },
    { "pCAL", .size = 50 },
    { "pHYs", .make = make_phys },
    { "oFFs", .make = make_phys },
    { "vpAg", .make = make_phys },
    { "caNv", .make = make_canvas },
    { "sCAL", .make = make_scale },
    { "orNT", .make = make_orientation },
    { "eXIf", .make = make_exif },
    { "tEXt", .keyword = "Title" },
    { "zTXt", .keyword = "Title", .lead = 1, .deflates = true },
    { "zTXt", .keyword = "Title", .lead = 1 },
    { "iTXt", .make = make_xmp },
    { "iTXt", .make = make_deflated_xmp, .deflated = XMP_LEAD },
    { "tEXt", .make = make_raw },
    { "zTXt", .make = make_deflated_raw, .deflated = RAW_LEAD },
    { "tEXt", .make = make_raw_xmp },
    { "abCd", .size = 300 },
    { "prVt", .size = 0 },
    { "abCD", .size = 20 },
};
enum { KINDS = COUNT(kinds) };

static struct bytes make_chunk(const struct kind *kind, struct says s)
{
    struct bytes data = { 0 };
    if (kind->make) {
        kind->make(&data, s);
        return data;
    }
    if (kind->keyword)
        add_words(&data, kind->keyword, kind->lead, kind->deflates,
                  bytes_of(words));
    for (size_t i = 0; i < kind->size; i++) {
        uint8_t byte = (uint8_t)(i * 13 + (size_t)(kind - kinds));
        must(bytes_append(&data, &byte, 1));
    }
    return data;
}

static const struct shape shape = { 13, 9, 8, RGB, false };
static const struct says before = { 6, 13, 9 };
static const uint8_t key[6] = { 0, 200, 0, 7, 0, 0 };

static void add_all(struct bytes *file)
{
    for (unsigned i = 0; i < KINDS; i++) {
        owned_bytes data = make_chunk(&kinds[i], before);
        add_chunk(file, kinds[i].name, data.data, data.size);
    }
}

/* All kinds in all places. */
static struct bytes make_full(void)
{
    struct bytes file = { 0 };
    add_head(&file, &shape);
    add_all(&file);
    add_palette(&file, 5);
    add_chunk(&file, "tRNS", key, sizeof key);
    add_all(&file);
    add_pixels(&file, &shape, 1, SIZE_MAX);
    add_all(&file);
    add_end(&file);
    return file;
}

/* ---- What is written ------------------------------------------------------*/

struct given {
    enum xform turned;
    unsigned orientation; /* of the save_opts */
    enum strip strip;
};

static bool is_kept(const struct kind *kind, struct given given)
{
    if (given.strip == STRIP_NOTHING)
        return strcmp(kind->name, "abCD") != 0 || given.turned == XFORM_NONE;
    return given.strip == STRIP_METADATA && kind->color;
}

/* Whether two chunks have the same lead, and then inflate to the same. */
static bool same_text(const struct chunk *chunk, struct bytes data, size_t lead)
{
    uint8_t a[2000], b[2000];
    uLongf na = sizeof a, nb = sizeof b;
    return chunk->size > lead && memcmp(chunk->data, data.data, lead) == 0 &&
           uncompress(a, &na, chunk->data + lead, chunk->size - lead) == Z_OK &&
           uncompress(b, &nb, data.data + lead, data.size - lead) == Z_OK &&
           na == nb && memcmp(a, b, na) == 0;
}

/* Goes past all kinds that are kept, each of which has to be there. */
static const struct chunk *check_all(const struct chunk *at, struct given given)
{
    bool exchanged = xform_transposes(given.turned);
    struct says after = says_after(before, exchanged, given.orientation);
    bool changed =
        after.width != before.width || after.orientation != before.orientation;
    for (unsigned i = 0; i < KINDS; i++) {
        if (!is_kept(&kinds[i], given))
            continue;
        owned_bytes data = make_chunk(&kinds[i], after);
        size_t lead = kinds[i].deflated;
        CHECK(strcmp(at->name, kinds[i].name) == 0, "%s where %s should be",
              at->name, kinds[i].name);
        CHECK(changed && lead ? same_text(at, data, lead) : chunk_is(at, data),
              "%u: %s", i, at->name);
        at++;
    }
    return at;
}

static const struct chunk *check_named(const struct chunk *at, const char *name)
{
    CHECK(strcmp(at->name, name) == 0, "%s where %s should be", at->name, name);
    return at + 1;
}

static void check_given(struct given given)
{
    owned_bytes file = make_full();
    owned_fixture *f = fixture_new(&codec_png);
    test_case("%s, %u, strip %d", xform_name(given.turned), given.orientation,
              (int)given.strip);
    f->save.orientation = given.orientation;
    f->save.strip = given.strip;
    fixture_read(f, file);
    CHECK(f->img.orientation == 6, "is %u", f->img.orientation);
    turn_image(&f->img, given.turned);
    fixture_write(f);
    const struct chunks list = read_chunks(f->made);
    const struct chunk *at = check_named(list.chunk, "IHDR");
    at = check_all(at, given);
    CHECK(at->size == 15, "the palette has %zu bytes", at->size);
    at = check_named(at, "PLTE");
    CHECK(at->size == 6 && !memcmp(at->data, key, 6), "the transparent color");
    at = check_named(at, "tRNS");
    at = check_all(at, given);
    while (strcmp(at->name, "IDAT") == 0)
        at++;
    at = check_all(at, given);
    CHECK(at == &list.chunk[list.count - 1], "more chunks than were there");
    bool lost = given.strip == STRIP_NOTHING && given.turned != XFORM_NONE;
    CHECK(is_warned(&f->warnings, "abCD") == lost, "of what is lost");
    CHECK(f->warnings.count == 3 * lost, "%u warnings", f->warnings.count);
}

TEST(all)
{
    for (EACH_TURN(t))
        for (unsigned orientation = 0; orientation <= 8; orientation++)
            check_given((struct given){ t, orientation, STRIP_NOTHING });
    for (int t = 0; t < XFORM_COUNT; t += 5) {
        check_given((struct given){ (enum xform)t, 1, STRIP_METADATA });
        check_given((struct given){ (enum xform)t, 1, STRIP_ALL });
    }
}

/* ---- Transparency ---------------------------------------------------------*/

static void check_alpha(const struct shape *s, struct bytes alpha,
                        enum strip strip)
{
    owned_bytes file = { 0 };
    owned_fixture *f = fixture_new(&codec_png);
    test_case("type %u, depth %u, strip %d", s->type, s->depth, (int)strip);
    add_head(&file, s);
    if (s->type == PALETTE)
        add_palette(&file, 1u << s->depth);
    add_chunk(&file, "tRNS", alpha.data, alpha.size);
    add_pixels(&file, s, 0, SIZE_MAX);
    add_end(&file);
    f->save.strip = strip;
    fixture_read(f, file);
    const struct meta *meta = f->img.meta;
    CHECK(meta->keyed == (s->type != PALETTE), "a key or not");
    for (unsigned i = 0; meta->keyed && i < f->img.nplanes; i++) {
        unsigned value = read_be16(alpha.data + 2 * i);
        CHECK(meta->key[i] == (value & f->img.maxval), "%u", meta->key[i]);
    }
    CHECK(meta->nalphas == (meta->keyed ? 0 : alpha.size), "%u", meta->nalphas);
    for (unsigned i = 0; i < meta->ncolors; i++)
        CHECK(meta->palette[i][3] == (i < alpha.size ? alpha.data[i] : 255),
              "of %u", i);
    turn_image(&f->img, XFORM_ROTATE_90);
    fixture_write(f);
    const struct chunks list = read_chunks(f->made);
    CHECK(chunk_is(find_chunk(&list, "tRNS"), alpha), "another tRNS");
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
}

TEST(alpha)
{
    uint8_t gray[] = { 0x12, 0x34 }, palette[] = { 0, 255, 1, 254, 128 };
    uint8_t rgb[] = { 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc };
    for (int i = STRIP_NOTHING; i <= STRIP_ALL; i++) {
        const enum strip strip = (enum strip)i;
        for (unsigned depth = 1; depth <= 16; depth *= 2) {
            struct shape s = { 5, 3, depth, GRAY, false };
            check_alpha(&s, (struct bytes){ gray, 2, 0 }, strip);
            s.type = RGB;
            if (depth >= 8)
                check_alpha(&s, (struct bytes){ rgb, 6, 0 }, strip);
            s.type = PALETTE;
            if (depth <= 8)
                check_alpha(
                    &s, (struct bytes){ palette, depth < 4 ? 2 * depth : 5, 0 },
                    strip);
        }
    }
}

/* A file of a head and the pieces: P a palette of 4 colors, I pixels, and a
 * digit a tRNS of so many bytes. */
static struct bytes with_alphas(const struct shape *s, const char *pieces)
{
    static const uint8_t alphas[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    struct bytes file = { 0 };
    add_head(&file, s);
    for (const char *p = pieces; *p; p++)
        if (*p == 'P')
            add_palette(&file, 4);
        else if (*p == 'I')
            add_pixels(&file, s, 0, SIZE_MAX);
        else
            add_chunk(&file, "tRNS", alphas, (size_t)(*p - '0'));
    add_end(&file);
    return file;
}

/* What libpng shows of these, and nothing else, is transparent; there is a
 * warning of each tRNS that it passes over, which is kept as it is. */
TEST(alpha_not_shown)
{
    static const struct {
        unsigned type;
        const char *pieces;
        unsigned nalphas;
        bool keyed;
        unsigned warnings;
    } cases[] = {
        { PALETTE, "P4I", 4, false, 0 },   { PALETTE, "P5I", 0, false, 1 },
        { PALETTE, "P0I", 0, false, 1 },   { PALETTE, "3PI", 0, false, 1 },
        { PALETTE, "PI3", 0, false, 1 },   { PALETTE, "P34I", 3, false, 1 },
        { PALETTE, "2P53I", 3, false, 2 }, { RGB, "6I", 0, true, 0 },
        { RGB, "P6I", 0, true, 0 },        { RGB, "6PI", 0, false, 1 },
        { RGB, "5I", 0, false, 1 },        { RGB, "I6", 0, false, 1 },
        { GRAY, "26I", 0, true, 1 },       { GRAY, "6I", 0, false, 1 },
        { RGB_ALPHA, "6I", 0, false, 1 },
    };
    for (size_t n = 0; n < COUNT(cases); n++) {
        const unsigned type = cases[n].type, nalphas = cases[n].nalphas;
        const struct shape s = { 5, 3, type == PALETTE ? 2 : 8, type, false };
        owned_bytes file = with_alphas(&s, cases[n].pieces);
        owned_fixture *f = fixture_new(&codec_png);
        test_case("type %u, %s", type, cases[n].pieces);
        fixture_read(f, file);
        const struct meta *meta = f->img.meta;
        CHECK(meta->nalphas == nalphas && meta->keyed == cases[n].keyed,
              "%u alphas", meta->nalphas);
        for (unsigned i = 0; i < meta->ncolors; i++)
            CHECK(meta->palette[i][3] == (i < nalphas ? i + 1 : 255), "of %u",
                  i);
        CHECK(f->warnings.count == cases[n].warnings, "%u warnings",
              f->warnings.count);
        fixture_write(f);
        const struct chunks was = read_chunks(file), is = read_chunks(f->made);
        CHECK(was.count == is.count, "chunks are lost");
        for (size_t i = 0; i < was.count && i < is.count; i++)
            CHECK(strcmp(was.chunk[i].name, is.chunk[i].name) == 0 &&
                      (strcmp(was.chunk[i].name, "tRNS") != 0 ||
                       was.chunk[i].size == is.chunk[i].size),
                  "chunk %zu", i);
    }
}

/* ---- Thumbnails -----------------------------------------------------------*/

/* A thumbnail that is not a JPEG file cannot be turned. It is dropped, with a
 * warning. */
TEST(thumbnail)
{
    owned_bytes file = { 0 }, exif = { 0 };
    struct bytes thumbnail = { .data = (uint8_t[]){ 0xff, 0xd8, 1, 2, 3 },
                               .size = 5 };
    owned_fixture *f = fixture_new(&codec_png);
    add_head(&file, &shape);
    add_exif(&exif, before, thumbnail);
    add_chunk(&file, "eXIf", exif.data, exif.size);
    add_pixels(&file, &shape, 0, SIZE_MAX);
    add_end(&file);
    fixture_read(f, file);
    turn_image(&f->img, XFORM_MIRROR_X);
    fixture_write(f);
    CHECK(is_warned(&f->warnings, "thumbnail"), "of what is lost");
    const struct chunks list = read_chunks(f->made);
    const struct chunk *c = find_chunk(&list, "eXIf");
    CHECK(c && c->size < exif.size, "without the thumbnail");
    CHECK(c && read_le32(c->data + EXIF_IFD - 4) == 0, "no second IFD");
}
