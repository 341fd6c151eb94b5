/* JPEG files turned by their coefficients: blocks, tables, sampling and scans
 * are what the turn makes of those of the input. libjpeg reads both files. */
#include "codecs/codec.h"
#include "codecs/jpeg/entropy/entropy.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/oracle.h"
#include "tests/support/plain_jpeg.h"
#include "tests/support/test.h"

/* Whole MCUs of every sampling below, and different numbers of them. */
enum { WIDE = 192, HIGH = 96 };

/* ---- Files ----------------------------------------------------------------*/

static const struct {
    const char *name;
    int factor[3][2];
} samplings[] = {
    { "1x1", { { 1, 1 }, { 1, 1 }, { 1, 1 } } },
    { "2x1", { { 2, 1 }, { 1, 1 }, { 1, 1 } } },
    { "1x2", { { 1, 2 }, { 1, 1 }, { 1, 1 } } },
    { "2x2", { { 2, 2 }, { 1, 1 }, { 1, 1 } } },
    { "4x1", { { 4, 1 }, { 1, 1 }, { 1, 1 } } },
    { "1x4", { { 1, 4 }, { 1, 1 }, { 1, 1 } } },
    { "3x1", { { 3, 1 }, { 1, 1 }, { 1, 1 } } },
    { "4x2", { { 4, 2 }, { 1, 1 }, { 1, 1 } } },
    { "2x1 1x2 2x2", { { 2, 1 }, { 1, 2 }, { 2, 2 } } },
    { "1x2 2x1 1x1", { { 1, 2 }, { 2, 1 }, { 1, 1 } } },
    { "all 2x1", { { 2, 1 }, { 2, 1 }, { 2, 1 } } },
};
enum { SAMPLINGS = sizeof samplings / sizeof *samplings };

/* Coefficients in one scan each, and a last bit by itself. */
static const jpeg_scan_info own_scans[] = {
    { 3, { 0, 1, 2 }, 0, 0, 0, 0 }, { 1, { 2 }, 1, 63, 0, 0 },
    { 1, { 0 }, 1, 9, 0, 1 },       { 1, { 0 }, 10, 63, 0, 1 },
    { 1, { 1 }, 1, 63, 0, 0 },      { 1, { 0 }, 1, 63, 1, 0 },
};
/* Whole diagonals of coefficients, not all of them, and not to the last bit. */
static const jpeg_scan_info unfinished[] = {
    { 3, { 0, 1, 2 }, 0, 0, 0, 1 }, { 1, { 0 }, 1, 5, 0, 2 },
    { 1, { 2 }, 1, 63, 0, 1 },      { 1, { 0 }, 6, 27, 0, 2 },
    { 1, { 0 }, 1, 27, 2, 1 },
};
static const jpeg_scan_info one_each[] = {
    { 1, { 0 }, 0, 63, 0, 0 },
    { 2, { 1, 2 }, 0, 63, 0, 0 },
};

static const struct {
    const char *name;
    struct coding coding;
} kinds[] = {
    { "baseline", { .standard = true } },
    { "optimized", { .h = 1 } },
    { "progressive", { .progressive = true } },
    { "own scans", { .scan = own_scans, .scans = 6 } },
    { "unfinished", { .scan = unfinished, .scans = 5 } },
    { "a scan each", { .scan = one_each, .scans = 2 } },
    { "arithmetic", { .arithmetic = true } },
    { "both", { .progressive = true, .arithmetic = true } },
    { "restart", { .restart = 5 } },
    { "progressive, restart", { .progressive = true, .restart = 7 } },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct coding coding_of(unsigned sampling, unsigned kind, uint32_t width,
                               uint32_t height)
{
    struct coding coding = kinds[kind].coding;
    const int(*factor)[2] = samplings[sampling].factor;
    coding.space = JCS_YCbCr;
    coding.width = width;
    coding.height = height;
    coding.h = factor[0][0];
    coding.v = factor[0][1];
    memcpy(coding.others, factor[1], sizeof factor[1] * 2);
    coding.quality = 75; /* tables that are not symmetric */
    return coding;
}

/* ---- Turning --------------------------------------------------------------*/

static struct bytes turned_as(struct bytes file, enum xform t,
                              const struct decode_plan *plan)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan = *plan;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    if (f->img.pixels.kind) {
        turn_image(&f->img, t);
        CHECK(!fixture_encode(f), "%s", f->err.text);
    }
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    return fixture_take_made(f);
}

