/* Turns all frames of a GIF where they lie: each frame's pixels are decoded,
 * turned and coded anew, and no frame is laid on another one. What is between
 * them goes on as it is. */
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/lzw.h"
#include "codecs/base/memory.h"
#include "codecs/gif/gif.h"
#include "codecs/image/interleave.h"
#include "codecs/metadata/metadata.h"
#include "codecs/metadata/xmp.h"

/* The most bits of a pixel, of which 8 say something. */
enum { PIXEL_BITS = 11 };

/* ---- The pixels of a frame -----------------------------------------------*/

/* Returns which row of an interlaced picture is the i-th in its file. */
static uint32_t row_of(uint32_t i, uint32_t height)
{
    const uint32_t eighths = (height + 7) / 8, fourths = (height + 3) / 8,
                   halves = (height + 1) / 4;
    if (i < eighths)
        return 8 * i;
    i -= eighths;
    if (i < fourths)
        return 8 * i + 4;
    i -= fourths;
    return i < halves ? 4 * i + 2 : 2 * (i - halves) + 1;
}

static bool is_interlaced(const struct gif *gif, const struct gif_part *frame)
{
    return gif->file.data[frame->begin + 9] & 0x40;
}

int gif_read_frame(struct image *img, bool *anew, const struct gif *gif,
                   const struct gif_part *frame, const struct load_opts *opts,
                   struct err *err)
{
    const struct frame_place r = gif_place_of(gif, frame);
    const struct bytes file = { gif->file.data, frame->end, 0 };
    const unsigned bits = file.data[frame->body];
    const size_t n = (size_t)r.width * r.height;
    const int fill = frame->transparent;
    struct bytes codes = { 0 }, pixels = { 0 };
    enum lzw_end end = LZW_WHOLE;
    size_t got = 0, left = 0;
    int status = 0;
    if (n && (bits < 1 || bits > PIXEL_BITS))
        return fail(err, "its pixels have %u bits; 1 to 11 can be read", bits);
    if (!gif_join(&codes, file, frame->body + 1) ||
        (img && !bytes_reserve(&pixels, n)))
        status =
            fail_memory(err, "no memory for %u x %u pixels", r.width, r.height);
    else if (n)
        end = lzw_read(pixels.data, n, codes, bits, false, &got, &left);
    if (end != LZW_WHOLE) {
        fail(err, "%zu of its %zu pixels are there%s", got, n,
             end == LZW_WRONG ? "; a code behind them is damaged" : "");
        if (opts->tolerant)
            warn(opts->warnings, "%s", err->text);
        else
            status = -1;
        *anew = true;
    } else if (status == 0) {
        if (left && *anew)
            warn(opts->warnings, "%zu bytes behind its last pixel are not kept",
                 left);
        if (frame->cut)
            warn(opts->warnings, "the file is cut short behind its last pixel");
    }
    if (status == 0 && img && n) {
        *img = (struct image){ .cell = CELL_U8,
                               .color = COLOR_INDEXED,
                               .nplanes = 1,
                               .width = r.width,
                               .height = r.height,
                               .maxval = (1u << bits) - 1 };
        memset(pixels.data + got, fill > 0 && !(fill >> bits) ? fill : 0,
               n - got);
        status = image_alloc(img, mem_plain, err);
    }
    for (uint32_t i = 0; status == 0 && img && n && i < r.height; i++)
        memcpy(plane_row(&img->plane[0],
                         is_interlaced(gif, frame) ? row_of(i, r.height) : i),
               pixels.data + (size_t)i * r.width, r.width);
    bytes_free(&codes);
    bytes_free(&pixels);
    return status;
}

/* In as few bits as its pixels have, but 2, with which all readers begin alike.
 */
