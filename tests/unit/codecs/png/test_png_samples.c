/* PNG samples that are coded without libpng: any number of threads and each
 * inflate library read what libpng reads and refuse what it refuses, and libpng
 * reads what they write. */
#include "codecs/png/png.h"

#include <zlib.h>

#include "codecs/deflate/flate.h"
#include "tests/support/pairwise.h"
#include "tests/support/plain_picture.h"
#include "tests/support/png_file.h"
#include "tests/support/test.h"

static struct thread_pool *pools[3]; /* of 1, 2 and 7 threads */
enum { POOLS = 3 };

/* ---- Reading --------------------------------------------------------------*/

static struct bytes idats_of(struct bytes file)
{
    struct bytes idats = { 0 };
    for (size_t at = 8; file.size - at >= 12;
         at += 12 + read_be32(file.data + at))
        if (memcmp(file.data + at + 4, "IDAT", 4) == 0) {
            idats.data = idats.size ? idats.data : file.data + at;
            idats.size += 12 + read_be32(file.data + at);
        }
    return idats;
}

/* Each library, on one thread and several, says what libpng says. `sure`: what
 * libpng takes they take too, and do not leave it to libpng. */
static void check_read(struct bytes file, const struct shape *s, bool sure)
{
    struct plain_picture want;
    plain_picture_read_stored(&want, file);
    for (int f = 0; flates[f]; f++)
        for (int p = 0; p < POOLS; p += tests_are_whole() ? 1 : 2) {
            owned_image img = shape_image(s);
            struct row_sink rows = { .img = &img, .height = img.height };
            img.meta = meta_new(&codec_png);
            must(img.meta);
            img.meta->interlaced = s->adam7;
            bool read = idat_read(&rows, idats_of(file), flates[f], pools[p]);
            CHECK(want.sound ? read || !sure : !read, "%s: %s", flates[f]->name,
                  read ? "read" : "refused");
            CHECK(!read || !want.sound || image_holds(&img, want.samples),
                  "%s: others", flates[f]->name);
        }
    plain_picture_free(&want);
}

/* Slots hold 128 KiB: these are of less, of some, of many, of one row each. */
static const struct shape shapes[] = {
    { 1, 1, 1, GRAY, false },
    { 7, 5, 2, GRAY, false },
    { 1001, 700, 4, PALETTE, false },
    { 13, 9, 8, GRAY, false },
    { 3000, 400, 1, GRAY, false },
    { 301, 1000, 16, GRAY, false },
    { 700, 401, 8, RGB, false },
    { 64, 4000, 8, RGB, false },
    { 60000, 5, 8, RGB, false },
    { 90, 70, 16, RGB, false },
    { 500, 300, 8, GRAY_ALPHA, false },
    { 255, 129, 16, GRAY_ALPHA, false },
    { 320, 480, 8, RGB_ALPHA, false },
    { 321, 111, 16, RGB_ALPHA, false },
    { 4, 50000, 8, PALETTE, false },
    { 1, 1, 1, GRAY, true },
    { 1, 9, 2, GRAY, true },
    { 9, 1, 8, RGB, true },
    { 5, 4, 16, RGB_ALPHA, true },
    { 1001, 700, 4, PALETTE, true },
    { 700, 401, 8, RGB, true },
    { 301, 999, 16, GRAY, true },
    { 60000, 5, 8, GRAY_ALPHA, true },
};
enum { SHAPES = COUNT(shapes) };

TEST(shapes)
{
    for (int i = 0; i < SHAPES; i++)
        for (unsigned filter = 0; filter <= FILTER_ALL; filter++)
            for (size_t piece = 7; piece < 1 << 24; piece *= 1 << 10) {
                const struct shape *s = &shapes[i];
                size_t bytes = (size_t)s->width * s->height;
                if (bytes > 50000 && (piece == 7 || filter < FILTER_ALL))
                    continue;
                owned_bytes file = make_png(s, filter, piece);
                test_case("%ux%u, depth %u, filter %u", s->width, s->height,
                          s->depth, filter);
                check_read(file, s, true);
            }
}

/* ---- Damage ---------------------------------------------------------------*/

static const struct shape small = { 9, 7, 8, RGB, false };
static const struct shape woven = { 9, 7, 8, RGB, true };

/* A file with this zlib stream, in chunks of at most `piece` bytes. */
static struct bytes wrap(const struct shape *s, const uint8_t *z, size_t size,
                         size_t piece)
{
    struct bytes file = { 0 };
    add_head(&file, s);
    for (size_t at = 0; at < size; at += piece)
        add_chunk(&file, "IDAT", z + at, size - at < piece ? size - at : piece);
    add_end(&file);
    return file;
}

