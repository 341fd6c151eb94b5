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

#include "codecs/base/account.h"
#include "codecs/base/memory.h"
#include "codecs/metadata/metadata.h"

/* What is done with all frames. */
struct webp_work {
    const struct load_opts *opts;
    const struct save_opts *save; /* NULL: they are only decoded */
    struct webp_file *webp;
    struct image canvas;     /* if they are composed: ARGB, as stored */
    struct webp_place dirty; /* of it: where there is what the turned
                                animation has cleared; or empty */
    enum xform t;
};

struct webp_task {
    const struct webp_work *work;
    struct webp_frame frame; /* as it becomes */
    struct image pixels;     /* to be encoded; or none: those of the frame */
    struct bytes made;
    struct warnings warnings;
    struct err err;
    int status;
};

/* ---- Places ---------------------------------------------------------------*/

static struct webp_place place_turn(struct webp_place p, enum xform t,
                                    const struct webp_file *webp)
{
    if (xform_reverses_x(t))
        p.x = webp->width - p.width - p.x;
    if (xform_reverses_y(t))
        p.y = webp->height - p.height - p.y;
    return xform_transposes(t)
               ? (struct webp_place){ p.y, p.x, p.height, p.width }
               : p;
}

static struct webp_place place_grow(struct webp_place p, enum xform t,
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

static struct webp_place place_join(struct webp_place a, struct webp_place b)
{
    if (b.width == 0)
        return a;
    const uint32_t x = least(a.x, b.x), y = least(a.y, b.y);
    return (struct webp_place){ x, y, most(a.x + a.width, b.x + b.width) - x,
                                most(a.y + a.height, b.y + b.height) - y };
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

/* Lays the frame on the canvas. Returns whether it is opaque. */
static bool draw(const struct image *canvas, const struct image *own,
                 const struct webp_frame *frame)
{
    const bool replaces = frame->flags & WEBP_REPLACES;
    uint32_t all = UINT32_MAX;
    for (uint32_t y = 0; y < own->height; y++) {
        uint32_t *to = pixel(canvas, frame->place.x, frame->place.y + y);
        const uint32_t *from = pixel(own, 0, y);
        for (uint32_t x = 0; x < own->width; x++) {
            all &= from[x];
            to[x] = replaces ? from[x] : blend(from[x], to[x]);
        }
    }
    return all >> 24 == 255;
}

/* Clears a place, or only looks whether there is anything in it. */
static bool scan(const struct image *canvas, struct webp_place p, bool clear)
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
                     struct webp_place part, struct err *err)
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
static int compose(struct webp_work *work, struct webp_task *task)
{
    struct webp_frame *frame = &task->frame;
    const struct webp_place was = frame->place, dirty = work->dirty;
    const struct webp_place is =
        place_grow(place_join(was, dirty), work->t, work->webp);
    const bool replaces = frame->flags & WEBP_REPLACES,
               same = memcmp(&was, &is, sizeof is) == 0;
    struct image own;
    int status = 0;
    if (webp_decode(&own, frame, true, work->opts, &task->err))
        return -1;
    const bool opaque = draw(&work->canvas, &own, frame);
    if (!dirty.width && !same && (opaque || !replaces)) {
        frame->flags &= (uint8_t)~WEBP_REPLACES;
        status = take_part(&task->pixels, &own,
                           (struct webp_place){ 0, 0, is.width, is.height },
                           &task->err);
    } else if (!same || (dirty.width && !replaces && !opaque)) {
        frame->flags |= WEBP_REPLACES;
        frame->lossless = true; /* edges of frames are sharper than 4:2:0 */
        status = take_part(&task->pixels, &work->canvas, is, &task->err);
    }
    image_free(&own);
    work->dirty.width = 0;
    if (frame->flags & WEBP_CLEARED) {
        scan(&work->canvas, was, true);
        if (!same && scan(&work->canvas, is, false))
            work->dirty = is;
    }
    frame->place = is;
    frame->alpha = frame->alpha || task->pixels.nplanes;
    return status;
}

/* ---- One frame ------------------------------------------------------------*/

/* What loses more than this is encoded at a higher quality than it had: mosaics
 * of few colors, and what had next to none. Of frames that are made of pixels,
 * whose chroma is averaged anew before that is measured, less is allowed. */
enum { LEAST_PSNR = 34, LEAST_OF_PIXELS = 37 };

static int turn_pixels(struct webp_task *task, float quality)
{
    const struct webp_work *work = task->work;
    const struct turner *turner = work->opts->turner;
    struct image turned = { 0 };
    if (work->t != XFORM_NONE) {
        if (image_like(&turned, &task->pixels, work->t, mem_plain,
                       &task->err) ||
            turner->turn(turner->context, &turned, &task->pixels, work->t,
                         &task->err)) {
            image_free(&turned);
            return -1;
        }
        image_free(&task->pixels);
        task->pixels = turned;
    }
    task->frame.place = place_turn(task->frame.place, work->t, work->webp);
    return webp_encode(&task->made, &task->frame, &task->pixels, quality,
                       work->save->quality         ? 0
                       : task->pixels.nplanes == 1 ? LEAST_OF_PIXELS
                                                   : LEAST_PSNR,
                       &task->err);
}

/* A lossy frame stays as it is stored, Y, U and V, where the chroma samples of
 * the turned one are at the same places. */
static void do_frame(void *context, size_t i)
{
    struct webp_task *task = (struct webp_task *)context + i;
    const struct webp_work *work = task->work;
    const struct save_opts *save = work->save;
    struct webp_frame *frame = &task->frame;
    struct load_opts load = *work->opts;
    float quality = 0;
    load.warnings = &task->warnings;
    if (!frame->lossless && save)
        quality = save->quality ? (float)save->quality : webp_quality(frame);
    frame->lossless = frame->lossless || (save && save->lossless);
    const bool argb = frame->lossless ||
                      (xform_reverses_x(work->t) && frame->place.width & 1) ||
                      (xform_reverses_y(work->t) && frame->place.height & 1);
    if (task->status == 0)
        task->status =
            account_check_time(load.limits.account, &task->err) ||
            (!task->pixels.nplanes &&
             webp_decode(&task->pixels, frame, argb, &load, &task->err)) ||
            (save && turn_pixels(task, quality));
    image_free(&task->pixels);
}

/* ---- All frames -----------------------------------------------------------*/

enum { TASKS = 16 }; /* at a time */

/* Takes what a task has made. */
static int end_task(struct webp_work *work, struct webp_task *task,
                    size_t number, struct err *err)
{
    struct webp_file *webp = work->webp;
    for (unsigned i = 0; i < task->warnings.count && i < WARNINGS_MAX; i++)
        warn(work->opts->warnings, "frame %zu: %s", number + 1,
             task->warnings.list[i].text);
    if (task->status && webp_is_animated(webp))
        return fail_with(err, &task->err, "frame %zu: %s", number + 1,
                         task->err.text);
    if (task->status)
        *err = task->err;
    if (task->status || !work->save)
        return task->status;
    webp->frame[number] = task->frame;
    if (task->frame.alpha)
        webp->vp8x[0] |= webp->extended ? WEBP_ALPHA : 0;
    return 0;
}

/* Makes all frames anew, to `made`, one for each; or decodes them. */
static int do_all(struct webp_work *work, struct bytes *made, unsigned most,
                  struct err *err)
{
    const size_t all = work->webp->nframes;
    const struct turner *turner = work->opts->turner;
    struct webp_task *tasks = memory_alloc(TASKS * sizeof *tasks);
    int status = 0;
    if (!tasks)
        return fail_memory(err, "no memory for the frames");
    for (size_t at = 0, n; at < all && status == 0; at += n) {
        n = all - at < most ? all - at : most;
        for (size_t i = 0; i < n; i++) {
            tasks[i] = (struct webp_task){ .work = work,
                                           .frame = work->webp->frame[at + i] };
            if (work->canvas.nplanes)
                tasks[i].status = compose(work, &tasks[i]);
        }
        thread_pool_run(!turner || turner->parallel ? work->opts->pool : NULL,
                        do_frame, tasks, n);
        for (size_t i = 0; i < n; i++) {
            if (status == 0)
                status = end_task(work, &tasks[i], at + i, err);
            if (made)
                made[at + i] = tasks[i].made;
        }
    }
    memory_free(tasks);
    return status;
}

/* A byte of a frame becomes hardly more than so many but of a flat one: many of
 * these cost work that their file does not show. */
enum { FLAT_FROM = 500 };

/* Finds how many frames memory holds at a time. */
static int check_size(const struct webp_work *work, bool composes,
                      unsigned *side_by_side, struct err *err)
{
    enum { BYTES = 64 }; /* of a pixel, with what libwebp needs */
    const struct webp_file *webp = work->webp;
    struct limits limits = work->opts->limits;
    const unsigned threads = thread_pool_threads(work->opts->pool);
    uint64_t pixels = 0, coded = 0, largest = 0;
    limits.reserve = NULL;
    for (size_t i = 0; i < webp->nframes; i++) {
        const struct webp_frame *frame = &webp->frame[i];
        const uint64_t of_frame =
            (uint64_t)frame->place.width * frame->place.height;
        if (image_check(frame->place.width, frame->place.height, 4, CELL_U8,
                        &limits, err))
            return -1;
        coded += frame->size;
        pixels += of_frame;
        largest = of_frame > largest ? of_frame : largest;
    }
    if (composes &&
        image_check(webp->width, webp->height, 4, CELL_U8, &limits, err))
        return -1;
    if (pixels > limits.pixels)
        return limit_refuse_frames((uint32_t)webp->nframes, pixels, &limits,
                                   err);
    if (webp->nframes > 1 && 4 * pixels > FLAT_FROM * coded &&
        account_check_work(limits.account, 4 * pixels - FLAT_FROM * coded, err))
        return -1;
    const uint64_t fit = limits.bytes / (BYTES * largest);
    *side_by_side = fit < threads ? (unsigned)fit + !fit : threads;
    *side_by_side = least(*side_by_side, TASKS);
    if (work->opts->limits.reserve)
        work->opts->limits.reserve(limits.context,
                                   *side_by_side * BYTES * largest);
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
             "lossy WebP is encoded anew, with loss, at a quality of %.0f, "
             "which is about what it had; --lossless loses nothing",
             (double)webp_quality(lossy));
    if (lossy && !save->lossless && save->encoded_anew)
        *save->encoded_anew = true;
    return true;
}

