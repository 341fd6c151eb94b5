/* Turns all frames of a GIF where they lie: each frame's pixels are decoded,
 * turned and coded anew by a thread of its own, and no frame is laid on another
 * one. What is between them goes on as it is. */
#include "codecs/gif/gif.h"

#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/image/interleave.h"

/* ---- The pixels of a frame ---------------------------------------------- */

static struct lzw_coded coded_of(const struct gif *gif,
                                 const struct gif_block *frame)
{
    const uint8_t *p = gif->file.data + frame->body;
    return (struct lzw_coded){ p + 1, frame->end - frame->body - 1, *p };
}

static bool is_interlaced(const struct gif *gif, const struct gif_block *frame)
{
    return gif->file.data[frame->begin + 9] & 0x40;
}

/* Judges what has been read of n pixels. */
static int judge(enum lzw_end end, size_t got, size_t n, bool *mended,
                 const struct load_opts *opts, struct err *err)
{
    const char *why = end == LZW_WRONG ? "; a code behind them is damaged" : "";
    if (end == LZW_WHOLE)
        return 0;
    if (!opts->tolerant)
        return fail(err, "%zu of its %zu pixels are there%s", got, n, why);
    warn(opts->warnings, "%zu of its %zu pixels are there%s", got, n, why);
    *mended = true;
    return 0;
}

/* Copies the rows that are on the screen to their places. */
static void place_rows(const struct image *img, const uint8_t *pixels,
                       uint32_t width, uint32_t height, bool interlaced)
{
    for (uint32_t i = 0; i < height; i++, pixels += width) {
        const uint32_t y = interlaced ? lzw_row(i, height) : i;
        if (y < img->height)
            memcpy(plane_row(&img->plane[0], y), pixels, img->width);
    }
}

int gif_read_frame(struct image *img, bool *mended, const struct gif *gif,
                   const struct gif_block *frame, const struct load_opts *opts,
                   struct err *err)
{
    const struct lzw_coded coded = coded_of(gif, frame);
    const struct gif_rect shown = gif_rect_of(gif, frame);
    const uint8_t *p = gif->file.data + frame->begin + 1;
    const uint32_t width = read_le16(p + 4), height = read_le16(p + 6);
    const size_t n = (size_t)width * height;
    struct bytes pixels = { 0 };
    size_t got = 0, left;
    if (n && (coded.bits < 1 || coded.bits > LZW_BITS))
        return fail(err, "its pixels have %u bits; 1 to 11 can be read",
                    coded.bits);
    if (img && !bytes_reserve(&pixels, n))
        return fail_memory(err, "no memory for %u x %u pixels", width, height);
    enum lzw_end end =
        n ? lzw_read(pixels.data, n, coded, &got, &left) : LZW_WHOLE;
    int status = judge(end, got, n, mended, opts, err);
    if (status == 0 && n && end == LZW_WHOLE && left && img)
        warn(opts->warnings, "%zu bytes behind its last pixel are not kept",
             left);
    if (status == 0 && frame->cut && end == LZW_WHOLE)
        warn(opts->warnings, "the file is cut short behind its last pixel");
    if (status == 0 && img) {
        const int fill = frame->transparent;
        if (got < n)
            memset(pixels.data + got,
                   fill > 0 && !(fill >> coded.bits) ? fill : 0, n - got);
        *img = (struct image){ .cell = CELL_U8,
                               .color = COLOR_INDEXED,
                               .nplanes = 1,
                               .width = shown.width,
                               .height = shown.height,
                               .maxval = (1u << coded.bits) - 1 };
        status = image_alloc(img, mem_plain, err);
        if (status == 0)
            place_rows(img, pixels.data, width, height,
                       is_interlaced(gif, frame));
    }
    bytes_free(&pixels);
    return status;
}

/* ---- One frame ---------------------------------------------------------- */

struct gif_task {
    const struct gif_work *all;
    struct gif_block block;
    uint32_t number;   /* from 1 */
    struct bytes made; /* from the bits of a pixel on; empty: it stays */
    struct warnings warnings;
    struct err err;
    int status;
};

