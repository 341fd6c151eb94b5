/* Pictures that go through samples, turned by an engine. */
#include "tests/support/scan_trials.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "tests/support/compare.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/pairwise.h"
#include "tests/support/test.h"

enum { PICTURES = 64, SCANS = 4 * PICTURES, INPUT = 8 << 20 };

/* A batch: pictures that have been read, and whose scans the engine has. */
struct trial {
    const struct scan_engine_type *type;
    struct scan_engine *engine;
    enum representation representation;
    struct picture {
        char name[80];
        struct bytes file, here; /* and what is made on the CPU */
        struct fixture *f;
    } picture[PICTURES];
    unsigned pictures;
    struct scan_job job[SCANS];
    struct scan_turn *scan[SCANS];
    unsigned scans;
    size_t used; /* of the input */
};

static bool begin(void *context, struct scan_turn *scans, unsigned count)
{
    struct trial *trial = context;
    for (unsigned i = 0; i < count; i++) {
        struct scan_turn *s = &scans[i];
        size_t room;
        uint8_t *input = trial->type->input(trial->engine, &room);
        trial->used = (trial->used + SCAN_ALIGNMENT - 1) / SCAN_ALIGNMENT *
                      SCAN_ALIGNMENT;
        must(trial->scans < SCANS && trial->used + s->coded.size <= room);
        memcpy(input + trial->used, s->coded.data, s->coded.size);
        trial->scan[trial->scans] = s;
        trial->job[trial->scans++] = (struct scan_job){
            .from = s->from,
            .to = s->to,
            .turn = s->turn,
            .optimize = s->optimize,
            .samples = s->samples,
            .at = trial->used,
            .size = s->coded.size,
        };
        trial->used += s->coded.size;
    }
    return true;
}

/* ---- Pictures ------------------------------------------------------------ */

static struct fixture *read_picture(const struct trial *trial,
                                    struct bytes file, enum xform t,
                                    const struct scan_turner *turner)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan.representation = trial->representation;
    f->plan.turn = t;
    f->plan.scan_turner = turner;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    return f;
}

/* What is made on the CPU. */
static struct bytes make_here(const struct trial *trial, struct bytes file,
                              enum xform t)
{
    struct fixture *f = read_picture(trial, file, t, NULL);
    turn_image(&f->img, t);
    CHECK(!fixture_encode(f), "%s", f->err.text);
    return fixture_take_made(f);
}

static void end_batch(struct trial *trial)
{
    struct err err;
    must(trial->type->run(trial->engine, trial->job, trial->scans, &err) == 0);
    const uint8_t *output = trial->type->output(trial->engine);
    for (unsigned i = 0; i < trial->scans; i++) {
        const struct scan_job *job = &trial->job[i];
        CHECK(job->result == SCAN_TURNED, "scan %u is refused", i);
        if (job->result == SCAN_TURNED)
            trial->scan[i]->turned =
                (struct bytes){ (uint8_t *)output + job->out, job->out_size,
                                0 };
    }
    for (unsigned i = 0; i < trial->pictures; i++) {
        struct picture *p = &trial->picture[i];
        CHECK(!fixture_encode(p->f), "%s", p->f->err.text);
        CHECK(same_bytes(p->f->made, p->here), "%s: %zu bytes, not %zu",
              p->name, p->f->made.size, p->here.size);
        fixture_free(p->f);
        bytes_free(&p->file);
        bytes_free(&p->here);
    }
    trial->pictures = trial->scans = 0;
    trial->used = 0;
}

static void add_picture(struct trial *trial, const char *name,
                        struct bytes file, enum xform t, unsigned scans)
{
    const struct scan_turner turner = { .begin = begin,
                                        .context = trial,
                                        .samples = true };
    struct picture *p = &trial->picture[trial->pictures];
    const unsigned before = trial->scans;
    p->file = file;
    p->here = make_here(trial, file, t);
    p->f = read_picture(trial, file, t, &turner);
    snprintf(p->name, sizeof p->name, "%s, %s", name, xform_name(t));
    CHECK(trial->scans - before == scans, "%s: %u scans of %u", p->name,
          trial->scans - before, scans);
    if (scans == 0)
        turn_image(&p->f->img, t);
    if (++trial->pictures == PICTURES)
        end_batch(trial);
}

