/* Damaged, forged and oversized JPEG files are refused with a reason, or read
 * tolerantly with a warning. */
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"

static const struct coding kinds[] = {
    { 45, 27, JCS_GRAYSCALE, .h = 1 },
    { 45, 27, JCS_YCbCr, .h = 2, .v = 2 },
    { 45, 27, JCS_YCbCr, .restart = 1 },
    { 45, 27, JCS_YCbCr, .h = 2, .v = 2, .progressive = true },
    { 45, 27, JCS_YCbCr, .restart = 3, .progressive = true },
    { 45, 27, JCS_YCbCr, .h = 2, .v = 2, .arithmetic = true },
    { 45, 27, JCS_CMYK, .h = 1 },
};
enum { KINDS = COUNT(kinds) };

static struct bytes make_kind(unsigned i)
{
    struct bytes file = make_jpeg(&kinds[i]);
    add_segment(&file, NULL, 0xe1, "some application", 16);
    return file;
}

/* What is taken in any representation can be written, and the file is sound. */
static void check_encoded(const struct image *img)
{
    owned_fixture *f = fixture_new(&codec_jpeg);
    if (encode_as(&codec_jpeg, &f->made, img, &f->save, &f->err) == 0)
        CHECK(!fixture_decode(f, f->made) && f->img.width == img->width &&
                  f->img.height == img->height,
              "%s", f->err.text);
    else /* nothing that a sound file would hold */
        CHECK(img->cell == CELL_DCT && strstr(f->err.text, "out of range"),
              "%s", f->err.text);
}

/* Decodes, and looks that nothing is left of what is refused with a reason. */
static bool takes(struct fixture *f, struct bytes file)
{
    const bool taken = fixture_decode(f, file) == 0;
    CHECK(taken || *f->err.text, "without a reason");
    CHECK(taken ? f->img.pixels.kind != PIXELS_NONE
                : !f->img.pixels.kind && !f->img.meta,
          "something is left, or nothing there");
    return taken;
}

/* Decodes in all forms and both ways. Strict, a damaged file is refused;
 * tolerant, it is refused or warned of. Returns whether its samples are taken
 * in the end. */
static bool check_damaged(struct bytes file, bool maybe_sound)
{
    bool taken = false;
    for (int form = REPRESENTATIONS; form-- > 0;) {
        owned_fixture *f = fixture_new(&codec_jpeg);
        f->plan.representation = (enum representation)form;
        const bool sound = takes(f, file);
        CHECK(maybe_sound || !sound, "form %d: it is accepted", form);
        f->warnings = (struct warnings){ 0 };
        f->load.tolerant = true;
        f->load.portable = form == REPRESENTATION_SAMPLES;
        taken = takes(f, file);
        /* What was refused cannot pass as if nothing were. */
        CHECK(!taken || sound || is_warned(&f->warnings, "damaged"),
              "form %d: no warning", form);
        if (taken && form != REPRESENTATION_SAMPLES)
            check_encoded(&f->img);
    }
    return taken;
}

/* In so many forms, strict and tolerant. Frees the file. */
static void refuses(const char *name, struct bytes file, const char *words,
                    int forms)
{
    owned_fixture *f = fixture_new(&codec_jpeg);
    for (int i = 0; i < 2 * forms; i++) {
        f->load.tolerant = i % 2;
        f->plan.representation = (enum representation)(i / 2);
        test_case("%s, %s, form %d", name, i % 2 ? "tolerant" : "strict",
                  i / 2);
        CHECK(!takes(f, file), "accepted");
        CHECK(strstr(f->err.text, words), "%s", f->err.text);
    }
    bytes_free(&file);
}

/* ---- Damaged --------------------------------------------------------------*/

TEST(cuts)
{
    for (unsigned i = 0; i < KINDS; i++) {
        owned_bytes file = make_kind(i);
        const struct segments list = read_segments(file);
        for (size_t size = 0; size < file.size - 2; size++) {
            owned_bytes cut = copied(file.data, size);
            test_case("kind %u, %zu bytes", i, size);
            bool taken = check_damaged(cut, false);
            CHECK(!taken || size > list.scan, "taken");
            /* A progressive file has tables between its scans as well. */
            CHECK(taken || size < list.scan + 16 || kinds[i].progressive,
                  "not taken");
        }
    }
}

TEST(noise)
{
    uint64_t seed = 3;
    for (unsigned round = 0; round < 2000; round++) {
        owned_bytes file = make_kind(round % KINDS);
        const struct segments list = read_segments(file);
        size_t at = round % 3 ? list.scan : 2;
        at += test_random(&seed) % (file.size - at);
        file.data[at] ^= (uint8_t)(1 + test_random(&seed) % 255);
        test_case("round %u", round);
        check_damaged(file, true);
    }
}

/* One file for each kind of damage that libjpeg only warns of, the last one
 * apart: bytes at a place, from the first scan on or not, are replaced or put
 * there. */
