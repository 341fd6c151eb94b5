/* Pictures that an engine turns, or makes samples of. */
#include "tests/support/scan_trials.h"

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/pairwise.h"

enum { PICTURES = 64, SCANS = 4 * PICTURES, INPUT = 32 << 20 };

/* A batch: pictures that have been read, and whose scans the engine has. */
struct trial {
    const struct scan_engine_type *type;
    struct scan_engine *engine;
    struct picture {
        char name[80];
        struct coding coding;
        enum xform turn;
        struct bytes file, here; /* and what is made on the CPU, or {0} */
        struct fixture *f;
    } picture[PICTURES];
    unsigned pictures;
    struct scan_job job[SCANS];
    struct scan_turn *scan[SCANS];
    unsigned of[SCANS]; /* the number of its picture */
    unsigned scans;
    unsigned refused; /* of all batches */
    size_t used;      /* of the input */
};

static bool begin(void *context, struct scan_turn *scans, unsigned count)
{
    struct trial *trial = context;
    for (unsigned i = 0; i < count; i++) {
        struct scan_turn *s = &scans[i];
        const struct scan_engine *engine = trial->engine;
        trial->used = (trial->used + SCAN_ALIGNMENT - 1) / SCAN_ALIGNMENT *
                      SCAN_ALIGNMENT;
        must(trial->scans < SCANS &&
             trial->used + s->coded.size <= engine->room);
        memcpy(engine->input + trial->used, s->coded.data, s->coded.size);
        trial->scan[trial->scans] = s;
        trial->of[trial->scans] = trial->pictures;
        trial->job[trial->scans++] = (struct scan_job){
            .of = *s,
            .at = trial->used,
            .size = s->coded.size,
        };
        trial->used += s->coded.size;
    }
    return true;
}

static struct trial *begin_trial(const struct scan_engine_type *type)
{
    const struct scan_engine_opts opts = { .input = INPUT };
    struct trial *trial = calloc(1, sizeof *trial);
    struct err err;
    must(trial && type->open(&trial->engine, &opts, &err) == 0);
    trial->type = type;
    return trial;
}

/* ---- Comparison ---------------------------------------------------------- */

/* Returns cell c, x, y of what was made. */
static const uint8_t *made_at(const struct image *img, unsigned c, uint32_t x,
                              uint32_t y)
{
    const size_t cell = cell_size(img->pixels.device.cell);
    const bool pixels = img->pixels.device.packing == PACKING_PIXELS;
    const struct plane *plane = &img->plane[pixels ? 0 : c];
    const uint8_t *row = plane->data + y * plane->stride;
    return row + cell * (pixels ? (size_t)x * img->nplanes + c : x);
}

static bool is_sample(const struct image *img, const uint8_t *cell,
                      unsigned want)
{
    const float as_float = (float)(want / 255.0);
    return img->pixels.device.cell == CELL_F32 ? memcmp(cell, &as_float, 4) == 0
                                               : *cell == want;
}

/* Compares with what libjpeg makes, turned by the oracle. */
static void compare(const struct picture *p)
{
    const struct image *img = &p->f->img;
    const bool to_rgb = p->coding.space == JCS_YCbCr;
    const bool exchanges = oracle[p->turn].xy != 0;
    owned_decoded want =
        libjpeg_decode(p->file, to_rgb ? JCS_RGB : JCS_UNKNOWN);
    unsigned wrong = 0;
    CHECK(img->width == (exchanges ? p->coding.height : p->coding.width) &&
              img->height == (exchanges ? p->coding.width : p->coding.height),
          "%u x %u", img->width, img->height);
    for (uint32_t y = 0; y < img->height; y++)
        for (uint32_t x = 0; x < img->width; x++)
            for (unsigned c = 0; c < img->nplanes; c++) {
                uint32_t sx, sy;
                turn_source(p->turn, p->coding.width, p->coding.height, x, y,
                            &sx, &sy);
                wrong += !is_sample(img, made_at(img, c, x, y),
                                    decoded_at(&want, c, sx, sy));
            }
    CHECK(wrong == 0, "%s, %u x %u, %s, packing %d of cells %d: %u wrong",
          p->name, p->coding.width, p->coding.height, xform_name(p->turn),
          img->pixels.device.packing, img->pixels.device.cell, wrong);
}

/* Runs the batch, and empties it. */
static void end_batch(struct trial *trial)
{
    struct err err;
    must(trial->type->run(trial->engine, trial->job, trial->scans, &err) == 0);
    const uint8_t *output = trial->engine->output;
    for (unsigned i = 0; i < trial->scans; i++) {
        const struct scan_job *job = &trial->job[i];
        struct picture *p = &trial->picture[trial->of[i]];
        trial->scan[i]->turned =
            (struct bytes){ (uint8_t *)output + job->out, job->out_size, 0 };
        trial->refused += job->result != SCAN_TURNED;
        if (job->result == SCAN_TURNED && job->of.pixels) {
            scan_turner_take_samples(&p->f->img);
            compare(p);
        }
    }
    for (unsigned i = 0; i < trial->pictures; i++) {
        struct picture *p = &trial->picture[i];
        if (p->here.size) {
            fixture_write(p->f);
            CHECK(same_bytes(p->f->made, p->here), "%s: %zu bytes, not %zu",
                  p->name, p->f->made.size, p->here.size);
        }
        fixture_free(p->f);
        bytes_free(&p->file);
        bytes_free(&p->here);
    }
    trial->pictures = trial->scans = 0;
    trial->used = 0;
}

