/* The pixels of PNG files of every depth, color type and interlacing are read
 * and written; damaged files give what is left of them. */

#include "tests/support/fixture.h"
#include "tests/support/plain_picture.h"
#include "tests/support/png_file.h"

static const uint8_t kinds[][2] = {
    { 1, GRAY },        { 2, GRAY },      { 4, GRAY },       { 8, GRAY },
    { 16, GRAY },       { 8, RGB },       { 16, RGB },       { 1, PALETTE },
    { 2, PALETTE },     { 4, PALETTE },   { 8, PALETTE },    { 8, GRAY_ALPHA },
    { 16, GRAY_ALPHA }, { 8, RGB_ALPHA }, { 16, RGB_ALPHA },
};
enum { KINDS = COUNT(kinds) };

static const uint8_t sizes[][2] = { { 1, 1 },  { 1, 7 }, { 7, 1 },
                                    { 13, 9 }, { 2, 3 }, { 5, 2 } };
enum { SIZES = COUNT(sizes) };

static void case_of(const struct shape *s, unsigned filter, enum xform t)
{
    test_case("%ux%u, depth %u, type %u%s, filter %u, %s", s->width, s->height,
              s->depth, s->type, s->adam7 ? ", Adam7" : "", filter,
              xform_name(t));
}

/* ---- All kinds ------------------------------------------------------------*/

static bool is_shaped(const struct image *img, const struct shape *s)
{
    return img->width == s->width && img->height == s->height &&
           img->cell == (s->depth == 16 ? CELL_U16 : CELL_U8) &&
           img->maxval == (1u << s->depth) - 1 &&
           img->nplanes == shape_channels(s) &&
           img->color == (s->type == PALETTE ? COLOR_INDEXED
                          : s->type & 2      ? COLOR_RGB
                                             : COLOR_GRAY) &&
           img->alpha == !!(s->type & 4) && img->meta->interlaced == s->adam7 &&
           img->orientation == 1 && img->turned == XFORM_NONE;
}

/* The rows of img from `from` up to `to`. */
static bool rows_hold(const struct image *img, const struct shape *s,
                      uint32_t from, uint32_t to)
{
    bool same = true;
    for (unsigned c = 0; c < img->nplanes; c++)
        for (uint32_t y = from; y < to; y++)
            for (uint32_t x = 0; x < img->width; x++)
                same &= cell_at(img, c, x, y) == shape_sample(s, c, x, y);
    return same;
}

/* Whether `file` has the pixels of `s` turned by t. */
static bool file_holds(struct bytes file, const struct shape *s, enum xform t)
{
    const bool flip = xform_transposes(t);
    struct plain_picture is;
    uint32_t sx, sy;
    plain_picture_read_stored(&is, file);
    const uint16_t *at = is.samples;
    bool same = at && is.width == (flip ? s->height : s->width) &&
                is.height == (flip ? s->width : s->height) &&
                is.stored == s->depth * 256 + s->type &&
                file.data[28] == s->adam7;
    for (uint32_t y = 0; same && y < is.height; y++)
        for (uint32_t x = 0; x < is.width; x++) {
            turn_source(t, s->width, s->height, x, y, &sx, &sy);
            for (unsigned c = 0; c < is.channels; c++)
                same &= *at++ == shape_sample(s, c, sx, sy);
        }
    plain_picture_free(&is);
    return same;
}

static bool palette_holds(struct bytes before, struct bytes after)
{
    const struct chunks a = read_chunks(before), b = read_chunks(after);
    const struct chunk *p = find_chunk(&a, "PLTE"), *q = find_chunk(&b, "PLTE");
    return p && q ? p->size == q->size && !memcmp(p->data, q->data, p->size)
                  : !p && !q;
}

