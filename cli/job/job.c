/* One picture, start to end.
 *
 * The bytes of the file live until they are decoded, the decoded planes until
 * they are turned, the turned planes until they are encoded. What is left when
 * a stage fails is freed by job_end(). */
#include "cli/job/job.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/files/file_write.h"
#include "cli/files/files.h"
#include "cli/job/turner.h"
#include "cli/job/watch.h"
#include "cli/options/hint.h"
#include "cli/select/path.h"
#include "codecs/base/clock.h"
#include "codecs/convert.h"
#include "codecs/foreign.h"
#include "codecs/metadata/drop.h"

/* What a job holds on its way. */
struct work {
    const struct job *job;
    const struct options *opts;
    struct result *result;
    struct bytes input, output;
    struct permissions source; /* what the input was when it was read */
    struct image img; /* as decoded, then as turned */
    enum xform turn;  /* of the stored pixels: the tag, then the operation */
    bool own;         /* the output has the format of the input */
    enum representation representation; /* in which they are turned */
    uint32_t width, height; /* to which they are trimmed; 0: they are not */
    unsigned tag;     /* what turns them instead, 1..8; 0: they are turned */
    bool within;      /* they are turned within their format, as struct codec
                         has it, and never decoded */
};

const char *job_stage_name(enum stage stage)
{
    static const char *const names[STAGES] = {
        [STAGE_READ] = "read",     [STAGE_DECODE] = "decode",
        [STAGE_TURN] = "turn",     [STAGE_ENCODE] = "encode",
        [STAGE_WRITE] = "write",
    };
    return names[stage];
}

const char *job_how_name(enum how how)
{
    static const char *const names[HOWS] = {
        [HOW_UNCHANGED] = "unchanged", [HOW_LOSSLESS] = "lossless",
        [HOW_CONVERTED] = "converted", [HOW_REENCODED] = "reencoded",
        [HOW_TRIMMED] = "trimmed",     [HOW_TAGGED] = "tagged",
    };
    return names[how];
}

const char *job_skipped_name(enum skipped skipped)
{
    static const char *const names[] = {
        [SKIPPED_NOT] = "",           [SKIPPED_EXISTS] = "exists",
        [SKIPPED_NEWER] = "newer",    [SKIPPED_DONE] = "done before",
    };
    return names[skipped];
}

static int check_picture(struct bytes head, struct err *err)
{
    return codec_probe(head) ? 0 : foreign_refuse_input(head, err);
}

static int read_input(const struct job *job, const struct options *opts,
                      size_t head, struct bytes *input, struct permissions *source,
                      struct result *result, struct err *err)
{
    const struct read_opts read = {
        .root = job->input_root,
        .limit = opts->limits.bytes,
        .acl = opts->preserve,
        .served = job->served,
        .regular = job->regular,
        .head = head,
        .check = check_picture,
    };
    if (file_read(job->input, &read, input, source, err))
        return -1;
    result->mtime = source->st.st_mtim;
    result->device = source->st.st_dev;
    result->inode = source->st.st_ino;
    result->bytes_in = input->size;
    if (input->size == 0)
        return fail(err, "the file is empty");
    result->from = codec_probe(*input);
    return 0;
}

/* A PNG called in.jpg that is to become out.jpg: whoever wrote that believes it
 * to be a JPEG. It stays what it is rather than lose pixels to a conversion that
 * nobody asked for. */
static void keep_misnamed(struct work *w)
{
    struct result *result = w->result;
    const char *suffix = path_suffix(w->job->input);
    if (result->to == result->from || w->opts->format_name ||
        codec_by_name(suffix) != result->to)
        return;
    warn(&result->warnings, "called .%s but a %s, which it stays; --format says "
                            "otherwise",
         suffix, result->from->title);
    result->to = result->from;
}

/* `head`: as in struct read_opts. */
static int read_head(struct work *w, size_t head, struct err *err)
{
    struct result *result = w->result;
    if (read_input(w->job, w->opts, head, &w->input, &w->source, result, err))
        return -1;
    result->to = w->job->format ? w->job->format : result->from;
    keep_misnamed(w);
    return 0;
}

static int stage_read(struct work *w, struct err *err)
{
    return read_head(w, 0, err);
}

