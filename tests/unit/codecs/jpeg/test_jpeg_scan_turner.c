/* Scans that are turned elsewhere: the file is the one that is made here. */
#include "codecs/image/scan_turner.h"

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/scan_jobs.h"

/* ---- A turner ----------------------------------------------------------- */

struct elsewhere {
    struct bytes made[4];
    unsigned scans; /* how many it has turned, or was asked for */
    bool refuses;
    bool samples; /* asked with components that go through samples */
};

static bool begin(void *context, struct scan_turn *scans, unsigned count)
{
    struct elsewhere *e = context;
    must(count <= 4);
    e->samples = scans->samples != NULL;
    for (unsigned i = 0; i < count; i++, e->scans++) {
        struct scan_turn *s = &scans[i];
        if (e->refuses)
            continue;
        must(host_turn(&e->made[i], s->to, s->from, s->turn, s->optimize,
                       s->coded));
        s->turned =
            (struct bytes){ .data = e->made[i].data, .size = e->made[i].size };
    }
    return !e->refuses;
}

/* ---- A file on its way -------------------------------------------------- */

static const struct turner anything = { .parallel = true };

/* Reads and writes a file, with a turner of scans or without. */
static struct bytes turn_file(struct bytes file, const struct decode_plan *plan,
                              const struct save_opts *save,
                              const struct scan_turner *turner)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan = *plan;
    f->plan.turner = &anything;
    f->plan.scan_turner = turner;
    f->save = *save;
    f->save.warnings = &f->warnings;
    fixture_read(f, file);
    CHECK(f->img.turned == plan->turn && !f->img.pixels.rows.cells,
          "it is not turned");
    fixture_write(f);
    return fixture_take_made(f);
}

/* `scans` are turned there, if it does not refuse. */
static void check_same(struct bytes file, struct decode_plan plan,
                       struct save_opts save, unsigned scans, bool refuses)
{
    struct elsewhere e = { .refuses = refuses };
    const struct scan_turner turner = {
        .begin = begin,
        .context = &e,
        .optimize = save.optimize,
        .no_restart = save.no_restart,
    };
    plan.representation = REPRESENTATION_COEFFICIENTS;
    owned_bytes here = turn_file(file, &plan, &save, NULL);
    owned_bytes there = turn_file(file, &plan, &save, &turner);
    CHECK(e.scans == scans, "%u scans of %u", e.scans, scans);
    CHECK(same_bytes(here, there), "%zu bytes, not %zu", there.size, here.size);
    for (unsigned i = 0; i < 4; i++)
        bytes_free(&e.made[i]);
}

/* ---- Tests -------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned scans;
    struct coding coding;
} kinds[] = {
    { "gray", 1, { .space = JCS_GRAYSCALE } },
    { "4:2:0", 1, YCC_OF(.h = 2, .v = 2) },
    { "4:2:2, restarts", 1, YCC_OF(.h = 2, .restart = 4) },
    { "standard tables", 1, YCC_OF(.standard = true) },
    { "CMYK", 1, { .space = JCS_CMYK } },
    { "scans of one", 3, YCC_OF(.h = 2, SCANS_ALONE) },
};

static struct bytes make_kind(unsigned k, uint32_t width, uint32_t height)
{
    const struct coding coding = sized(kinds[k].coding, width, height);
    return make_noisy_jpeg(&coding, 20);
}

/* As it is, in other ways to write, and trimmed. */
TEST(same_file)
{
    static const struct save_opts saves[] = { { 0 },
                                              { .optimize = true },
                                              { .no_restart = true } };
    for (unsigned k = 0; k < COUNT(kinds); k++) {
        owned_bytes file = make_kind(k, 96, 64), odd = make_kind(k, 103, 77);
        for (EACH_TURN(t)) {
            struct decode_plan plan = { .turn = t };
            test_case("%s, %s", kinds[k].name, xform_name(t));
            for (unsigned i = 0; i < COUNT(saves); i++)
                check_same(file, plan, saves[i], kinds[k].scans, false);
            plan.width = 96;
            plan.height = 64;
            check_same(odd, plan, saves[0], kinds[k].scans, false);
        }
    }
}

/* What it refuses is done here. */
TEST(refused)
{
    const struct decode_plan plan = { .turn = XFORM_ROTATE_90 };
    owned_bytes file = make_kind(1, 96, 64);
    check_same(file, plan, (struct save_opts){ 0 }, 1, true);
}

/* Offers a picture, which it frees, to a turner that refuses. */
static struct elsewhere ask(struct bytes file, struct decode_plan plan,
                            bool takes_samples, bool sound)
{
    struct elsewhere e = { .refuses = true };
    const struct scan_turner turner = { .begin = begin,
                                        .context = &e,
                                        .samples = takes_samples };
    owned_fixture *f = fixture_new(&codec_jpeg);
    f->plan = plan;
    f->plan.scan_turner = &turner;
    CHECK(!fixture_decode(f, file) == sound, "%s", f->err.text);
    CHECK(!f->img.pixels.rows.cells == !sound, "samples or not");
    if (sound) {
        turn_image(&f->img, plan.turn);
        fixture_write(f);
    }
    bytes_free(&file);
    return e;
}

/* What is no sequential file of coefficients is not offered. */
TEST(not_offered)
{
    const struct coding progressive = {
        .width = 96, .height = 64, .space = JCS_YCbCr, .progressive = true
    };
    const struct decode_plan plan = { .representation =
                                          REPRESENTATION_COEFFICIENTS,
                                      .turner = &anything };
    struct bytes cut = make_kind(1, 96, 64);
    cut.size -= 200;
    CHECK(ask(make_jpeg(&progressive), plan, false, true).scans == 0, "it is");
    CHECK(ask(cut, plan, false, false).scans == 0, "a cut one is");
}

/* Pictures that go through samples are offered to devices that take them, and
 * else done here. */
TEST(samples)
{
    const struct coding coding = { 103, 77, JCS_YCbCr, .h = 2, .v = 2 };
    struct decode_plan plan = { .turn = XFORM_ROTATE_90 };
    for (int r = REPRESENTATION_PLANES; r <= REPRESENTATION_REALIGNED; r++) {
        plan.representation = (enum representation)r;
        struct elsewhere e = ask(make_jpeg(&coding), plan, true, true);
        CHECK(e.scans == 1 && e.samples, "%d: %u scans", r, e.scans);
        e = ask(make_jpeg(&coding), plan, false, true);
        CHECK(e.scans == 0, "%d", r);
    }
}