static void end_trial(struct trial *trial, unsigned refused)
{
    end_batch(trial);
    CHECK(trial->refused == refused, "%u are refused", trial->refused);
    trial->type->close(trial->engine);
    free(trial);
}

/* Reads a picture, whose file the trial frees, as `like` says. Its scans are
 * offered to the engine. */
static struct fixture *add_picture(struct trial *trial, struct picture like,
                                   const struct decode_plan *plan,
                                   bool portable)
{
    const struct scan_turner turner = { .begin = begin,
                                        .context = trial,
                                        .samples = true };
    struct fixture *f = fixture_new(&codec_jpeg);
    f->load.portable = portable;
    f->plan = *plan;
    f->plan.scan_turner = &turner;
    fixture_read(f, like.file);
    like.turn = plan->turn;
    like.f = f;
    trial->picture[trial->pictures] = like;
    return f;
}

static void end_picture(struct trial *trial)
{
    if (++trial->pictures == PICTURES)
        end_batch(trial);
}

/* ---- Pictures that become JPEG again ------------------------------------- */

/* Turns a file by an engine, which takes so many of its scans, and on the CPU.
 */
static void turn_as_here(struct trial *trial, const char *name,
                         struct bytes file, enum representation representation,
                         enum xform t, unsigned scans)
{
    const struct decode_plan plan = { .representation = representation,
                                      .turn = t };
    const unsigned before = trial->scans;
    struct picture like = { .file = file };
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan = plan;
    like.here = fixture_turned(f, file);
    snprintf(like.name, sizeof like.name, "%s, %s", name, xform_name(t));
    f = add_picture(trial, like, &plan, false);
    CHECK(trial->scans - before == scans, "%s: %u scans of %u", like.name,
          trial->scans - before, scans);
    if (scans == 0)
        turn_image(&f->img, t);
    end_picture(trial);
}

static const struct {
    const char *name;
    unsigned scans; /* that are taken if all components are made anew */
    struct coding coding;
} kinds[] = {
    { "gray", 1, { .space = JCS_GRAYSCALE } },
    { "4:4:4", 1, YCC_OF(.h = 1) },
    { "4:2:0", 1, YCC_OF(.h = 2, .v = 2) },
    { "4:2:2, restarts", 1, YCC_OF(.h = 2, .restart = 4) },
    { "4:4:0", 1, YCC_OF(.v = 2, .restart = 7) },
    { "4:1:1", 1, YCC_OF(.h = 4) },
    { "4:2:0, coarse", 1, YCC_OF(.h = 2, .v = 2, .quality = 20) },
    { "4:4:4, coarse", 1, YCC_OF(.quality = 5) },
    { "unlike chroma", 1,
      YCC_OF(.h = 2, .v = 2, .others = { { 1, 2 }, { 2, 1 } }) },
    { "RGB", 1, { .space = JCS_RGB, .quality = 30 } },
    { "CMYK", 1, { .space = JCS_CMYK } },
    { "YCCK", 1, { .space = JCS_YCCK, .h = 2, .v = 2 } },
    { "scans of one", 0, YCC_OF(.h = 2, .v = 2, SCANS_ALONE) },
};
enum { KINDS = COUNT(kinds) };

static struct bytes make_kind(unsigned k, uint32_t width, uint32_t height)
{
    const struct coding coding = sized(kinds[k].coding, width, height);
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
    struct trial *trial = begin_trial(type);
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < COUNT(sizes); i++)
            for (int t = i == 4 ? 5 : 0; t < last_turn(k, i == 4); t++)
                if (is_tried(k + i, t))
                    turn_as_here(trial, kinds[k].name,
                                 make_kind(k, sizes[i][0], sizes[i][1]),
                                 REPRESENTATION_PLANES, t, kinds[k].scans);
    end_trial(trial, 0);
}

void samples_trial_realigned(const struct scan_engine_type *type)
{
    static const uint32_t sizes[][2] = { { 104, 72 }, { 8, 8 }, { 200, 120 } };
    struct trial *trial = begin_trial(type);
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < COUNT(sizes); i++)
            for (EACH_TURN(t))
                if (is_tried(k + i, t))
                    turn_as_here(trial, kinds[k].name,
                                 make_kind(k, sizes[i][0], sizes[i][1]),
                                 REPRESENTATION_REALIGNED, t,
                                 kinds[k].scans ? 1 : 3);
    end_trial(trial, 0);
}

/* ---- Pictures of which samples are made -----------------------------------
 */