/* Turns the frames, and writes the file. */
static int turn_frames(struct bytes *out, struct webp_work *work,
                       const struct meta *meta, struct err *err)
{
    struct webp_file *webp = work->webp;
    const size_t n = webp->nframes;
    bool composes = false;
    unsigned most = 1;
    for (size_t i = 0; i < n; i++) {
        const struct webp_place *p = &webp->frame[i].place,
                                is = place_grow(*p, work->t, webp);
        composes = composes || is.width != p->width || is.height != p->height;
    }
    struct bytes *made = memory_alloc_zeroed(n, sizeof *made);
    int status = made ? 0 : fail_memory(err, "no memory for the frames");
    if (status == 0)
        status = check_size(work, composes, &most, err);
    if (status == 0 && composes)
        status = argb_alloc(&work->canvas, webp->width, webp->height, err);
    if (status == 0)
        status = do_all(work, made, most, err);
    if (status == 0 && work->save && xform_transposes(work->t)) {
        const uint32_t width = webp->width;
        webp->width = webp->height;
        webp->height = width;
    }
    if (status == 0 && work->save)
        status = webp_write(out, webp, meta, err);
    for (size_t i = 0; made && i < n; i++)
        bytes_free(&made[i]);
    memory_free(made);
    image_free(&work->canvas);
    return status;
}