/* What is done with all frames. */
struct gif_work {
    const struct gif *gif;
    enum xform t;
    const struct load_opts *opts;
    uint32_t number;          /* of the last frame that was begun */
    struct thread_pool *pool; /* of which each thread has a frame, or NULL */
    struct gif_task *task;    /* those that are in work */
    const struct meta *meta;  /* what is left of its blocks is written, and */
    size_t block;             /* this one is next */
};

/* In as few bits as its pixels have, but 2, with which all readers begin alike.
 */
static int code_frame(struct gif_task *task, const struct image *img)
{
    const struct lzw_rows rows = {
        .data = img->plane[0].data,
        .stride = img->plane[0].stride,
        .width = img->width,
        .height = img->height,
        .interlaced = is_interlaced(task->all->gif, &task->block),
    };
    uint8_t bits = 2;
    for (uint32_t y = 0; y < img->height; y++)
        while (
            interleave_max(CELL_U8, plane_row(&img->plane[0], y), img->width) >>
            bits)
            bits++;
    if (bytes_append(&task->made, &bits, 1) &&
        lzw_write(&task->made, rows, bits))
        return 0;
    return fail_memory(&task->err, "no memory for the coded frame");
}

static int turn_frame(struct gif_task *task, struct image *img)
{
    const struct gif_work *all = task->all;
    const struct turner *turner = all->opts->turner;
    struct image turned = { 0 };
    if (all->t == XFORM_NONE)
        return code_frame(task, img);
    int status = image_like(&turned, img, all->t, mem_plain, &task->err);
    if (status == 0)
        status =
            turner->turn(turner->context, &turned, img, all->t, &task->err);
    if (status == 0)
        status = code_frame(task, &turned);
    image_free(&turned);
    return status;
}

/* A frame stays as it is where nothing is turned, unless it is mended. */
static int try_frame(struct gif_task *task)
{
    const struct gif_work *all = task->all;
    const struct gif_rect shown = gif_rect_of(all->gif, &task->block);
    const bool empty = shown.width == 0 || shown.height == 0;
    struct load_opts opts = *all->opts;
    struct image img = { 0 };
    bool mended = false, turns = all->t != XFORM_NONE && !empty;
    opts.warnings = &task->warnings;
    if (account_check_time(opts.limits.account, &task->err))
        return -1;
    if (empty && all->t != XFORM_NONE)
        warn(&task->warnings, "it has no pixels, and its codes stay");
    int status = gif_read_frame(turns ? &img : NULL, &mended, all->gif,
                                &task->block, &opts, &task->err);
    if (status == 0 && mended && !turns && opts.turner && !empty)
        status = gif_read_frame(&img, &mended, all->gif, &task->block, &opts,
                                &task->err);
    if (status == 0 && img.nplanes)
        status = turn_frame(task, &img);
    image_free(&img);
    return status;
}

static void do_frame(void *context, size_t i)
{
    struct gif_task *task = (struct gif_task *)context + i;
    task->status = try_frame(task);
}

/* ---- What is written ---------------------------------------------------- */

static bool put_head(struct bytes *out, const struct gif_work *all)
{
    const struct gif *gif = all->gif;
    const bool exchanged = xform_transposes(all->t);
    const size_t at = out->size;
    if (!bytes_append(out, gif->file.data, gif->begin))
        return false;
    uint8_t *p = out->data + at;
    if (all->t == XFORM_NONE)
        return true;
    write_le16(p + 6, exchanged ? gif->height : gif->width);
    write_le16(p + 8, exchanged ? gif->width : gif->height);
    if (exchanged && p[12]) { /* the shape of a pixel: (it + 15) / 64 */
        const int other = (64 * 64 + (p[12] + 15) / 2) / (p[12] + 15) - 15;
        p[12] = (uint8_t)(other < 1 ? 1 : other);
    }
    return true;
}

/* Returns where a frame lies after the turn: one beyond the screen still does.
 */
static struct gif_rect turn_rect(const struct gif *gif, struct gif_rect r,
                                 enum xform t)
{
    const bool exchanged = xform_transposes(t);
    const uint32_t width = exchanged ? gif->height : gif->width,
                   height = exchanged ? gif->width : gif->height;
    const bool beyond = r.x > UINT16_MAX;
    if (exchanged)
        r = (struct gif_rect){ r.y, r.x, r.height, r.width };
    if (beyond)
        return (struct gif_rect){ width, 0, r.width, r.height };
    if (t & XFORM_MIRROR_X)
        r.x = width - r.width - r.x;
    if (t & XFORM_MIRROR_Y)
        r.y = height - r.height - r.y;
    return r;
}