static struct trial *begin_trial(const struct scan_engine_type *type,
                                 enum representation representation)
{
    const struct scan_engine_opts opts = { .input = INPUT };
    struct trial *trial = calloc(1, sizeof *trial);
    struct err err;
    must(trial && type->open(&trial->engine, &opts, &err) == 0);
    trial->type = type;
    trial->representation = representation;
    return trial;
}

static void end_trial(struct trial *trial)
{
    end_batch(trial);
    trial->type->close(trial->engine);
    free(trial);
}

/* ---- Kinds of files ------------------------------------------------------ */

static const jpeg_scan_info alone[] = { { 1, { 1 }, 0, 63, 0, 0 },
                                        { 1, { 0 }, 0, 63, 0, 0 },
                                        { 1, { 2 }, 0, 63, 0, 0 } };

static const struct {
    const char *name;
    unsigned scans; /* that are taken if all components are made anew */
    struct coding coding;
} kinds[] = {
    { "gray", 1, { .space = JCS_GRAYSCALE } },
    { "4:4:4", 1, { .space = JCS_YCbCr } },
    { "4:2:0", 1, { .space = JCS_YCbCr, .h = 2, .v = 2 } },
    { "4:2:2, restarts", 1, { .space = JCS_YCbCr, .h = 2, .restart = 4 } },
    { "4:4:0", 1, { .space = JCS_YCbCr, .v = 2, .restart = 7 } },
    { "4:1:1", 1, { .space = JCS_YCbCr, .h = 4 } },
    { "4:2:0, coarse",
      1,
      { .space = JCS_YCbCr, .h = 2, .v = 2, .quality = 20 } },
    { "4:4:4, coarse", 1, { .space = JCS_YCbCr, .quality = 5 } },
    { "unlike chroma",
      1,
      { .space = JCS_YCbCr,
        .h = 2,
        .v = 2,
        .others = { { 1, 2 }, { 2, 1 } } } },
    { "RGB", 1, { .space = JCS_RGB, .quality = 30 } },
    { "CMYK", 1, { .space = JCS_CMYK } },
    { "YCCK", 1, { .space = JCS_YCCK, .h = 2, .v = 2 } },
    { "scans of one",
      0,
      { .space = JCS_YCbCr, .h = 2, .v = 2, .scan = alone, .scans = 3 } },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct bytes make_kind(unsigned k, uint32_t width, uint32_t height)
{
    struct coding coding = kinds[k].coding;
    coding.width = width;
    coding.height = height;
    return make_noisy_jpeg(&coding, 20);
}

/* Where all blocks have the same tables, guesses of which one of an MCU comes
 * next are never put right: an engine refuses such a picture if it is large. */
static int last_turn(unsigned k, bool large)
{
    return large && kinds[k].coding.space == JCS_CMYK ? 0 : XFORM_COUNT;
}

/* Each picture goes through every third turn if not WHOLE=1. */
static bool is_tried(unsigned picture, int t)
{
    return tests_are_whole() || (picture + (unsigned)t) % 3 == 0;
}

void samples_trial_anew(const struct scan_engine_type *type)
{
    static const uint32_t sizes[][2] = {
        { 103, 77 }, { 1, 1 }, { 16, 33 }, { 5, 40 }, { 300, 227 }
    };
    struct trial *trial = begin_trial(type, REPRESENTATION_PLANES);
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int t = i == 4 ? 5 : 0; t < last_turn(k, i == 4); t++)
                if (is_tried(k + i, t))
                    add_picture(trial, kinds[k].name,
                                make_kind(k, sizes[i][0], sizes[i][1]),
                                (enum xform)t, kinds[k].scans);
    end_trial(trial);
}

void samples_trial_realigned(const struct scan_engine_type *type)
{
    static const uint32_t sizes[][2] = { { 104, 72 }, { 8, 8 }, { 200, 120 } };
    struct trial *trial = begin_trial(type, REPRESENTATION_REALIGNED);
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int t = 0; t < XFORM_COUNT; t++)
                if (is_tried(k + i, t))
                    add_picture(trial, kinds[k].name,
                                make_kind(k, sizes[i][0], sizes[i][1]),
                                (enum xform)t, kinds[k].scans ? 1 : 3);
    end_trial(trial);
}