static struct load_opts load_opts(const struct options *opts, struct mem mem,
                                  bool portable, struct thread_pool *pool,
                                  struct result *result)
{
    return (struct load_opts){
        .limits = opts->limits,
        .mem = mem,
        .tolerant = opts->tolerant,
        .portable = portable,
        .pool = pool,
        .layout = opts->layout,
        .warnings = &result->warnings,
    };
}

/* Decodes, and turns what can be turned meanwhile. */
static int decode(struct work *w, struct reader *reader,
                  struct decode_plan *plan, struct err *err)
{
    struct job_turner context = {
        .backend = w->job->backend,
        .lane = w->job->lane,
        .watch = w->job->watch,
        .rows = reader->info.height,
    };
    const struct turner turner = job_turner_of(&context);
    plan->turner = w->job->backend->parts ? &turner : NULL;
    return codec_decode(reader, &w->img, plan, err);
}

/* The tag, then the operation. */
static enum xform turn_of(const struct options *opts, unsigned orientation)
{
    if (opts->ignore_orientation)
        return opts->op;
    return xform_then(xform_from_exif(orientation), opts->op);
}

static int choose_trim(struct work *w, const struct stream_info *info,
                       enum xform turn, struct err *err)
{
    const struct alignment *alignment =
        &info->alignment[REPRESENTATION_COEFFICIENTS];
    w->width = info->width;
    w->height = info->height;
    if (xform_reverses_x(turn))
        w->width -= info->width % alignment->x;
    if (xform_reverses_y(turn))
        w->height -= info->height % alignment->y;
    if (w->width && w->height)
        return 0;
    return fail(err,
                "%u x %u pixels are less than one block of %u x %u, so "
                "--edge trim would leave nothing",
                info->width, info->height, alignment->x, alignment->y);
}

/* A picture that cannot be turned as it is coded: what reverses an axis would
 * bring the rest of a block to the wrong end of it. */
static int choose_edge(struct work *w, const struct stream_info *info,
                       enum xform turn, struct err *err)
{
    const struct alignment *alignment =
        &info->alignment[REPRESENTATION_COEFFICIENTS];
    switch (w->opts->edge) {
    case EDGE_TRIM:
        w->result->how = HOW_TRIMMED;
        return choose_trim(w, info, turn, err);
    case EDGE_TAG:
        w->result->how = HOW_TAGGED;
        w->tag = xform_to_exif(turn);
        return 0;
    case EDGE_FAIL:
        return fail(err,
                    "%u x %u pixels are not whole blocks of %u x %u, so "
                    "it cannot be turned without loss; --edge says what "
                    "else to do",
                    info->width, info->height, alignment->x, alignment->y);
    case EDGE_REENCODE:
        break;
    }
    w->representation = REPRESENTATION_PLANES;
    if (options_given(w->opts, "edge")) /* it is meant */
        return 0;
    warn(&w->result->warnings,
         "%u x %u pixels are not whole blocks of %u x %u: encoded anew, with "
         "loss; --lossless refuses, --edge trim or tag turns without loss",
         info->width, info->height, alignment->x, alignment->y);
    w->result->anew = w->result->warnings.count;
    return 0;
}

/* How it is done as far as the formats tell, and what --lossless has to say of
 * a format that another one becomes, or that is made of other samples. */
static int choose_how(const struct work *w, struct err *err)
{
    const struct codec *to = w->result->to;
    w->result->how = to->lossy ? HOW_REENCODED : HOW_LOSSLESS;
    if (!w->opts->lossless || w->own)
        return 0;
    if (to->lossy)
        return fail(err,
                    "encoding samples as %s loses some of them, which "
                    "--lossless refuses; PNG keeps them",
                    to->title);
    if (to->rounds && to != w->result->from)
        return fail(err,
                    "%s rounds samples, which --lossless refuses; NPY and "
                    "PFM keep them",
                    to->title);
    return 0;
}

/* The representation closest to the file in which the picture can be turned. */
static int choose_representation(struct work *w, const struct stream_info *info,
                                 struct err *err)
{
    const struct options *opts = w->opts;
    struct result *result = w->result;
    w->turn = turn_of(opts, info->orientation.value);
    if (!w->own || result->from->closest == REPRESENTATION_SAMPLES)
        return 0;
    w->representation = REPRESENTATION_COEFFICIENTS;
    if (opts->quality)
        w->representation = REPRESENTATION_PLANES;
    else if (stream_info_can_turn(info, REPRESENTATION_COEFFICIENTS, w->turn))
        result->how = HOW_LOSSLESS;
    else if (choose_edge(w, info, w->turn, err))
        return -1;
    return 0;
}

