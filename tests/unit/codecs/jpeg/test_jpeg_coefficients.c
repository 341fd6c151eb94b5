/* JPEG files turned by their coefficients: blocks, tables, sampling and scans
 * are what the turn makes of those of the input. libjpeg reads both files. */
#include <stddef.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/entropy/entropy.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/plain_jpeg.h"

/* Whole MCUs of every sampling below, and different numbers of them. */
enum { WIDE = 192, HIGH = 96 };

/* ---- Files ----------------------------------------------------------------*/

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
static const struct {
    const char *name;
    struct coding coding;
} kinds[] = {
    { "baseline", { .standard = true } },
    { "optimized", { .h = 1 } },
    { "progressive", { .progressive = true } },
    { "own scans", { .scan = own_scans, .scans = 6 } },
    { "unfinished", { .scan = unfinished, .scans = 5 } },
    { "a scan each", { SCANS_APART } },
    { "arithmetic", { .arithmetic = true } },
    { "both", { .progressive = true, .arithmetic = true } },
    { "restart", { .restart = 5 } },
    { "progressive, restart", { .progressive = true, .restart = 7 } },
};
enum { KINDS = COUNT(kinds) };

static struct coding coding_of(unsigned sampling, unsigned kind, uint32_t width,
                               uint32_t height)
{
    const struct coding of = sampled(sampling, width, height);
    struct coding coding = sized(kinds[kind].coding, width, height);
    coding.space = of.space;
    coding.h = of.h;
    coding.v = of.v;
    memcpy(coding.others, of.others, sizeof of.others);
    coding.quality = 75; /* tables that are not symmetric */
    return coding;
}

/* ---- Turning --------------------------------------------------------------*/

static struct bytes turned_as(struct bytes file, enum xform t,
                              const struct decode_plan *plan)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan = *plan;
    f->plan.representation = REPRESENTATION_COEFFICIENTS;
    f->plan.turn = t;
    return fixture_turned(f, file);
}

static struct bytes turned(struct bytes file, enum xform t)
{
    const struct decode_plan plan = { 0 };
    return turned_as(file, t, &plan);
}