bool gif_write_frame(struct bytes *out, const struct plane *pixels,
                     bool interlaced)
{
    struct bytes codes = { 0 };
    struct lzw_writer lzw;
    bool written = true;
    unsigned most = 0;
    uint8_t bits = 2;
    for (uint32_t y = 0; y < pixels->height; y++)
        most |= interleave_max(CELL_U8, plane_row(pixels, y), pixels->width);
    while (most >> bits)
        bits++;
    lzw_begin(&lzw, bits, false);
    for (uint32_t i = 0; i < pixels->height && written; i++) {
        const uint32_t y = interlaced ? row_of(i, pixels->height) : i;
        written = lzw_put(&lzw, &codes, plane_row(pixels, y), pixels->width);
    }
    written = written && lzw_end(&lzw, &codes) && bytes_append(out, &bits, 1) &&
              gif_split(out, &codes);
    bytes_free(&codes);
    return written;
}

/* ---- All frames ----------------------------------------------------------*/

/* What is done with all frames. */
struct gif_work {
    const struct gif *gif;
    enum xform t;
    uint32_t width, height;       /* of the turned screen */
    const struct load_opts *opts; /* without `save` nothing is written */
    struct bytes *out;
    size_t at;         /* in the file: what comes next */
    struct meta *meta; /* its blocks are written, but for what is dropped, */
    size_t block;      /* and this one next */
};

/* A frame stays as it is where nothing is turned, unless it is mended. */
static int make_frame(void *context, uint32_t i, struct bytes *made,
                      struct warnings *warnings, struct err *err)
{
    const struct gif_work *work = context;
    const struct gif_part *frame = &work->gif->frame[i];
    const struct frame_place r = gif_place_of(work->gif, frame);
    const bool empty = r.width == 0 || r.height == 0;
    struct load_opts opts = *work->opts;
    struct image img = { 0 };
    bool anew = work->t != XFORM_NONE && !empty;
    opts.warnings = warnings;
    if (empty && work->t != XFORM_NONE)
        warn(warnings, "it has no pixels, and its codes stay");
    int status =
        gif_read_frame(opts.save && (anew || opts.tolerant) ? &img : NULL,
                       &anew, work->gif, frame, &opts, err);
    if (status == 0 && anew && img.nplanes)
        status = frame_turn(&img, opts.save->turner, work->t, err);
    if (status == 0 && anew && img.nplanes &&
        !gif_write_frame(made, &img.plane[0], is_interlaced(work->gif, frame)))
        status = fail_memory(err, "no memory for the coded frame");
    image_free(&img);
    return status;
}

/* Puts blanks in the place of coordinates and thumbnails in XMP, whose size
 * stays; it ends where no text goes on. */
static int drop_places(struct meta *meta, const struct save_opts *save,
                       struct warnings *warnings, struct err *err)
{
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        const uint8_t *end = memchr(block->data, 1, block->size);
        const size_t size = end ? (size_t)(end - block->data) : block->size;
        if (metadata_is_dropped(block, save))
            continue;
        if (block->kind == BLOCK_XMP &&
            xmp_drop(block->data, size, save->drop, err))
            return -1;
        if (save->drop & DROP_GPS)
            metadata_warn_of_place(block, warnings);
    }
    return 0;
}

/* Writes the parts between frames up to `end`, but for metadata that is to be
 * left out. */
static bool put_until(struct gif_work *work, size_t end)
{
    const struct bytes file = work->gif->file;
    const struct save_opts *save = work->opts->save;
    struct meta *meta = work->meta;
    struct gif_part part;
    struct err none;
    bool put = true;
    for (; put && work->at < end; work->at = part.end) {
        gif_find_part(&part, file, work->at, &none);
        const struct metadata_block *block =
            work->block < meta->nblocks ? &meta->block[work->block] : NULL;
        const bool is = block && block->begin == part.begin;
        work->block += is;
        if (is && !metadata_is_dropped(block, save))
            put = bytes_append(work->out, block->data, block->size);
        else if (!is)
            put = bytes_append(work->out, file.data + part.begin,
                               part.end - part.begin);
    }
    return put;
}

