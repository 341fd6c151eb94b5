/* Several threads decode a JPEG file with restart markers to the picture, or
 * the error, that one thread gives, and encode one to the bytes that one thread
 * writes, which are those of libjpeg. */
#include "codecs/jpeg/parameters.h"

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/pairwise.h"
#include "tests/support/pools.h"

TEST_POOLS(2, 5, 8)

static const struct {
    const char *name;
    struct coding coding;
    unsigned noise;
    unsigned columns; /* MCUs in a row; 0: it is only encoded */
} kinds[] = {
    { "4:2:0", { 608, 640, JCS_YCbCr, .h = 2, .v = 2 }, 30, 38 },
    { "4:2:0, nothing whole", { 797, 713, JCS_YCbCr, .h = 2, .v = 2 }, 30, 50 },
    { "4:4:4", { 500, 403, JCS_YCbCr, .h = 1 }, 3, 63 },
    { "4:4:0", { 611, 631, JCS_YCbCr, .h = 1, .v = 2 }, 30, 77 },
    { "all differ",
      { 601, 599, JCS_YCbCr, .h = 2, .v = 1, .others = { { 1, 2 }, { 2, 2 } } },
      30,
      38 },
    { "gray", { 900, 907, JCS_GRAYSCALE, .h = 1 }, 30, 113 },
    { "gray, 2x2", { 907, 905, JCS_GRAYSCALE, .h = 2, .v = 2 }, 30, 114 },
    { "CMYK", { 400, 411, JCS_CMYK, .h = 1 }, 30, 50 },
    { "smooth", { 640, 640, JCS_YCbCr, .h = 1, .quality = 40 }, 0, 0 },
    { "steep", { 640, 640, JCS_YCbCr, .h = 1 }, 0, 0 },
    { "noise", { 400, 481, JCS_YCbCr, .h = 1, .quality = 100 }, 200, 0 },
    { "4x2", { 850, 801, JCS_YCbCr, .h = 4, .v = 2 }, 30, 0 },
    { "RGB", { 480, 411, JCS_RGB, .h = 1 }, 30, 0 },
};
enum { KINDS = COUNT(kinds) };

static struct bytes make_kind(unsigned k, unsigned restart)
{
    struct coding coding = kinds[k].coding;
    coding.restart = restart;
    coding.standard = k % 2;
    return make_noisy_jpeg(&coding, kinds[k].noise);
}

/* ---- Decoding: what is read
 * ---------------------------------------------------------*/

struct outcome {
    int status;
    struct image img;
    struct err err;
    struct warnings warnings;
};

static void read_into(struct outcome *o, struct bytes file,
                      enum representation representation, bool tolerant,
                      struct thread_pool *pool)
{
    *o = (struct outcome){ .status = 0 };
    struct load_opts load = small_load(&o->warnings);
    const struct decode_plan plan = { .representation = representation };
    load.tolerant = tolerant;
    load.pool = pool;
    o->status =
        codec_decode_file(&codec_jpeg, &o->img, file, &load, &plan, &o->err);
}

static bool same_blocks(const struct meta *a, const struct meta *b)
{
    bool same = a->nblocks == b->nblocks;
    for (size_t i = 0; same && i < a->nblocks; i++)
        same = a->block[i].where == b->block[i].where &&
               a->block[i].size == b->block[i].size &&
               !memcmp(a->block[i].data, b->block[i].data, a->block[i].size);
    return same;
}

static bool same_outcome(const struct outcome *a, const struct outcome *b)
{
    if (a->status != b->status || a->warnings.count != b->warnings.count)
        return false;
    if (a->warnings.count &&
        strcmp(a->warnings.list[0].text, b->warnings.list[0].text) != 0)
        return false;
    if (a->status)
        return strcmp(a->err.text, b->err.text) == 0;
    return same_cells(&a->img, &b->img) &&
           same_blocks(a->img.meta, b->img.meta) &&
           !memcmp(parameters_of(a->img.meta)->step,
                   parameters_of(b->img.meta)->step,
                   sizeof parameters_of(a->img.meta)->step);
}

/* Reads a file with some numbers of threads; returns whether one can. */
static bool check_read(struct bytes file, enum representation representation,
                       bool tolerant)
{
    struct outcome one;
    read_into(&one, file, representation, tolerant, NULL);
    for (unsigned i = 0; i < 2; i++) {
        struct outcome o;
        read_into(&o, file, representation, tolerant, pools[i]);
        CHECK(same_outcome(&o, &one), "%u threads, %d: %s / %s", counts[i],
              (int)representation, o.err.text, one.err.text);
        image_free(&o.img);
    }
    image_free(&one.img);
    return one.status == 0;
}

