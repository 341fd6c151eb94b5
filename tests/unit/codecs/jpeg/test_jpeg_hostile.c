/* Damaged, forged and oversized JPEG files are refused with a reason, or read
 * tolerantly with a warning. */
#include "codecs/codec.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/must.h"
#include "tests/support/test.h"

static const struct coding kinds[] = {
    { 45, 27, JCS_GRAYSCALE, .h = 1 },
    { 45, 27, JCS_YCbCr, .h = 2, .v = 2 },
    { 45, 27, JCS_YCbCr, .restart = 1 },
    { 45, 27, JCS_YCbCr, .h = 2, .v = 2, .progressive = true },
    { 45, 27, JCS_YCbCr, .restart = 3, .progressive = true },
    { 45, 27, JCS_YCbCr, .h = 2, .v = 2, .arithmetic = true },
    { 45, 27, JCS_CMYK, .h = 1 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct bytes make_kind(unsigned i)
{
    struct bytes file = make_jpeg(&kinds[i]);
    size_t at = 0;
    add_segment(&file, &at, 0xe1, "some application", 16);
    return file;
}

/* What is taken in any representation can be written, and the file is sound. */
static void check_encoded(const char *name, const struct image *img)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    if (encode_as(&codec_jpeg, &f->made, img, &f->save, &f->err) == 0)
        CHECK(!fixture_decode(f, f->made) && f->img.width == img->width &&
                  f->img.height == img->height,
              "%s: %s", name, f->err.text);
    else /* nothing that a sound file would hold */
        CHECK(img->cell == CELL_DCT && strstr(f->err.text, "out of range"),
              "%s: %s", name, f->err.text);
    fixture_free(f);
}

/* Decodes in both ways. Strict, a damaged file is refused; tolerant, it is
 * refused or warned of. Returns whether it is taken in the end. */
static bool check_form(const char *name, struct bytes file, bool maybe_sound,
                       enum representation representation)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan.representation = representation;
    int status = fixture_decode(f, file);
    CHECK(maybe_sound || status, "%s: it is accepted", name);
    CHECK(!status == !!f->img.pixels.kind && !status == !*f->err.text, "%s: %s",
          name, f->err.text);
    f->warnings = (struct warnings){ 0 };
    f->load.tolerant = true;
    f->load.portable = representation == REPRESENTATION_SAMPLES;
    bool taken = fixture_decode(f, file) == 0;
    CHECK(taken || (!f->img.pixels.kind && !f->img.meta),
          "%s: something is left", name);
    /* What was refused cannot pass as if nothing were. */
    CHECK(!taken || !status || is_warned(&f->warnings, "damaged"),
          "%s: no warning", name);
    if (taken && representation != REPRESENTATION_SAMPLES)
        check_encoded(name, &f->img);
    fixture_free(f);
    return taken;
}

static bool check_damaged(const char *name, struct bytes file, bool maybe_sound)
{
    check_form(name, file, maybe_sound, REPRESENTATION_COEFFICIENTS);
    check_form(name, file, maybe_sound, REPRESENTATION_REALIGNED);
    check_form(name, file, maybe_sound, REPRESENTATION_PLANES);
    return check_form(name, file, maybe_sound, REPRESENTATION_SAMPLES);
}

static void refuses_in(const char *name, struct bytes file, const char *words,
                       int forms)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    for (int i = 0; i < 2 * forms; i++) {
        f->load.tolerant = i % 2;
        f->plan.representation = (enum representation)(i / 2);
        CHECK(fixture_decode(f, file), "%s: accepted", name);
        CHECK(*f->err.text && strstr(f->err.text, words), "%s: %s", name,
              f->err.text);
        CHECK(!f->img.pixels.kind && !f->img.meta, "%s: something is left",
              name);
    }
    fixture_free(f);
}

static void refuses(const char *name, struct bytes file, const char *words)
{
    refuses_in(name, file, words, REPRESENTATIONS);
}

/* ---- Damaged --------------------------------------------------------------*/

TEST(cuts)
{
    for (unsigned i = 0; i < KINDS; i++) {
        struct bytes file = make_kind(i);
        struct segments list;
        CHECK(read_segments(&list, file), "no JPEG");
        for (size_t size = 0; size < file.size - 2; size++) {
            char name[40];
            uint8_t *data = malloc(size + !size); /* not a byte more */
            must(data);
            memcpy(data, file.data, size);
            struct bytes cut = { .data = data, .size = size };
            snprintf(name, sizeof name, "kind %u, %zu bytes", i, size);
            bool taken = check_damaged(name, cut, false);
            CHECK(!taken || size > list.scan, "%s: taken", name);
            /* A progressive file has tables between its scans as well. */
            CHECK(taken || size < list.scan + 16 || kinds[i].progressive,
                  "%s: not taken", name);
            free(data);
        }
        bytes_free(&file);
    }
}

/* Without its last two bytes a picture is whole all the same. */
TEST(no_end)
{
    struct bytes file = make_kind(1);
    file.size -= 2;
    CHECK(check_damaged("no EOI", file, false), "tolerant");
    bytes_free(&file);
}

