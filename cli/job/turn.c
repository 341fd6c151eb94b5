/* From the bytes of the input to those of the output: what is decoded, turned
 * and encoded, and when it goes through a file. */
#include <string.h>
#include <strings.h>

#include "cli/files/path.h"
#include "cli/job/stages.h"
#include "codecs/convert/convert.h"
#include "codecs/image/scan_turner.h"
#include "codecs/metadata/metadata.h"

/* ---- Pictures that are more than memory is to hold ------------------------
 *
 * When they go through a file, and how much memory they get. */

/* A cell of a byte may have been one bit. */
enum { CELLS_OF_BITS = 8 };

/* The rows that are turned or encoded, while they are in memory, get a quarter
 * of it, so that two such jobs, and the scratch memory of encoders, find room.
 * More than this makes nothing faster. */
static const uint64_t rows_most = 256 << 20;

/* Without --max-memory less of a picture that can go through a file is in
 * memory: only what is as sparse as a bomb is more. */
void job_offer_scratch(struct job_state *state, struct limits *limits)
{
    const struct job *job = state->job;
    const struct codec *from = state->result->from, *to = state->result->to;
    const uint64_t file = state->result->bytes_in, quarter = limits->bytes / 4;
    /* Formats that do not turn a picture as a whole. */
    const bool goes_through = from->stores && to->stores &&
                              !state->opts->stack &&
                              (state->plan.own || (!from->turn && !to->turn));
    scratch_file_close(&state->scratch.early);
    state->scratch.early = (struct scratch_file){
        .beside = job->output,
        .root = job->output_root,
        /* It may be given the name of the output, instead of being copied. */
        .mode = job->opts->preserve ? 0600 : job_mode_of_new(state),
    };
    if (!goes_through || limits->bytes < JOB_MEMORY_LEAST)
        return;
    state->scratch.access = scratch_access(
        &state->scratch.early, quarter < rows_most ? quarter : rows_most);
    limits->scratch = &state->scratch.access;
    limits->stored =
        account_cells_of(file, CELLS_OF_BITS * ACCOUNT_CELLS_OF_BYTE);
    if (limits->file && !from->turn)
        limits->bytes = account_cells_of(file, ACCOUNT_CELLS_OF_BYTE);
}

/* New memory is dear: each of its pages is cleared first, and on a virtual
 * machine the host may have to provide it. So samples that are more than this
 * go to the output while they are encoded, instead of being copied to it (100
 * megapixels on 2 processors: 0.57 s, not 1.05). */
static const uint64_t flushed_from = 16 << 20;

/* A PNG of 1 MB may say that it is a picture of 1 GB. No camera's or scanner's
 * picture, and no drawing worth the name, is as sparse as this. */
enum { SPARSE = 500 };

void job_limit_sparse(const struct job_state *state, struct limits *limits)
{
    uint64_t size = state->input.file.size;
    if (!option_table_given(state->opts, "max-memory"))
        limits->sparse_from = SPARSE * size;
}

/* ---- Output that goes to a file ------------------------------------------ */

/* Returns what takes the bytes of an output that are more than memory is to
 * hold.
 */
static struct flush flush_of(struct job_state *state)
{
    return (struct flush){ scratch_file_append, scratch_file_replace,
                           &state->scratch.early };
}

/* Makes these bytes the output. */
static int take_flushed(struct job_state *state, struct err *err)
{
    struct bytes *output = &state->output.file;
    struct scratch_file *early = &state->scratch.early;
    if (scratch_file_append(early, output, err))
        return -1;
    if (!early->mapped && !early->is_output)
        early->mapped = early->size;
    bytes_free(output);
    return bytes_map(output, early->fd, early->size)
               ? 0
               : fail_system(err, "its temporary file cannot be read");
}

/* ---- The backend of a job as codecs see it ------------------------------- */

/* What a turner of turner_of() turns with. */
struct turner_context {
    struct job_state *state;
    struct lane *cpu; /* of backend_cpu, which turns instead; or NULL */
};

/* On a CPU a tile before and after the turn stays in a second-level cache; a
 * GPU is sent as much as makes the copies to it fast. */
static const size_t tile_of_cpu = 256 << 10, tile_of_gpu = 64 << 20;

static int turn_part(void *context, struct image *dst, const struct image *src,
                     enum xform t, struct err *err)
{
    struct turner_context *c = context;
    const struct job *job = c->state->job;
    if (account_check_time(&c->state->account, err))
        return -1;
    if (c->cpu)
        return backend_cpu.apply(c->cpu, dst, src, t, NULL, err);
    c->state->by_backend |= src->cell != CELL_DCT; /* those are the CPU's */
    return job->tools.backend->apply(job->tools.lane, dst, src, t, NULL, err);
}

