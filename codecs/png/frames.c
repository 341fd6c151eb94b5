/* The frames of an animated PNG behind the picture itself. Each is made a file
 * of its own, IHDR, PLTE, tRNS, IDAT and IEND, is read, turned and written like
 * any other, and its IDATs become the fdAT of the frame.
 *
 * So no more than a few frames are decoded at a time. Where the memory and the
 * backend allow it each thread has one of them; else one after the other has
 * all threads. Where memory does not hold even one, each goes through a
 * temporary file, as other pictures do. */
#include "codecs/png/png.h"

#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/bytes.h"
#include "codecs/base/memory.h"
#include "codecs/metadata/metadata.h"
#include "codecs/png/animation.h"
#include "codecs/png/chunk.h"

/* ---- What the chunks say ------------------------------------------------- */

/* Without acTL they are remains of an animation, which nobody shows. */
static void drop_all(struct meta *meta, struct warnings *warnings,
                     const char *why)
{
    meta->animation = (struct animation){ 0 };
    for (size_t i = 0; i < meta->nblocks; i++)
        meta->block[i].dropped = meta->block[i].kind == BLOCK_FRAME;
    warn(warnings, "%s: the default image is kept alone", why);
}

/* Takes all chunks, and their end. Lenient, what is wrong is dropped. */
static int take_chunks(struct animation_parser *p, struct meta *meta,
                       struct err *err)
{
    struct err why;
    for (p->at = 0; p->at <= meta->nblocks;) {
        const struct metadata_block *block = &meta->block[p->at];
        const bool ended = p->at == meta->nblocks;
        const int status =
            ended ? animation_end(p, &why)
            : block->kind != BLOCK_FRAME
                ? 0
                : animation_take(p, block->name, block->data, block->size,
                                 block->where == PNG_PLACE_AFTER_IDAT, &why);
        if (status && !p->lenient) {
            *err = why;
            return -1;
        }
        if (status) {
            p->wrong = *p->wrong.text ? p->wrong : why;
            meta->block[p->wrong_at].dropped = true;
        }
        p->at += status == 0 || p->wrong_at == p->at;
    }
    return 0;
}

/* Makes acTL tell of the frames that are left of a damaged animation. */
static void mend(struct meta *meta, struct animation_parser *p,
                 struct warnings *warnings)
{
    if (p->frames == 0 || !p->declared) {
        drop_all(meta, warnings, p->wrong.text);
        return;
    }
    warn(warnings, "only frames that can be read are kept, %u in all: %s",
         p->frames, p->wrong.text);
    for (size_t i = 0; i < meta->nblocks; i++)
        if (is_frame_block(&meta->block[i], "acTL"))
            write_be32(meta->block[i].data, p->frames);
}

int frames_read(struct image *img, const struct load_opts *opts,
                struct err *err)
{
    struct meta *meta = img->meta;
    const struct change change = image_change(img);
    struct animation_parser p = { .width = change.width,
                                  .height = change.height,
                                  .lenient = opts->tolerant };
    size_t chunks = 0;
    bool declared = false;
    for (size_t i = 0; i < meta->nblocks; i++) {
        chunks += meta->block[i].kind == BLOCK_FRAME;
        declared = declared || is_frame_block(&meta->block[i], "acTL");
    }
    if (chunks == 0)
        return 0;
    if (!declared)
        drop_all(meta, opts->warnings, "there are frames, but no acTL");
    else if (take_chunks(&p, meta, err))
        return -1;
    meta->animation = p.found;
    meta->animation.frames = declared ? p.frames : 0;
    if (*p.wrong.text)
        mend(meta, &p, opts->warnings);
    meta_remove_dropped(meta);
    return 0;
}

/* ---- Limits -------------------------------------------------------------- */

/* Returns what the frames that are decoded by themselves take together. Their
 * pixels are also those of the picture. */
static struct frames_size sum_frames(const struct image *img)
{
    const struct meta *meta = img->meta;
    struct frames_size sum = { .pixels = (uint64_t)img->width * img->height };
    for (size_t i = 0; i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        sum.coded += is_frame_block(block, "fdAT") ? block->size : 0;
        if (!is_frame_block(block, "fcTL") ||
            block->where != PNG_PLACE_AFTER_IDAT)
            continue;
        struct frame_place place = frame_place_read(block->data);
        frames_add(&sum, img, place.width, place.height, 0, 0);
    }
    return sum;
}

/* Returns whether frames can go through temporary files: if one may hold the
 * cells of the largest, and memory some rows of it. */
