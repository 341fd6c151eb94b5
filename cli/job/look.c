/* What is found of files beside writing one: what they hold, how two are
 * related, whether one is sound; and with --verify, whether the output is, as a
 * library decodes it, the input as a library decodes it, turned. */
#include <math.h>
#include <stdio.h>

#include "cli/job/stages.h"
#include "codecs/compare/compare.h"

/* ---- Whether the output is the input, turned ----------------------------- */

/* Returns whether samples of another format or depth are made. */
static bool converts(const struct job_state *state)
{
    return state->result->from != state->result->to || state->opts->depth;
}

static int relate(struct relation *relation, struct job_state *state,
                  unsigned turns, struct err *err)
{
    const struct options *opts = state->opts;
    const struct codec *from = state->result->from, *to = state->result->to;
    const bool as_stored = opts->ignore_orientation && !opts->tag_only;
    /* An array that is made of a picture has this layout unless another one is
     * asked for. */
    const enum layout made =
        from == to || opts->layout ? opts->layout : LAYOUT_HWC;
    struct coded_picture pair[] = {
        { .file = state->input.file,
          .codec = from,
          .layout = opts->layout,
          .as_stored = as_stored,
          .width = state->plan.decode.width,
          .height = state->plan.decode.height },
        { .file = state->output.file,
          .codec = to,
          .layout = made,
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
    /* A GIF is compared as it is shown: a turned one may have other indices. */
    const bool as_shown = converts(state) || to->kinds || to == &codec_gif;
    const struct convert_opts *how = as_shown ? &convert : NULL;
    int status = relate_pictures(relation, pair, turns, &load, how, err);
    /* An array that tells its layout may not tell it any more once it is
     * turned. */
    const bool array = from == &codec_npy && to == &codec_npy;
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
    const enum how how = state->result->how;
    const struct codec *to = state->result->to;
    struct relation any;
    struct err unheard;
    if (!relation->fits || (how != HOW_LUMA_LOSSLESS && how != HOW_REENCODED &&
                            !(converts(state) && (to->lossy || to->rounds))))
        return false;
    if (how == HOW_LUMA_LOSSLESS)
        return relation->luma;
    return difference_psnr(&relation->far) >= NEAR ||
           (relate(&any, state, ALL_TURNS, &unheard) == 0 && !any.same &&
            relation->far.square <= CLEARLY * any.far.square);
}

int job_verify(struct job_state *state, struct err *err)
{
    struct result *result = state->result;
    struct verified *verified = &result->verified;
    struct relation relation;
    struct err why;
    if (state->plan.within && result->from->arrays &&
        result->how != HOW_UNCHANGED) {
        warn(&result->warnings, "--verify is for pictures: arrays that stay "
                                "arrays are not decoded again");
        return 0;
    }
    if (result->how == HOW_UNCHANGED || result->from->oriented) {
        /* Of the latter the new field has been read again. */
        *verified = (struct verified){ .done = true, .same = true };
        return 0;
    }
    if (relate(&relation, state, 1u << state->opts->op, &why)) {
        if (relation.undecoded == 1)
            return fail(err,
                        "--verify: the library cannot decode the input: %s",
                        why.text);
    } else if (relation.unlike) {
        fail(&why, "its samples are of another kind");
    } else {
        if (relation.frames || relation.pages)
            warn(&result->warnings, "--verify looks only at the first %s",
                 relation.pages ? "page of a TIFF" : "frame of an animation");
        verified->same = relation.same != 0;
        verified->done = verified->same || is_near(&relation, state);
        if (relation.fits)
            verified->psnr = difference_psnr(&relation.far);
        if (verified->done)
            return 0;
        fail(&why, "its size is another one");
        if (relation.fits)
            fail(&why, "%.1f dB apart", verified->psnr);
    }
    return fail(err,
                "--verify: what was made is not %s, so it was not written: %s; "
                "this is a fault of gimgxf or of a library, please report it",
                state->opts->op == XFORM_NONE ? "the input"
                                              : "the input turned",
                why.text);
}

/* ---- What a file holds --------------------------------------------------- */

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
    struct load_opts load = job_load_input(&state);
    /* There is no limit to what can be described: it takes no memory. */
    load.limits.pixels = load.limits.bytes = UINT64_MAX;
    load.portable = true;
    if (status == 0)
        status =
            codec_open(&reader, result->from, state.input.file, &load, err);
    if (status == 0)
        status = codec_describe(&reader, img, err);
    for (unsigned t = 0; t < XFORM_COUNT && status == 0; t++) {
        struct options asked = *opts;
        struct result foreseen = { .from = result->from, .to = result->from };
        struct job_plan plan;
        struct err unheard;
        asked.op = (enum xform)t;
        asked.upright = t == XFORM_NONE;
        if (job_plan_formats(&plan, &asked, &foreseen, &unheard) == 0 &&
            job_plan_picture(&plan, &asked, &reader.info, &foreseen,
                             &unheard) == 0)
            description->turns[t] = foreseen.how;
    }
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
        struct load_opts load = job_load_input(&state);
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

/* What is not decoded is sound as far as its structure goes; what is turned
 * within its format is read whole when it is turned by nothing. Of the others
 * the closest representation to the file finds all damage, and takes least. */
enum soundness job_check_sound(const struct job *job, struct result *result,
                               char *digest, struct err *err)
{
    struct job_state state = { .job = job,
                               .opts = job->opts,
                               .result = result };
    *result = (struct result){ 0 };
    if (digest)
        *digest = '\0';
    struct account *before = account_enter(&state.account);
    int status = job_read_input(&state, err);
    struct load_opts load = job_load_input(&state);
    struct image *img = &state.img;
    const struct codec *from = result->from;
    load.limits.reserve = job->tools.reserve;
    load.limits.context = job->tools.context;
    if (status == 0 && from->oriented) {
        struct reader reader;
        status = codec_open(&reader, from, state.input.file, &load, err) ||
                         codec_describe(&reader, img, err)
                     ? -1
                     : 0;
        codec_close(&reader);
        warn(&result->warnings,
             "only its structure was checked: the samples of %s are not "
             "decoded",
             from->title);
    } else if (status == 0 && from->turn) {
        job_limit_sparse(&state, &load.limits);
        status = from->turn(&state.output.file, img, state.input.file,
                            XFORM_NONE, &load, err);
    } else if (status == 0) {
        const struct decode_plan closest = {
            .representation = from->closest == REPRESENTATION_SAMPLES
                                  ? REPRESENTATION_SAMPLES
                                  : REPRESENTATION_COEFFICIENTS
        };
        status = codec_decode_file(from, img, state.input.file, &load, &closest,
                                   err);
        if (status == 0 && digest)
            status = digest_picture(digest, img, err);
    }
    result->width = img->width;
    result->height = img->height;
    if (status)
        job_explain_memory(&state, err);
    job_free_state(&state);
    account_enter(before);
    return status == 0 ? SOUND : err->unread ? SOUNDNESS_UNKNOWN : UNSOUND;
}
