/* From the bytes of the input to planes; or to the output, where pictures are
 * turned without being decoded. */
#include <string.h>

#include "cli/job/stages.h"
#include "codecs/image/scan_turner.h"
#include "codecs/metadata/metadata.h"

/* ---- The backend of a job as codecs see it --------------------------------
 */

/* On a CPU a tile before and after the turn stays in a second-level cache; a
 * GPU is sent as much as makes the copies to it fast. */
static const size_t tile_of_cpu = 256 << 10, tile_of_gpu = 64 << 20;

static int turn_part(void *context, struct image *dst, const struct image *src,
                     enum xform t, struct err *err)
{
    struct turner_context *c = context;
    const struct job *job = c->job;
    if (account_check_time(c->account, err))
        return -1;
    return c->cpu ? backend_cpu.apply(c->cpu, dst, src, t, NULL, err)
                  : job->tools.backend->apply(job->tools.lane, dst, src, t,
                                              NULL, err);
}

int job_open_cpu(struct turner_context *context, struct err *err)
{
    const struct lane_opts cpu = { .workers = 0 };
    return context->job->tools.backend->parts
               ? 0
               : backend_cpu.open(&context->cpu, &cpu, err);
}

void job_close_cpu(struct turner_context *context)
{
    if (context->cpu)
        backend_cpu.close(context->cpu);
}

/* Several threads may turn small tiles at a time where the backend lets them,
 * else one thread turns large ones. */
struct turner job_turner(struct turner_context *context)
{
    bool parts = context->cpu || context->job->tools.backend->parts;
    return (struct turner){
        .turn = turn_part,
        .context = context,
        .tile = parts ? tile_of_cpu : tile_of_gpu,
        .parallel = parts,
    };
}

/* ---- Without decoding ---------------------------------------------------- */

/* Tells that tags disagree: all of them say the same afterwards. */
static void warn_of_tags(struct job_state *state, struct orientation o)
{
    struct warnings *warnings = &state->result->warnings;
    if (!o.other || state->opts->ignore_orientation)
        return;
    if (o.value)
        warn(warnings, "the orientation is %u, as %s says, although %s says %u",
             o.value, orientation_place(o.place),
             orientation_place(o.other_place), o.other);
    else
        warn(warnings, "the orientation %u does not count, since %s says it",
             o.other, orientation_place(o.other_place));
}

/* Fails unless the output is read as the input is, but turned. */
static int check_oriented(const struct job_state *state,
                          const struct load_opts *load,
                          const struct stream_info *was, struct err *err)
{
    struct warnings unheard = { 0 };
    struct load_opts again = *load;
    struct reader reader;
    struct err why;
    again.warnings = &unheard;
    if (codec_open(&reader, state->result->from, state->output.file, &again,
                   &why))
        return fail(err,
                    "what was made cannot be read, so it was not written: %s; "
                    "this is a fault of gimgxf, please report it",
                    why.text);
    const unsigned value = reader.info.orientation.value;
    const bool right = reader.info.width == was->width &&
                       reader.info.height == was->height &&
                       (value ? value : 1) == state->output.outline.orientation;
    codec_close(&reader);
    return right ? 0
                 : fail(err, "what was made is not shown turned, so it was not "
                             "written; this is a fault of gimgxf, please "
                             "report it");
}

/* Makes the file as it is, but for what says how it is shown. */
static int set_tag(struct job_state *state, const struct load_opts *load,
                   struct err *err)
{
    struct result *result = state->result;
    const struct codec *codec = result->from;
    struct stream_info info = { 0 };
    struct bytes *input = &state->input.file, *output = &state->output.file;
    if (codec->retag(output, &info, *input, state->opts->op, load, err))
        return -1;
    bool same = output->size == input->size &&
                memcmp(output->data, input->data, input->size) == 0;
    if (same)
        result->how = HOW_UNCHANGED;
    warn_of_tags(state, info.orientation);
    result->width = info.width;
    result->height = info.height;
    state->output.outline.orientation =
        xform_retag(info.orientation.value, state->opts->op);
    state->output.made = true;
    if (!same && codec->oriented && check_oriented(state, load, &info, err))
        return -1;
    job_free_input(state);
    return 0;
}

/* Decoding, turning and encoding in one, by the codec: of all that a file
 * holds.
 */
static int turn_within(struct job_state *state, const struct load_opts *opts,
                       struct err *err)
{
    struct load_opts load = *opts;
    struct turner_context context = { .job = state->job,
                                      .account = &state->account };
    const struct turner turner = job_turner(&context);
    const struct flush to_file = job_flush(state);
    struct result *result = state->result;
    struct image *img = &state->img;
    enum xform t = state->opts->op;
    bool encoded_anew = false;
    struct save_opts save = job_save_opts(state, &turner);
    save.encoded_anew = &encoded_anew;
    load.turner = &turner;
    load.save = &save;
    load.as_stored = state->opts->ignore_orientation;
    load.flush = &to_file;
    if (result->from->turn(&state->output.file, img, state->input.file, t,
                           &load, err) ||
        (state->scratch.early.made && job_take_flushed(state, err)))
        return -1;
    result->turned = t;
    result->width = img->width;
    result->height = img->height;
    if (encoded_anew)
        result->how = HOW_REENCODED;
    state->output.outline = (struct image){
        .width = img->width,
        .height = img->height,
        .turned = t,
        .orientation = img->orientation ? img->orientation : 1,
    };
    state->output.made = true;
    if (state->output.file.size && job_check(state, NULL, NULL, err))
        return -1;
    if (state->output.file.size == 0)
        job_keep_input(state);
    job_free_input(state);
    return 0;
}

