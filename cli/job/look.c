/* What is found of files beside writing one: what they hold, how two are
 * related, whether one is sound; with --verify, whether the output is, as a
 * library decodes it, the input as a library decodes it, turned; and with
 * --digest the digests of both, as they are shown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/job/stages.h"
#include "codecs/compare/compare.h"

/* ---- Whether the output is the input, turned ----------------------------- */

/* Returns whether samples of another format or depth are made. */
static bool converts(const struct job_state *state)
{
    return state->result->from != state->result->to || state->opts->depth;
}

/* The layout of an array that is made of a picture of another format. */
static enum layout made_layout(const struct options *opts)
{
    return opts->layout ? opts->layout : LAYOUT_HWC;
}

static int relate(struct relation *relation, struct job_state *state,
                  unsigned turns, struct err *err)
{
    const struct options *opts = state->opts;
    const struct result *result = state->result;
    const bool as_stored = opts->ignore_orientation && !opts->tag_only;
    struct coded_picture pair[] = {
        { .file = state->input.file,
          .codec = result->from,
          .layout = opts->layout,
          .as_stored = as_stored,
          .width = state->plan.decode.width,
          .height = state->plan.decode.height },
        { .file = state->output.file,
          .codec = result->to,
          .layout =
              result->to == result->from ? opts->layout : made_layout(opts),
          .as_stored = as_stored },
    };
    struct warnings unheard = { 0 };
    const uint64_t both = pair[0].file.size + pair[1].file.size;
    struct load_opts load = job_load_opts(state, both, &unheard);
    struct convert_opts convert = job_convert_opts(state);
    job_limit_compared(&load.limits, opts, both);
    convert.warnings = &unheard;
    load.pool = state->job->tools.pool;
    convert.mem = mem_plain;
    const struct convert_opts *how =
        converts(state) || result->to->kinds ? &convert : NULL;
    int status = relate_pictures(relation, pair, turns, &load, how, err);
    /* An array that tells its layout may not tell it any more once it is
     * turned. */
    const bool array = result->from == &codec_npy && result->to == &codec_npy;
    for (pair[1].layout = LAYOUT_HWC;
         array && !opts->layout && !relation->same &&
         pair[1].layout <= LAYOUT_CHW;
         pair[1].layout++)
        status = relate_pictures(relation, pair, turns, &load, how, err);
    return status;
}

enum {
    NEAR = 30,  /* dB: what no viewer would see at a glance */
    CLEARLY = 2 /* times the squares, which is 3 dB */
};

/* What was encoded anew is not the same, but near, or no other turn of the
 * input is clearly nearer: of a tiny picture of low quality chance decides by
 * how little one is. */
static bool is_near(const struct relation *relation, struct job_state *state)
{
    struct relation any;
    struct err unheard;
    if (!relation->fits)
        return false;
    if (state->result->how == HOW_LUMA_LOSSLESS)
        return relation->luma;
    if (difference_psnr(&relation->far) >= NEAR)
        return true;
    return relate(&any, state, ALL_TURNS, &unheard) == 0 && !any.same &&
           relation->far.square <= CLEARLY * any.far.square;
}

static bool may_differ(const struct job_state *state)
{
    const enum how how = state->result->how;
    const struct codec *to = state->result->to;
    return how == HOW_LUMA_LOSSLESS || how == HOW_REENCODED ||
           (converts(state) && (to->lossy || to->rounds));
}

static int refuse(const struct job_state *state, const char *why,
                  struct err *err)
{
    return fail(err,
                "--verify: what was made is not %s, so it was not written%s%s; "
                "this is a fault of gimgxf or of a library, please report it",
                state->opts->op == XFORM_NONE ? "the input"
                                              : "the input turned",
                *why ? ": " : "", why);
}

static int judge(struct job_state *state, const struct relation *relation,
                 struct err *err)
{
    struct verified *verified = &state->result->verified;
    char why[64] = "its size is another one";
    if (relation->unlike)
        return refuse(state, "its samples are of another kind", err);
    if (relation->first)
        warn(&state->result->warnings, "--verify looks only at the first frame "
                                       "of an animation");
    verified->same = relation->same != 0;
    verified->done =
        verified->same || (may_differ(state) && is_near(relation, state));
    if (relation->fits)
        verified->psnr = difference_psnr(&relation->far);
    if (verified->done)
        return 0;
    if (relation->fits)
        snprintf(why, sizeof why, "%.1f dB apart", verified->psnr);
    return refuse(state, why, err);
}