static bool put_frame(struct bytes *out, const struct gif_task *task)
{
    const struct gif *gif = task->all->gif;
    const struct gif_block *block = &task->block;
    const uint8_t *from = gif->file.data;
    const struct gif_rect r =
        turn_rect(gif, gif_rect_of(gif, block), task->all->t);
    const size_t at = out->size;
    if (!bytes_append(out, from + block->begin, block->body - block->begin))
        return false;
    if (task->all->t != XFORM_NONE || task->made.size) {
        uint8_t *p = out->data + at + 1;
        write_le16(p, r.x);
        write_le16(p + 2, r.y);
        write_le16(p + 4, r.width);
        write_le16(p + 6, r.height);
    }
    return task->made.size ? bytes_append(out, task->made.data, task->made.size)
                           : bytes_append(out, from + block->body,
                                          block->end - block->body);
}

/* Appends a block that is no frame, as what is left of the metadata has it. */
static bool put_block(struct bytes *out, struct gif_work *all,
                      const struct gif_block *block)
{
    const struct meta *meta = all->meta;
    if (!gif_is_metadata(block))
        return bytes_append(out, all->gif->file.data + block->begin,
                            block->end - block->begin);
    if (all->block == meta->nblocks ||
        meta->block[all->block].begin != block->begin)
        return true;
    const struct metadata_block *kept = &meta->block[all->block++];
    return bytes_append(out, kept->data, kept->size);
}

enum { TASKS = 32 }; /* at a time */

/* Takes what a task has made, and frees the rest. */
static int end_task(struct bytes *out, struct gif_task *task, struct err *err)
{
    const struct load_opts *opts = task->all->opts;
    int status = task->status;
    for (unsigned i = 0; i < task->warnings.count && i < WARNINGS_MAX; i++)
        warn(opts->warnings, "frame %u: %s", task->number,
             task->warnings.list[i].text);
    if (status)
        fail_with(err, &task->err, "frame %u: %s", task->number,
                  task->err.text);
    else if (opts->turner && !put_frame(out, task))
        status = fail_memory(err, "no memory for the file");
    bytes_free(&task->made);
    return status;
}

/* Does the next frames, and writes them with what stands between them. */
static int do_some(struct bytes *out, struct gif_work *all,
                   struct gif_block *block, struct err *err)
{
    const struct gif *gif = all->gif;
    struct gif_block again = *block;
    struct gif_task *task = all->task;
    struct err unheard; /* the first error counts */
    size_t n = 0, i = 0;
    while (n < TASKS && block->end < gif->end) {
        if (gif_next(block, gif->file, err))
            return -1;
        if (block->kind == GIF_FRAME)
            task[n++] = (struct gif_task){ .all = all,
                                           .block = *block,
                                           .number = ++all->number };
    }
    thread_pool_run(all->pool, do_frame, task, n);
    int status = 0;
    while (again.end < block->end) {
        if (gif_next(&again, gif->file, &unheard))
            return -1;
        if (again.kind == GIF_FRAME) {
            if (end_task(out, &task[i++], status ? &unheard : err))
                status = -1;
        } else if (all->opts->turner && !put_block(out, all, &again)) {
            status = fail_memory(err, "no memory for the file");
        }
    }
    return status;
}

/* What is behind the end stays where nothing is stripped. */
static bool put_end(struct bytes *out, const struct gif_work *all)
{
    const struct gif *gif = all->gif;
    const size_t left = gif->file.size - gif->end;
    const bool strips = all->opts->save->strip != STRIP_NOTHING;
    if (gif->cut)
        return bytes_append(out, ";", 1);
    return bytes_append(out, gif->file.data + gif->end,
                        strips && left ? 1 : left);
}