/* Reads it in all representations from one on, or has to. */
static void check_reads(struct bytes file, int from, bool tolerant, bool sound)
{
    for (int r = from; r < REPRESENTATIONS; r++) {
        bool read = check_read(file, (enum representation)r, tolerant);
        CHECK(read || !sound, "representation %d is not read", r);
    }
}

TEST(sound)
{
    for (unsigned k = 0; k < KINDS && kinds[k].columns; k++) {
        unsigned columns = kinds[k].columns;
        /* Whole rows; parts of rows that end with one now and then; a row and a
         * bit more, which does so too late; and none. */
        const unsigned ways[] = {
            columns, 3 * columns,     columns / 2,
            1,       columns * 2 / 3, columns * columns + 1,
            0
        };
        const unsigned step = tests_are_whole() ? 1 : 2;
        for (unsigned i = k % step; i < COUNT(ways); i += step) {
            owned_bytes file = make_kind(k, ways[i]);
            test_case("%s, %u", kinds[k].name, ways[i]);
            check_reads(file, REPRESENTATION_SAMPLES, false, true);
        }
    }
}

/* What stands before and behind the picture stays. */
TEST(around)
{
    owned_bytes file = make_kind(0, 38);
    size_t at = 0;
    add_segment(&file, &at, 0xe0, "JFIF\0\1\1\0\0\1\0\1\0\0", 14);
    add_segment(&file, &at, 0xfe, "\xff\xd9\xff\xda words", 10);
    must(bytes_append(&file, "\xff\xd8 what is behind \xff\xd9", 20));
    CHECK(check_read(file, REPRESENTATION_COEFFICIENTS, false), "read");
}

/* ---- Two views ------------------------------------------------------------*/

/* A segment of which nothing but this is said yet. */
static void append_head(struct bytes *to, unsigned marker, size_t length)
{
    const uint8_t head[4] = { 0xff, (uint8_t)marker, (uint8_t)(length >> 8),
                              (uint8_t)length };
    must(bytes_append(to, head, sizeof head));
}

static void append_zeros(struct bytes *to, size_t end)
{
    while (to->size < end)
        must(bytes_append(to, "", 1));
}

/* A file that says something else to whoever takes the marker behind TEM for
 * its length: a comment there, which is left out of the headers of a strip, is
 * inside of an APP0 to libjpeg. Without it that ends somewhere else: before the
 * headers of another picture, a much wider one, which are inside of a comment
 * otherwise. */
static struct bytes make_ambiguous(unsigned marker)
{
    enum { FALSE_END = 4 + 0xffe0, CUT = 4, REAL_END = FALSE_END + 20 };
    const struct coding wide = { 60000, 16, JCS_GRAYSCALE, .restart = 7500 };
    struct bytes file = { 0 }, other = make_jpeg(&wide),
                 real = make_kind(5, 113);
    const size_t hidden = REAL_END + CUT, end = hidden + other.size;
    must(bytes_append(&file, (uint8_t[]){ 0xff, 0xd8, 0xff, (uint8_t)marker },
                      4));
    append_head(&file, 0xe0, REAL_END - 6);
    append_zeros(&file, FALSE_END);
    append_head(&file, 0xfe, CUT - 2);
    append_head(&file, 0xc4, end - file.size - 2);
    append_zeros(&file, REAL_END);
    append_head(&file, 0xfe, end - file.size - 2);
    must(bytes_append(&file, other.data + 2, other.size - 4));
    append_zeros(&file, end);
    must(bytes_append(&file, real.data + 2, real.size - 2));
    bytes_free(&other);
    bytes_free(&real);
    return file;
}

/* TEM and RSTn have no length, and libjpeg passes over them in the headers. */
TEST(markers_alone)
{
    static const uint8_t markers[] = { 0x01, 0xd0, 0xd7 };
    owned_bytes file = make_kind(4, 38);
    for (unsigned i = 0; i < COUNT(markers); i++) {
        insert_bytes(&file, 2, (uint8_t[]){ 0xff, markers[i] }, 2);
        test_case("marker %02x", markers[i]);
        check_reads(file, REPRESENTATION_SAMPLES, false, true);
        owned_bytes two = make_ambiguous(markers[i]);
        test_case("marker %02x, two pictures", markers[i]);
        check_reads(two, REPRESENTATION_PLANES, false, true);
    }
}

