/* What is decided about a picture before it is decoded. */
#include "cli/job/stages.h"

enum xform job_plan_turn(const struct options *opts, unsigned orientation)
{
    if (opts->ignore_orientation)
        return opts->op;
    return xform_then(xform_from_exif(orientation), opts->op);
}

const char *job_plan_jpeg_option(const struct options *opts,
                                 const struct codec *to)
{
    static const char *const names[] = { "quality", "optimize", "no-restart" };
    for (size_t i = to && to->has_quality; i < sizeof names / sizeof *names;
         i++)
        if (option_table_given(opts, names[i]))
            return names[i];
    return NULL;
}

/* In a batch there may be JPEG files beside the others. */
static void warn_of_option(const struct options *opts, struct result *result)
{
    const char *name = job_plan_jpeg_option(opts, result->to);
    if (name && result->to != &codec_jpeg && opts->command != COMMAND_BATCH)
        warn(&result->warnings, "--%s changes nothing in %s%s", name,
             result->to->title,
             result->to == &codec_png ? "; --png-level makes it smaller" : "");
}

/* Plans what changes no sample. What the options ask for beside the turn must
 * be possible so. */
static int plan_tags(const struct options *opts, struct result *result,
                     struct err *err)
{
    static const char *const others[] = { "pixels", "strip",
                                          "ignore-orientation" };
    const struct codec *from = result->from;
    const bool still =
        opts->op == XFORM_NONE && !(from->oriented && opts->upright);
    result->how = still            ? HOW_UNCHANGED
                  : from->oriented ? HOW_ORIENTED
                                   : HOW_TAGGED;
    if (result->to != from)
        return fail(err,
                    "--tag-only keeps the format, %s, but the output would be "
                    "%s; give it the same format",
                    from->title, result->to->title);
    if (!from->retag)
        return fail(err,
                    "%s has no orientation tag that --tag-only could set; "
                    "JPEG, PNG, TIFF and WebP have one",
                    from->title);
    for (size_t i = 0; from->oriented && i < sizeof others / sizeof *others;
         i++)
        if (option_table_given(opts, others[i]))
            return fail(err,
                        "%s is turned by its orientation, and its samples stay "
                        "as they are: --%s is impossible",
                        from->title, others[i]);
    return 0;
}

int job_plan_formats(struct job_plan *plan, const struct options *opts,
                     struct result *result, struct err *err)
{
    const struct codec *from = result->from, *to = result->to;
    /* Other samples are another picture to most of the metadata. An array of
     * many pictures is another file. */
    *plan =
        (struct job_plan){ .own = to == from && !opts->depth && !opts->stack };
    plan->within = plan->own && from->turn;
    warn_of_option(opts, result);
    plan->tags = opts->tag_only || (plan->own && from->oriented);
    if (plan->tags)
        return plan_tags(opts, result, err);
    if (from->oriented)
        return fail(err,
                    "%s is turned by its orientation alone: its samples are "
                    "not decoded, so nothing else can be made of it",
                    from->title);
    if (!to->encode)
        return fail(err, "gimgxf turns %s, but does not make it of %s",
                    to->title, from->title);
    result->how = to->lossy ? HOW_REENCODED : HOW_LOSSLESS;
    if (!opts->lossless || plan->own)
        return 0;
    if (to->lossy)
        return fail(err,
                    "encoding samples as %s loses some of them, which "
                    "--lossless refuses; PNG keeps them",
                    to->title);
    if (to->rounds && to != from)
        return fail(err,
                    "%s rounds samples, which --lossless refuses; NPY and "
                    "PFM keep them",
                    to->title);
    return 0;
}

enum scan_kind job_device_kind(const struct options *opts,
                               const struct result *result)
{
    const struct codec *from = result->from, *to = result->to;
    const bool coded = to == &codec_png && opts->effort == LEVEL_FAST + 1 &&
                       !opts->depth && !opts->tolerant;
    if (from == &codec_jpeg)
        return SCAN_KIND_JPEG;
    if (from == &codec_png && coded)
        return SCAN_KIND_PNG;
    if (from == &codec_npy && coded)
        return SCAN_KIND_TO_PNG;
    if (from == &codec_png && to->packing && to->capabilities.alpha &&
        to->packing(opts->layout) != PACKING_ROWS && !opts->tolerant)
        return SCAN_KIND_FROM_PNG;
    return SCAN_KINDS;
}