static int do_all(struct bytes *out, struct gif_work *all, struct err *err)
{
    const bool made = all->opts->turner;
    struct gif_block block = gif_before(all->gif);
    int status = 0;
    all->task = memory_alloc(TASKS * sizeof *all->task);
    if (!all->task || (made && !put_head(out, all)))
        status = fail_memory(err, "no memory for the frames");
    while (status == 0 && block.end < all->gif->end)
        status = do_some(out, all, &block, err);
    memory_free(all->task);
    if (status == 0 && made && !put_end(out, all))
        status = fail_memory(err, "no memory for the file");
    return status;
}

/* ---- All ---------------------------------------------------------------- */

/* Frames that become more than so many times their bytes take work beyond what
 * is usual: each byte is looked at some times. */
enum { FLAT_FROM = 500, LOOKS = 4 };

static int check_size(struct gif_work *all, struct err *err)
{
    const struct gif_sums *sums = &all->gif->sums;
    const struct limits *limits = &all->opts->limits;
    const uint64_t usual = FLAT_FROM * sums->coded, frame = sums->most,
                   threads = thread_pool_threads(all->opts->pool);
    if (sums->pixels > limits->pixels)
        return limit_refuse_frames(all->gif->frames, sums->pixels, limits, err);
    if (sums->cells / 2 > usual &&
        account_check_work(limits->account, LOOKS * (sums->cells / 2 - usual),
                           err))
        return -1;
    if (!all->opts->turner)
        return 0;
    if (frame > limits->bytes)
        return limit_refuse_memory("its largest frame needs", frame, limits,
                                   err);
    if (all->opts->turner->parallel && limits->bytes / threads >= frame)
        all->pool = all->opts->pool;
    if (limits->reserve)
        limits->reserve(limits->context, all->pool ? threads * frame : frame);
    return 0;
}

/* Says what cannot stay as it is. */
static int warn_of_frames(const struct gif_work *all, struct err *err)
{
    const struct gif *gif = all->gif;
    const struct load_opts *opts = all->opts;
    if (all->t == XFORM_NONE)
        return 0;
    if (gif->outside && opts->save->lossless)
        return fail(err,
                    "what is beyond the screen of %u x %u pixels in %u frame%s "
                    "would be cropped, which --lossless refuses",
                    gif->width, gif->height, gif->outside,
                    gif->outside > 1 ? "s" : "");
    if (gif->outside)
        warn(opts->warnings,
             "%u frame%s beyond the screen of %u x %u pixels: what browsers do "
             "not show is cropped",
             gif->outside, gif->outside > 1 ? "s reach" : " reaches",
             gif->width, gif->height);
    if (gif->texts)
        warn(opts->warnings, "plain text blocks, which no viewer shows, stay "
                             "as they are: text cannot be turned");
    return 0;
}

static int turn_metadata(struct image *img, const struct save_opts *opts,
                         struct err *err)
{
    struct save_opts save = *opts;
    save.orientation = 0; /* that in XMP turns a GIF nowhere */
    return metadata_turn(img, &codec_gif, &save, err);
}

int gif_turn(struct bytes *out, struct image *img, struct bytes file,
             enum xform t, const struct load_opts *opts, struct err *err)
{
    struct meta *meta = opts->turner ? codec_new_meta(&codec_gif) : NULL;
    struct gif gif;
    struct gif_work all = { .gif = &gif, .t = t, .opts = opts, .meta = meta };
    struct image turned = { .meta = meta, .turned = t, .orientation = 1 };
    int status = opts->turner && !meta
                     ? fail_memory(err, "no memory for metadata")
                     : gif_scan(&gif, meta, file, opts, err);
    if (status == 0) {
        turned.width = xform_transposes(t) ? gif.height : gif.width;
        turned.height = xform_transposes(t) ? gif.width : gif.height;
        status = check_size(&all, err);
    }
    if (status == 0 && meta) {
        meta->account = opts->limits.account;
        meta->animation.frames = 0; /* they are turned here */
        status = warn_of_frames(&all, err) ||
                 turn_metadata(&turned, opts->save, err);
    }
    if (status == 0)
        status = do_all(out, &all, err);
    if (status == 0 && out->size == file.size &&
        memcmp(out->data, file.data, file.size) == 0)
        bytes_free(out);
    img->width = turned.width;
    img->height = turned.height;
    meta_free(meta);
    return status ? -1 : 0;
}