/* How many times as many bytes the samples take after they are converted. */
static unsigned widened(const struct work *w)
{
    unsigned narrow = 1u << CELL_U8 | 1u << CELL_U16;
    if (w->own || w->representation != REPRESENTATION_SAMPLES)
        return 1;
    if (w->opts->depth)
        return w->opts->depth / 8;
    return w->result->to->holds.cells & narrow ? 1 : 4;
}

/* `bytes` are the picture before and after the turn; converted it is there in
 * between, and after the turn instead. */
static void reserve(void *context, uint64_t bytes)
{
    const struct work *w = context;
    unsigned times = widened(w);
    if (times > 1)
        bytes = bytes / 2 * (1 + 2 * times);
    w->job->reserve(w->job->context, bytes);
}

/* No fault of an encoder, or of the memory that it works with, replaces a file
 * by less than a whole one. `img` is what it was made of; NULL: a file of this
 * format. */
static int check(const struct work *w, const struct image *img,
                 const struct save_opts *save, struct err *err)
{
    struct err why;
    if (w->result->to->check(w->output, img, save, &why) == 0)
        return 0;
    return fail(err, "the encoded file is not whole, so it was not written: %s; "
                     "this is a fault of gimgxf, please report it",
                why.text);
}

/* Decoding, turning and encoding in one, by the codec: of pictures without a
 * tag. */
static int turn_within(struct work *w, struct load_opts *load, struct err *err)
{
    struct job_turner context = { .backend = w->job->backend,
                                  .lane = w->job->lane };
    const struct turner turner = job_turner_of(&context);
    struct result *result = w->result;
    load->turner = &turner;
    w->turn = w->opts->op;
    if (result->from->turn(&w->output, &w->img, w->input, w->turn, load, err))
        return -1;
    result->turned = w->turn;
    if (w->output.size && check(w, NULL, NULL, err))
        return -1;
    if (w->output.size == 0) {
        result->how = HOW_UNCHANGED;
        w->output = w->input;
        w->input = (struct bytes){ 0 };
    }
    bytes_free(&w->input);
    return 0;
}

static struct orientation tags_of(const struct image *img)
{
    return img->meta ? img->meta->orientation : (struct orientation){ 0 };
}

/* All of them say the same afterwards. */
static void warn_of_tags(struct work *w, struct orientation o)
{
    if (!o.other || w->opts->ignore_orientation)
        return;
    if (o.value)
        warn(&w->result->warnings,
             "the orientation is %u, as %s says, although %s says %u", o.value,
             orientation_place(o.place), orientation_place(o.other_place),
             o.other);
    else
        warn(&w->result->warnings,
             "the orientation %u does not count, since %s says it", o.other,
             orientation_place(o.other_place));
}

/* The file as it is, but for its tag. */
static int set_tag(struct work *w, struct load_opts *load, struct err *err)
{
    struct result *result = w->result;
    struct stream_info info = { 0 };
    if (result->to != result->from)
        return fail(err, "--tag-only keeps the format, which is %s; the output "
                         "is to be %s",
                    result->from->title, result->to->title);
    if (!result->from->retag)
        return fail(err, "%s has no orientation tag that --tag-only could set; "
                         "JPEG, PNG, HDR, TGA and BMP have",
                    result->from->title);
    if (result->from->retag(&w->output, &info, w->input, w->opts->op, load,
                            err))
        return -1;
    bool same = w->output.size == w->input.size &&
                memcmp(w->output.data, w->input.data, w->input.size) == 0;
    result->how = same ? HOW_UNCHANGED : HOW_TAGGED;
    warn_of_tags(w, info.orientation);
    w->img.width = info.width;
    w->img.height = info.height;
    w->within = true;
    bytes_free(&w->input);
    return 0;
}

/* Whether the orientation goes with what --strip drops. */
static bool drops_tag(const struct work *w)
{
    const struct options *opts = w->opts;
    enum tag_place place = tags_of(&w->img).place;
    return opts->strip || (place == TAG_EXIF && opts->drop & DROP_EXIF) ||
           (place == TAG_XMP && opts->drop & DROP_XMP);
}