static void check_stream(const struct shape *s, struct bytes z, bool sure)
{
    struct bytes file = wrap(s, z.data, z.size, SIZE_MAX / 2);
    check_read(file, s, sure);
    bytes_free(&file);
    /* A first chunk of one byte is left to libpng. */
    file = wrap(s, z.data, z.size, 1);
    check_read(file, s, false);
    bytes_free(&file);
}

/* The stream of a picture, of so many rows more or less, and so many zeros,
 * with a filter that there is or not. */
static struct bytes stream_of(const struct shape *s, int rows, size_t more,
                              bool filter)
{
    struct shape other = *s;
    struct bytes raw = { 0 }, z = { 0 };
    other.height += (uint32_t)rows;
    add_rows(&raw, &other, FILTER_ALL);
    if (filter)
        raw.data[0] = 5;
    must(bytes_reserve(&raw, more));
    memset(raw.data + raw.size, 0, more);
    add_deflated(&z, raw.data, raw.size + more);
    bytes_free(&raw);
    return z;
}

static void check_damage(const struct shape *s)
{
    owned_bytes z = stream_of(s, 0, 0, false);
    for (size_t size = 1; size <= z.size; size++) {
        test_case("cut to %zu of %zu", size, z.size);
        check_stream(s, (struct bytes){ z.data, size, 0 }, size == z.size);
    }
    for (size_t bit = 0; bit < 8 * z.size; bit += tests_are_whole() ? 3 : 7) {
        z.data[bit / 8] ^= 1 << bit % 8;
        test_case("bit %zu flipped", bit);
        check_stream(s, z, false);
        z.data[bit / 8] ^= 1 << bit % 8;
    }
}

TEST(damage)
{
    check_damage(&small);
    check_damage(&woven);
}

