/* JPEG files within a picture's metadata, turned: embedded files and views of
 * the picture, and the thumbnail of EXIF. */
#include "codecs/metadata/blocks.h"

#include <string.h>

#include "codecs/image/frames.h"
#include "codecs/metadata/exif.h"

/* ---- Which turn -----------------------------------------------------------*/

/* Returns whether one of two pictures is wider than high, and the other one
 * higher than wide. */
static bool lie_across(uint32_t w, uint32_t h, uint32_t other_w,
                       uint32_t other_h)
{
    return (w < h && other_w > other_h) || (w > h && other_w < other_h);
}

/* A tag may be stale: programs set that of the picture and forget the one of
 * its thumbnail. A tag by which the thumbnail would lie across the picture,
 * although without it both lie alike, does not count. */
enum xform embedded_jpeg_choose(const struct image *outer, unsigned tag,
                                bool fold, uint32_t width, uint32_t height)
{
    enum xform shown = xform_from_exif(outer->orientation);
    enum xform own = xform_from_exif(tag);
    enum xform op = xform_then(xform_inverse(shown), outer->turned);
    bool across = xform_transposes(op);
    uint32_t w = across ? outer->height : outer->width;
    uint32_t h = across ? outer->width : outer->height;
    if (tag == 0 || tag == outer->orientation || !fold)
        return outer->turned;
    if (xform_transposes(own) ? lie_across(height, width, w, h)
                              : lie_across(width, height, w, h))
        return outer->turned;
    return xform_then(own, op);
}

/* ---- What there is to do --------------------------------------------------*/

/* How one picture is turned, as its header alone decides. */
struct embedded_plan {
    struct load_opts load;
    struct reader reader;
    struct stream_info info; /* width and height are those that it keeps */
    enum xform turn;
    enum representation representation; /* the closest to the file in which it
                                           can be turned */
};

/* Returns whether a picture of this size fits, before any is trimmed. */
static bool fits(const struct stream_info *info, enum xform turn,
                 const struct image *outer, enum fit fit)
{
    const struct change change = image_change(outer);
    const bool across = xform_transposes(turn),
               exchanged = xform_transposes(change.turn);
    const uint32_t width = across ? info->height : info->width,
                   height = across ? info->width : info->height,
                   w = exchanged ? change.height : change.width,
                   h = exchanged ? change.width : change.height;
    const uint64_t x = (uint64_t)width * h, y = (uint64_t)height * w;
    if (fit == FIT_SIDE)
        return !lie_across(width, height, w, h);
    return fit == FIT_ANY ||
           (x > y ? x - y : y - x) <= y / 32 + (w > h ? w : h);
}

/* Returns size * is / was, to the nearest pixel, as the size itself was
 * rounded. */
static uint32_t share(uint32_t size, uint32_t is, uint32_t was)
{
    uint64_t part = ((uint64_t)size * is + was / 2) / was;
    return part ? (uint32_t)part : 1;
}

/* A view of a trimmed picture is trimmed as well. Where the trimmed edge is the
 * left or the top one of the view, that cannot be done. */
static void trim(struct embedded_plan *plan, const struct change *c,
                 struct warnings *warnings)
{
    const enum xform lies = xform_then(plan->turn, xform_inverse(c->turn));
    const bool across = lies == XFORM_TRANSPOSE;
    struct stream_info *info = &plan->info;
    if (lies != XFORM_NONE && !across) {
        warn(warnings, "it still shows what was trimmed off the first one");
        return;
    }
    info->width = share(info->width, across ? c->kept_height : c->kept_width,
                        across ? c->height : c->width);
    info->height = share(info->height, across ? c->kept_width : c->kept_height,
                         across ? c->width : c->height);
}

static int make_plan(struct embedded_plan *plan, struct bytes file,
                     struct embedded_jpeg *inner, const struct save_opts *save,
                     struct err *err)
{
    const struct stream_info *stored = &plan->reader.info, *info = &plan->info;
    const struct alignment *whole =
        &info->alignment[REPRESENTATION_COEFFICIENTS];
    const struct change change = image_change(inner->outer);
    plan->load = (struct load_opts){ .limits = inner->limits,
                                     .mem = mem_plain,
                                     .pool = save->pool,
                                     .warnings = save->warnings };
    if (codec_open(&plan->reader, &codec_jpeg, file, &plan->load, err))
        return -1;
    plan->info = *stored;
    inner->turned = plan->turn = embedded_jpeg_choose(
        inner->outer, inner->tag ? inner->tag : info->orientation.value,
        save->orientation != 0, info->width, info->height);
    if (!fits(info, plan->turn, inner->outer, inner->fit))
        return fail(err, "it has another shape");
    if (inner->view && change_trims(&change))
        trim(plan, &change, save->warnings);
    plan->representation = REPRESENTATION_COEFFICIENTS;
    if (stream_info_can_turn(info, REPRESENTATION_COEFFICIENTS, plan->turn))
        return 0;
    inner->refused = inner->view && save->edge == EDGE_FAIL && !save->quality;
    if (inner->refused)
        return fail(err,
                    "%u x %u pixels are not whole blocks of %u x %u, so "
                    "it cannot be turned without loss; --edge says what "
                    "else to do",
                    stored->width, stored->height, whole->x, whole->y);
    const bool chroma_alone =
        !save->quality &&
        stream_info_can_turn(info, REPRESENTATION_REALIGNED, plan->turn);
    if (inner->view && !save->quality)
        warn(save->warnings,
             "%sencoded anew, since %u x %u pixels are not whole "
             "blocks of %u x %u",
             chroma_alone ? "only its chroma is " : "", info->width,
             info->height, whole->x, whole->y);
    plan->representation =
        chroma_alone ? REPRESENTATION_REALIGNED : REPRESENTATION_PLANES;
    return 0;
}

