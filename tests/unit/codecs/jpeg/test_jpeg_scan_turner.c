/* Scans that are turned elsewhere: the file is the one that is made here. */
#include <string.h>

#include "codecs/codec.h"
#include "codecs/jpeg/entropy/scan_turner.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/scan_jobs.h"
#include "tests/support/test.h"

/* ---- A turner ----------------------------------------------------------- */

struct elsewhere {
    struct bytes made[4];
    unsigned scans; /* how many it has turned */
    bool refuses;
};

static bool begin(void *context, struct scan_turn *scans, unsigned count)
{
    struct elsewhere *e = context;
    must(count <= 4);
    for (unsigned i = 0; i < count && !e->refuses; i++) {
        struct scan_turn *s = &scans[i];
        must(host_turn(&e->made[i], s->to, s->from, s->turn, s->optimize,
                       s->coded));
        s->turned =
            (struct bytes){ .data = e->made[i].data, .size = e->made[i].size };
        e->scans++;
    }
    return !e->refuses;
}

static void forget(struct elsewhere *e)
{
    for (unsigned i = 0; i < 4; i++)
        bytes_free(&e->made[i]);
    *e = (struct elsewhere){ .refuses = e->refuses };
}

/* ---- A file on its way -------------------------------------------------- */

static const struct turner anything = { .parallel = true };

/* Reads and writes a file, with a turner of scans or without. */
static struct bytes turn_file(struct bytes file, struct decode_plan plan,
                              struct save_opts save,
                              const struct scan_turner *turner)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    plan.turner = &anything;
    plan.scan_turner = turner;
    save.warnings = &f->warnings;
    f->plan = plan;
    f->save = save;
    bool turned = !fixture_decode(f, file) && f->img.turned == plan.turn;
    CHECK(turned, "%s", f->err.text);
    CHECK(!turned || (f->img.pixels.rows.cells == NULL && !fixture_encode(f)),
          "%s", f->err.text);
    return fixture_take_made(f);
}

static void check_same(const char *name, struct bytes file,
                       struct decode_plan plan, struct save_opts save,
                       unsigned scans)
{
    struct elsewhere e = { .refuses = scans == 0 };
    const struct scan_turner turner = {
        .begin = begin,
        .context = &e,
        .optimize = save.optimize,
        .no_restart = save.no_restart,
    };
    struct bytes here = turn_file(file, plan, save, NULL);
    struct bytes there = turn_file(file, plan, save, &turner);
    CHECK(e.scans == scans, "%s: %u scans of %u", name, e.scans, scans);
    CHECK(same_bytes(here, there), "%s, turn %d: %zu bytes, not %zu", name,
          plan.turn, there.size, here.size);
    bytes_free(&here);
    bytes_free(&there);
    forget(&e);
}

/* ---- Tests -------------------------------------------------------------- */

static const jpeg_scan_info alone[] = {
    { 1, { 2 }, 0, 63, 0, 0 },
    { 1, { 0 }, 0, 63, 0, 0 },
    { 1, { 1 }, 0, 63, 0, 0 },
};

