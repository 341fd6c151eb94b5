/* Thumbnails within metadata. */
#include "codecs/metadata/thumbnail.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/metadata/embedded_jpeg.h"
#include "codecs/metadata/exif_thumbnail.h"

/* A thumbnail lives in 64 KiB: 160 x 120 pixels by the standard, some cameras
 * put a few times as many. The code here is for that, not for pictures. */
static const struct limits thumbnail_limits = {
    .pixels = PIXELS_MIN,
    .bytes = 64 << 20,
};

int thumbnail_turn_pixels(uint8_t *pixels, size_t bytes, uint8_t *width,
                          uint8_t *height, enum xform t, struct err *err)
{
    uint32_t sw = *width, sh = *height, sx, sy;
    uint32_t w = xform_transposes(t) ? sh : sw;
    uint32_t h = xform_transposes(t) ? sw : sh;
    size_t size = bytes * w * h;
    uint8_t *from = memory_alloc(size);
    if (!from)
        return fail_memory(err, "no memory for a thumbnail");
    memcpy(from, pixels, size);
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            xform_source(t, w, h, x, y, &sx, &sy);
            memcpy(pixels + bytes * ((size_t)y * w + x),
                   from + bytes * ((size_t)sy * sw + sx), bytes);
        }
    memory_free(from);
    *width = (uint8_t)w;
    *height = (uint8_t)h;
    return 0;
}

/* Without metadata of its own, so that a thumbnail in a thumbnail ends here. */
static int turn_file(struct bytes *out, struct bytes file,
                     struct embedded_jpeg *inner, const struct save_opts *opts,
                     struct err *err)
{
    struct warnings unheard = { 0 };
    const struct save_opts save = { .suffix = "jpg",
                                    .strip = STRIP_METADATA,
                                    .orientation = opts->orientation,
                                    .allowance = opts->allowance,
                                    .turner = opts->turner,
                                    .warnings = &unheard };
    inner->limits = thumbnail_limits;
    return embedded_jpeg_turn(out, file, inner, &save, err);
}

int thumbnail_turn_file(struct bytes *out, struct bytes file,
                        const struct image *img, const struct save_opts *opts,
                        struct err *err)
{
    struct embedded_jpeg inner = { .outer = img };
    return turn_file(out, file, &inner, opts, err);
}

/* Puts the turned thumbnail in the place of the old one. */
static int turn_in_exif(struct bytes *exif, size_t room, unsigned tag,
                        const struct image *img, const struct save_opts *opts,
                        struct err *err)
{
    struct embedded_jpeg inner = { .outer = img, .tag = tag };
    struct bytes turned = { 0 };
    size_t at, length;
    int status = -1;
    if (!exif_thumbnail_find(exif->data, exif->size, &at, &length))
        return fail(err, "not a JPEG file");
    struct bytes file = { .data = exif->data + at, .size = length };
    if (turn_file(&turned, file, &inner, opts, err) == 0) {
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
        !exif_thumbnail_exists(exif->data, exif->size) ||
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