TEST(lengths)
{
    static const struct {
        const char *name;
        int rows;
        size_t more, junk; /* zeros; bytes behind the stream */
        bool filter;       /* one that there is not */
    } cases[] = {
        { "a byte too many", 0, 1, 0, false },
        { "far too many", 0, 100000, 0, false },
        { "a row too few", -1, 0, 0, false },
        { "4 behind the stream", 0, 0, 4, false },
        { "1 behind the stream", 0, 0, 1, false },
        { "filter 5", 0, 0, 0, true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        owned_bytes z =
            stream_of(&small, cases[i].rows, cases[i].more, cases[i].filter);
        must(bytes_append(&z, "junk", cases[i].junk));
        test_case("%s", cases[i].name);
        check_stream(&small, z, false);
    }
}

/* Bits as deflate orders them, for streams that no library writes. */
struct made {
    uint8_t data[400];
    size_t bits;
};

static void made_put(struct made *m, unsigned value, unsigned count)
{
    for (; count > 0; count--, value >>= 1, m->bits++)
        m->data[m->bits / 8] |= (value & 1) << m->bits % 8;
}

/* The code of a literal below 144, of a length or of the end, in the fixed
 * codes of RFC 1951, 3.2.6. */
static void made_symbol(struct made *m, unsigned symbol)
{
    unsigned code = symbol < 144 ? 0x30 + symbol : symbol - 256;
    for (int bit = symbol < 144 ? 8 : 7; bit-- > 0;)
        made_put(m, code >> bit & 1, 1);
}

static void made_distance(struct made *m, unsigned symbol)
{
    for (int bit = 5; bit-- > 0;)
        made_put(m, symbol >> bit & 1, 1);
}

/* 1 + `before` zeros, then 3 bytes from `far` back; distances 1 to 4 are
 * symbols 0 to 3. With its checksum, as if what lies before were zeros. */
static void check_distance(unsigned before, unsigned far, bool sure)
{
    struct shape s = { before + 3, 1, 8, GRAY, false };
    struct made m = { { 0x78, 0x01 }, 16 };
    uint8_t zeros[64] = { 0 };
    made_put(&m, 1 | 1 << 1, 3);
    for (unsigned i = 0; i < 1 + before; i++)
        made_symbol(&m, 0);
    made_symbol(&m, 257);
    made_distance(&m, far - 1);
    made_symbol(&m, 256);
    m.bits = (m.bits + 7) / 8 * 8;
    uint32_t sum = (uint32_t)adler32(1, zeros, before + 4);
    for (int i = 3; i >= 0; i--)
        made_put(&m, sum >> 8 * i & 255, 8);
    test_case("%u back at %u", far, before + 1);
    check_stream(&s, (struct bytes){ m.data, m.bits / 8, 0 }, sure);
}

/* Matches that reach farther than the window that the header speaks of. */
TEST(window)
{
    struct shape s = { 3000, 9, 8, GRAY, false };
    owned_bytes z = stream_of(&s, 0, 0, false);
    for (unsigned bits = 8; bits <= 16; bits++) {
        unsigned head = (bits - 8) << 12 | 8 << 8;
        head += 31 - head % 31;
        z.data[0] = (uint8_t)(head >> 8);
        z.data[1] = (uint8_t)head;
        test_case("a window of %u bits", bits);
        check_stream(&s, z, false);
    }
}

/* Chunks: a wrong CRC, empty ones, one that stands apart. */
TEST(chunks)
{
    owned_bytes z = stream_of(&small, 0, 0, false);
    struct bytes file = wrap(&small, z.data, z.size, 50);
    const struct bytes idats = idats_of(file);
    size_t first = (size_t)(idats.data - file.data);
    file.data[first + 12 + 50 - 1] ^= 1;
    test_case("a wrong CRC");
    check_read(file, &small, false);
    bytes_free(&file);

    add_head(&file, &small);
    add_chunk(&file, "IDAT", NULL, 0);
    add_chunk(&file, "IDAT", z.data, 20);
    add_chunk(&file, "IDAT", NULL, 0);
    add_chunk(&file, "IDAT", z.data + 20, z.size - 20);
    add_chunk(&file, "IDAT", NULL, 0);
    add_end(&file);
    test_case("empty chunks");
    check_read(file, &small, false);
    bytes_free(&file);
}

/* ---- Writing --------------------------------------------------------------*/

enum kind { NOISE, PHOTO, FLAT, TEXT, KINDS };
static const char *const kinds[KINDS] = { "noise", "photo", "flat", "text" };

static unsigned value_of(enum kind kind, uint32_t x, uint32_t y, unsigned c,
                         unsigned max, uint64_t *state)
{
    unsigned wave = (x * 3 + y * 2 + c * 50) % 512;
    unsigned noise = (unsigned)(test_random(state) >> 40);
    wave = (wave < 256 ? wave : 511 - wave) * max / 255;
    return kind == NOISE   ? noise & max
           : kind == PHOTO ? (wave + noise % (1 + max / 20)) & max
           : kind == FLAT  ? (x / 100 + y / 70) * 37 & max
                           : ((x * 7 + y / 9 * 5) % 91 % 8 == 0 ? 0 : max);
}

static void fill(struct image *img, enum kind kind)
{
    uint64_t state = 1 + kind;
    for (unsigned c = 0; c < img->nplanes; c++)
        for (uint32_t y = 0; y < img->height; y++)
            for (uint32_t x = 0; x < img->width; x++)
                image_set_sample(img, c, x, y,
                                 value_of(kind, x, y, c, img->maxval, &state));
}

static struct bytes write_file(const struct image *img, const struct shape *s,
                               int level, struct thread_pool *pool)
{
    struct bytes file = { 0 };
    struct err err = { .text = "" };
    add_head(&file, s);
    if (s->type == PALETTE)
        add_palette(&file, 1u << s->depth);
    CHECK(idat_write(&file, img, level, &(struct save_opts){ .pool = pool },
                     &err) == 0,
          "%s", err.text);
    add_end(&file);
    return file;
}

static void check_write(const struct shape *s, enum kind kind, int level)
{
    owned_image img = shape_image(s);
    struct plain_picture is;
    test_case("%s, %ux%u, depth %u, type %u, level %d", kinds[kind], s->width,
              s->height, s->depth, s->type, level);
    fill(&img, kind);
    owned_bytes file = write_file(&img, s, level, NULL);
    plain_picture_read_stored(&is, file);
    CHECK(is.sound && image_holds(&img, is.samples), "other samples");
    for (int p = 0; p < POOLS; p++) {
        owned_bytes same = write_file(&img, s, level, pools[p]);
        CHECK(same.size == file.size &&
                  memcmp(same.data, file.data, file.size) == 0,
              "other bytes on other threads");
    }
    plain_picture_free(&is);
}

/* What compresses is compressed, and more so where more was asked for (but in
 * noise, where the shortest path is by costs that a sample has, it may be a
 * little more). */
static void check_levels(enum kind kind, double most)
{
    static const struct shape s = { 900, 700, 8, RGB, false };
    static const int levels[] = { 0, 1, 6, 9 };
    size_t raw = (size_t)s.width * s.height * 3, size[4];
    owned_image img = shape_image(&s);
    fill(&img, kind);
    for (int i = 0; i < 4; i++) {
        owned_bytes file = write_file(&img, &s, levels[i], pools[1]);
        size[i] = file.size;
    }
    CHECK(size[0] > raw && size[0] < raw + raw / 100, "%s: %zu stored",
          kinds[kind], size[0]);
    CHECK((double)size[2] < most * (double)raw, "%s: %zu of %zu", kinds[kind],
          size[2], raw);
    CHECK(size[3] <= size[2] + size[2] / 1000 &&
              size[2] <= size[1] + size[1] / 50,
          "%s: %zu, %zu, %zu", kinds[kind], size[1], size[2], size[3]);
}

/* Noise that repeats after some rows: more bytes than are sampled to find out,
 * and less than matches reach; or in one band with noise that does not, which
 * is in the middle, and tells little. */
TEST(repeats)
{
    static const struct {
        struct shape shape;
        unsigned period, from, to; /* rows; those that do not repeat */
        int level;
        size_t most;
    } cases[] = {
        { { 120, 600, 8, RGB, false }, 60, 0, 0, 3, 120 * 600 * 3 / 8 },
        { { 120, 600, 8, RGB, false }, 60, 0, 0, 6, 120 * 600 * 3 / 8 },
        { { 120, 600, 8, RGB, false }, 60, 0, 0, 9, 120 * 600 * 3 / 8 },
        { { 400, 1000, 8, GRAY, false }, 7, 333, 666, 6, 333 * 400 * 6 / 5 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        owned_image img = shape_image(&cases[i].shape);
        for (unsigned c = 0; c < img.nplanes; c++)
            for (uint32_t y = 0; y < img.height; y++) {
                const bool alone = y >= cases[i].from && y < cases[i].to;
                uint64_t state = 1 + c + 3 * (alone ? y : y % cases[i].period);
                for (uint32_t x = 0; x < img.width; x++)
                    image_set_sample(&img, c, x, y,
                                     test_random(&state) >> 40 & 255);
            }
        owned_bytes file =
            write_file(&img, &cases[i].shape, cases[i].level, NULL);
        CHECK(file.size < cases[i].most, "%zu: %zu", i, file.size);
    }
}

/* Noise in which words of five bytes and of ten come again, anywhere in a
 * pixel, with a byte of noise between two of them. */
TEST(words)
{
    static const struct shape s = { 400, 300, 8, RGB, false };
    const size_t raw = (size_t)s.width * s.height * 3;
    owned_image img = shape_image(&s);
    uint8_t words[64][10];
    uint64_t state = 9;
    unsigned word = 0, left = 0;
    for (unsigned i = 0; i < sizeof words; i++)
        words[i / 10][i % 10] = (uint8_t)(test_random(&state) >> 40);
    for (size_t i = 0; i < raw; i++) {
        unsigned noise = (unsigned)(test_random(&state) >> 40), now = noise;
        if (left > 0)
            now = words[word][--left];
        else
            left = (word = noise >> 8 & 63) % 4 ? 5 : 10;
        image_set_sample(&img, i % 3, (uint32_t)(i / 3 % s.width),
                         (uint32_t)(i / 3 / s.width), now & 255);
    }
    owned_bytes file = write_file(&img, &s, 6, NULL);
    CHECK(file.size < 140000, "%zu of %zu", file.size, raw);
}

TEST_SET_UP()
{
    pools[0] = NULL;
    pools[1] = thread_pool_open(2);
    pools[2] = thread_pool_open(7);
}

TEST_TEAR_DOWN()
{
    thread_pool_close(pools[1]);
    thread_pool_close(pools[2]);
}

TEST(distances)
{
    for (unsigned before = 0; before < 4; before++)
        for (unsigned far = 1; far <= 4; far++)
            check_distance(before, far, far <= before + 1);
}

TEST(write)
{
    static const int levels[] = { 0, 1, 6 };
    struct pairwise p = { .counts = { SHAPES, KINDS, 3 } };
    while (pairwise_next(&p))
        if (!shapes[p.at[0]].adam7)
            check_write(&shapes[p.at[0]], (enum kind)p.at[1], levels[p.at[2]]);
    for (enum kind kind = 0; kind < KINDS; kind++)
        check_write(&shapes[6], kind, 9);
}

TEST(levels)
{
    check_levels(NOISE, 1.01);
    check_levels(PHOTO, 0.7);
    check_levels(FLAT, 0.01);
    check_levels(TEXT, 0.03);
}