int job_verify(struct job_state *state, struct err *err)
{
    struct result *result = state->result;
    struct relation relation;
    struct err why;
    if (result->how == HOW_UNCHANGED) {
        result->verified = (struct verified){ .done = true, .same = true };
        return 0;
    }
    if (state->plan.within && result->from->arrays) {
        warn(&result->warnings, "--verify is for pictures: arrays that stay "
                                "arrays are not decoded again");
        return 0;
    }
    if (result->from->oriented) { /* whose new field has been read again */
        result->verified = (struct verified){ .done = true, .same = true };
        return 0;
    }
    if (relate(&relation, state, 1u << state->opts->op, &why) == 0)
        return judge(state, &relation, err);
    if (relation.undecoded == 1)
        return fail(err, "--verify: the library cannot decode the input: %s",
                    why.text);
    return refuse(state, why.text, err);
}

/* ---- Digests ------------------------------------------------------------- */

/* Decodes a file to what is closest to how it is stored. */
static int decode_closest(struct image *img, const struct codec *codec,
                          struct bytes file, const struct load_opts *load,
                          struct err *err)
{
    const struct decode_plan plan = {
        .representation = codec->closest == REPRESENTATION_SAMPLES
                              ? REPRESENTATION_SAMPLES
                              : REPRESENTATION_COEFFICIENTS
    };
    return codec_decode_file(codec, img, file, load, &plan, err);
}

/* Arrays have none, nor what is not decoded. Memory and work are those of a
 * file as large as input and output together: one may be much smaller than the
 * other. */
static int digest(char *text, struct job_state *state,
                  const struct codec *codec, struct bytes file, struct err *err)
{
    struct image img = { .meta = NULL };
    struct warnings unheard = { 0 };
    if (codec->arrays || codec->oriented)
        return 0;
    struct load_opts load = job_load_opts(
        state, state->input.file.size + state->output.file.size, &unheard);
    load.pool = state->job->tools.pool;
    int status = decode_closest(&img, codec, file, &load, err);
    if (status == 0)
        status = digest_picture(text, &img, err);
    image_free(&img);
    return status;
}

int job_digest(struct job_state *state, struct err *err)
{
    struct result *result = state->result;
    struct digests *digests = &result->digests;
    struct err why;
    if (digest(digests->output, state, result->to, state->output.file, &why))
        return fail(err, "--digest: what was made cannot be decoded: %s",
                    why.text);
    if (result->how == HOW_UNCHANGED)
        memcpy(digests->input, digests->output, sizeof digests->input);
    else if (digest(digests->input, state, result->from, state->input.file,
                    &why))
        return fail(err, "--digest: the input cannot be decoded: %s", why.text);
    return 0;
}

/* Returns how the input, which has been read, is decoded, within the limits of
 * a file of its size. */
static struct load_opts limit(struct job_state *state)
{
    account_set_time(&state->account, state->opts->max_seconds);
    struct load_opts load =
        job_load_opts(state, state->result->bytes_in, &state->result->warnings);
    job_limit_memory(state, &load.limits);
    return load;
}

/* ---- What a file holds --------------------------------------------------- */

static void foresee_turns(struct description *d, const struct options *opts,
                          const struct stream_info *info)
{
    for (unsigned t = 0; t < XFORM_COUNT; t++) {
        struct options asked = *opts;
        struct result result = { .from = d->result.from, .to = d->result.from };
        struct job_plan plan;
        struct err err;
        asked.op = (enum xform)t;
        asked.upright = t == XFORM_NONE;
        if (job_plan_formats(&plan, &asked, &result, &err) == 0 &&
            job_plan_picture(&plan, &asked, info, &result, &err) == 0)
            d->turns[t] = result.how;
    }
}

int job_describe(const char *input, struct root *root,
                 const struct options *opts, struct description *description,
                 struct err *err)
{
    struct image *img = &description->img;
    struct result *result = &description->result;
    const struct job job = { .input = input, .input_root = root };
    struct job_state state = { .job = &job, .opts = opts, .result = result };
    struct reader reader = { 0 };
    struct account *before = account_enter(&state.account);
    int status = job_read_input(&state, err);
    struct load_opts load = limit(&state);
    /* There is no limit to what can be described: it takes no memory. */
    load.limits.pixels = load.limits.bytes = UINT64_MAX;
    load.portable = true;
    if (status == 0)
        status =
            codec_open(&reader, result->from, state.input.file, &load, err);
    if (status == 0)
        status = codec_describe(&reader, img, err);
    if (status == 0)
        foresee_turns(description, opts, &reader.info);
    if (img->meta)
        img->meta->account = NULL;
    if (status)
        job_explain_memory(&state, err);
    codec_close(&reader);
    job_free_state(&state);
    account_enter(before);
    return status;
}