int webp_turn(struct bytes *out, struct image *img, struct bytes file,
              enum xform t, const struct load_opts *opts, struct err *err)
{
    const struct save_opts *save = opts->turner ? opts->save : NULL;
    struct webp_file webp = { .frame = NULL };
    struct webp_work work = { .opts = opts, .save = save, .webp = &webp };
    struct image whole = { .meta = meta_new(&codec_webp), .nplanes = 4 };
    int status = -1;
    if (!whole.meta)
        return fail_memory(err, "no memory for the decoder");
    whole.meta->account = opts->limits.account;
    if (webp_load(err) || webp_read(&webp, whole.meta, file, opts, err) ||
        metadata_read_orientation(&whole, &webp_blocks, err))
        goto out;
    if (!opts->as_stored)
        t = xform_then(xform_from_exif(whole.orientation), t);
    work.t = whole.turned = save ? t : XFORM_NONE;
    const bool exchanged = xform_transposes(work.t),
               tags = !opts->as_stored &&
                      (whole.orientation != 1 || whole.meta->orientation.other);
    img->width = whole.width = exchanged ? webp.height : webp.width;
    img->height = whole.height = exchanged ? webp.width : webp.height;
    img->orientation = opts->as_stored ? whole.orientation : 1;
    if (!save)
        status = turn_frames(out, &work, NULL, err);
    else if (tell_of_loss(&work))
        status = metadata_turn(&whole, &codec_webp, save, err) ||
                         turn_frames(out, &work, whole.meta, err)
                     ? -1
                     : 0;
    else if (save->strip || save->drop || tags)
        status = metadata_turn(&whole, &codec_webp, save, err) ||
                         webp_write(out, &webp, whole.meta, err)
                     ? -1
                     : 0;
    else
        status = 0;
out:
    webp_free(&webp);
    image_free(&whole);
    return status;
}