/* ---- Doing it -------------------------------------------------------------*/

/* What is a few bytes longer than before may need another place, and leave its
 * own unused; so it gets the shortest tables then. The work is the picture's
 * own, which may cost no more for what is in it: that may be there often. */
static int turn(struct bytes *out, struct embedded_plan *plan,
                const struct embedded_jpeg *inner, const struct save_opts *save,
                struct err *err)
{
    const struct meta *meta = inner->outer->meta;
    const struct stream_info *info = &plan->reader.info;
    const uint64_t pixels = (uint64_t)info->width * info->height;
    const struct decode_plan how = {
        .representation = plan->representation,
        .turn = plan->turn,
        .width = plan->info.width,
        .height = plan->info.height,
    };
    struct image img = { 0 };
    struct save_opts shortest = *save;
    int status = -1;
    shortest.optimize = true;
    if (pixels > inner->limits.pixels)
        return fail(err, "%u x %u pixels are too many here", info->width,
                    info->height);
    plan->load.limits.account = meta ? meta->account : NULL;
    if (codec_decode(&plan->reader, &img, &how, err) == 0 &&
        frame_turn(&img, save->turner, plan->turn, err) == 0) {
        status = metadata_turn(&img, &codec_jpeg, save, err);
        if (status == 0)
            status = codec_jpeg.encode(out, &img, save, err);
        if (status == 0 && out->size > plan->reader.file.size &&
            !save->optimize) {
            out->size = 0;
            status = codec_jpeg.encode(out, &img, &shortest, err);
        }
    }
    image_free(&img);
    return status;
}

int embedded_jpeg_turn(struct bytes *out, struct bytes file,
                       struct embedded_jpeg *inner,
                       const struct save_opts *save, struct err *err)
{
    struct embedded_plan plan = { 0 };
    int status = make_plan(&plan, file, inner, save, err);
    if (status == 0 && (plan.turn != XFORM_NONE ||
                        plan.reader.info.orientation.value || save->drop))
        status = turn(out, &plan, inner, save, err);
    else if (status == 0 && !bytes_append(out, file.data, file.size))
        status = fail_memory(err, "no memory");
    codec_close(&plan.reader);
    return status;
}

/* ---- Thumbnails -----------------------------------------------------------*/

/* Puts the turned thumbnail in the place of the old one. It is turned without
 * metadata of its own, so that a thumbnail in a thumbnail ends here. It lives
 * in 64 KiB: 160 x 120 pixels by the standard, some cameras put a few times as
 * many. */
static int turn_in_exif(struct bytes *exif, size_t room, unsigned tag,
                        const struct image *img, const struct save_opts *opts,
                        struct err *err)
{
    struct warnings unheard = { 0 };
    const struct save_opts save = { .suffix = "jpg",
                                    .strip = STRIP_METADATA,
                                    .orientation = opts->orientation,
                                    .turner = opts->turner,
                                    .warnings = &unheard };
    struct embedded_jpeg inner = {
        .outer = img,
        .limits = { .pixels = PIXELS_MIN, .bytes = 64 << 20 },
        .tag = tag,
    };
    struct bytes turned = { 0 };
    const struct exif_thumbnail t = exif_thumbnail_find(exif->data, exif->size);
    int status = -1;
    if (!t.length)
        return fail(err, "not a JPEG file");
    struct bytes file = { .data = exif->data + t.at, .size = t.length };
    if (embedded_jpeg_turn(&turned, file, &inner, &save, err) == 0) {
        if (xform_transposes(inner.turned) != xform_transposes(img->turned))
            exif_thumbnail_exchange(exif->data, exif->size);
        if (inner.turned == XFORM_NONE)
            status = 0; /* it lies as it should, byte for byte */
        else if (exif_thumbnail_set(exif, turned.data, turned.size))
            fail_memory(err, "no memory");
        else
            status = exif->size <= room ? 0 : fail(err, "it no longer fits");
    }
    bytes_free(&turned);
    return status;
}

int thumbnail_turn_exif(struct bytes *exif, size_t room, unsigned tag,
                        const struct image *img, const struct save_opts *opts,
                        struct err *err)
{
    const size_t before = exif->size;
    bool own = opts->orientation && tag && tag != img->orientation;
    struct err why = { .text = "" };
    if ((img->turned == XFORM_NONE && !own) ||
        !exif_thumbnail_find(exif->data, exif->size).exists ||
        turn_in_exif(exif, room, tag, img, opts, &why) == 0)
        return 0;
    if (why.memory)
        return fail_memory(err, "the EXIF thumbnail: %s", why.text);
    warn(opts->warnings,
         "the EXIF thumbnail cannot be turned, so it is not kept: %s",
         why.text);
    exif_thumbnail_drop(exif);
    if (exif->size > before) /* what was put between is of no use now */
        exif->size = before;
    return 0;
}