static struct bytes turned_in(struct bytes file, enum xform t,
                              enum representation representation)
{
    const struct decode_plan plan = { .representation = representation };
    struct bytes made = turned_as(file, t, &plan);
    CHECK(made.size > 0, "%s: no file", xform_name(t));
    return made;
}

static struct stream_info look(struct bytes file)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    struct stream_info info = { 0 };
    CHECK(!codec_look(&codec_jpeg, &info, file, &f->load, &f->err), "%s",
          f->err.text);
    fixture_free(f);
    return info;
}

/* ---- What libjpeg reads ---------------------------------------------------*/

/* Whether component i has the sampling of `a` after the turn, and viewers are
 * told as many bits of each coefficient of a progressive file, which stand in
 * zigzag order; -1: none. */
static bool coding_is_turned(const struct plain_jpeg *a,
                             const struct plain_jpeg *b, int i, enum xform t)
{
    const bool flip = oracle[t].xy != 0;
    const jpeg_component_info *from = &a->d.comp_info[i];
    const jpeg_component_info *to = &b->d.comp_info[i];
    const int h = from->h_samp_factor, v = from->v_samp_factor;
    int bits[64];
    bool same = from->quant_tbl_no == to->quant_tbl_no &&
                to->h_samp_factor == (flip ? v : h) &&
                to->v_samp_factor == (flip ? h : v);
    for (int k = 0; a->d.coef_bits && k < 64; k++)
        bits[entropy_natural[k]] = a->d.coef_bits[i][k];
    for (int k = 0; a->d.coef_bits && k < 64; k++) {
        int n = entropy_natural[k];
        same =
            same && b->d.coef_bits[i][k] == bits[flip ? n % 8 * 8 + n / 8 : n];
    }
    return same;
}

static void check_turned(const char *name, struct bytes file, struct bytes made,
                         enum xform t)
{
    if (!made.size)
        return;
    struct plain_jpeg *a = plain_jpeg_read(file, 0);
    struct plain_jpeg *b = plain_jpeg_read(made, 0);
    CHECK(a->sound && b->sound && plain_jpeg_fits(a, b, t) &&
              plain_jpeg_is_turned(a, b, a->d.num_components, t),
          "%s, %s", name, xform_name(t));
    CHECK(a->d.jpeg_color_space == b->d.jpeg_color_space &&
              a->d.progressive_mode == b->d.progressive_mode &&
              a->d.arith_code == b->d.arith_code &&
              a->d.input_scan_number == b->d.input_scan_number,
          "%s, %s: coding", name, xform_name(t));
    for (int i = 0; i < a->d.num_components; i++)
        CHECK(coding_is_turned(a, b, i, t), "%s, %s: component %d", name,
              xform_name(t), i);
    plain_jpeg_free(a);
    plain_jpeg_free(b);
}

/* ---- All turns of all kinds -----------------------------------------------*/

/* Whether both files have the same Huffman tables. */
static bool same_tables(struct bytes a, struct bytes b)
{
    struct plain_jpeg *x = plain_jpeg_read(a, 0), *y = plain_jpeg_read(b, 0);
    bool same = true;
    for (int i = 0; i < NUM_HUFF_TBLS; i++) {
        const JHUFF_TBL *const pairs[][2] = {
            { x->d.dc_huff_tbl_ptrs[i], y->d.dc_huff_tbl_ptrs[i] },
            { x->d.ac_huff_tbl_ptrs[i], y->d.ac_huff_tbl_ptrs[i] },
        };
        for (unsigned k = 0; k < 2; k++)
            same =
                same && !pairs[k][0] == !pairs[k][1] &&
                (!pairs[k][0] || !memcmp(pairs[k][0]->bits, pairs[k][1]->bits,
                                         offsetof(JHUFF_TBL, sent_table)));
    }
    plain_jpeg_free(x);
    plain_jpeg_free(y);
    return same;
}

