/* Whether the output is whole; with --verify, whether it is, as a library
 * decodes it, the input as a library decodes it, turned; and with --digest the
 * digests of both, as they are shown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/job/stages.h"
#include "codecs/compare/compare.h"

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

int job_check(const struct job_state *state, const struct image *img,
              const struct save_opts *save, struct err *err)
{
    struct err why;
    if (state->result->to->check(state->output.file, img, save, &why) == 0)
        return 0;
    return fail(err,
                "the encoded file is not whole, so it was not written: %s; "
                "this is a fault of gimgxf, please report it",
                why.text);
}

/* ---- Digests ------------------------------------------------------------- */

int job_decode_closest(struct image *img, const struct codec *codec,
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
    int status = job_decode_closest(&img, codec, file, &load, err);
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