/* Lets the CPU turn, if the backend cannot turn parts: what goes through a file
 * waits for that in any case. close_cpu() is fine without it. */
static int open_cpu(struct turner_context *context, struct err *err)
{
    const struct lane_opts cpu = { .workers = 0 };
    return context->state->job->tools.backend->parts
               ? 0
               : backend_cpu.open(&context->cpu, &cpu, err);
}

static void close_cpu(struct turner_context *context)
{
    if (context->cpu)
        backend_cpu.close(context->cpu);
}

/* Several threads may turn small tiles at a time where the backend lets them,
 * else one thread turns large ones. */
static struct turner turner_of(struct turner_context *context)
{
    bool parts = context->cpu || context->state->job->tools.backend->parts;
    return (struct turner){
        .turn = turn_part,
        .context = context,
        .tile = parts ? tile_of_cpu : tile_of_gpu,
        .parallel = parts,
    };
}

/* ---- Outputs ------------------------------------------------------------- */

static struct save_opts save_opts_of(struct job_state *state,
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

/* Fails unless the output is a whole file, so that no fault of an encoder, or
 * of the memory that it works with, replaces a file by less. `img` is the
 * picture that was encoded; NULL if a whole file was turned within its format.
 */
static int check_output(const struct job_state *state, const struct image *img,
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

/* Frees the input, which has been decoded, unless --verify needs it. */
static void free_input(struct job_state *state)
{
    if (!state->opts->verify)
        bytes_free(&state->input.file);
}

/* Makes the input the output, byte for byte. */
static void keep_input(struct job_state *state)
{
    state->result->how = HOW_UNCHANGED;
    state->output.file = state->input.file;
    state->input.file = (struct bytes){ 0 };
    state->output.made = true;
}

/* ---- Without decoding ---------------------------------------------------- */

/* Tells that tags disagree: all of them say the same afterwards. But 1 beside
 * irot is what a turn leaves. */
static void warn_of_tags(struct job_state *state, struct orientation o)
{
    struct warnings *warnings = &state->result->warnings;
    if (!o.other || state->opts->ignore_orientation ||
        (o.place == TAG_TRANSFORMS && o.other == 1))
        return;
    if (o.value)
        warn(warnings, "the orientation is %u, as %s says, although %s says %u",
             o.value, orientation_place[o.place],
             orientation_place[o.other_place], o.other);
    else
        warn(warnings, "the orientation %u does not count, since %s says it",
             o.other, orientation_place[o.other_place]);
}

/* Makes the file as it is, but for what says how it is shown; and fails unless
 * what all readers obey is read as that of the input, but turned. */
static int set_tag(struct job_state *state, const struct load_opts *load,
                   struct err *err)
{
    struct result *result = state->result;
    const struct codec *codec = result->from;
    struct stream_info info = { 0 };
    struct bytes *input = &state->input.file, *output = &state->output.file;
    if (codec->retag(output, &info, *input, state->opts->op, load, err))
        return -1;
    const bool same = output->size == input->size &&
                      memcmp(output->data, input->data, input->size) == 0;
    const unsigned tag = xform_retag(info.orientation.value, state->opts->op);
    result->how = same              ? HOW_UNCHANGED
                  : codec->oriented ? HOW_ORIENTED
                                    : HOW_TAGGED;
    warn_of_tags(state, info.orientation);
    result->width = info.width;
    result->height = info.height;
    state->output.outline.orientation = tag;
    state->output.made = true;
    if (!same && codec->oriented) {
        struct warnings unheard = { 0 };
        struct load_opts again = *load;
        struct reader reader;
        struct err why;
        again.warnings = &unheard;
        if (codec_open(&reader, codec, *output, &again, &why))
            return fail(err,
                        "what was made cannot be read, so it was not written: "
                        "%s; this is a fault of gimgxf, please report it",
                        why.text);
        const unsigned value = reader.info.orientation.value;
        const bool right = reader.info.width == info.width &&
                           reader.info.height == info.height &&
                           (value ? value : 1) == tag;
        codec_close(&reader);
        if (!right)
            return fail(err, "what was made is not shown turned, so it was not "
                             "written; this is a fault of gimgxf, please "
                             "report it");
    }
    free_input(state);
    return 0;
}

/* Decoding, turning and encoding in one, by the codec: of all that a file
 * holds.
 */
static int turn_within(struct job_state *state, const struct load_opts *opts,
                       struct err *err)
{
    struct load_opts load = *opts;
    struct turner_context context = { .state = state };
    const struct turner turner = turner_of(&context);
    const struct flush to_file = flush_of(state);
    struct result *result = state->result;
    struct image *img = &state->img;
    enum xform t = state->opts->op;
    bool encoded_anew = false;
    struct save_opts save = save_opts_of(state, &turner);
    save.encoded_anew = &encoded_anew;
    load.save = &save;
    load.flush = &to_file;
    if (result->from->turn(&state->output.file, img, state->input.file, t,
                           &load, err) ||
        (state->scratch.early.made && take_flushed(state, err)))
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
    if (state->output.file.size && check_output(state, NULL, NULL, err))
        return -1;
    if (state->output.file.size == 0)
        keep_input(state);
    free_input(state);
    return 0;
}

/* ---- Decoding ------------------------------------------------------------ */

/* Decodes, and turns what can be turned meanwhile. What a device makes of a
 * picture that becomes samples is what the file has, if something else is to be
 * done with them. */
static int decode(struct job_state *state, struct reader *reader,
                  struct err *err)
{
    struct turner_context context = { .state = state };
    const struct scan_turner *scans = state->job->tools.scan_turner;
    const enum scan_kind kind = job_device_kind(state->opts, state->result);
    const struct codec *to = state->result->to;
    const unsigned depth = state->opts->depth;
    const enum cell cell = depth == 0    ? reader->img.cell
                           : depth == 8  ? CELL_U8
                           : depth == 16 ? CELL_U16
                                         : CELL_F32;
    struct scan_turner scan_turner = { .begin = NULL };
    struct decode_plan plan = state->plan.decode;
    if (image_choose_pixels(&reader->img, &reader->opts->limits) ==
            PIXELS_BANDS &&
        open_cpu(&context, err))
        return -1;
    const struct turner turner = turner_of(&context);
    plan.turner = turner.parallel ? &turner : NULL;
    if (scans && kind != SCAN_KINDS) {
        scan_turner = *scans;
        scan_turner.optimize = state->opts->optimize;
        scan_turner.no_restart = state->opts->no_restart;
        /* Steps of another quality are libjpeg's. */
        scan_turner.samples = scan_turner.samples && !state->opts->quality;
        plan.scan_turner = &scan_turner;
    }
    if (plan.scan_turner && plan.representation == REPRESENTATION_SAMPLES &&
        (kind == SCAN_KIND_JPEG || kind == SCAN_KIND_FROM_PNG)) {
        if (to == state->result->from) /* it is written as it was coded */
            plan.scan_turner = NULL;
        if (to->packing && to->capabilities.cells >> cell & 1)
            plan.packing = to->packing(state->opts->layout);
        if (plan.packing != PACKING_ROWS)
            plan.cell = cell;
    }
    const int status = codec_decode(reader, &state->img, &plan, err);
    close_cpu(&context);
    return status;
}

/* Takes what a job takes whose picture takes `bytes` of cells before and after
 * the turn. Converted, it is there in between, and after the turn instead, with
 * so many times as many bytes. */
static void reserve(void *context, uint64_t bytes)
{
    const struct job_state *state = context;
    const struct job_tools *tools = &state->job->tools;
    const unsigned cells = state->result->to->capabilities.cells,
                   depth = state->opts->depth;
    const bool narrow = cells & (1u << CELL_U8 | 1u << CELL_U16);
    const unsigned times = state->plan.own ? 1
                           : depth         ? depth / 8
                           : narrow        ? 1
                                           : 4;
    tools->reserve(tools->context,
                   times > 1 ? bytes / 2 * (1 + 2 * times) : bytes);
}

int job_decode(struct job_state *state, struct err *err)
{
    const struct job *job = state->job;
    const struct options *opts = state->opts;
    struct load_opts load = job_load_input(state);
    struct reader reader;
    load.mem = job->tools.backend->memory(job->tools.lane);
    load.pool = job->tools.pool;
    if (job_plan_formats(&state->plan, opts, state->result, err))
        return -1;
    if (state->plan.tags && state->result->how == HOW_UNCHANGED &&
        state->result->from->oriented) {
        keep_input(state);
        return 0;
    }
    if (state->plan.tags)
        return set_tag(state, &load, err);
    load.portable = !state->plan.own;
    load.lossless = opts->lossless;
    load.limits.reserve = job->tools.reserve ? reserve : NULL;
    load.limits.context = state;
    job_limit_sparse(state, &load.limits);
    job_offer_scratch(state, &load.limits);
    if (state->plan.within)
        return turn_within(state, &load, err);
    if (codec_open(&reader, state->result->from, state->input.file, &load, err))
        return -1;
    int status =
        job_plan_picture(&state->plan, opts, &reader.info, state->result, err);
    if (status == 0)
        status = decode(state, &reader, err);
    codec_close(&reader);
    if (status)
        return -1;
    state->result->progressive = state->img.meta->progressive;
    if (!state->plan.own)
        metadata_drop_portable(state->img.meta, opts->drop);
    warn_of_tags(state, state->img.meta->orientation);
    /* The orientation may go with what --strip drops. */
    const enum tag_place place = state->img.meta->orientation.place;
    return opts->ignore_orientation && state->img.orientation != 1 &&
                   (opts->strip ||
                    (place == TAG_EXIF && opts->drop & DROP_EXIF) ||
                    (place == TAG_XMP && opts->drop & DROP_XMP))
               ? fail(err,
                      "--strip would drop the orientation, %u, that "
                      "--ignore-orientation leaves",
                      state->img.orientation)
               : 0;
}

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
    const struct meta *meta = state->img.meta;
    if (opts->lossless && !state->plan.own && meta &&
        meta->animation.frames + meta->animation.apart > 1)
        return fail(err, "other frames of the animation would be lost, which "
                         "--lossless refuses");
    if (state->plan.decode.representation == REPRESENTATION_SAMPLES &&
        convert_to_fit(&state->img, result->to, &convert, &converted, err))
        return -1;
    converted = converted || (result->to->rounds && result->to != result->from);
    if (converted && !result->to->lossy)
        result->how = HOW_CONVERTED;
    return 0;
}

/* Rows that came in order have been turned while they were decoded. */
int job_turn(struct job_state *state, struct err *err)
{
    const struct job_tools *tools = &state->job->tools;
    struct result *result = state->result;
    struct image *src = &state->img, dst = { 0 };
    if (state->output.made)
        return 0;
    enum xform t = turn_of(state);
    if (has_nothing_to_do(state)) {
        /* What else would be lost is not: that it is left by its tag stays. */
        struct warnings *warnings = &result->warnings;
        const unsigned kept = result->edge_warning;
        if (kept <= WARNINGS_MAX) {
            if (kept)
                warnings->list[0] = warnings->list[kept - 1];
            warnings->count = result->edge_warning = kept ? 1 : 0;
        }
        result->width = state->img.width;
        result->height = state->img.height;
        state->output.outline.orientation = state->img.orientation;
        keep_input(state);
        return 0;
    }
    free_input(state);
    scan_turner_take_samples(&state->img);
    if (convert(state, err))
        return -1;
    result->turned = t;
    t = xform_then(xform_inverse(state->img.turned), t);
    if (t == XFORM_NONE)
        return 0;
    /* Its tag was found behind damage, when its rows had been turned. */
    if (image_has_bands(src))
        return fail(err, "it is damaged; a larger --max-memory reads it");
    if (image_like(&dst, src, t, tools->backend->memory(tools->lane), err))
        return -1;
    state->by_backend |= src->cell != CELL_DCT;
    if (tools->backend->apply(tools->lane, &dst, src, t, tools->pool, err)) {
        image_free(&dst);
        return -1;
    }
    image_take_meta(&dst, src);
    image_free(src);
    *src = dst;
    return 0;
}

/* ---- Encoding ------------------------------------------------------------ */

/* The output goes to a file while it is encoded, which is made then, where
 * cells go through one; or where there is much of it, and the place of the
 * output can take it at once. */
static int encode(struct job_state *state, const struct turner *turner,
                  struct err *err)
{
    struct result *result = state->result;
    const struct codec *to = result->to;
    const struct pixels *pixels = &state->img.pixels;
    uint32_t adler = 0;
    bool encoded_anew = false;
    const struct flush to_file = flush_of(state);
    const bool flushes =
        pixels->kind == PIXELS_BANDS ||
        (pixels->kind == PIXELS_ROWS && pixels->rows.size >= flushed_from &&
         to->stores && !state->job->taker &&
         scratch_file_make_output(&state->scratch.early));
    struct save_opts save = save_opts_of(state, turner);
    save.adler = &adler;
    save.encoded_anew = &encoded_anew;
    save.flush = flushes ? &to_file : NULL;
    result->width = state->img.width;
    result->height = state->img.height;
    state->output.outline = image_kind(&state->img);
    if (save.orientation)
        state->output.outline.orientation = save.orientation;
    if (metadata_turn(&state->img, to, &save, err) ||
        to->encode(&state->output.file, &state->img, &save, err) ||
        (flushes && take_flushed(state, err)))
        return -1;
    if (encoded_anew)
        result->how = HOW_REENCODED;
    return check_output(state, &state->img, &save, err);
}

int job_encode(struct job_state *state, struct err *err)
{
    struct turner_context context = { .state = state };
    const struct meta *meta = state->img.meta;
    int status = 0;
    if (!state->output.made && meta && meta->animation.stored)
        status = open_cpu(&context, err);
    const struct turner turner = turner_of(&context);
    if (!state->output.made && status == 0)
        status = encode(state, &turner, err);
    close_cpu(&context);
    if (status)
        return -1;
    image_free(&state->img);
    state->result->by_backend = state->by_backend;
    state->result->scratch = state->scratch.early.mapped;
    state->result->bytes_out = state->output.file.size;
    return state->opts->verify ? job_verify(state, err) : 0;
}