/* What is turned back has the bytes of the file, unless its Huffman tables lack
 * a code that the turned picture needs. */
static void check_way_back(const char *name, struct bytes file, enum xform t,
                           struct bytes made)
{
    struct bytes back =
        turned_in(made, xform_inverse(t), REPRESENTATION_COEFFICIENTS);
    CHECK(same_bytes(back, file) || !same_tables(back, file),
          "%s, %s and back: %zu bytes, not %zu", name, xform_name(t), back.size,
          file.size);
    bytes_free(&back);
}

static void check_all(const char *name, struct bytes file)
{
    struct stream_info info = look(file);
    for (int i = 0; i < XFORM_COUNT; i++) {
        enum xform t = (enum xform)i;
        if (!stream_info_can_turn(&info, REPRESENTATION_COEFFICIENTS, t))
            continue;
        struct bytes made = turned_in(file, t, REPRESENTATION_COEFFICIENTS);
        check_turned(name, file, made, t);
        check_way_back(name, file, t, made);
        bytes_free(&made);
    }
}

TEST(whole)
{
    for (unsigned s = 0; s < SAMPLINGS; s++)
        for (unsigned k = 0; k < KINDS; k++) {
            char name[80];
            struct coding coding = coding_of(s, k, WIDE, HIGH);
            struct bytes file = make_jpeg(&coding);
            struct stream_info info = look(file);
            snprintf(name, sizeof name, "%s, %s", samplings[s].name,
                     kinds[k].name);
            CHECK(stream_info_can_turn(&info, REPRESENTATION_COEFFICIENTS,
                                       XFORM_ROTATE_180),
                  "%s", name);
            check_all(name, file);
            bytes_free(&file);
        }
}

/* Nothing is lost if no axis with a partial MCU is reversed. */
TEST(odd)
{
    static const uint32_t sizes[][2] = { { 97, 96 }, { 96, 97 }, { 97, 83 },
                                         { 1, 1 },   { 17, 1 },  { 24, 40 } };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned s = 0; s < SAMPLINGS; s++) {
            struct coding coding =
                coding_of(s, (i + s) % 7, sizes[i][0], sizes[i][1]);
            struct bytes file = make_jpeg(&coding);
            struct stream_info info = look(file);
            int h = 0, v = 0; /* of the MCU */
            for (int c = 0; c < 3; c++) {
                h = samplings[s].factor[c][0] > h ? samplings[s].factor[c][0]
                                                  : h;
                v = samplings[s].factor[c][1] > v ? samplings[s].factor[c][1]
                                                  : v;
            }
            bool whole_x = sizes[i][0] % (8 * h) == 0;
            bool whole_y = sizes[i][1] % (8 * v) == 0;
            bool alike = s == 0 || s == SAMPLINGS - 1; /* no need of MCUs */
            CHECK(alike ||
                      stream_info_can_turn(&info, REPRESENTATION_COEFFICIENTS,
                                           XFORM_MIRROR_X) == whole_x,
                  "%s, %u", samplings[s].name, i);
            CHECK(alike ||
                      stream_info_can_turn(&info, REPRESENTATION_COEFFICIENTS,
                                           XFORM_ROTATE_90) == whole_y,
                  "%s, %u", samplings[s].name, i);
            CHECK(stream_info_can_turn(&info, REPRESENTATION_COEFFICIENTS,
                                       XFORM_TRANSPOSE),
                  "%u", i);
            check_all(samplings[s].name, file);
            bytes_free(&file);
        }
}

/* Parts of diagonals: transposed, other coefficients have these bits, and the
 * scans must be others that give them all. */