TEST(noise)
{
    uint64_t seed = 3;
    for (unsigned round = 0; round < 2000; round++) {
        struct bytes file = make_kind(round % KINDS);
        struct segments list;
        CHECK(read_segments(&list, file), "no JPEG");
        size_t at = round % 3 ? list.scan : 2;
        at += test_random(&seed) % (file.size - at);
        file.data[at] ^= (uint8_t)(1 + test_random(&seed) % 255);
        check_damaged("noise", file, true);
        bytes_free(&file);
    }
}

/* The offset of marker `m`, from `at` on. */
static size_t find_marker(struct bytes file, size_t at, unsigned m)
{
    while (at + 2 < file.size &&
           !(file.data[at] == 0xff && file.data[at + 1] == m))
        at++;
    return at;
}

/* One file for each kind of damage that libjpeg only warns of. */
TEST(warnings)
{
    struct segments list;
    struct bytes file = make_kind(1);
    CHECK(read_segments(&list, file), "no JPEG");
    insert_bytes(&file, 22, "abc", 3);
    CHECK(check_damaged("bytes between segments", file, false), "tolerant");
    bytes_free(&file);

    file = make_kind(1);
    memcpy(file.data + list.scan + 30, "\xff\xd9", 2);
    CHECK(check_damaged("an early end", file, false), "tolerant");
    bytes_free(&file);

    file = make_kind(1);
    memset(file.data + list.scan + 20, 0xfe, 30);
    CHECK(check_damaged("codes that no table has", file, false), "tolerant");
    bytes_free(&file);

    file = make_kind(2);
    file.data[find_marker(file, list.scan, 0xd1) + 1] = 0xd3;
    CHECK(check_damaged("a wrong restart marker", file, false), "tolerant");
    bytes_free(&file);

    file = make_kind(5);
    CHECK(read_segments(&list, file), "no JPEG");
    memset(file.data + list.scan + 20, 0, 60);
    CHECK(check_damaged("arithmetic coding", file, false), "tolerant");
    bytes_free(&file);

    file = make_kind(3);
    CHECK(read_segments(&list, file), "no JPEG");
    size_t next = find_marker(file, list.scan + 2, 0xc4);
    struct bytes scan = { 0 };
    insert_bytes(&scan, 0, file.data + list.scan, next - list.scan);
    insert_bytes(&file, next, scan.data, scan.size);
    CHECK(check_damaged("a scan that comes twice", file, false), "tolerant");
    bytes_free(&scan);
    bytes_free(&file);
}

/* What cannot be read is what libjpeg makes of it, not what the memory held. */
TEST(rest)
{
    struct coding coding = { 64, 64, JCS_GRAYSCALE, .h = 1 };
    struct bytes file = make_jpeg(&coding);
    struct fixture *f = fixture_new(&codec_jpeg);
    f->load.tolerant = true;
    f->load.mem = garbage_memory;
    file.size = file.size * 3 / 4;
    struct decoded own = libjpeg_decode(file, JCS_UNKNOWN);
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    bool same = f->img.pixels.kind;
    for (uint32_t y = 0; f->img.pixels.kind && y < 64; y++)
        for (uint32_t x = 0; x < 64; x++)
            same &= cell_at(&f->img, 0, x, y) == decoded_at(&own, 0, x, y);
    CHECK(same, "what libjpeg makes of it");
    fixture_free(f);
    free(own.samples);
    bytes_free(&file);
}

/* They are kept unchanged. */
TEST(bytes_after)
{
    struct bytes file = make_kind(1);
    struct warnings warnings = { 0 };
    insert_bytes(&file, file.size, "more", 4);
    struct bytes made = turn_jpeg(file, XFORM_ROTATE_90, &warnings);
    CHECK(made.size > 6 &&
              !memcmp(made.data + made.size - 6, "\xff\xd9more", 6),
          "behind the end");
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
    bytes_free(&made);
    bytes_free(&file);
}

/* ---- Forged ---------------------------------------------------------------*/

/* A small file of `n` scans. */
static struct bytes make_scans(int n)
{
    jpeg_scan_info *scan = calloc((size_t)n, sizeof *scan);
    must(scan);
    /* One bit of one coefficient at a time. */
    int count = 0;
    scan[count++] = (jpeg_scan_info){ 1, { 0 }, 0, 0, 0, 0 };
    for (int k = 1; k < 64 && count < n; k++)
        for (int bit = 9; bit >= 0 && count < n; bit--)
            scan[count++] =
                (jpeg_scan_info){ 1, { 0 }, k, k, bit == 9 ? 0 : bit + 1, bit };
    struct coding coding = { 16, 16, JCS_GRAYSCALE, .h = 1 };
    coding.progressive = true;
    coding.scan = scan;
    coding.scans = count;
    struct bytes file = make_jpeg(&coding);
    free(scan);
    return file;
}

TEST(scans)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    struct bytes file = make_scans(200);
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    fixture_free(f);
    bytes_free(&file);
    file = make_scans(600);
    refuses("600 scans", file, "scans");
    bytes_free(&file);
}