/* ---- Decoding ------------------------------------------------------------ */

/* Plans what a device makes of a picture that becomes samples: what the file
 * has, if something else is to be done with them. */
static void plan_samples(const struct job_state *state, const struct image *img,
                         struct decode_plan *plan)
{
    const unsigned depth = state->opts->depth;
    const struct codec *to = state->result->to;
    const enum cell cell = depth == 0    ? img->cell
                           : depth == 8  ? CELL_U8
                           : depth == 16 ? CELL_U16
                                         : CELL_F32;
    if (plan->representation != REPRESENTATION_SAMPLES)
        return;
    if (to == state->result->from) /* it is written as it was coded */
        plan->scan_turner = NULL;
    if (!to->packing || !(to->capabilities.cells >> cell & 1))
        return;
    plan->packing = to->packing(state->opts->layout);
    if (plan->packing != PACKING_ROWS)
        plan->cell = cell;
}

static int decode_by(struct job_state *state, struct reader *reader,
                     struct turner_context *context, struct err *err)
{
    const struct turner turner = job_turner(context);
    const struct scan_turner *scans = context->job->tools.scan_turner;
    struct scan_turner scan_turner = { .begin = NULL };
    struct decode_plan plan = state->plan.decode;
    plan.turner = turner.parallel ? &turner : NULL;
    const enum scan_kind kind = job_device_kind(state->opts, state->result);
    if (scans && kind != SCAN_KINDS) {
        scan_turner = *scans;
        scan_turner.optimize = state->opts->optimize;
        scan_turner.no_restart = state->opts->no_restart;
        /* Steps of another quality are libjpeg's. */
        scan_turner.samples = scan_turner.samples && !state->opts->quality;
        plan.scan_turner = &scan_turner;
        if (kind == SCAN_KIND_JPEG || kind == SCAN_KIND_FROM_PNG)
            plan_samples(state, &reader->img, &plan);
    }
    return codec_decode(reader, &state->img, &plan, err);
}

/* Decodes, and turns what can be turned meanwhile. */
static int decode(struct job_state *state, struct reader *reader,
                  struct err *err)
{
    struct turner_context context = { .job = state->job,
                                      .account = &state->account };
    if (image_choose_pixels(&reader->img, &reader->opts->limits) ==
            PIXELS_BANDS &&
        job_open_cpu(&context, err))
        return -1;
    int status = decode_by(state, reader, &context, err);
    job_close_cpu(&context);
    return status;
}

static int read_picture(struct job_state *state, const struct load_opts *load,
                        struct err *err)
{
    struct result *result = state->result;
    struct reader reader;
    if (codec_open(&reader, result->from, state->input.file, load, err))
        return -1;
    int status =
        job_plan_picture(&state->plan, state->opts, &reader.info, result, err);
    if (status == 0)
        status = decode(state, &reader, err);
    codec_close(&reader);
    return status;
}

/* Returns whether the orientation goes with what --strip drops. */
static bool drops_tag(const struct options *opts, enum tag_place place)
{
    return opts->strip || (place == TAG_EXIF && opts->drop & DROP_EXIF) ||
           (place == TAG_XMP && opts->drop & DROP_XMP);
}

static int check_orientation(const struct job_state *state, struct err *err)
{
    const struct options *opts = state->opts;
    const struct image *img = &state->img;
    if (opts->ignore_orientation && img->orientation != 1 &&
        drops_tag(opts, img->meta->orientation.place))
        return fail(err,
                    "--strip would drop the orientation, %u, that "
                    "--ignore-orientation leaves",
                    img->orientation);
    return 0;
}

static void reserve(void *context, uint64_t bytes)
{
    const struct job_state *state = context;
    const struct job *job = state->job;
    job->tools.reserve(
        job->tools.context,
        job_plan_memory(&state->plan, state->opts, state->result, bytes));
}

int job_decode(struct job_state *state, struct err *err)
{
    const struct job *job = state->job;
    const struct options *opts = state->opts;
    struct load_opts load;
    account_set_time(&state->account, opts->max_seconds);
    load =
        job_load_opts(state, state->result->bytes_in, &state->result->warnings);
    load.mem = job->tools.backend->memory(job->tools.lane);
    load.pool = job->tools.pool;
    job_limit_memory(state, &load.limits);
    if (job_plan_formats(&state->plan, opts, state->result, err))
        return -1;
    if (state->plan.tags && state->result->how == HOW_UNCHANGED &&
        state->result->from->oriented) {
        job_keep_input(state);
        return 0;
    }
    if (state->plan.tags)
        return set_tag(state, &load, err);
    load.portable = !state->plan.own;
    load.limits.reserve = job->tools.reserve ? reserve : NULL;
    load.limits.context = state;
    job_limit_sparse(state, &load.limits);
    job_offer_scratch(state, &load.limits);
    if (state->plan.within)
        return turn_within(state, &load, err);
    if (read_picture(state, &load, err))
        return -1;
    state->result->progressive = state->img.meta->progressive;
    if (!state->plan.own)
        metadata_drop_portable(state->img.meta, opts->drop);
    warn_of_tags(state, state->img.meta->orientation);
    return check_orientation(state, err);
}