static bool suits_scratch(const struct image *img, uint64_t frame,
                          const struct limits *limits)
{
    uint32_t side = img->width > img->height ? img->width : img->height;
    return limits->scratch && frame / 2 <= limits->stored &&
           image_row_bytes(img, side) <= limits->scratch->memory / 2;
}

/* While a frame is turned the picture has been turned already. */
int frames_check_size(const struct image *img, const struct load_opts *opts,
                      struct err *err)
{
    const struct limits *limits = &opts->limits;
    struct animation *a = &img->meta->animation;
    const struct frames_size sum = sum_frames(img);
    struct frames_size whole = { 0 };
    if (a->frames == 0 || sum.frames == 0)
        return 0;
    if (sum.pixels > limits->pixels)
        return limit_refuse_frames(a->frames, sum.pixels, limits, err);
    if (frames_check_work(&sum, limits->account, err))
        return -1;
    if (image_choose_pixels(img, limits) != PIXELS_BANDS)
        frames_add(&whole, img, img->width, img->height, 0, 0);
    const uint64_t once = whole.most / 2, frame = sum.most;
    uint64_t need = once + frame;
    unsigned threads = thread_pool_threads(opts->pool);
    a->stored = need > limits->bytes;
    if (a->stored && !suits_scratch(img, frame, limits))
        return limit_refuse_memory("the frames need", need, limits, err);
    a->side_by_side = !a->stored && a->frames * 2ull >= threads &&
                      (limits->bytes - once) / threads >= frame;
    need = a->side_by_side ? once + threads * frame
           : a->stored     ? once + limits->scratch->memory
                           : need;
    if (limits->reserve)
        limits->reserve(limits->context, need);
    return 0;
}

/* ---- One frame ----------------------------------------------------------- */

/* What is done with all frames. */
struct frames_work {
    const struct image *img; /* the picture itself */
    enum xform t;
    const struct turner *turner;
    struct thread_pool *pool; /* for one frame; NULL: its thread is one of it */
    const struct account *account; /* whose time ends it */
    bool tolerant;
    const struct save_opts *save;  /* NULL: they are not encoded */
    const struct scratch *scratch; /* of one frame at a time, if there is no
                                      memory for one */
    struct frame_blocks blocks[FRAMES_AT_ONCE]; /* of those in work */
    size_t at;                                  /* the block behind them */
};

static int decode(struct image *frame, struct frame_blocks blocks,
                  const struct frames_work *w, struct warnings *warnings,
                  struct err *err)
{
    const bool stored = w->img->meta->animation.stored;
    const struct load_opts opts = {
        .limits = { .bytes = stored ? w->scratch->memory : UINT64_MAX,
                    .scratch = stored ? w->scratch : NULL },
        .tolerant = w->tolerant,
        .pool = w->pool,
        .warnings = warnings,
    };
    const struct decode_plan plan = {
        .turn = w->t,
        .turner = w->turner && w->turner->parallel ? w->turner : NULL,
    };
    return frame_decode(frame, w->img, blocks, &opts, &plan, err);
}

/* Makes an fdAT of the chunks IDAT of a file. */
static int collect(struct bytes *made, struct bytes file, struct err *err)
{
    struct bytes left = chunk_bytes(file);
    struct chunk chunk;
    bool kept = bytes_append(made, "\0\0\0\0", SEQUENCE);
    while (kept && left.size) {
        if (!chunk_next(&chunk, &left))
            return fail(err, "it was not encoded as a whole");
        if (chunk_is(&chunk, "IDAT"))
            kept = bytes_append(made, chunk.data, chunk.size);
    }
    if (!kept)
        return fail_memory(err, "no memory for the encoded frame");
    if (made->size > INT32_MAX)
        return fail(err, "it has more than 2 GiB, encoded");
    return 0;
}

static int encode(struct bytes *made, const struct image *frame,
                  const struct frames_work *w, struct warnings *warnings,
                  struct err *err)
{
    struct save_opts save = *w->save;
    struct bytes file = { 0 };
    uint32_t adler = 0;
    save.flush = NULL; /* it becomes a chunk */
    save.pool = w->pool;
    save.adler = &adler;
    save.warnings = warnings;
    int status = write_png(&file, frame, &save, err);
    if (status == 0)
        status = check_png(file, frame, &save, err);
    if (status == 0)
        status = collect(made, file, err);
    bytes_free(&file);
    return status;
}