TEST(warnings)
{
    static const struct {
        const char *name;
        unsigned kind;
        bool in_scan;
        size_t at, removed, put;
        const char *bytes; /* the first one again and again, if it is one */
    } cases[] = {
        { "bytes between segments", 1, false, 22, 0, 3, "abc" },
        { "an early end", 1, true, 30, 2, 2, "\xff\xd9" },
        { "codes that no table has", 1, true, 20, 30, 30, "\xfe" },
        { "arithmetic coding", 5, true, 20, 60, 60, "" },
    };
    struct segments list = { .count = 0 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        owned_bytes file = make_kind(cases[i].kind), put = { 0 };
        const char *bytes = cases[i].bytes;
        list = read_segments(file);
        const size_t at = cases[i].at + (cases[i].in_scan ? list.scan : 0);
        for (size_t k = 0; k < cases[i].put; k++)
            must(bytes_append(&put, bytes + (strlen(bytes) > 1 ? k : 0), 1));
        remove_bytes(&file, at, cases[i].removed);
        insert_bytes(&file, at, put.data, put.size);
        test_case("%s", cases[i].name);
        CHECK(check_damaged(file, false), "tolerant");
    }
    struct bytes file = make_kind(1);
    file.size -= 2; /* the picture is whole all the same */
    test_case("no EOI");
    CHECK(check_damaged(file, false), "tolerant");
    bytes_free(&file);

    file = make_kind(2);
    file.data[find_marker(file, list.scan, 0xd1, 0xd1) + 1] = 0xd3;
    test_case("a wrong restart marker");
    CHECK(check_damaged(file, false), "tolerant");
    bytes_free(&file);

    file = make_kind(3);
    list = read_segments(file);
    size_t next = find_marker(file, list.scan + 2, 0xc4, 0xc4);
    owned_bytes scan = { 0 };
    insert_bytes(&scan, 0, file.data + list.scan, next - list.scan);
    insert_bytes(&file, next, scan.data, scan.size);
    test_case("a scan that comes twice");
    CHECK(check_damaged(file, false), "tolerant");
    bytes_free(&file);
}

/* What cannot be read is what libjpeg makes of it, not what the memory held. */
TEST(rest)
{
    struct coding coding = { 64, 64, JCS_GRAYSCALE, .h = 1 };
    owned_bytes file = make_jpeg(&coding);
    owned_fixture *f = fixture_new(&codec_jpeg);
    f->load.tolerant = true;
    f->load.mem = garbage_memory;
    file.size = file.size * 3 / 4;
    owned_decoded own = libjpeg_decode(file, JCS_UNKNOWN);
    fixture_read(f, file);
    CHECK(image_distance(&f->img, &own, XFORM_NONE) == 0,
          "what libjpeg makes of it");
}

/* ---- Forged ---------------------------------------------------------------*/

/* A small file of `n` scans. */
static struct bytes make_scans(int n)
{
    owned_memory jpeg_scan_info *scan = calloc((size_t)n, sizeof *scan);
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
    return file;
}

TEST(scans)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    owned_bytes file = make_scans(200);
    fixture_read(f, file);
    fixture_free(f);
    refuses("600 scans", make_scans(600), "scans", REPRESENTATIONS);
}

/* The frame header: length, bits, height, width, components. */
static size_t find_frame(struct bytes file, bool progressive)
{
    return find_marker(file, 0, progressive ? 0xc2 : 0xc0, 0xc2) + 2;
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
    for (size_t i = 0; i < COUNT(frames); i++) {
        struct bytes file = make_kind(1);
        file.data[find_frame(file, false) + frames[i].at] =
            (uint8_t)frames[i].value;
        refuses(frames[i].name, file, "", REPRESENTATIONS);
    }
    struct bytes file = make_kind(1);
    memset(file.data + find_frame(file, false) + 5, 0, 2);
    refuses("no columns", file, "", REPRESENTATIONS);
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
    size_t scan = find_marker(file, 0, 0xda, 0xda) + 2;
    file.data[scan + 1] = 6 + 2 * 2;
    file.data[scan + 2] = 2;
    insert_bytes(&file, scan + 5, "\2\0", 2);
    /* Coefficients have no color. */
    refuses("2 components", file, "2 components of an unknown color space",
            REPRESENTATION_REALIGNED);
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
        owned_fixture *f = fixture_new(&codec_jpeg);
        memcpy(file.data + find_frame(file, k == 3) + 3, "\xff\xdc\xff\xdc", 4);
        f->load.limits =
            (struct limits){ .pixels = UINT64_MAX, .bytes = 64 << 20 };
        for (int form = 0; form < REPRESENTATIONS; form++) {
            f->plan.representation = (enum representation)form;
            CHECK(!takes(f, file), "accepted");
            CHECK(strstr(f->err.text, advice), "%s", f->err.text);
        }
        refuses("65500 x 65500", file, "--max-pixels", REPRESENTATIONS);
    }
}
