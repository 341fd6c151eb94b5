/* All frames of a file turned, each within its place on the canvas.
 *
 * Places begin at even columns and rows. Where the turned one would not, the
 * frame grows by a column or row on the other side, which must not be seen: it
 * is transparent, if the frame is laid over what is there; else it is what is
 * there, so the animation is composed as viewers do. Where a frame that has
 * grown is cleared, more is cleared than was; then the next frame grows to
 * that. */
#include "codecs/webp/webp.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/metadata/metadata.h"

/* What is done with all frames. */
struct webp_work {
    const struct load_opts *opts;
    const struct save_opts *save; /* NULL: they are only decoded */
    struct webp_file *webp;       /* its frames become what they are turned */
    enum xform t;
    uint32_t width, height; /* of the turned canvas */
    struct bytes *made;     /* what frames borrow then */
    /* Of those in work, what is to be encoded; or none: what the frame has. */
    struct image *pixels;
    struct image canvas;      /* if they are composed: ARGB, as stored */
    struct frame_place dirty; /* of it: where there is what the turned
                                animation has cleared; or empty */
};

/* ---- Places ---------------------------------------------------------------*/

static struct frame_place place_grow(struct frame_place p, enum xform t,
                                     const struct webp_file *webp)
{
    p.width += xform_reverses_x(t) && (webp->width - p.width - p.x) & 1;
    p.height += xform_reverses_y(t) && (webp->height - p.height - p.y) & 1;
    return p;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- Composing ------------------------------------------------------------*/

static uint32_t *pixel(const struct image *img, uint32_t x, uint32_t y)
{
    return (uint32_t *)plane_row(img->plane, y) + x;
}

/* As libwebp's WebPAnimDecoder does. */
static uint32_t blend(uint32_t over, uint32_t under)
{
    const uint32_t a = over >> 24, left = ((under >> 24) * (256 - a)) >> 8;
    uint32_t made = (a + left) << 24;
    if (a == 0 || left == 0)
        return a ? over : under;
    for (unsigned bit = 0; bit < 24; bit += 8) {
        const uint32_t o = over >> bit & 255, u = under >> bit & 255;
        made |= ((o * a + u * left) * ((1u << 24) / (a + left)) >> 24) << bit;
    }
    return made;
}

/* Clears a place, or only looks whether there is anything in it. */
static bool scan(const struct image *canvas, struct frame_place p, bool clear)
{
    uint32_t any = 0;
    for (uint32_t y = p.y; y < p.y + p.height; y++) {
        uint32_t *row = pixel(canvas, p.x, y);
        for (uint32_t x = 0; x < p.width; x++)
            any |= row[x];
        if (clear)
            memset(row, 0, p.width * sizeof *row);
    }
    return any >> 24;
}

static int argb_alloc(struct image *img, uint32_t width, uint32_t height,
                      struct err *err)
{
    *img = (struct image){
        .cell = CELL_F32, .width = width, .height = height, .nplanes = 1
    };
    if (image_alloc(img, mem_plain, err))
        return -1;
    memset(img->pixels.rows.cells, 0, img->pixels.rows.size);
    return 0;
}

/* Makes `to` a part of the canvas; or a frame with transparent pixels beside it
 * that make it so large. */
static int take_part(struct image *to, const struct image *from,
                     struct frame_place part, struct err *err)
{
    if (argb_alloc(to, part.width, part.height, err))
        return -1;
    const uint32_t width = least(part.width, from->width - part.x);
    for (uint32_t y = 0; y < least(part.height, from->height - part.y); y++)
        memcpy(pixel(to, 0, y), pixel(from, part.x, part.y + y),
               width * sizeof(uint32_t));
    return 0;
}

/* Lays the next frame on the canvas, and gives it the pixels that it needs in
 * the turned animation. */
static int compose(void *context, uint32_t i, struct err *err)
{
    struct webp_work *work = context;
    struct webp_frame *frame = &work->webp->frame[i];
    struct image *pixels = &work->pixels[i % FRAMES_AT_ONCE], own;
    const struct frame_place was = frame->place, dirty = work->dirty;
    struct frame_place is = was;
    if (dirty.width) {
        is.x = least(was.x, dirty.x);
        is.y = least(was.y, dirty.y);
        is.width = most(was.x + was.width, dirty.x + dirty.width) - is.x;
        is.height = most(was.y + was.height, dirty.y + dirty.height) - is.y;
    }
    is = place_grow(is, work->t, work->webp);
    const bool replaces = frame->flags & WEBP_REPLACES,
               same = memcmp(&was, &is, sizeof is) == 0;
    int status = 0;
    if (webp_decode(&own, frame, true, work->opts, err))
        return -1;
    uint32_t all = UINT32_MAX;
    for (uint32_t y = 0; y < own.height; y++) {
        uint32_t *to = pixel(&work->canvas, was.x, was.y + y);
        const uint32_t *from = pixel(&own, 0, y);
        for (uint32_t x = 0; x < own.width; x++) {
            all &= from[x];
            to[x] = replaces ? from[x] : blend(from[x], to[x]);
        }
    }
    const bool opaque = all >> 24 == 255;
    if (!dirty.width && !same && (opaque || !replaces)) {
        frame->flags &= (uint8_t)~WEBP_REPLACES;
        status =
            take_part(pixels, &own,
                      (struct frame_place){ 0, 0, is.width, is.height }, err);
    } else if (!same || (dirty.width && !replaces && !opaque)) {
        frame->flags |= WEBP_REPLACES;
        frame->lossless = true; /* edges of frames are sharper than 4:2:0 */
        status = take_part(pixels, &work->canvas, is, err);
    }
    image_free(&own);
    work->dirty.width = 0;
    if (frame->flags & WEBP_CLEARED) {
        scan(&work->canvas, was, true);
        if (!same && scan(&work->canvas, is, false))
            work->dirty = is;
    }
    frame->place = is;
    if (pixels->nplanes) {
        frame->alpha = true;
        work->webp->vp8x[0] |= WEBP_ALPHA; /* which tells of it */
    }
    return status;
}

/* ---- Frames ---------------------------------------------------------------*/

/* What loses more than this is encoded at a higher quality than it had: mosaics
 * of few colors, and what had next to none. Of frames that are made of pixels,
 * whose chroma is averaged anew before that is measured, less is allowed. */
enum { LEAST_PSNR = 34, LEAST_OF_PIXELS = 37 };

/* A lossy frame stays as it is stored, Y, U and V, where the chroma samples of
 * the turned one are at the same places. */
static int make_frame(void *context, uint32_t i, struct bytes *made,
                      struct warnings *warnings, struct err *err)
{
    const struct webp_work *work = context;
    const struct save_opts *save = work->save;
    const struct webp_file *webp = work->webp;
    struct webp_frame *frame = &webp->frame[i];
    struct image *pixels = &work->pixels[i % FRAMES_AT_ONCE];
    struct load_opts load = *work->opts;
    float quality = 0, least = 0;
    load.warnings = warnings;
    if (!frame->lossless && save)
        quality = save->quality ? (float)save->quality : webp_quality(frame);
    frame->lossless = frame->lossless || (save && save->lossless);
    const bool argb = frame->lossless ||
                      (xform_reverses_x(work->t) && frame->place.width & 1) ||
                      (xform_reverses_y(work->t) && frame->place.height & 1);
    if (!pixels->nplanes && webp_decode(pixels, frame, argb, &load, err))
        return -1;
    int status = 0;
    if (save) {
        frame->place =
            frame_place_turn(frame->place, work->t, work->width, work->height);
        if (!save->quality)
            least = pixels->nplanes == 1 ? LEAST_OF_PIXELS : LEAST_PSNR;
        status = frame_turn(pixels, save->turner, work->t, err) ||
                 webp_encode(made, frame, pixels, quality, least, err);
    }
    image_free(pixels);
    return status;
}

static int take_frame(void *context, uint32_t i, struct bytes *made,
                      struct err *err)
{
    const struct webp_work *work = context;
    (void)err;
    work->made[i] = *made;
    *made = (struct bytes){ 0 };
    return 0;
}

/* Says what becomes of lossy frames. Returns whether frames are made anew. */
static bool tell_of_loss(const struct webp_work *work)
{
    const struct save_opts *save = work->save;
    struct warnings *warnings = work->opts->warnings;
    const struct webp_frame *lossy = NULL;
    for (size_t i = 0; i < work->webp->nframes && !lossy; i++)
        if (!work->webp->frame[i].lossless)
            lossy = &work->webp->frame[i];
    if (!lossy && save->quality)
        warn(warnings, "it is lossless, and stays so: --quality changes "
                       "nothing");
    if (work->t == XFORM_NONE && (!lossy || !save->quality))
        return false;
    if (lossy && save->lossless)
        warn(warnings, "it was lossy, and becomes lossless, so that nothing "
                       "more is lost; that takes more bytes");
    else if (lossy && !save->quality)
        warn(warnings,
             "lossy WebP is encoded anew, with loss, at a quality of at least "
             "%.0f, which is about what it had; --lossless loses nothing",
             (double)webp_quality(lossy));
    if (lossy && !save->lossless && save->encoded_anew)
        *save->encoded_anew = true;
    return true;
}

/* Makes all frames anew; without work->save it only tries them. */
static int turn_frames(struct webp_work *work, struct err *err)
{
    enum { BYTES = 64 }; /* of a pixel, with what libwebp needs */
    const struct image bytes = { .cell = CELL_U8, .nplanes = 1 };
    struct webp_file *webp = work->webp;
    struct limits limits = work->opts->limits;
    const struct turner *turner = work->save ? work->save->turner : NULL;
    struct thread_pool *pool =
        !turner || turner->parallel ? work->opts->pool : NULL;
    struct frames_size size = { .frames = 0 };
    struct frame_maker maker = { .make = make_frame,
                                 .take = take_frame,
                                 .context = work,
                                 .account = work->opts->limits.account };
    limits.reserve = NULL;
    for (size_t i = 0; i < webp->nframes; i++) {
        const struct frame_place *p = &webp->frame[i].place,
                                 is = place_grow(*p, work->t, webp);
        if (is.width != p->width || is.height != p->height)
            maker.prepare = compose;
        if (image_check(p->width, p->height, 4, CELL_U8, &limits, err))
            return -1;
        frames_add(&size, &bytes, p->width, p->height, BYTES,
                   webp->frame[i].size);
    }
    if ((maker.prepare &&
         image_check(webp->width, webp->height, 4, CELL_U8, &limits, err)) ||
        frames_check(&size, &work->opts->limits, work->opts->pool, err))
        return -1;
    work->made = memory_alloc_zeroed(webp->nframes, sizeof *work->made);
    work->pixels = memory_alloc_zeroed(FRAMES_AT_ONCE, sizeof *work->pixels);
    int status = work->made && work->pixels
                     ? 0
                     : fail_memory(err, "no memory for the frames");
    if (status == 0 && maker.prepare)
        status = argb_alloc(&work->canvas, webp->width, webp->height, err);
    if (status == 0)
        status = frames_make(&maker, &size, pool, work->opts->warnings, err);
    for (size_t i = 0; work->pixels && i < FRAMES_AT_ONCE; i++)
        image_free(&work->pixels[i]);
    memory_free(work->pixels);
    image_free(&work->canvas);
    webp->width = work->width;
    webp->height = work->height;
    return status;
}

int webp_turn(struct bytes *out, struct image *img, struct bytes file,
              enum xform t, const struct load_opts *opts, struct err *err)
{
    const struct save_opts *save = opts->save;
    const bool as_stored = save && !save->orientation;
    struct webp_file webp = { .frame = NULL };
    struct webp_work work = { .opts = opts, .save = save, .webp = &webp };
    struct image whole = { .meta = codec_new_meta(&codec_webp), .nplanes = 4 };
    int status = -1;
    if (!whole.meta)
        return fail_memory(err, "no memory for the decoder");
    whole.meta->account = opts->limits.account;
    if (webp_load(err) || webp_read(&webp, whole.meta, file, opts, err) ||
        metadata_read_orientation(&whole, &webp_blocks, err))
        goto out;
    if (!as_stored)
        t = xform_then(xform_from_exif(whole.orientation), t);
    work.t = whole.turned = save ? t : XFORM_NONE;
    const bool exchanged = xform_transposes(work.t),
               tags = !as_stored &&
                      (whole.orientation != 1 || whole.meta->orientation.other);
    work.width = exchanged ? webp.height : webp.width;
    work.height = exchanged ? webp.width : webp.height;
    img->width = whole.width = work.width;
    img->height = whole.height = work.height;
    img->orientation = as_stored ? whole.orientation : 1;
    const bool anew = save && tell_of_loss(&work),
               changes = anew || (save && (save->strip || save->drop || tags));
    status = changes && metadata_turn(&whole, &codec_webp, save, err);
    bool mends = false;
    if (status == 0 && changes && !anew) { /* frames stay if they are whole */
        struct load_opts strict = *opts;
        struct webp_work tried = work;
        strict.tolerant = false;
        tried.opts = &strict;
        tried.save = NULL;
        mends = turn_frames(&tried, err);
        memory_free(tried.made);
    }
    if (mends && !opts->tolerant)
        status = -1;
    if (status == 0 && (anew || mends || !save))
        status = turn_frames(&work, err);
    if (status == 0 && changes)
        status = webp_write(out, &webp, whole.meta, err);
out:
    for (size_t i = 0; work.made && i < webp.nframes; i++)
        bytes_free(&work.made[i]);
    memory_free(work.made);
    memory_free(webp.frame);
    image_free(&whole);
    return status ? -1 : 0;
}