TEST(unfinished_diagonals)
{
    static const jpeg_scan_info scans[] = { { 1, { 0 }, 0, 0, 0, 0 },
                                            { 1, { 0 }, 1, 1, 0, 0 } };
    const struct coding coding = { 48, 32, JCS_GRAYSCALE, .scan = scans,
                                   .scans = 2 };
    struct bytes file = make_jpeg(&coding);
    for (int t = 0; t < XFORM_COUNT; t++) {
        struct bytes made =
            turned_in(file, (enum xform)t, REPRESENTATION_COEFFICIENTS);
        struct plain_jpeg *a = plain_jpeg_read(file, 0);
        struct plain_jpeg *b = plain_jpeg_read(made, 0);
        CHECK(plain_jpeg_is_turned(a, b, 1, (enum xform)t), "turn %d", t);
        CHECK((b->d.coef_bits[0][63] == 0) == (oracle[t].xy != 0) &&
                  b->d.coef_bits[0][1] == 0,
              "turn %d: bits", t);
        plain_jpeg_free(a);
        plain_jpeg_free(b);
        bytes_free(&made);
    }
    bytes_free(&file);
}

TEST(colors)
{
    static const J_COLOR_SPACE spaces[] = { JCS_GRAYSCALE, JCS_RGB, JCS_CMYK,
                                            JCS_YCCK };
    for (unsigned i = 0; i < 4; i++)
        for (int progressive = 0; progressive < 2; progressive++) {
            struct coding coding = { WIDE, HIGH, spaces[i], .h = 1 };
            coding.progressive = progressive;
            struct bytes file = make_jpeg(&coding);
            size_t at = 0;
            if (spaces[i] == JCS_YCCK)
                add_segment(&file, &at, 0xee, "Adobe\0\x64\0\0\0\0\2", 12);
            check_all("a color space", file);
            bytes_free(&file);
        }
}

/* ---- What headers say -----------------------------------------------------*/

/* The marker of the frame, and the value of DRI or 0. */
static unsigned find_word(struct bytes file, unsigned marker, unsigned *m)
{
    for (size_t at = 2; at + 6 < file.size && file.data[at] == 0xff;) {
        const uint8_t *p = file.data + at;
        if (p[1] == marker)
            return (unsigned)p[4] << 8 | p[5];
        if (p[1] >= 0xc0 && p[1] <= 0xc2)
            *m = p[1];
        at += 2 + ((size_t)p[2] << 8 | p[3]);
        if (p[1] == 0xda)
            return 0;
    }
    return 0;
}

/* WIDE x HIGH of 2x2 are 12 x 6 MCUs. */
TEST(restart)
{
    static const unsigned intervals[][2] = { { 12, 6 }, { 36, 18 }, { 5, 5 },
                                             { 1, 1 },  { 7, 7 },   { 0, 0 } };
    for (unsigned i = 0; i < 6; i++) {
        struct coding coding = coding_of(3, 1, WIDE, HIGH);
        coding.restart = intervals[i][0];
        struct bytes file = make_jpeg(&coding);
        struct bytes made =
            turned_in(file, XFORM_ROTATE_90, REPRESENTATION_COEFFICIENTS);
        unsigned frame = 0;
        CHECK(find_word(made, 0xdd, &frame) == intervals[i][1], "%u",
              intervals[i][0]);
        bytes_free(&made);
        bytes_free(&file);
    }
}

TEST(frame)
{
    struct coding coding = coding_of(3, 0, WIDE, HIGH);
    struct bytes file = make_jpeg(&coding);
    unsigned frame = 0;
    struct bytes made =
        turned_in(file, XFORM_ROTATE_90, REPRESENTATION_COEFFICIENTS);
    find_word(made, 0xdd, &frame);
    CHECK(frame == 0xc0, "%x", frame);
    bytes_free(&made);
    for (size_t at = 2; file.data[at + 1] != 0xda;
         at += 2 + ((size_t)file.data[at + 2] << 8 | file.data[at + 3]))
        if (file.data[at + 1] == 0xc0)
            file.data[at + 1] = 0xc1;
    check_all("extended", file);
    made = turned_in(file, XFORM_ROTATE_90, REPRESENTATION_COEFFICIENTS);
    find_word(made, 0xdd, &frame);
    CHECK(frame == 0xc1, "%x", frame);
    bytes_free(&made);
    bytes_free(&file);
    coding.quality = 1; /* steps of 16 bits */
    coding.standard = false;
    file = make_jpeg(&coding);
    check_all("16-bit steps", file);
    bytes_free(&file);
}