static int read_picture(struct work *w, const struct load_opts *load,
                        struct err *err)
{
    struct reader reader;
    if (codec_open(&reader, w->result->from, w->input, load, err))
        return -1;
    int status = choose_representation(w, &reader.info, err);
    struct decode_plan plan = {
        .representation = w->representation,
        .turn = w->turn,
        .width = w->width,
        .height = w->height,
    };
    if (status == 0)
        status = decode(w, &reader, &plan, err);
    codec_close(&reader);
    return status;
}

static int stage_decode(struct work *w, struct err *err)
{
    const struct options *opts = w->opts;
    struct result *result = w->result;
    struct mem mem = w->job->backend->memory(w->job->lane);
    /* Other samples are another picture to most of the metadata. */
    w->own = result->to == result->from && !opts->depth;
    struct load_opts load =
        load_opts(opts, mem, !w->own, w->job->pool, result);
    if (opts->tag_only)
        return set_tag(w, &load, err);
    if (choose_how(w, err))
        return -1;
    load.limits.reserve = w->job->reserve ? reserve : NULL;
    load.limits.context = w;
    w->within = w->own && result->from->turn;
    if (w->within)
        return turn_within(w, &load, err);
    if (read_picture(w, &load, err))
        return -1;
    warn_of_tags(w, tags_of(&w->img));
    if (w->img.meta && !w->own)
        drop_from_meta(w->img.meta, opts->drop);
    if (opts->ignore_orientation && drops_tag(w) && w->img.orientation != 1)
        return fail(err, "--strip would drop the orientation, %u, that "
                         "--ignore-orientation leaves",
                    w->img.orientation);
    w->turn = w->tag ? XFORM_NONE : turn_of(opts, w->img.orientation);
    return 0;
}

/* Whether the output would be the input but for how it is coded. Then it is the
 * input: nothing is more faithful. */
static bool nothing_to_do(const struct work *w)
{
    const struct options *opts = w->opts;
    const struct result *result = w->result;
    const char *suffix = path_suffix(w->job->input);
    bool lost = opts->tolerant && result->warnings.count;
    bool same_tag = opts->ignore_orientation ||
                    (w->img.orientation == (w->tag ? w->tag : 1) &&
                     !tags_of(&w->img).other);
    bool same_kind = !result->to->kinds ||
                     strcasecmp(suffix, w->job->format_name) == 0;
    return result->to == result->from && w->turn == XFORM_NONE && same_tag &&
           same_kind && !lost && !opts->strip && !opts->drop &&
           !opts->quality && !opts->effort && !opts->optimize &&
           !opts->no_restart &&
           !opts->depth;
}

static int turn(struct work *w, struct err *err)
{
    const struct job *job = w->job;
    struct image dst = { 0 };
    struct mem mem = job->backend->memory(job->lane);
    if (image_like(&dst, &w->img, w->turn, mem, err))
        return -1;
    if (job->backend->apply(job->lane, &dst, &w->img, w->turn, job->pool,
                            err)) {
        image_free(&dst);
        return -1;
    }
    image_take_meta(&dst, &w->img);
    image_free(&w->img);
    w->img = dst;
    return 0;
}

static int stage_turn(struct work *w, struct err *err)
{
    const struct options *opts = w->opts;
    struct result *result = w->result;
    struct convert_opts convert = {
        .depth = opts->depth,
        .background = opts->background,
        .over = { opts->over[0], opts->over[1], opts->over[2] },
        .limits = &opts->limits,
        .mem = w->job->backend->memory(w->job->lane),
        .warnings = &result->warnings,
    };
    bool converted = false;
    if (w->within)
        return 0;
    if (nothing_to_do(w)) {
        result->how = HOW_UNCHANGED;
        result->warnings.count = 0; /* what would be lost is not */
        result->anew = 0;
        w->output = w->input;
        w->input = (struct bytes){ 0 };
        return 0;
    }
    bytes_free(&w->input);
    if (opts->lossless && opts->depth && image_bits(&w->img) > opts->depth)
        return fail(err,
                    "--depth leaves %u of %u bits, which --lossless "
                    "refuses",
                    opts->depth, image_bits(&w->img));
    if (w->representation == REPRESENTATION_SAMPLES &&
        convert_to_fit(&w->img, result->to, &convert, &converted, err))
        return -1;
    converted = converted || (result->to->rounds && result->to != result->from);
    if (converted && !result->to->lossy)
        result->how = HOW_CONVERTED;
    result->turned = w->turn;
    return w->turn == w->img.turned ? 0 : turn(w, err);
}

