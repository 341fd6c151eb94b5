/* From decoded planes to the bytes of the output. */
#include <strings.h>

#include "cli/files/path.h"
#include "cli/job/stages.h"
#include "codecs/convert/convert.h"
#include "codecs/image/scan_turner.h"
#include "codecs/metadata/metadata.h"

/* ---- Turning ------------------------------------------------------------- */

/* Returns the turn of the picture: that of the plan, but for an orientation
 * that stands behind damaged pixels, so that it was found after them. */
static enum xform turn_of(const struct job_state *state)
{
    return state->plan.tag ? XFORM_NONE
                           : job_plan_turn(state->opts, state->img.orientation);
}

/* Returns whether the output would be the input but for how it is coded, once
 * that is planned and described. Then it is the input: nothing is more
 * faithful. */
static bool has_nothing_to_do(const struct job_state *state)
{
    const struct options *opts = state->opts;
    const struct result *result = state->result;
    const struct image *img = &state->img;
    const struct job_plan *plan = &state->plan;
    const char *suffix = path_suffix(state->job->input);
    unsigned said = result->edge_warning ? 1 : 0;
    bool lost = opts->tolerant && result->warnings.count > said;
    bool same_tag = opts->ignore_orientation ||
                    (img->orientation == (plan->tag ? plan->tag : 1) &&
                     !img->meta->orientation.other);
    bool same_kind =
        !result->to->kinds || strcasecmp(suffix, state->job->format_name) == 0;
    return plan->own && turn_of(state) == XFORM_NONE && same_tag && same_kind &&
           !lost && !opts->strip && !opts->drop && !opts->quality &&
           !opts->effort && !opts->optimize && !opts->no_restart;
}

/* Drops all warnings but that it is left by its tag. */
static void keep_edge_warning(struct result *result)
{
    struct warnings *warnings = &result->warnings;
    if (result->edge_warning > WARNINGS_MAX)
        return;
    if (result->edge_warning)
        warnings->list[0] = warnings->list[result->edge_warning - 1];
    warnings->count = result->edge_warning = result->edge_warning ? 1 : 0;
}

struct convert_opts job_convert_opts(const struct job_state *state)
{
    const struct options *opts = state->opts;
    return (struct convert_opts){
        .depth = opts->depth,
        .background = opts->background,
        .over = { opts->over[0], opts->over[1], opts->over[2] },
        .limits = &opts->limits,
        .mem = state->job->tools.backend->memory(state->job->tools.lane),
        .warnings = &state->result->warnings,
    };
}

static int convert(struct job_state *state, struct err *err)
{
    const struct options *opts = state->opts;
    struct result *result = state->result;
    const struct convert_opts convert = job_convert_opts(state);
    bool converted = false;
    if (opts->lossless && opts->depth && image_bits(&state->img) > opts->depth)
        return fail(err,
                    "--depth leaves %u of %u bits, which --lossless "
                    "refuses",
                    opts->depth, image_bits(&state->img));
    if (state->plan.decode.representation == REPRESENTATION_SAMPLES &&
        convert_to_fit(&state->img, result->to, &convert, &converted, err))
        return -1;
    converted = converted || (result->to->rounds && result->to != result->from);
    if (converted && !result->to->lossy)
        result->how = HOW_CONVERTED;
    return 0;
}

static int turn_planes(struct job_state *state, enum xform t, struct err *err)
{
    const struct job *job = state->job;
    struct image *src = &state->img, dst = { 0 };
    struct mem mem = job->tools.backend->memory(job->tools.lane);
    /* Their tag was found behind damage, when they had been turned. */
    if (image_has_bands(src))
        return fail(err, "it is damaged; a larger --max-memory reads it");
    if (image_like(&dst, src, t, mem, err))
        return -1;
    if (job->tools.backend->apply(job->tools.lane, &dst, src, t,
                                  job->tools.pool, err)) {
        image_free(&dst);
        return -1;
    }
    image_take_meta(&dst, src);
    image_free(src);
    *src = dst;
    return 0;
}

/* Rows that came in order have been turned while they were decoded. */
int job_turn(struct job_state *state, struct err *err)
{
    struct result *result = state->result;
    if (state->output.made)
        return 0;
    enum xform t = turn_of(state);
    if (has_nothing_to_do(state)) {
        keep_edge_warning(result); /* what else would be lost is not */
        result->width = state->img.width;
        result->height = state->img.height;
        state->output.outline.orientation = state->img.orientation;
        job_keep_input(state);
        return 0;
    }
    job_free_input(state);
    scan_turner_take_samples(&state->img);
    if (convert(state, err))
        return -1;
    result->turned = t;
    t = xform_then(xform_inverse(state->img.turned), t);
    return t == XFORM_NONE ? 0 : turn_planes(state, t, err);
}

/* ---- Encoding ------------------------------------------------------------ */

struct save_opts job_save_opts(struct job_state *state,
                               const struct turner *turner)
{
    const struct options *opts = state->opts;
    unsigned upright = opts->ignore_orientation ? 0 : 1;
    return (struct save_opts){
        .suffix = state->job->format_name,
        .quality = opts->quality,
        .effort = opts->effort,
        .optimize = opts->optimize,
        .lossless = opts->lossless,
        .no_restart = opts->no_restart,
        .strip = opts->strip,
        .drop = opts->drop,
        .orientation = state->plan.tag ? state->plan.tag : upright,
        .edge = opts->edge,
        .layout = opts->layout,
        .tolerant = opts->tolerant,
        .pool = state->job->tools.pool,
        .turner = turner,
        .account = &state->account,
        .scratch = state->scratch.access.make ? &state->scratch.access : NULL,
        .warnings = &state->result->warnings,
    };
}

static int encode_by(struct job_state *state, const struct turner *turner,
                     struct err *err)
{
    struct result *result = state->result;
    uint32_t adler = 0;
    bool encoded_anew = false;
    const struct flush to_file = job_flush(state);
    const bool flushes = job_flushes(state);
    struct save_opts save = job_save_opts(state, turner);
    save.adler = &adler;
    save.encoded_anew = &encoded_anew;
    save.flush = flushes ? &to_file : NULL;
    result->width = state->img.width;
    result->height = state->img.height;
    state->output.outline = image_kind(&state->img);
    if (save.orientation)
        state->output.outline.orientation = save.orientation;
    if (metadata_turn(&state->img, result->to, &save, err) ||
        result->to->encode(&state->output.file, &state->img, &save, err) ||
        (flushes && job_take_flushed(state, err)))
        return -1;
    if (encoded_anew)
        result->how = HOW_REENCODED;
    return job_check(state, &state->img, &save, err);
}

static int encode(struct job_state *state, struct err *err)
{
    struct turner_context context = { .job = state->job,
                                      .account = &state->account };
    const struct meta *meta = state->img.meta;
    if (meta && meta->animation.stored && job_open_cpu(&context, err))
        return -1;
    const struct turner turner = job_turner(&context);
    int status = encode_by(state, &turner, err);
    job_close_cpu(&context);
    return status;
}

int job_encode(struct job_state *state, struct err *err)
{
    if (!state->output.made && encode(state, err))
        return -1;
    image_free(&state->img);
    state->result->scratch = state->scratch.place.mapped;
    state->result->bytes_out = state->output.file.size;
    if (state->opts->verify && job_verify(state, err))
        return -1;
    return state->opts->digest ? job_digest(state, err) : 0;
}