static bool can_turn(struct bytes file, enum xform t)
{
    return jpeg_can_turn(file, REPRESENTATION_COEFFICIENTS, t);
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

static void check_turned(struct bytes file, struct bytes made, enum xform t)
{
    owned_plain_jpeg *a = plain_jpeg_read(file, 0);
    owned_plain_jpeg *b = plain_jpeg_read(made, 0);
    CHECK(a->sound && b->sound && plain_jpeg_fits(a, b, t) &&
              plain_jpeg_is_turned(a, b, a->d.num_components, t),
          "%s", xform_name(t));
    CHECK(a->d.jpeg_color_space == b->d.jpeg_color_space &&
              a->d.progressive_mode == b->d.progressive_mode &&
              a->d.arith_code == b->d.arith_code &&
              a->d.input_scan_number == b->d.input_scan_number,
          "%s: coding", xform_name(t));
    for (int i = 0; i < a->d.num_components; i++)
        CHECK(coding_is_turned(a, b, i, t), "%s: component %d", xform_name(t),
              i);
}

/* ---- All turns of all kinds -----------------------------------------------*/

/* Whether both files have the same Huffman tables. */
static bool same_tables(struct bytes a, struct bytes b)
{
    owned_plain_jpeg *x = plain_jpeg_read(a, 0), *y = plain_jpeg_read(b, 0);
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
    return same;
}

/* Turns it, if that can be. What is turned back has the bytes of the file,
 * unless its Huffman tables lack a code that the turned picture needs. */
static void check_all(struct bytes file)
{
    for (EACH_TURN(t)) {
        if (!can_turn(file, t))
            continue;
        owned_bytes made = turned(file, t);
        owned_bytes back = turned(made, xform_inverse(t));
        check_turned(file, made, t);
        CHECK(same_bytes(back, file) || !same_tables(back, file),
              "%s and back: %zu bytes, not %zu", xform_name(t), back.size,
              file.size);
    }
}

TEST(whole)
{
    for (unsigned s = 0; s < JPEG_SAMPLINGS; s++)
        for (unsigned k = 0; k < KINDS; k++) {
            struct coding coding = coding_of(s, k, WIDE, HIGH);
            owned_bytes file = make_jpeg(&coding);
            test_case("%s, %s", jpeg_samplings[s].name, kinds[k].name);
            CHECK(can_turn(file, XFORM_ROTATE_180), "it cannot be turned");
            check_all(file);
        }
}

/* Nothing is lost if no axis with a partial MCU is reversed. */
TEST(odd)
{
    static const uint32_t sizes[][2] = { { 97, 96 }, { 96, 97 }, { 97, 83 },
                                         { 1, 1 },   { 17, 1 },  { 24, 40 } };
    for (unsigned n = 0; n < COUNT(sizes) * JPEG_SAMPLINGS; n++) {
        const unsigned s = n % JPEG_SAMPLINGS, i = n / JPEG_SAMPLINGS;
        const struct jpeg_sampling *sampling = &jpeg_samplings[s];
        struct coding coding =
            coding_of(s, (i + s) % 7, sizes[i][0], sizes[i][1]);
        owned_bytes file = make_jpeg(&coding);
        int h = sampling->h, v = sampling->v; /* of the MCU */
        bool alike = true;                    /* no need of MCUs */
        for (int c = 0; c < 2; c++) {
            const int *factor = sampling->others[c];
            alike &= factor[0] == sampling->h && factor[1] == sampling->v;
            h = factor[0] > h ? factor[0] : h;
            v = factor[1] > v ? factor[1] : v;
        }
        test_case("%s, %u x %u", sampling->name, coding.width, coding.height);
        CHECK(alike || can_turn(file, XFORM_MIRROR_X) ==
                           (coding.width % (8 * (unsigned)h) == 0),
              "columns");
        CHECK(alike || can_turn(file, XFORM_ROTATE_90) ==
                           (coding.height % (8 * (unsigned)v) == 0),
              "rows");
        CHECK(can_turn(file, XFORM_TRANSPOSE), "neither");
        check_all(file);
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
    owned_bytes file = make_jpeg(&coding);
    for (EACH_TURN(t)) {
        owned_bytes made = turned(file, t);
        owned_plain_jpeg *a = plain_jpeg_read(file, 0);
        owned_plain_jpeg *b = plain_jpeg_read(made, 0);
        CHECK(plain_jpeg_is_turned(a, b, 1, t), "%s", xform_name(t));
        CHECK((b->d.coef_bits[0][63] == 0) == (oracle[t].xy != 0) &&
                  b->d.coef_bits[0][1] == 0,
              "%s: bits", xform_name(t));
    }
}

TEST(colors)
{
    static const J_COLOR_SPACE spaces[] = { JCS_GRAYSCALE, JCS_RGB, JCS_CMYK,
                                            JCS_YCCK };
    for (unsigned i = 0; i < 8; i++) {
        struct coding coding = { WIDE, HIGH, spaces[i / 2], .h = 1 };
        coding.progressive = i % 2;
        owned_bytes file = make_jpeg(&coding);
        if (coding.space == JCS_YCCK)
            add_segment(&file, NULL, 0xee, "Adobe\0\x64\0\0\0\0\2", 12);
        test_case("space %d, progressive %d", (int)coding.space, i % 2);
        check_all(file);
    }
}

/* ---- What headers say -----------------------------------------------------*/

/* WIDE x HIGH of 2x2 are 12 x 6 MCUs: what DRI says, 0 if nothing, before and
 * after a turn. */
TEST(restart)
{
    static const unsigned intervals[][2] = { { 12, 6 }, { 36, 18 }, { 5, 5 },
                                             { 1, 1 },  { 7, 7 },   { 0, 0 } };
    for (unsigned i = 0; i < COUNT(intervals); i++) {
        struct coding coding = coding_of(3, 1, WIDE, HIGH);
        coding.restart = intervals[i][0];
        owned_bytes file = make_jpeg(&coding);
        owned_bytes made = turned(file, XFORM_ROTATE_90);
        const size_t at = find_marker(made, 0, 0xdd, 0xdd);
        const unsigned is = at < made.size ? read_be16(made.data + at + 4) : 0;
        CHECK(is == intervals[i][1], "%u: %u", intervals[i][0], is);
    }
}

/* The marker of the frame of a turned file. */
static unsigned frame_of(struct bytes file)
{
    owned_bytes made = turned(file, XFORM_ROTATE_90);
    const unsigned marker = made.data[find_marker(made, 0, 0xc0, 0xc2) + 1];
    return marker;
}

TEST(frame)
{
    struct coding coding = coding_of(3, 0, WIDE, HIGH);
    struct bytes file = make_jpeg(&coding);
    CHECK(frame_of(file) == 0xc0, "%x", frame_of(file));
    file.data[find_marker(file, 0, 0xc0, 0xc0) + 1] = 0xc1;
    check_all(file);
    CHECK(frame_of(file) == 0xc1, "%x", frame_of(file));
    bytes_free(&file);
    coding.quality = 1; /* steps of 16 bits */
    coding.standard = false;
    file = make_jpeg(&coding);
    check_all(file);
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
    owned_bytes file = make_jpeg(&coding);
    for (unsigned id = 0; id <= 2; id++) {
        owned_bytes other = make_jpeg(&coding);
        call_alike(other, (uint8_t)id);
        for (EACH_TURN(t)) {
            owned_bytes made = turned(other, t);
            check_turned(file, made, t);
        }
    }
}

/* ---- Trimmed --------------------------------------------------------------*/

/* What is left are the blocks at the top left. */
TEST(trim)
{
    const struct decode_plan plan = { .width = WIDE, .height = HIGH };
    for (unsigned s = 0; s < JPEG_SAMPLINGS; s++) {
        struct coding coding = coding_of(s, s % 7, WIDE + 5, HIGH + 7);
        owned_bytes file = make_jpeg(&coding);
        owned_bytes cut = turned_as(file, XFORM_NONE, &plan);
        owned_bytes made = turned_as(file, XFORM_ROTATE_90, &plan);
        test_case("%s", jpeg_samplings[s].name);
        check_turned(cut, made, XFORM_ROTATE_90);
        owned_plain_jpeg *a = plain_jpeg_read(file, 0);
        owned_plain_jpeg *b = plain_jpeg_read(cut, 0);
        CHECK(b->d.image_width == WIDE && b->d.image_height == HIGH, "%u x %u",
              b->d.image_width, b->d.image_height);
        CHECK(plain_jpeg_is_turned(a, b, 3, XFORM_NONE), "other blocks");
    }
}