/* The frame header: length, bits, height, width, components. */
static size_t find_frame(struct bytes file, bool progressive)
{
    return find_marker(file, 0, progressive ? 0xc2 : 0xc0) + 2;
}

TEST(frames)
{
    static const struct {
        const char *name;
        unsigned at, value;
    } frames[] = {
        { "12 bits", 2, 12 },         { "16 bits", 2, 16 },
        { "0 bits", 2, 0 },           { "2 components", 7, 2 },
        { "0 components", 7, 0 },     { "5 components", 7, 5 },
        { "255 components", 7, 255 }, { "sampling 0", 9, 0x00 },
        { "sampling 5", 9, 0x51 },    { "a length of 2", 1, 2 },
    };
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct bytes file = make_kind(1);
        file.data[find_frame(file, false) + frames[i].at] =
            (uint8_t)frames[i].value;
        refuses(frames[i].name, file, "");
        bytes_free(&file);
    }
    struct bytes file = make_kind(1); /* no columns */
    memset(file.data + find_frame(file, false) + 5, 0, 2);
    refuses("no columns", file, "");
    bytes_free(&file);
}

/* A whole picture of two components: gray, with the frame and the scan saying
 * one more. */
TEST(two_components)
{
    struct coding coding = { 8, 8, JCS_GRAYSCALE, .h = 1 };
    struct bytes file = make_jpeg(&coding);
    size_t frame = find_frame(file, false);
    file.data[frame + 1] = 8 + 3 * 2;
    file.data[frame + 7] = 2;
    insert_bytes(&file, frame + 11, "\2\x11\0", 3);
    size_t scan = find_marker(file, 0, 0xda) + 2;
    file.data[scan + 1] = 6 + 2 * 2;
    file.data[scan + 2] = 2;
    insert_bytes(&file, scan + 5, "\2\0", 2);
    /* Coefficients have no color. */
    refuses_in("2 components", file, "2 components of an unknown color space",
               REPRESENTATION_REALIGNED);
    bytes_free(&file);
}

static void check_limits(enum representation representation, uint64_t need)
{
    const struct {
        uint64_t pixels, bytes;
        const char *words;
    } limits[] = {
        { 45 * 27, 1 << 20, NULL },
        { 45 * 27 - 1, 1 << 20, "--max-pixels" },
        { 45 * 27, need - 1, "--max-memory" },
    };
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 1; k < 4; k += 2) {
            struct bytes file = make_kind(k);
            struct counted counted = { 0 };
            struct fixture *f = fixture_new(&codec_jpeg);
            f->plan.representation = representation;
            f->load.limits = (struct limits){ .pixels = limits[i].pixels,
                                              .bytes = limits[i].bytes };
            f->load.mem = counted_memory(&counted);
            int status = fixture_decode(f, file);
            CHECK(!status == !limits[i].words, "%u: %s", i, f->err.text);
            CHECK(!status || strstr(f->err.text, limits[i].words), "%s",
                  f->err.text);
            CHECK(counted.calls == !status, "%zu", counted.calls);
            CHECK(counted.bytes <= limits[i].bytes, "%zu", counted.bytes);
            counted.empty = true;
            CHECK(fixture_decode(f, file), "no memory");
            fixture_free(f);
            bytes_free(&file);
        }
}

/* Rows are padded to 256 bytes, and there are two pictures. Of blocks there are
 * 6 x 4 and twice 3 x 2, in planes with room for 3 more each way; samples are
 * made of such. */
TEST(limits)
{
    check_limits(REPRESENTATION_SAMPLES, 256 * 3 * (45 + 27));
    const uint64_t blocks = 1280 * 7 + 2 * 768 * 5 + 1024 * 9 + 2 * 768 * 6;
    check_limits(REPRESENTATION_PLANES, blocks);
    check_limits(REPRESENTATION_COEFFICIENTS, blocks);
}

/* A header that claims the largest size costs no memory, neither for planes
 * nor for the coefficients of a progressive file. */
TEST(claims)
{
    /* 12 GB cannot be allowed where no address is that large. */
    const char *advice = SIZE_MAX > UINT32_MAX
                             ? "--max-memory"
                             : "more memory than can be counted";
    for (unsigned k = 1; k < 4; k += 2) {
        struct bytes file = make_kind(k);
        struct fixture *f = fixture_new(&codec_jpeg);
        memcpy(file.data + find_frame(file, k == 3) + 3, "\xff\xdc\xff\xdc", 4);
        refuses("65500 x 65500", file, "--max-pixels");
        f->load.limits =
            (struct limits){ .pixels = UINT64_MAX, .bytes = 64 << 20 };
        for (int representation = 0; representation < REPRESENTATIONS;
             representation++) {
            f->plan.representation = (enum representation)representation;
            CHECK(fixture_decode(f, file), "accepted");
            CHECK(strstr(f->err.text, advice), "%s", f->err.text);
        }
        bytes_free(&file);
        fixture_free(f);
    }
}