/* ---- Damage ---------------------------------------------------------------*/

static void damage(struct bytes *file, size_t marker, unsigned way)
{
    static const uint8_t zeros[20];
    switch (way) {
    case 0: /* another number */
        file->data[marker + 1] ^= 1;
        break;
    case 1: /* none */
        remove_bytes(file, marker, 2);
        break;
    case 2: /* twice */
        insert_bytes(file, marker, (uint8_t[]){ 0xff, file->data[marker + 1] },
                     2);
        break;
    case 3: /* another marker */
        file->data[marker + 1] = 0xd9;
        break;
    case 4: /* too little before it */
        remove_bytes(file, marker - 1, 1);
        break;
    case 5:
        remove_bytes(file, marker - 30, 30);
        break;
    case 6: /* 0xff before it */
        insert_bytes(file, marker, "\xff", 1);
        break;
    case 7: /* the rest is missing */
        file->size = marker + 2;
        break;
    default: /* too much before it */
        insert_bytes(file, marker, zeros, way - 7);
    }
}

/* Two strips end at the marker 19, which is the 20th of 39. */
TEST(damaged)
{
    enum { MARKERS = 39 };
    static const unsigned ways = 8 + 18, some[] = { 0, 18, 19, 20, 38 };
    owned_bytes file = make_kind(0, 38);
    size_t at[MARKERS + 1] = { find_marker(file, 0, 0xd0, 0xd7) };
    for (unsigned i = 0; i < MARKERS; i++)
        at[i + 1] = find_marker(file, at[i] + 1, 0xd0, 0xd7);
    CHECK(at[MARKERS - 1] < file.size && at[MARKERS] == file.size,
          "not 39 markers");
    /* Each way at some of the markers, each marker in some of the ways. */
    const unsigned step = tests_are_whole() ? 1 : 2;
    for (unsigned way = 0; way < ways; way++)
        for (unsigned i = way % step; i < COUNT(some); i += step) {
            owned_bytes copy = copied(file.data, file.size);
            damage(&copy, at[some[i]], way);
            test_case("way %u, marker %u", way, some[i]);
            for (int tolerant = 0; way < 8 && tolerant < 2; tolerant++)
                check_reads(copy, REPRESENTATION_PLANES, tolerant, false);
            if (way >= 8)
                check_read(copy, REPRESENTATION_COEFFICIENTS, false);
        }
}

/* Any byte of the coded data, and of the headers. */
TEST(noise)
{
    owned_bytes file = make_kind(0, 76);
    uint64_t state = 11;
    for (unsigned i = 0; i < 90; i++) {
        size_t at = 2 + test_random(&state) % (i % 3 ? file.size - 2 : 700);
        uint8_t was = file.data[at];
        file.data[at] = (uint8_t)test_random(&state);
        check_read(file,
                   i % 2 ? REPRESENTATION_COEFFICIENTS : REPRESENTATION_PLANES,
                   i % 4 < 2);
        file.data[at] = was;
    }
}

/* ---- Encoding -------------------------------------------------------------*/

/* Writes img with each number of threads; returns what one thread writes. */
static struct bytes check_written(const struct image *img,
                                  struct save_opts save)
{
    struct bytes one = jpeg_written(img, save, NULL);
    for (unsigned i = 0; i < COUNTS; i++) {
        owned_bytes made = jpeg_written(img, save, pools[i]);
        CHECK(same_bytes(made, one), "%u threads", counts[i]);
    }
    return one;
}

/* ---- Coefficients ---------------------------------------------------------*/

/* MCUs between restart markers: of 38 in a row of the first kind. */
static const unsigned restarts[] = { 0, 38, 19, 1, 76, 380, 57, 24, 39 };

/* A file of coefficients is written as it was; and optimized. */
static void check_coded(const struct coding *coding, unsigned noise)
{
    owned_bytes file = make_noisy_jpeg(coding, noise);
    owned_image img = read_jpeg_as(file, REPRESENTATION_COEFFICIENTS, NULL);
    struct bytes one = check_written(&img, (struct save_opts){ 0 });
    CHECK(same_bytes(one, file), "as it was");
    bytes_free(&one);
    one = check_written(&img, (struct save_opts){ .optimize = true });
    CHECK(coding->standard ? one.size < file.size : same_bytes(one, file),
          "optimized: %zu of %zu bytes", one.size, file.size);
    bytes_free(&one);
}