static int find_frame(void *context, uint32_t i, struct err *err)
{
    struct frames_work *w = context;
    struct frame_blocks *blocks = &w->blocks[i % FRAMES_AT_ONCE];
    return frame_find(blocks, w->img->meta, &w->at)
               ? 0
               : fail(err, "it is missing");
}

/* The default image has been turned already. */
static int make_frame(void *context, uint32_t i, struct bytes *made,
                      struct warnings *warnings, struct err *err)
{
    const struct frames_work *w = context;
    const struct frame_blocks blocks = w->blocks[i % FRAMES_AT_ONCE];
    struct image frame = { 0 };
    if (frame_is_default(w->img->meta, blocks))
        return 0;
    int status = decode(&frame, blocks, w, warnings, err);
    if (status == 0 && frame.turned != w->t)
        status = frame_turn(&frame, w->turner, w->t, err);
    if (status == 0 && w->save)
        status = encode(made, &frame, w, warnings, err);
    image_free(&frame);
    return status;
}

/* Puts the fdAT that was made in the place of those that were read. */
static int take_frame(void *context, uint32_t i, struct bytes *made,
                      struct err *err)
{
    const struct frames_work *w = context;
    const struct frame_blocks blocks = w->blocks[i % FRAMES_AT_ONCE];
    struct metadata_block *put = NULL;
    (void)err;
    for (size_t k = blocks.begin; made->size && k < blocks.end; k++) {
        struct metadata_block *block = &w->img->meta->block[k];
        if (!is_frame_block(block, "fdAT"))
            continue;
        block->dropped = put != NULL;
        put = put ? put : block;
    }
    if (put) {
        memory_free(put->data);
        put->data = made->data;
        put->size = made->size;
        *made = (struct bytes){ 0 };
    }
    return 0;
}

static int do_all(struct frames_work *w, struct warnings *warnings,
                  struct err *err)
{
    const struct animation *a = &w->img->meta->animation;
    const bool parallel =
        a->side_by_side && (!w->turner || w->turner->parallel);
    const struct frames_size size = { .frames = a->frames,
                                      .at_once = FRAMES_AT_ONCE };
    const struct frame_maker maker = { .prepare = find_frame,
                                       .make = make_frame,
                                       .take = take_frame,
                                       .context = w,
                                       .account = w->account };
    struct thread_pool *pool = w->pool;
    w->pool = parallel ? NULL : pool;
    return frames_make(&maker, &size, parallel ? pool : NULL, warnings, err);
}

/* Frames that are only tried stay as they are. */
static int copy_rows(void *context, struct image *dst, const struct image *src,
                     enum xform t, struct err *err)
{
    (void)context, (void)t, (void)err;
    for (unsigned i = 0; i < src->nplanes; i++)
        for (uint32_t y = 0; y < src->height; y++)
            memcpy(plane_row(&dst->plane[i], y), plane_row(&src->plane[i], y),
                   src->width * cell_size(src->cell));
    return 0;
}

int frames_try(struct image *img, const struct load_opts *opts, struct err *err)
{
    const struct turner copy = { .turn = copy_rows, .parallel = true };
    struct frames_work work = { .img = img,
                                .turner = &copy,
                                .pool = opts->pool,
                                .account = opts->limits.account,
                                .tolerant = opts->tolerant,
                                .scratch = opts->limits.scratch };
    img->meta->animation.tried = true;
    return do_all(&work, opts->warnings, err);
}

/* Maps the places, and numbers the chunks anew. */
static void turn_places(const struct image *img)
{
    struct meta *meta = img->meta;
    uint32_t number = 0;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        bool control = is_frame_block(block, "fcTL");
        if (control)
            frame_place_write(block->data,
                              frame_place_turn(frame_place_read(block->data),
                                               img->turned, img->width,
                                               img->height));
        if (control || is_frame_block(block, "fdAT"))
            write_be32(block->data, number++);
    }
}

int frames_turn(const struct image *img, const struct save_opts *opts,
                struct err *err)
{
    struct frames_work work = { .img = img,
                                .t = img->turned,
                                .turner = opts->turner,
                                .pool = opts->pool,
                                .account = opts->account,
                                .tolerant = opts->tolerant,
                                .save = opts,
                                .scratch = opts->scratch };
    struct warnings unheard = { 0 };
    bool tried = img->meta->animation.tried;
    if (do_all(&work, tried ? &unheard : opts->warnings, err))
        return -1;
    turn_places(img);
    return 0;
}