static void check_kind(const struct shape *s, unsigned filter, enum xform t)
{
    owned_bytes file = make_png(s, filter, filter == 3 ? 5 : SIZE_MAX);
    owned_fixture *f = fixture_new(&codec_png);
    case_of(s, filter, t);
    fixture_read(f, file);
    CHECK(is_shaped(&f->img, s), "another shape");
    CHECK(rows_hold(&f->img, s, 0, s->height), "other samples");
    turn_image(&f->img, t);
    fixture_write(f);
    CHECK(file_holds(f->made, s, t), "other samples are written");
    CHECK(palette_holds(file, f->made), "another palette");
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
}

TEST(kinds)
{
    unsigned n = 0;
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < SIZES; i++)
            for (unsigned filter = 0; filter <= FILTER_ALL; filter++)
                for (int adam7 = 0; adam7 < 2; adam7++, n++) {
                    struct shape s = { sizes[i][0], sizes[i][1], kinds[k][0],
                                       kinds[k][1], adam7 };
                    check_kind(&s, filter, (enum xform)(n * 5 % XFORM_COUNT));
                }
}

/* A row longer than any buffer of libpng, and a column of many. */
TEST(long)
{
    for (int adam7 = 0; adam7 < 2; adam7++) {
        struct shape row = { 40009, 2, 1, PALETTE, adam7 };
        struct shape column = { 3, 5003, 16, RGB, adam7 };
        check_kind(&row, FILTER_ALL, XFORM_TRANSVERSE);
        check_kind(&column, FILTER_ALL, XFORM_ROTATE_90);
    }
}

/* Turned while it is read, in bands: of less, of just one, of several. */
TEST(bands)
{
    static const uint32_t heights[] = { 2, 255, 256, 257, 601 };
    for (size_t i = 0; i < 2 * COUNT(heights); i++)
        for (EACH_TURN(t)) {
            const struct shape s = { 70, heights[i / 2], 8, RGB, i % 2 };
            owned_bytes file = make_png(&s, FILTER_ALL, SIZE_MAX);
            owned_fixture *f = fixture_new(&codec_png);
            case_of(&s, FILTER_ALL, t);
            f->plan.turn = t;
            f->plan.turner = &turner_of_cells;
            fixture_read(f, file);
            CHECK(f->img.turned == t, "not turned");
            fixture_write(f);
            CHECK(file_holds(f->made, &s, t), "other samples");
        }
}

/* An index that the palette does not have is kept as it is. */
TEST(short_palette)
{
    struct shape s = { 13, 9, 8, PALETTE, false };
    owned_bytes file = { 0 };
    owned_fixture *f = fixture_new(&codec_png);
    add_head(&file, &s);
    add_palette(&file, 3);
    add_pixels(&file, &s, 1, SIZE_MAX);
    add_end(&file);
    fixture_read(f, file);
    CHECK(f->img.meta->ncolors == 3, "the palette's size");
    CHECK(rows_hold(&f->img, &s, 0, 9), "indices are kept");
    fixture_write(f);
    CHECK(file_holds(f->made, &s, XFORM_NONE) && palette_holds(file, f->made),
          "written as they were");
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
}

/* ---- Damaged files --------------------------------------------------------*/

/* Whether each cell is what the file says of it, or 0, and how many are 0 that
 * should not. */
static bool holds_or_zero(const struct image *img, const struct shape *s,
                          size_t *lost)
{
    bool good = true;
    *lost = 0;
    for (unsigned c = 0; c < img->nplanes; c++)
        for (uint32_t y = 0; y < img->height; y++)
            for (uint32_t x = 0; x < img->width; x++) {
                unsigned is = cell_at(img, c, x, y);
                bool right = is == shape_sample(s, c, x, y);
                good &= right || is == 0;
                *lost += !right;
            }
    return good;
}

/* A cut file is refused wherever it is cut. Read tolerantly, it gives what is
 * there, and a later cut never loses more. */