static int encode(struct work *w, struct save_opts *save, struct err *err)
{
    uint32_t adler = 0;
    save->adler = &adler;
    if (w->result->to->encode(&w->output, &w->img, save, err))
        return -1;
    return check(w, &w->img, save, err);
}

static int stage_encode(struct work *w, struct err *err)
{
    const struct options *opts = w->opts;
    struct result *result = w->result;
    struct save_opts save = {
        .suffix = w->job->format_name,
        .quality = opts->quality,
        .effort = opts->effort,
        .optimize = opts->optimize,
        .no_restart = opts->no_restart,
        .strip = opts->strip,
        .drop = opts->drop,
        .orientation = w->tag ? w->tag : opts->ignore_orientation ? 0 : 1,
        .edge = opts->edge,
        .layout = opts->layout,
        .pool = w->job->pool,
        .warnings = &result->warnings,
    };
    result->width = w->img.width;
    result->height = w->img.height;
    if (result->how != HOW_UNCHANGED && !w->within &&
        encode(w, &save, err))
        return -1;
    image_free(&w->img);
    result->bytes_out = w->output.size;
    return 0;
}

/* Nothing is written over a file that would become what it is. */
static bool stays_as_it_is(const struct work *w)
{
    const struct job *job = w->job;
    return w->result->how == HOW_UNCHANGED && job_replaces_input(job) &&
           file_is_same(job->output_root, job->output, job->input_root,
                        job->input);
}

/* A new file has the mode of what it is made of, as cp gives it. */
static mode_t mode_of_new(const struct work *w)
{
    return strcmp(w->job->input, "-") == 0 ? 0666
                                           : w->source.st.st_mode & 0777;
}

/* What is to be done to have the input replaced. */
static const char *advise_replacing(const struct job *job)
{
    return job->served
               ? "write input and output as the same name to replace it"
               : "only -i (--in-place) replaces inputs";
}

static int stage_write(struct work *w, struct err *err)
{
    const struct options *opts = w->opts;
    struct write_opts write = {
        .root = w->job->output_root,
        .no_clobber = opts->no_clobber,
        .source = &w->source,
        .replaces_source = job_replaces_input(w->job),
        .to_replace = advise_replacing(w->job),
        .preserve = opts->preserve,
        .mode = mode_of_new(w),
        .warnings = &w->result->warnings,
        .left = w->job->left,
        .regular = w->job->regular,
        .make_directories = w->job->make_directories || opts->directory ||
                            opts->output,
        .backup = opts->backup,
    };
    if (stays_as_it_is(w))
        return 0;
    enum written written = file_write(w->job->output, w->output, &write, err);
    if (written == WRITTEN_EXISTS)
        w->result->skipped = SKIPPED_EXISTS;
    return written == WRITTEN_NOT ? -1 : 0;
}

int job_choose_format(struct job *job, struct err *err)
{
    const char *asked = job->opts->format_name;
    job->format_name = asked ? asked : path_suffix(job->output);
    job->format = codec_by_name(job->format_name);
    if (job->format || strcmp(job->output, "-") == 0 ||
        strcmp(job->format_name, path_suffix(job->input)) == 0)
        return 0;
    return hint_output(job->output, err);
}

/* Does the stages from `first` to `last`, as far as they succeed. */
static int run_stages(struct work *w, enum stage first, enum stage last,
                      struct err *err)
{
    static int (*const stages[STAGES])(struct work *, struct err *) = {
        [STAGE_READ] = stage_read,     [STAGE_DECODE] = stage_decode,
        [STAGE_TURN] = stage_turn,     [STAGE_ENCODE] = stage_encode,
        [STAGE_WRITE] = stage_write,
    };
    int status = 0;
    for (int i = (int)first; i <= (int)last && status == 0; i++) {
        double begin = now();
        w->result->last = (enum stage)i;
        watch_stage(w->job->watch, job_stage_name((enum stage)i));
        status = stages[i](w, err);
        w->result->seconds[i] = now() - begin;
    }
    return status;
}

bool job_replaces_input(const struct job *job)
{
    return job->opts->in_place || (strcmp(job->input, job->output) == 0 &&
                                   strcmp(job->input, "-") != 0);
}