/* Offers a picture, whose file it frees. */
static void offer(struct trial *trial, const char *name,
                  const struct coding *coding, struct bytes file,
                  const struct decode_plan *plan)
{
    const unsigned before = trial->scans;
    struct picture like = { .coding = *coding, .file = file };
    snprintf(like.name, sizeof like.name, "%s", name);
    add_picture(trial, like, plan, true);
    CHECK(trial->scans == before + 1, "not offered");
    end_picture(trial);
}

/* Packings and cells in turns. */
static struct decode_plan plan_of(unsigned i)
{
    return (struct decode_plan){
        .packing = (enum packing)(i % 3),
        .cell = i / 3 % 2 && i % 3 ? CELL_F32 : CELL_U8,
        .turn = (enum xform)(i / 6 % XFORM_COUNT),
    };
}

/* All of YCbCr, and other spaces. */
static const struct coding others[] = {
    { .space = JCS_GRAYSCALE },
    { .space = JCS_GRAYSCALE, .h = 2, .v = 2 },
    { .space = JCS_RGB },
};
enum { SAMPLINGS = JPEG_SAMPLINGS + COUNT(others) };

static void offer_sampling(struct trial *trial, unsigned k, uint32_t width,
                           uint32_t height, unsigned i)
{
    const struct decode_plan plan = plan_of(i);
    struct coding coding = k < JPEG_SAMPLINGS ? sampled(k, width, height)
                                              : others[k - JPEG_SAMPLINGS];
    coding = sized(coding, width, height);
    coding.restart = i % 5 == 0 ? 3 : 0;
    offer(trial, k < JPEG_SAMPLINGS ? jpeg_samplings[k].name : "other", &coding,
          make_noisy_jpeg(&coding, 20 + i % 40), &plan);
}

void pixels_trial_samplings(const struct scan_engine_type *type)
{
    const bool few = !tests_are_whole();
    struct trial *trial = begin_trial(type);
    unsigned i = 0;
    for (unsigned k = 0; k < SAMPLINGS; k++) {
        for (unsigned way = few ? k % 5 : 0; way < 6 * XFORM_COUNT;
             way += few ? 5 : 1)
            offer_sampling(trial, k, 71, 53, way);
        for (uint32_t n = 1; n <= 24; n++)
            offer_sampling(trial, k, n, 1 + n * 7 % 40, i++);
    }
    end_trial(trial, 0);
}

/* Several tiles. Where all blocks have the same tables, as those of RGB,
 * guesses of which one of an MCU comes next are never put right: an engine
 * refuses such a picture if it is large. */
void pixels_trial_large(const struct scan_engine_type *type)
{
    const unsigned step = tests_are_whole() ? 5 : 17;
    struct trial *trial = begin_trial(type);
    for (unsigned k = 0; k < SAMPLINGS; k++)
        for (unsigned way = k % step;
             k != SAMPLINGS - 1 && way < 6 * XFORM_COUNT; way += step)
            offer_sampling(trial, k, way % 2 ? 333 : 128, way % 3 ? 257 : 192,
                           way);
    end_trial(trial, 0);
}

void pixels_trial_long_steps(const struct scan_engine_type *type)
{
    struct trial *trial = begin_trial(type);
    const struct decode_plan plan = { .packing = PACKING_PIXELS };
    for (int quality = 5; quality <= 100; quality += 5) {
        struct coding coding = { 40, 40, JCS_YCbCr, .h = 2, .v = 2 };
        coding.quality = quality;
        struct bytes file = make_noisy_jpeg(&coding, 250);
        if (quality % 10)
            jpeg_lengthen_steps(file);
        offer(trial, "long steps", &coding, file, &plan);
    }
    end_batch(trial);
    CHECK(trial->refused > 2 && trial->refused < 12, "%u are refused",
          trial->refused);
    end_trial(trial, trial->refused);
}

void pixels_trial_out_of_range(const struct scan_engine_type *type)
{
    struct trial *trial = begin_trial(type);
    const struct decode_plan plan = { .packing = PACKING_PIXELS };
    const struct coding coding = { 16, 16, JCS_GRAYSCALE, .h = 1, .v = 1 };
    for (int white = 0; white <= 255; white += 255)
        for (uint8_t step = 4; step <= 5; step++)
            offer(trial, "plain", &coding,
                  make_plain_jpeg(coding.width, (uint8_t)white, step), &plan);
    end_trial(trial, 2);
}

void pixels_trial_mixed(const struct scan_engine_type *type)
{
    struct trial *trial = begin_trial(type);
    for (unsigned i = 0; i < 48; i++) {
        const enum representation as[] = { REPRESENTATION_SAMPLES,
                                           REPRESENTATION_PLANES,
                                           REPRESENTATION_COEFFICIENTS };
        struct decode_plan plan = plan_of(i);
        struct coding coding = { 96, 64, JCS_YCbCr, .h = 2, .v = 2 };
        plan.representation = as[i % 3];
        offer(trial, "mixed", &coding, make_noisy_jpeg(&coding, 30), &plan);
    }
    end_trial(trial, 0);
}