static void check_cuts(const struct shape *s)
{
    owned_bytes file = make_png(s, FILTER_ALL, 50);
    size_t first = (size_t)s->width * s->height * shape_channels(s),
           last = first;
    for (size_t size = 0; size < file.size; size++) {
        owned_fixture *f = fixture_new(&codec_png);
        owned_bytes cut = copied(file.data, size);
        f->load.mem = garbage_memory;
        case_of(s, FILTER_ALL, XFORM_NONE);
        CHECK(fixture_decode(f, cut) && *f->err.text,
              "cut to %zu bytes, it is accepted", size);
        CHECK(!f->img.pixels.kind && !f->img.meta, "nothing is left to free");
        f->load.tolerant = true;
        if (fixture_decode(f, cut) == 0) {
            size_t lost;
            CHECK(holds_or_zero(&f->img, s, &lost), "cut to %zu", size);
            CHECK(lost <= last, "%zu bytes give less than %zu", size, size - 1);
            CHECK(is_warned(&f->warnings, "damaged"), "cut to %zu: no warning",
                  size);
            last = lost;
        } else {
            CHECK(last == first, "%zu bytes give nothing", size);
        }
    }
    CHECK(last == 0, "all is there before IEND");
}

TEST(cuts)
{
    for (int adam7 = 0; adam7 < 2; adam7++) {
        check_cuts(&(struct shape){ 13, 9, 8, RGB, adam7 });
        check_cuts(&(struct shape){ 13, 9, 2, GRAY, adam7 });
        check_cuts(&(struct shape){ 9, 13, 4, PALETTE, adam7 });
        check_cuts(&(struct shape){ 5, 6, 16, RGB_ALPHA, adam7 });
    }
}

/* All rows before the damage, and zeros after. */
TEST(rows_before)
{
    struct shape s = { 61, 40, 8, GRAY, false };
    owned_bytes file = { 0 }, raw = { 0 };
    owned_fixture *f = fixture_new(&codec_png);
    add_head(&file, &s);
    add_rows(&raw, &s, 2);
    size_t begin = file.size;
    add_deflated(&file, raw.data, 25 * (size_t)(s.width + 1));
    owned_bytes z = { 0 };
    must(bytes_append(&z, file.data + begin, file.size - begin));
    file.size = begin;
    add_chunk(&file, "IDAT", z.data, z.size);
    add_end(&file);

    CHECK(fixture_decode(f, file), "25 rows of 40");
    f->load.tolerant = true;
    f->load.mem = garbage_memory;
    fixture_read(f, file);
    CHECK(rows_hold(&f->img, &s, 0, 25), "the rows that are there");
    for (uint32_t y = 25; y < 40; y++)
        for (uint32_t x = 0; x < 61; x++)
            CHECK(cell_at(&f->img, 0, x, y) == 0, "%u, %u", x, y);
    CHECK(f->warnings.count >= 1, "a warning");
}

/* A chunk before damage that stands behind the samples is kept once, though
 * libpng has read it before it came to the damage. */
TEST(chunks_before)
{
    struct shape s = { 7, 7, 8, GRAY, false };
    owned_bytes file = { 0 };
    owned_fixture *f = fixture_new(&codec_png);
    add_head(&file, &s);
    add_pixels(&file, &s, 2, SIZE_MAX);
    add_chunk(&file, "tEXt", "Title", 6);
    must(bytes_append(&file, "\0\0\0\x64tEXt and no more", 20));

    CHECK(fixture_decode(f, file), "a chunk that is cut");
    f->load.tolerant = true;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    CHECK(f->img.pixels.kind && rows_hold(&f->img, &s, 0, 7), "all rows");
    CHECK(f->img.meta && f->img.meta->nblocks == 1, "one chunk");
    CHECK(is_warned(&f->warnings, "damaged"), "a warning");
}

TEST(bytes_after)
{
    struct shape s = { 7, 7, 8, GRAY, false };
    owned_bytes file = make_png(&s, 0, SIZE_MAX);
    owned_fixture *f = fixture_new(&codec_png);
    must(bytes_append(&file, "more", 4));
    fixture_read(f, file);
    CHECK(is_warned(&f->warnings, "4 bytes after the end"), "of what is lost");
}
