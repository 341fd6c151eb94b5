/* Thumbnails inside of metadata, and EXIF with the one it has. */
#include "codecs/thumbnail.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/exif.h"

/* A thumbnail lives in 64 KiB: 160 x 120 pixels by the standard, some cameras
 * put a few times as many. The code here is for that, not for pictures. */
static const struct limits thumbnail_limits = { 4 << 20, 64 << 20 };
enum { THUMBNAIL_QUALITY = 92 };

/* Where the pixel at x, y of the turned picture of w x h comes from. */
static void source(enum xform t, uint32_t w, uint32_t h, uint32_t x, uint32_t y,
                   uint32_t *sx, uint32_t *sy)
{
    uint32_t mx = t & XFORM_MIRROR_X ? w - 1 - x : x;
    uint32_t my = t & XFORM_MIRROR_Y ? h - 1 - y : y;
    *sx = xform_transposes(t) ? my : mx;
    *sy = xform_transposes(t) ? mx : my;
}

int thumbnail_turn_rgb(uint8_t *pixels, uint8_t *width, uint8_t *height,
                       enum xform t, struct err *err)
{
    uint32_t sw = *width, sh = *height, sx, sy;
    uint32_t w = xform_transposes(t) ? sh : sw;
    uint32_t h = xform_transposes(t) ? sw : sh;
    size_t size = (size_t)3 * w * h;
    uint8_t *from = malloc(size);
    if (!from)
        return fail(err, "no memory for a thumbnail");
    memcpy(from, pixels, size);
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            source(t, w, h, x, y, &sx, &sy);
            memcpy(pixels + 3 * ((size_t)y * w + x),
                   from + 3 * ((size_t)sy * sw + sx), 3);
        }
    free(from);
    *width = (uint8_t)w;
    *height = (uint8_t)h;
    return 0;
}

static void turn_planes(struct image *dst, const struct image *src,
                        enum xform t)
{
    uint32_t sx, sy;
    for (unsigned i = 0; i < dst->nplanes; i++)
        for (uint32_t y = 0; y < dst->height; y++) {
            uint8_t *row = plane_row(&dst->plane[i], y);
            for (uint32_t x = 0; x < dst->width; x++) {
                source(t, dst->width, dst->height, x, y, &sx, &sy);
                row[x] = ((uint8_t *)plane_row(&src->plane[i], sy))[sx];
            }
        }
}

/* Appends the turned JPEG file to `out`, without metadata of its own, so that a
 * thumbnail in a thumbnail ends here. */
static int turn_file(struct bytes *out, struct bytes file, enum xform t,
                     struct err *err)
{
    struct warnings unheard = { 0 };
    struct load_opts load = { .limits = thumbnail_limits,
                              .mem = mem_plain,
                              .warnings = &unheard };
    struct save_opts save = { .suffix = "jpg",
                              .quality = THUMBNAIL_QUALITY,
                              .strip = STRIP_METADATA,
                              .warnings = &unheard };
    struct image src = { 0 }, dst = { 0 };
    int status = -1;
    if (codec_jpeg.decode(&src, file, &load, err) ||
        image_like(&dst, &src, t, mem_plain, err))
        goto out;
    turn_planes(&dst, &src, t);
    image_take_meta(&dst, &src);
    status = codec_jpeg.encode(out, &dst, &save, err);
out:
    image_free(&dst);
    image_free(&src);
    return status;
}

int exif_turn_all(struct bytes *exif, size_t room, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    bool exchanged = xform_transposes(img->turned);
    struct bytes turned = { 0 };
    struct err why = { "it is no JPEG file" };
    const size_t before = exif->size;
    size_t at, length;
    bool done = false;

    exif_turn(exif->data, exif->size, img->turned, opts->orientation,
              exchanged ? img->height : img->width,
              exchanged ? img->width : img->height);
    if (img->turned == XFORM_NONE || !exif_has_thumbnail(exif->data, exif->size))
        return 0;
    if (exif_thumbnail(exif->data, exif->size, &at, &length)) {
        struct bytes file = { .data = exif->data + at, .size = length };
        if (turn_file(&turned, file, img->turned, &why) == 0) {
            if (exif_set_thumbnail(exif, turned.data, turned.size)) {
                bytes_free(&turned);
                return fail(err, "no memory for a thumbnail");
            }
            done = exif->size <= room;
            fail(&why, "it no longer fits");
        }
    }
    if (!done) {
        warn(opts->warnings, "the EXIF thumbnail cannot be turned, so it is "
                             "not kept: %s",
             why.text);
        exif_drop_thumbnail(exif);
        if (exif->size > before) /* what was put between is of no use now */
            exif->size = before;
    }
    bytes_free(&turned);
    return 0;
}