/* ---- How two are related ------------------------------------------------- */

int job_relate(struct relation *relation, const char *first, const char *second,
               const struct options *opts, struct warnings *warnings,
               struct err *err)
{
    const char *const names[] = { first, second };
    struct coded_picture pair[2] = { { .codec = NULL } };
    struct result result = { .bytes_in = 0 };
    struct job job = { .input = first };
    struct job_state state = { .job = &job, .opts = opts, .result = &result };
    struct account *before = account_enter(&state.account);
    struct err why;
    unsigned failed = 0; /* at this one, from 1 */
    int status = 0;
    for (unsigned i = 0; i < 2 && status == 0; i++) {
        job.input = names[i];
        status = job_read_input(&state, &why);
        failed = status ? i + 1 : 0;
        pair[i] = (struct coded_picture){ .file = state.input.file,
                                          .codec = result.from,
                                          .layout = opts->layout };
        state.input.file = (struct bytes){ 0 };
        permissions_free(&state.input.source);
    }
    if (status == 0) {
        result.bytes_in = pair[0].file.size + pair[1].file.size;
        struct load_opts load = limit(&state);
        load.warnings = warnings;
        job_limit_compared(&load.limits, opts, result.bytes_in);
        job_limit_memory(&state, &load.limits);
        status = relate_pictures(relation, pair, ALL_TURNS, &load, NULL, &why);
        if (status)
            job_explain_memory(&state, &why);
        failed = relation->undecoded;
    }
    if (status && failed)
        fail(err, "%s: %s", names[failed - 1], why.text);
    else if (status)
        *err = why;
    bytes_free(&pair[0].file);
    bytes_free(&pair[1].file);
    account_enter(before);
    return status;
}

/* ---- Whether one is sound ------------------------------------------------ */

/* The closest representation to the file finds all damage, and takes least. */
static int decode(struct job_state *state, const struct load_opts *load,
                  char *digest, struct err *err)
{
    struct image *img = &state->img;
    int status =
        decode_closest(img, state->result->from, state->input.file, load, err);
    state->result->width = img->width;
    state->result->height = img->height;
    return status || !digest ? status : digest_picture(digest, img, err);
}

/* What is not decoded is sound as far as its structure goes. */
static int describe(struct job_state *state, const struct load_opts *load,
                    struct err *err)
{
    struct result *result = state->result;
    struct reader reader;
    if (codec_open(&reader, result->from, state->input.file, load, err))
        return -1;
    int status = codec_describe(&reader, &state->img, err);
    codec_close(&reader);
    result->width = state->img.width;
    result->height = state->img.height;
    warn(&result->warnings,
         "only its structure was checked: the samples of %s "
         "are not decoded",
         result->from->title);
    return status;
}

/* Files are read whole when they are turned by nothing. */
static int read_within(struct job_state *state, const struct load_opts *load,
                       struct err *err)
{
    struct result *result = state->result;
    if (result->from->turn(&state->output.file, &state->img, state->input.file,
                           XFORM_NONE, load, err))
        return -1;
    result->width = state->img.width;
    result->height = state->img.height;
    return 0;
}

enum soundness job_check_sound(const char *input, struct root *root,
                               const struct options *opts,
                               void (*reserve)(void *context, uint64_t bytes),
                               void *context, struct result *result,
                               char *digest, struct err *err)
{
    const struct job job = { .input = input, .input_root = root };
    struct job_state state = { .job = &job, .opts = opts, .result = result };
    *result = (struct result){ 0 };
    if (digest)
        *digest = '\0';
    struct account *before = account_enter(&state.account);
    int status = job_read_input(&state, err);
    struct load_opts load = limit(&state);
    if (status == 0 && result->from->turn)
        job_limit_sparse(&state, &load.limits);
    load.limits.reserve = reserve;
    load.limits.context = context;
    if (status == 0)
        status = result->from->oriented ? describe(&state, &load, err)
                 : result->from->turn   ? read_within(&state, &load, err)
                                        : decode(&state, &load, digest, err);
    if (status)
        job_explain_memory(&state, err);
    job_free_state(&state);
    account_enter(before);
    return status == 0 ? SOUND : err->unread ? SOUNDNESS_UNKNOWN : UNSOUND;
}
