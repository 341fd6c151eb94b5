/* Chunks of PNG files are kept in place and byte for byte, apart from what a
 * turn makes false and what --strip drops. */
#include "codecs/codec.h"

#include <string.h>
#include <zlib.h>

#include "tests/support/fixture.h"
#include "tests/support/metadata.h"
#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/png_file.h"
#include "tests/support/test.h"

/* ---- One chunk of every kind ----------------------------------------------*/

/* Large enough that deflate leaves nothing of it as it is. */
static const char words[] = "words and words and words and more words";

static void add_zeros(struct bytes *to, size_t count)
{
    static const uint8_t zeros[8];
    must(count <= sizeof zeros && bytes_append(to, zeros, count));
}

/* A keyword with its zero, and `more` further ones. */
static void add_keyword(struct bytes *to, const char *keyword, size_t more)
{
    add_text(to, keyword);
    add_zeros(to, 1 + more);
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

static void make_profile(struct bytes *to, struct says s)
{
    (void)s;
    add_keyword(to, "a profile", 1);
    add_deflated(to, words, sizeof words);
}

static void make_title(struct bytes *to, struct says s)
{
    (void)s;
    add_keyword(to, "Title", 0);
    add_text(to, words);
}

static void make_deflated_title(struct bytes *to, struct says s)
{
    (void)s;
    add_keyword(to, "Title", 1);
    add_deflated(to, words, sizeof words);
}

static void make_broken_title(struct bytes *to, struct says s)
{
    (void)s;
    add_keyword(to, "Title", 1);
    add_text(to, words);
}

static void make_xmp(struct bytes *to, struct says s)
{
    add_keyword(to, "XML:com.adobe.xmp", 4);
    add_xmp(to, s);
}

static void make_deflated_xmp(struct bytes *to, struct says s)
{
    struct bytes text = { 0 };
    add_keyword(to, "XML:com.adobe.xmp", 0);
    must(bytes_append(to, "\1\0en\0", 5));
    add_keyword(to, "translated", 0);
    add_xmp(&text, s);
    add_deflated(to, text.data, text.size);
    bytes_free(&text);
}

static void make_raw(struct bytes *to, struct says s)
{
    struct bytes block = { 0 };
    add_keyword(to, "Raw profile type exif", 0);
    make_exif(&block, s);
    add_raw_profile(to, "exif", block);
    bytes_free(&block);
}

static void make_deflated_raw(struct bytes *to, struct says s)
{
    struct bytes block = { 0 }, text = { 0 };
    add_keyword(to, "Raw profile type APP1", 1);
    must(bytes_append(&block, "Exif\0", 6));
    make_exif(&block, s);
    add_raw_profile(&text, "app1", block);
    add_deflated(to, text.data, text.size);
    bytes_free(&block);
    bytes_free(&text);
}

static void make_raw_xmp(struct bytes *to, struct says s)
{
    struct bytes block = { 0 };
    add_keyword(to, "Raw profile type xmp", 0);
    add_xmp(&block, s);
    add_raw_profile(to, "xmp", block);
    bytes_free(&block);
}

/* Where the deflated text of a chunk begins; 0: it is not deflated. */
enum { XMP_LEAD = 18 + 2 + 3 + 11, RAW_LEAD = 23 };

static const struct kind {
    char name[5];
    size_t size; /* of any bytes, if `make` does not know better */
    void (*make)(struct bytes *to, struct says s);
    size_t deflated;
    bool color; /* --strip keeps it */
} kinds[] = {
    { "gAMA", .size = 4, .color = true },
    { "cHRM", .size = 32, .color = true },
    { "sRGB", .size = 1, .color = true },
    { "iCCP", .make = make_profile, .color = true },
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
    { "tEXt", .make = make_title },
    { "zTXt", .make = make_deflated_title },
    { "zTXt", .make = make_broken_title },
    { "iTXt", .make = make_xmp },
    { "iTXt", .make = make_deflated_xmp, .deflated = XMP_LEAD },
    { "tEXt", .make = make_raw },
    { "zTXt", .make = make_deflated_raw, .deflated = RAW_LEAD },
    { "tEXt", .make = make_raw_xmp },
    { "abCd", .size = 300 },
    { "prVt", .size = 0 },
    { "abCD", .size = 20 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_tied(const struct kind *kind)
{
    return strcmp(kind->name, "abCD") == 0;
}

static struct bytes make_chunk(const struct kind *kind, struct says s)
{
    struct bytes data = { 0 };
    if (kind->make) {
        kind->make(&data, s);
        return data;
    }
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
        struct bytes data = make_chunk(&kinds[i], before);
        add_chunk(file, kinds[i].name, data.data, data.size);
        bytes_free(&data);
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
        return !is_tied(kind) || given.turned == XFORM_NONE;
    return given.strip == STRIP_METADATA && kind->color;
}

static bool chunk_holds(const struct chunk *chunk, struct bytes data)
{
    return chunk->size == data.size &&
           (!data.size || memcmp(chunk->data, data.data, data.size) == 0);
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
        struct bytes data = make_chunk(&kinds[i], after);
        size_t lead = kinds[i].deflated;
        CHECK(strcmp(at->name, kinds[i].name) == 0, "%s where %s should be",
              at->name, kinds[i].name);
        CHECK(changed && lead ? same_text(at, data, lead)
                              : chunk_holds(at, data),
              "%u: %s after %s, %u", i, at->name, xform_name(given.turned),
              given.orientation);
        bytes_free(&data);
        at++;
    }
    return at;
}

static const struct chunk *check_named(const struct chunk *at, const char *name)
{
    CHECK(strcmp(at->name, name) == 0, "%s where %s should be", at->name, name);
    return at + 1;
}

static void check_chunks(struct bytes file, struct given given)
{
    struct chunks list = { 0 };
    CHECK(read_chunks(&list, file), "no PNG");
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
}

static void check_given(struct given given)
{
    struct bytes file = make_full();
    struct fixture *f = fixture_new(&codec_png);
    f->save.orientation = given.orientation;
    f->save.strip = given.strip;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    if (f->img.pixels.kind) {
        CHECK(f->img.orientation == 6, "is %u", f->img.orientation);
        turn_image(&f->img, given.turned);
        CHECK(!fixture_encode(f), "%s", f->err.text);
        check_chunks(f->made, given);
    }
    bool lost = given.strip == STRIP_NOTHING && given.turned != XFORM_NONE;
    CHECK(is_warned(&f->warnings, "abCD") == lost, "of what is lost");
    CHECK(f->warnings.count == 3 * lost, "%u warnings", f->warnings.count);
    fixture_free(f);
    bytes_free(&file);
}

TEST(all)
{
    for (int t = 0; t < XFORM_COUNT; t++)
        for (unsigned orientation = 0; orientation <= 8; orientation++)
            check_given((struct given){ (enum xform)t, orientation, 0 });
    for (int t = 0; t < XFORM_COUNT; t += 5) {
        check_given((struct given){ (enum xform)t, 1, STRIP_METADATA });
        check_given((struct given){ (enum xform)t, 1, STRIP_ALL });
    }
}

/* ---- Transparency ---------------------------------------------------------*/

static void check_alpha(const struct shape *s, const void *alpha, size_t size,
                        enum strip strip)
{
    struct bytes file = { 0 };
    struct fixture *f = fixture_new(&codec_png);
    struct chunks list = { 0 };
    add_head(&file, s);
    if (s->type == PALETTE)
        add_palette(&file, 1u << s->depth);
    add_chunk(&file, "tRNS", alpha, size);
    add_pixels(&file, s, 0, SIZE_MAX);
    add_end(&file);
    f->save.strip = strip;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    if (f->img.pixels.kind) {
        const struct meta *meta = f->img.meta;
        const uint8_t *p = alpha;
        CHECK(meta->keyed == (s->type != PALETTE), "a key or not");
        for (unsigned i = 0; meta->keyed && i < f->img.nplanes; i++) {
            unsigned value = p[2 * i] * 256u + p[2 * i + 1];
            CHECK(meta->key[i] == (value & f->img.maxval), "%u", meta->key[i]);
        }
        CHECK(meta->nalphas == (meta->keyed ? 0 : size), "%u", meta->nalphas);
        for (unsigned i = 0; i < meta->ncolors; i++)
            CHECK(meta->palette[i][3] == (i < size ? p[i] : 255), "of %u", i);
        turn_image(&f->img, XFORM_ROTATE_90);
        CHECK(!fixture_encode(f), "%s", f->err.text);
        CHECK(read_chunks(&list, f->made), "no PNG");
        const struct chunk *c = find_chunk(&list, "tRNS");
        CHECK(c && c->size == size && !memcmp(c->data, alpha, size),
              "type %u, strip %d", s->type, (int)strip);
    }
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    fixture_free(f);
    bytes_free(&file);
}

TEST(alpha)
{
    const uint8_t gray[] = { 0x12, 0x34 };
    const uint8_t rgb[] = { 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc };
    const uint8_t palette[] = { 0, 255, 1, 254, 128 };
    for (int strip = STRIP_NOTHING; strip <= STRIP_ALL; strip++) {
        enum strip given = (enum strip)strip;
        for (unsigned depth = 1; depth <= 16; depth *= 2) {
            struct shape s = { 5, 3, depth, GRAY, false };
            check_alpha(&s, gray, 2, given);
            s.type = RGB;
            if (depth >= 8)
                check_alpha(&s, rgb, 6, given);
            s.type = PALETTE;
            if (depth <= 8)
                check_alpha(&s, palette,
                            depth == 1   ? 2
                            : depth == 2 ? 4
                                         : 5,
                            given);
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
static void check_shown(const struct shape *s, const char *pieces,
                        unsigned nalphas, bool keyed, unsigned warnings)
{
    struct bytes file = with_alphas(s, pieces);
    struct fixture *f = fixture_new(&codec_png);
    struct chunks was = { 0 }, is = { 0 };
    CHECK(!fixture_decode(f, file), "%s: %s", pieces, f->err.text);
    if (f->img.pixels.kind) {
        CHECK(f->img.meta->nalphas == nalphas && f->img.meta->keyed == keyed,
              "%s: %u alphas", pieces, f->img.meta->nalphas);
        for (unsigned i = 0; i < f->img.meta->ncolors; i++)
            CHECK(f->img.meta->palette[i][3] == (i < nalphas ? i + 1 : 255),
                  "%s: of %u", pieces, i);
        CHECK(f->warnings.count == warnings, "%s: %u warnings", pieces,
              f->warnings.count);
        CHECK(!fixture_encode(f), "%s: %s", pieces, f->err.text);
        CHECK(read_chunks(&was, file) && read_chunks(&is, f->made), "no PNG");
        CHECK(was.count == is.count, "%s: chunks are lost", pieces);
        for (size_t i = 0; i < was.count && i < is.count; i++)
            CHECK(strcmp(was.chunk[i].name, is.chunk[i].name) == 0 &&
                      (strcmp(was.chunk[i].name, "tRNS") != 0 ||
                       was.chunk[i].size == is.chunk[i].size),
                  "%s: chunk %zu", pieces, i);
    }
    fixture_free(f);
    bytes_free(&file);
}

TEST(alpha_not_shown)
{
    const struct shape indexed = { 5, 3, 2, PALETTE, false },
                       rgb = { 5, 3, 8, RGB, false },
                       gray = { 5, 3, 8, GRAY, false },
                       alpha = { 5, 3, 8, RGB_ALPHA, false };
    check_shown(&indexed, "P4I", 4, false, 0);
    check_shown(&indexed, "P5I", 0, false, 1);
    check_shown(&indexed, "P0I", 0, false, 1);
    check_shown(&indexed, "3PI", 0, false, 1);
    check_shown(&indexed, "PI3", 0, false, 1);
    check_shown(&indexed, "P34I", 3, false, 1);
    check_shown(&indexed, "2P53I", 3, false, 2);
    check_shown(&rgb, "6I", 0, true, 0);
    check_shown(&rgb, "P6I", 0, true, 0);
    check_shown(&rgb, "6PI", 0, false, 1);
    check_shown(&rgb, "5I", 0, false, 1);
    check_shown(&rgb, "I6", 0, false, 1);
    check_shown(&gray, "26I", 0, true, 1);
    check_shown(&gray, "6I", 0, false, 1);
    check_shown(&alpha, "6I", 0, false, 1);
}

/* ---- Thumbnails -----------------------------------------------------------*/

/* A thumbnail that is not a JPEG file cannot be turned. It is dropped, with a
 * warning. */
TEST(thumbnail)
{
    struct bytes file = { 0 }, exif = { 0 };
    struct bytes thumbnail = { .data = (uint8_t[]){ 0xff, 0xd8, 1, 2, 3 },
                               .size = 5 };
    struct fixture *f = fixture_new(&codec_png);
    struct chunks list = { 0 };
    add_head(&file, &shape);
    add_exif(&exif, before, thumbnail);
    add_chunk(&file, "eXIf", exif.data, exif.size);
    add_pixels(&file, &shape, 0, SIZE_MAX);
    add_end(&file);
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    if (f->img.pixels.kind) {
        turn_image(&f->img, XFORM_MIRROR_X);
        CHECK(!fixture_encode(f), "%s", f->err.text);
        CHECK(is_warned(&f->warnings, "thumbnail"), "of what is lost");
        CHECK(read_chunks(&list, f->made), "no PNG");
        const struct chunk *c = find_chunk(&list, "eXIf");
        CHECK(c && c->size < exif.size, "without the thumbnail");
        CHECK(c && read_le32(c->data + EXIF_IFD - 4) == 0, "no second IFD");
    }
    fixture_free(f);
    bytes_free(&file);
    bytes_free(&exif);
}