static int take_frame(void *context, uint32_t i, struct bytes *made,
                      struct err *err)
{
    struct gif_work *work = context;
    const struct gif_part *frame = &work->gif->frame[i];
    struct bytes *out = work->out;
    if (!work->opts->save)
        return 0;
    bool put = put_until(work, frame->begin);
    const size_t at = out->size;
    put = put &&
          bytes_append(out, work->gif->file.data + frame->begin,
                       (made->size ? frame->body : frame->end) - frame->begin);
    if (put) {
        const struct frame_place r = frame_place_turn(
            gif_place_of(work->gif, frame), work->t, work->width, work->height);
        write_le16(out->data + at + 1, r.x);
        write_le16(out->data + at + 3, r.y);
        write_le16(out->data + at + 5, r.width);
        write_le16(out->data + at + 7, r.height);
    }
    work->at = frame->end;
    return put && bytes_append(out, made->data, made->size)
               ? 0
               : fail_memory(err, "no memory for the file");
}

/* Writes all, but without `save`. What is behind the end stays where nothing
 * is stripped. */
static int turn_frames(struct gif_work *work, struct err *err)
{
    const struct gif *gif = work->gif;
    const struct load_opts *opts = work->opts;
    struct thread_pool *pool =
        !opts->save || opts->save->turner->parallel ? opts->pool : NULL;
    struct frames_size size = gif->size;
    const struct frame_maker maker = { .make = make_frame,
                                       .take = take_frame,
                                       .context = work,
                                       .account = opts->limits.account };
    if (opts->save && size.most > opts->limits.bytes)
        return limit_refuse_memory("its largest frame needs", size.most,
                                   &opts->limits, err);
    if (frames_check(&size, &opts->limits, pool, err))
        return -1;
    work->at = gif->begin;
    if (opts->save && !bytes_append(work->out, gif->file.data, gif->begin))
        return fail_memory(err, "no memory for the file");
    if (opts->save && work->t != XFORM_NONE) {
        uint8_t *p = work->out->data;
        write_le16(p + 6, work->width);
        write_le16(p + 8, work->height);
        /* The shape of a pixel: (it + 15) / 64. */
        const int other = (64 * 64 + (p[12] + 15) / 2) / (p[12] + 15) - 15;
        if (xform_transposes(work->t) && p[12])
            p[12] = (uint8_t)(other < 1 ? 1 : other);
    }
    if (frames_make(&maker, &size, pool, opts->warnings, err))
        return -1;
    const size_t left = gif->file.size - gif->end;
    return !opts->save ||
                   (put_until(work, gif->end) &&
                    (gif->cut
                         ? bytes_append(work->out, ";", 1)
                         : bytes_append(work->out, gif->file.data + gif->end,
                                        opts->save->strip && left ? 1 : left)))
               ? 0
               : fail_memory(err, "no memory for the file");
}

int gif_turn(struct bytes *out, struct image *img, struct bytes file,
             enum xform t, const struct load_opts *opts, struct err *err)
{
    struct meta *meta = codec_new_meta(&codec_gif);
    struct gif gif = { .frame = NULL };
    struct gif_work work = {
        .gif = &gif, .t = t, .opts = opts, .out = out, .meta = meta
    };
    int status = meta ? gif_scan(&gif, meta, file, opts, err)
                      : fail_memory(err, "no memory for metadata");
    work.width = xform_transposes(t) ? gif.height : gif.width;
    work.height = xform_transposes(t) ? gif.width : gif.height;
    img->width = work.width;
    img->height = work.height;
    for (size_t i = 0; status == 0 && i < meta->nblocks; i++)
        if (meta->block[i].kind == BLOCK_XMP && t != XFORM_NONE && opts->save &&
            !opts->save->strip && !(opts->save->drop & DROP_XMP))
            warn(opts->warnings, "XMP in a GIF stays as it was");
    if (status == 0 && opts->save)
        status = drop_places(meta, opts->save, opts->warnings, err);
    if (status == 0 && gif.outside && t != XFORM_NONE)
        warn(opts->warnings,
             "%u frame%s beyond the screen, which has %u x %u pixels now",
             gif.outside, gif.outside > 1 ? "s reach" : " reaches", work.width,
             work.height);
    if (status == 0)
        status = turn_frames(&work, err);
    if (status == 0 && out->size == file.size &&
        memcmp(out->data, file.data, file.size) == 0)
        bytes_free(out);
    memory_free(gif.frame);
    meta_free(meta);
    return status;
}
