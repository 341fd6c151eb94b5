/* The table of the WebP codec; and the first picture of a file, to be
 * converted, and a file of a converted one. */
#include "codecs/webp/webp.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/metadata/metadata.h"

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 12 && memcmp(head, "RIFF", 4) == 0 &&
           memcmp(head + 8, "WEBP", 4) == 0;
}

/* ---- Reading --------------------------------------------------------------*/

static void close(struct reader *reader)
{
    const struct webp_file *webp = reader->state;
    if (webp)
        memory_free(webp->frame);
    memory_free(reader->state);
}

static int open(struct reader *reader, struct err *err)
{
    struct webp_file *webp = memory_alloc_zeroed(1, sizeof *webp);
    struct image *img = &reader->img;
    struct animation *a = &img->meta->animation;
    reader->state = webp;
    if (!webp)
        return fail_memory(err, "no memory for the decoder");
    if (webp_read(webp, img->meta, reader->file, reader->opts, err) ||
        metadata_read_orientation(img, &webp_blocks, err))
        return -1;
    const struct webp_frame *first = webp->frame;
    img->width = webp->width;
    img->height = webp->height;
    img->cell = CELL_U8;
    img->color = COLOR_RGB;
    img->maxval = 255;
    img->alpha = (webp->extended ? webp->vp8x[0] & WEBP_ALPHA : first->alpha) ||
                 first->place.width != webp->width ||
                 first->place.height != webp->height;
    img->nplanes = img->alpha ? 4 : 3;
    img->meta->coding.coding = first->lossless ? "lossless" : "lossy";
    reader->info.lossy = false;
    for (size_t i = 0; i < webp->nframes; i++) {
        const struct webp_frame *frame = &webp->frame[i];
        reader->info.lossy = reader->info.lossy || !frame->lossless;
        if (webp_is_animated(webp))
            animation_add(a, frame->duration / 1000.0, i == 0);
    }
    if (webp_is_animated(webp)) {
        a->frames = (uint32_t)webp->nframes;
        a->plays = read_le16(webp->anim + 4);
    }
    return image_check(img->width, img->height, img->nplanes, img->cell,
                       &reader->opts->limits, err);
}

/* The first frame of an animation, on a transparent canvas. */
static int decode(struct reader *reader, struct err *err)
{
    const struct webp_file *webp = reader->state;
    const struct frame_place place = webp->frame->place;
    struct image *img = &reader->img, argb;
    if ((reader->opts->portable &&
         metadata_read_portable(img->meta, &webp_blocks, reader->opts, err)) ||
        webp_load(err) || image_alloc(img, reader->opts->mem, err))
        return -1;
    memset(img->pixels.rows.cells, 0, img->pixels.rows.size);
    if (webp_decode(&argb, webp->frame, true, reader->opts, err))
        return -1;
    for (uint32_t y = 0; y < place.height; y++) {
        const uint32_t *from = plane_row(argb.plane, y);
        for (unsigned i = 0; i < img->nplanes; i++) {
            uint8_t *to =
                (uint8_t *)plane_row(&img->plane[i], place.y + y) + place.x;
            const unsigned shift = i == 3 ? 24 : 16 - 8 * i;
            for (uint32_t x = 0; x < place.width; x++)
                to[x] = (uint8_t)(from[x] >> shift);
        }
    }
    image_free(&argb);
    return 0;
}

/* ---- Writing --------------------------------------------------------------*/

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    struct webp_frame frame = { .place = { 0, 0, img->width, img->height },
                                .lossless = !opts->quality,
                                .alpha = img->alpha };
    struct webp_file webp = { .width = img->width,
                              .height = img->height,
                              .frame = &frame,
                              .nframes = 1 };
    struct image argb = { .cell = CELL_F32,
                          .width = img->width,
                          .height = img->height,
                          .nplanes = 1 };
    struct bytes made = { 0 };
    if (webp_load(err) || image_alloc(&argb, mem_plain, err))
        return -1;
    for (uint32_t y = 0; y < img->height; y++) {
        uint32_t *to = plane_row(argb.plane, y);
        const uint8_t *from[4] = { NULL };
        for (unsigned i = 0; i < img->nplanes; i++)
            from[i] = plane_row(&img->plane[i], y);
        for (uint32_t x = 0; x < img->width; x++)
            to[x] = (img->alpha ? (uint32_t)from[3][x] << 24 : 0xff000000) |
                    (uint32_t)from[0][x] << 16 | (uint32_t)from[1][x] << 8 |
                    from[2][x];
    }
    int status =
        webp_encode(&made, &frame, &argb, (float)opts->quality, 0, err);
    image_free(&argb);
    if (status == 0)
        status = webp_write(file, &webp, img->meta, err);
    bytes_free(&made);
    if (opts->quality && opts->encoded_anew)
        *opts->encoded_anew = true;
    return status;
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    static const struct load_opts strict = { .tolerant = false };
    struct webp_file webp;
    (void)opts;
    if (webp_read(&webp, NULL, file, &strict, err))
        return -1;
    const bool other =
        img && (img->width != webp.width || img->height != webp.height);
    memory_free(webp.frame);
    return other ? fail(err, "its header is of another picture") : 0;
}

/* ---- The orientation alone ------------------------------------------------*/

/* The stage makes the blocks, and the container is written around them. */
static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    struct meta *meta = meta_new(&codec_webp);
    struct image img = { .meta = meta };
    struct retag retag = { .op = op, .warnings = opts->warnings };
    struct webp_file webp = { .frame = NULL };
    struct bytes unused = { 0 };
    if (!meta)
        return fail_memory(err, "no memory for the decoder");
    meta->account = opts->limits.account;
    int status = webp_read(&webp, meta, file, opts, err) ||
                 metadata_read_orientation(&img, &webp_blocks, err);
    if (status == 0 && webp.cut)
        status = fail(err, "a chunk is cut short, behind which no reader finds "
                           "EXIF");
    for (size_t i = 0; i < meta->nblocks && status == 0; i++)
        if (strcmp(meta->block[i].name, "EXIF") == 0 &&
            meta->block[i].kind != BLOCK_EXIF)
            status = fail(err, "it has EXIF that VP8X does not tell of, so "
                               "that readers would not agree on another one");
    info->width = img.width = webp.width;
    info->height = img.height = webp.height;
    info->orientation = meta->orientation;
    retag.exif_at = webp.end;
    if (status == 0)
        status = metadata_retag(&unused, file, &img, &retag, err) ||
                 webp_write(out, &webp, meta, err);
    bytes_free(&unused);
    memory_free(webp.frame);
    meta_free(meta);
    return status ? -1 : 0;
}

const struct codec codec_webp = {
    .name = "webp",
    .title = "WebP",
    .suffixes = (const char *const[]){ "webp", NULL },
    .has_quality = true,
    .capabilities = {
        .cells = 1 << CELL_U8,
        .colors = 1 << COLOR_RGB,
        .alpha = true,
        .metadata = HOLDS_ICC | HOLDS_EXIF | HOLDS_XMP,
    },
    .blocks = &webp_blocks,
    .probe = probe,
    .load = webp_load,
    .open = open,
    .decode = decode,
    .close = close,
    .retag = retag,
    .turn = webp_turn,
    .encode = encode,
    .check = check,
};