/* Calls all components the same, in the frame and in the one scan. */
static void call_alike(struct bytes file, uint8_t id)
{
    for (size_t at = 2; at < file.size;
         at += 2 + ((size_t)file.data[at + 2] << 8 | file.data[at + 3])) {
        const bool frame = file.data[at + 1] == 0xc0;
        const unsigned first = frame ? 10 : 5, each = frame ? 3 : 2;
        if (frame || file.data[at + 1] == 0xda)
            for (unsigned i = 0; i < file.data[at + first - 1]; i++)
                file.data[at + first + each * i] = id;
        if (file.data[at + 1] == 0xda)
            break;
    }
}

/* libjpeg reads such files; what is written has the numbers of JFIF. */
TEST(alike)
{
    const struct coding coding = coding_of(3, 0, WIDE, HIGH);
    struct bytes file = make_jpeg(&coding);
    for (unsigned id = 0; id <= 2; id++) {
        struct bytes other = make_jpeg(&coding);
        call_alike(other, (uint8_t)id);
        for (int i = 0; i < XFORM_COUNT; i++) {
            enum xform t = (enum xform)i;
            struct bytes made =
                turned_in(other, t, REPRESENTATION_COEFFICIENTS);
            check_turned("alike", file, made, t);
            bytes_free(&made);
        }
        bytes_free(&other);
    }
    bytes_free(&file);
}

/* Those of the standard stay, unless the smallest file is asked for. */
TEST(optimize)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan.representation = REPRESENTATION_COEFFICIENTS;
    struct coding coding = coding_of(3, 0, WIDE, HIGH);
    struct bytes file = make_jpeg(&coding);
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        CHECK(!fixture_decode(f, file), "%s", f->err.text);
        f->save.optimize = i;
        CHECK(!fixture_encode(f), "%s", f->err.text);
        check_turned("optimize", file, f->made, XFORM_NONE);
        CHECK(i || same_bytes(f->made, file), "as it was");
        size[i] = f->made.size;
    }
    CHECK(size[1] < size[0], "%zu bytes", size[1]);
    bytes_free(&file);
    fixture_free(f);
}

/* ---- Trimmed --------------------------------------------------------------*/

/* What is left are the blocks at the top left. */
TEST(trim)
{
    for (unsigned s = 0; s < SAMPLINGS; s++) {
        struct coding coding = coding_of(s, s % 7, WIDE + 5, HIGH + 7);
        struct bytes file = make_jpeg(&coding);
        const struct decode_plan plan = {
            .representation = REPRESENTATION_COEFFICIENTS,
            .width = WIDE,
            .height = HIGH,
        };
        struct bytes cut = turned_as(file, XFORM_NONE, &plan);
        struct bytes made = turned_as(file, XFORM_ROTATE_90, &plan);
        check_turned("trimmed", cut, made, XFORM_ROTATE_90);
        struct plain_jpeg *a = plain_jpeg_read(file, 0);
        struct plain_jpeg *b = plain_jpeg_read(cut, 0);
        CHECK(b->d.image_width == WIDE && b->d.image_height == HIGH, "%u x %u",
              b->d.image_width, b->d.image_height);
        CHECK(plain_jpeg_is_turned(a, b, 3, XFORM_NONE), "%s",
              samplings[s].name);
        plain_jpeg_free(a);
        plain_jpeg_free(b);
        bytes_free(&made);
        bytes_free(&cut);
        bytes_free(&file);
    }
}
