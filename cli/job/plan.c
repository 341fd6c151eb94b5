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
    /* In a batch there may be JPEG files beside the others. */
    const char *name = job_plan_jpeg_option(opts, to);
    if (name && to != &codec_jpeg && opts->command != COMMAND_BATCH)
        warn(&result->warnings, "--%s changes nothing in %s%s", name, to->title,
             to == &codec_png ? "; --png-level makes it smaller" : "");
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

/* A picture that cannot be turned as it is coded: what reverses an axis would
 * bring the rest of a block to the wrong end of it. `copy` is not asked to turn
 * anything. */
static int plan_edge(struct job_plan *plan, const struct options *opts,
                     const struct stream_info *info, struct result *result,
                     struct err *err)
{
    const struct alignment *block =
        &info->alignment[REPRESENTATION_COEFFICIENTS];
    struct decode_plan *decode = &plan->decode;
    const bool meant = option_table_given(opts, "edge");
    const bool copies = opts->op == XFORM_NONE && !opts->upright;
    const enum edge edge = copies && !meant ? EDGE_TAG : opts->edge;
    struct err why;
    fail(&why, "%u x %u pixels are not whole blocks of %u x %u", info->width,
         info->height, block->x, block->y);
    if (edge == EDGE_FAIL)
        return fail(err,
                    "%s, so it cannot be turned without loss; --edge says what "
                    "else to do",
                    why.text);
    if (edge == EDGE_TRIM) {
        const bool x = xform_reverses_x(decode->turn);
        const bool y = xform_reverses_y(decode->turn);
        result->how = HOW_TRIMMED;
        decode->width = info->width - (x ? info->width % block->x : 0);
        decode->height = info->height - (y ? info->height % block->y : 0);
        return decode->width && decode->height
                   ? 0
                   : fail(err,
                          "%u x %u pixels are less than one block of %u x %u, "
                          "so --edge trim would leave nothing",
                          info->width, info->height, block->x, block->y);
    }
    if (edge == EDGE_TAG) {
        /* Nothing is turned but by the tag. If that is the one that the picture
         * has, nothing is turned at all, which is said. */
        result->how = HOW_TAGGED;
        plan->tag = xform_to_exif(decode->turn);
        decode->turn = XFORM_NONE;
        if (opts->op != XFORM_NONE)
            return 0;
        warn(&result->warnings,
             "%s: they stay, and so does the orientation tag, %u%s", why.text,
             plan->tag, opts->upright ? "" : "; upright turns them, with loss");
    } else {
        const bool chroma_alone =
            stream_info_can_turn(info, REPRESENTATION_REALIGNED, decode->turn);
        decode->representation =
            chroma_alone ? REPRESENTATION_REALIGNED : REPRESENTATION_PLANES;
        if (chroma_alone)
            result->how = HOW_LUMA_LOSSLESS;
        if (meant)
            return 0;
        warn(&result->warnings,
             "%s: %sencoded anew, with loss; --lossless refuses, --edge trim%s "
             "turns without loss",
             why.text, chroma_alone ? "only chroma is " : "",
             opts->upright ? "" : " or tag");
    }
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