static int plan_trim(struct decode_plan *plan, const struct stream_info *info,
                     struct err *err)
{
    const struct alignment *alignment =
        &info->alignment[REPRESENTATION_COEFFICIENTS];
    plan->width = info->width;
    plan->height = info->height;
    if (xform_reverses_x(plan->turn))
        plan->width -= info->width % alignment->x;
    if (xform_reverses_y(plan->turn))
        plan->height -= info->height % alignment->y;
    if (plan->width && plan->height)
        return 0;
    return fail(err,
                "%u x %u pixels are less than one block of %u x %u, so "
                "--edge trim would leave nothing",
                info->width, info->height, alignment->x, alignment->y);
}

/* Nothing is turned but by the tag. If that is the one that the picture has,
 * nothing is turned at all, which is said. */
static void plan_tag(struct job_plan *plan, const struct options *opts,
                     const struct stream_info *info, struct result *result)
{
    const struct alignment *alignment =
        &info->alignment[REPRESENTATION_COEFFICIENTS];
    result->how = HOW_TAGGED;
    plan->tag = xform_to_exif(plan->decode.turn);
    plan->decode.turn = XFORM_NONE;
    if (opts->op != XFORM_NONE)
        return;
    warn(&result->warnings,
         "%u x %u pixels are not whole blocks of %u x %u: they stay, and so "
         "does the orientation tag, %u%s",
         info->width, info->height, alignment->x, alignment->y, plan->tag,
         opts->upright ? "" : "; upright turns them, with loss");
    result->edge_warning = result->warnings.count;
}

/* A picture that cannot be turned as it is coded: what reverses an axis would
 * bring the rest of a block to the wrong end of it. `copy` is not asked to turn
 * anything. */
static int plan_edge(struct job_plan *plan, const struct options *opts,
                     const struct stream_info *info, struct result *result,
                     struct err *err)
{
    const struct alignment *alignment =
        &info->alignment[REPRESENTATION_COEFFICIENTS];
    const bool meant = option_table_given(opts, "edge");
    const bool copies = opts->op == XFORM_NONE && !opts->upright;
    switch (copies && !meant ? EDGE_TAG : opts->edge) {
    case EDGE_TRIM:
        result->how = HOW_TRIMMED;
        return plan_trim(&plan->decode, info, err);
    case EDGE_TAG:
        plan_tag(plan, opts, info, result);
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
    plan->decode.representation = REPRESENTATION_PLANES;
    bool chroma_alone =
        stream_info_can_turn(info, REPRESENTATION_REALIGNED, plan->decode.turn);
    if (chroma_alone) {
        plan->decode.representation = REPRESENTATION_REALIGNED;
        result->how = HOW_LUMA_LOSSLESS;
    }
    if (meant)
        return 0;
    warn(&result->warnings,
         "%u x %u pixels are not whole blocks of %u x %u: %sencoded anew, with "
         "loss; --lossless refuses, --edge trim%s turns without loss",
         info->width, info->height, alignment->x, alignment->y,
         chroma_alone ? "only chroma is " : "", opts->upright ? "" : " or tag");
    result->edge_warning = result->warnings.count;
    return 0;
}

/* The representation is the one closest to the file in which the picture can be
 * turned. */
int job_plan_picture(struct job_plan *plan, const struct options *opts,
                     const struct stream_info *info, struct result *result,
                     struct err *err)
{
    struct decode_plan *decode = &plan->decode;
    decode->turn = job_plan_turn(opts, info->orientation.value);
    if (plan->within && info->lossy && !opts->lossless &&
        decode->turn != XFORM_NONE)
        result->how = HOW_REENCODED;
    if (!plan->own || result->from->closest == REPRESENTATION_SAMPLES)
        return 0;
    decode->representation = REPRESENTATION_COEFFICIENTS;
    if (opts->quality)
        decode->representation = REPRESENTATION_PLANES;
    else if (stream_info_can_turn(info, decode->representation, decode->turn))
        result->how = HOW_LOSSLESS;
    else
        return plan_edge(plan, opts, info, result, err);
    return 0;
}

/* Returns how many times as many bytes converted samples take. */
static unsigned times_as_large(const struct job_plan *plan,
                               const struct options *opts,
                               const struct codec *to)
{
    unsigned narrow = 1u << CELL_U8 | 1u << CELL_U16;
    if (plan->own)
        return 1;
    if (opts->depth)
        return opts->depth / 8;
    return to->capabilities.cells & narrow ? 1 : 4;
}

uint64_t job_plan_memory(const struct job_plan *plan,
                         const struct options *opts,
                         const struct result *result, uint64_t bytes)
{
    unsigned times = times_as_large(plan, opts, result->to);
    return times > 1 ? bytes / 2 * (1 + 2 * times) : bytes;
}