static const struct {
    const char *name;
    unsigned scans;
    struct coding coding;
} kinds[] = {
    { "gray", 1, { .space = JCS_GRAYSCALE } },
    { "4:2:0", 1, { .space = JCS_YCbCr, .h = 2, .v = 2 } },
    { "4:2:2, restarts", 1, { .space = JCS_YCbCr, .h = 2, .restart = 4 } },
    { "standard tables", 1, { .space = JCS_YCbCr, .standard = true } },
    { "CMYK", 1, { .space = JCS_CMYK } },
    { "scans of one",
      3,
      { .space = JCS_YCbCr, .h = 2, .scan = alone, .scans = 3 } },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct bytes make_kind(unsigned k, uint32_t width, uint32_t height)
{
    struct coding coding = kinds[k].coding;
    coding.width = width;
    coding.height = height;
    return make_noisy_jpeg(&coding, 20);
}

TEST(same_file)
{
    for (unsigned k = 0; k < KINDS; k++) {
        struct bytes file = make_kind(k, 96, 64);
        for (unsigned t = 0; t < XFORM_COUNT; t++) {
            struct decode_plan plan = {
                .representation = REPRESENTATION_COEFFICIENTS,
                .turn = (enum xform)t,
            };
            check_same(kinds[k].name, file, plan, (struct save_opts){ 0 },
                       kinds[k].scans);
            check_same(kinds[k].name, file, plan,
                       (struct save_opts){ .optimize = true }, kinds[k].scans);
            check_same(kinds[k].name, file, plan,
                       (struct save_opts){ .no_restart = true },
                       kinds[k].scans);
        }
        bytes_free(&file);
    }
}

TEST(trimmed)
{
    for (unsigned k = 0; k < KINDS; k++) {
        struct bytes file = make_kind(k, 103, 77);
        for (unsigned t = 0; t < XFORM_COUNT; t++) {
            struct decode_plan plan = {
                .representation = REPRESENTATION_COEFFICIENTS,
                .turn = (enum xform)t,
                .width = 96,
                .height = 64,
            };
            check_same(kinds[k].name, file, plan, (struct save_opts){ 0 },
                       kinds[k].scans);
        }
        bytes_free(&file);
    }
}

/* What it refuses is done here. */
TEST(refused)
{
    const struct decode_plan plan = {
        .representation = REPRESENTATION_COEFFICIENTS,
        .turn = XFORM_ROTATE_90,
    };
    struct bytes file = make_kind(1, 96, 64);
    check_same("refused", file, plan, (struct save_opts){ 0 }, 0);
    bytes_free(&file);
}

/* What is no sequential file of coefficients is not offered. */
static void check_not_offered(struct bytes file, bool sound)
{
    struct elsewhere e = { .refuses = false };
    const struct scan_turner turner = { .begin = begin, .context = &e };
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan = (struct decode_plan){
        .representation = REPRESENTATION_COEFFICIENTS,
        .turner = &anything,
        .scan_turner = &turner,
    };
    CHECK(!fixture_decode(f, file) == sound, "%s", f->err.text);
    CHECK(e.scans == 0 && !f->img.pixels.rows.cells == !sound, "%u scans",
          e.scans);
    fixture_free(f);
    bytes_free(&file);
}

TEST(not_offered)
{
    const struct coding progressive = {
        .width = 96, .height = 64, .space = JCS_YCbCr, .progressive = true
    };
    struct bytes cut = make_kind(1, 96, 64);
    cut.size -= 200;
    check_not_offered(make_jpeg(&progressive), true);
    check_not_offered(cut, false);
}

/* ---- Pictures that go through samples ------------------------------------ */

/* They are offered to devices that take them, and else done here. */
struct asked {
    unsigned scans;
    bool samples; /* with components that go through samples */
};

static bool ask_turner(void *context, struct scan_turn *scans, unsigned count)
{
    struct asked *asked = context;
    asked->scans += count;
    asked->samples = scans->samples != NULL;
    return false;
}

static struct asked ask(enum representation representation, bool takes)
{
    const struct coding coding = { 103, 77, JCS_YCbCr, .h = 2, .v = 2 };
    struct asked asked = { .scans = 0 };
    const struct scan_turner turner = { .begin = ask_turner,
                                        .context = &asked,
                                        .samples = takes };
    struct bytes file = make_jpeg(&coding);
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan.representation = representation;
    f->plan.turn = XFORM_ROTATE_90;
    f->plan.scan_turner = &turner;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    turn_image(&f->img, XFORM_ROTATE_90);
    CHECK(!fixture_encode(f), "%s", f->err.text);
    fixture_free(f);
    bytes_free(&file);
    return asked;
}

TEST(offered)
{
    for (int r = REPRESENTATION_PLANES; r <= REPRESENTATION_REALIGNED; r++) {
        struct asked asked = ask((enum representation)r, true);
        CHECK(asked.scans == 1 && asked.samples, "%d: %u scans", r,
              asked.scans);
        CHECK(ask((enum representation)r, false).scans == 0, "%d", r);
    }
}