static void check_kind(unsigned k, unsigned restart, bool standard)
{
    struct coding coding = kinds[k].coding;
    coding.restart = restart;
    coding.standard = standard;
    test_case("%s, %u MCUs%s", kinds[k].name, restart,
              standard ? "" : ", own tables");
    check_coded(&coding, kinds[k].noise);
}

TEST(coded)
{
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned way = 0; way < 4; way++)
            check_kind(k, way / 2 * 50, way % 2);
    for (unsigned i = 0; i < COUNT(restarts); i++)
        check_kind(0, restarts[i], true);
}

/* Where blocks seldom end early, the code for that may end in ones, as the last
 * byte of a scan does: with the first two of these it does. */
TEST(ends)
{
    static const int ways[][2] = {
        { 140, 100 }, { 180, 100 }, { 100, 90 }, { 40, 70 }, { 0, 20 }
    };
    for (unsigned i = 0; i < COUNT(ways); i++) {
        struct coding coding = { 700, 807, JCS_GRAYSCALE, .h = 1 };
        coding.quality = ways[i][1];
        test_case("noise %d, quality %d", ways[i][0], ways[i][1]);
        check_coded(&coding, (unsigned)ways[i][0]);
    }
}

/* DC coefficients that never differ by little, though strips begin with a small
 * one. */
TEST(steps)
{
    const struct coding coding = { 900, 907, JCS_GRAYSCALE, .h = 1 };
    struct save_opts save = { .optimize = true };
    owned_bytes file = make_jpeg(&coding);
    owned_image img = read_jpeg_as(file, REPRESENTATION_COEFFICIENTS, NULL);
    const struct plane *plane = &img.plane[0];
    for (uint32_t y = 0; y < plane->height; y++) {
        int16_t *block = plane_row(plane, y);
        memset(block, 0, (size_t)plane->width * sizeof(JBLOCK));
        for (uint32_t x = 0; x < plane->width; x++, block += DCTSIZE2)
            block[0] = x == 0 || (plane->width - 1 - x) / 2 % 2 ? 70 : 3;
    }
    owned_bytes one = check_written(&img, save);
}

/* ---- Samples --------------------------------------------------------------*/

static void image_row(uint8_t *row, uint32_t y, const struct coding *coding,
                      const void *context)
{
    const struct image *img = context;
    for (uint32_t x = 0; x < coding->width; x++)
        for (unsigned i = 0; i < img->nplanes; i++)
            *row++ = ((uint8_t *)plane_row(&img->plane[i], y))[x];
}

/* What libjpeg makes of them by itself, with the tables that it finds. */
static struct bytes by_libjpeg(const struct image *img, int quality)
{
    const bool gray = img->nplanes == 1;
    const int factor = gray || quality >= 90 ? 1 : 2;
    const struct coding coding = {
        img->width,  img->height, gray ? JCS_GRAYSCALE : JCS_YCbCr,
        .h = factor, .v = factor, .quality = quality
    };
    struct bytes file = make_jpeg_of(&coding, image_row, img);
    add_segment(&file, NULL, 0xe0, "JFIF\0\1\1\0\0\1\0\1\0\0", 14);
    return file;
}

TEST(samples)
{
    static const uint32_t sizes[][2] = { { 640, 640 }, { 711, 733 }, { 9, 7 } };
    static const int qualities[] = { 98, 85, 30 };
    for (unsigned i = 0; i < 3; i++)
        for (unsigned q = 0; q < 3; q++)
            for (int gray = 0; gray < 2; gray++) {
                owned_image img = jpeg_picture(gray ? COLOR_GRAY : COLOR_RGB,
                                               sizes[i][0], sizes[i][1], 19);
                struct save_opts save = { .quality = qualities[q] };
                owned_bytes want = by_libjpeg(&img, qualities[q]);
                owned_bytes one = check_written(&img, save);
                /* Beyond the picture chroma repeats its last sample, libjpeg
                 * the last pixel. */
                bool whole = gray || q == 0 || img.width % 16 == 0;
                CHECK(!whole || same_bytes(one, want),
                      "%u x %u, quality %d, %d", img.width, img.height,
                      qualities[q], gray);
            }
}