/* --no-clobber leaves it alone. */
int job_check_output(const struct job *job, struct err *err)
{
    if (job_replaces_input(job) || job->opts->no_clobber ||
        strcmp(job->output, "-") == 0 ||
        !file_is_same(job->output_root, job->output, job->input_root,
                      job->input))
        return 0;
    if (strcmp(job->input, "-") == 0)
        return fail(err, "%s is the file that standard input reads; %s",
                    job->output, advise_replacing(job));
    return fail(err, "%s is the input %s by another name; %s", job->output,
                job->input, advise_replacing(job));
}

enum skipped job_is_skipped(const struct job *job)
{
    if (job->opts->no_clobber && file_exists(job->output_root, job->output))
        return SKIPPED_EXISTS;
    if (job->opts->update && file_is_newer(job->output_root, job->output, job->input_root,
                      job->input))
        return SKIPPED_NEWER;
    return SKIPPED_NOT;
}

struct work *job_read(const struct job *job, struct result *result,
                      struct err *err)
{
    struct work *w = calloc(1, sizeof *w);
    *result = (struct result){ .skipped = job_is_skipped(job) };
    if (!w) {
        fail(err, "no memory for a job");
        return NULL;
    }
    w->job = job;
    w->opts = job->opts;
    w->result = result;
    if (result->skipped || run_stages(w, STAGE_READ, STAGE_READ, err) == 0)
        return w;
    job_end(w);
    return NULL;
}

int job_make(struct work *w, struct err *err)
{
    return run_stages(w, STAGE_DECODE, STAGE_ENCODE, err);
}

struct bytes job_output(const struct work *w)
{
    return (struct bytes){ w->output.data, w->output.size, 0 };
}

int job_write(struct work *w, struct err *err)
{
    return run_stages(w, STAGE_WRITE, STAGE_WRITE, err);
}

void job_end(struct work *w)
{
    if (!w)
        return;
    image_free(&w->img);
    permissions_free(&w->source);
    bytes_free(&w->input);
    bytes_free(&w->output);
    free(w);
}

int job_run(const struct job *job, struct result *result, struct err *err)
{
    struct work *w = job_read(job, result, err);
    int status = -1;
    if (w && (result->skipped ||
              (job_make(w, err) == 0 && job_write(w, err) == 0)))
        status = 0;
    job_end(w);
    return status;
}

/* The codec is asked as far as it can tell from a head. */
static int foresee(struct work *w, size_t head, bool *known, struct err *err)
{
    struct result *result = w->result;
    struct warnings unheard = { 0 };
    struct load_opts load = load_opts(w->opts, mem_plain, false, NULL, result);
    struct reader reader;
    *result = (struct result){ 0 };
    w->representation = REPRESENTATION_SAMPLES;
    w->tag = 0;
    if (read_head(w, head, err))
        return -1;
    w->own = result->to == result->from && !w->opts->depth;
    *known = w->own && result->from->closest != REPRESENTATION_SAMPLES;
    if (choose_how(w, err))
        return -1;
    if (!*known)
        return 0;
    load.warnings = &unheard;
    if (codec_open(&reader, result->from, w->input, &load, err))
        return -1;
    int status = choose_representation(w, &reader.info, err);
    codec_close(&reader);
    return status;
}

int job_foresee(const struct job *job, struct result *result, bool *known,
                struct err *err)
{
    static const size_t heads[] = { 1 << 16, 1 << 20, 0 };
    struct work w = { .job = job, .opts = job->opts, .result = result };
    int status = -1;
    for (size_t i = 0; status && i < sizeof heads / sizeof *heads; i++) {
        bool whole = heads[i] == 0;
        status = foresee(&w, heads[i], known, err);
        whole = whole || w.input.size < heads[i];
        permissions_free(&w.source);
        bytes_free(&w.input);
        if (whole)
            break;
    }
    return status;
}

int job_look(const char *input, struct root *root, const struct options *opts,
             struct image *img, struct result *result, struct err *err)
{
    struct bytes file = { 0 };
    struct load_opts load = load_opts(opts, mem_plain, true, NULL, result);
    struct permissions access;
    struct reader reader = { 0 };
    /* There is no limit to what can be described: it takes no memory. */
    load.limits = (struct limits){ .pixels = UINT64_MAX, .bytes = UINT64_MAX };
    const struct job job = { .input = input, .input_root = root };
    int status = read_input(&job, opts, 0, &file, &access, result, err);
    if (status == 0)
        status = codec_open(&reader, result->from, file, &load, err);
    if (status == 0)
        status = codec_describe(&reader, img, err);
    codec_close(&reader);
    permissions_free(&access);
    bytes_free(&file);
    return status;
}
