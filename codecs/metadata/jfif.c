/* The blocks of a JPEG that give its density and a thumbnail. */
#include "codecs/metadata/jfif.h"

#include <string.h>

#include "codecs/metadata/axes.h"
#include "codecs/metadata/thumbnail.h"

/* ---- JFIF: T.871, 10.1 ----------------------------------------------------*/

/* 2 bytes of version, a unit, two densities of 2 bytes, and a thumbnail of
 * width x height pixels of 3 bytes. */
enum { UNIT = 2, DENSITY_X = 3, DENSITY_Y = 5, WIDTH = 7, HEIGHT, PIXELS };

int jfif_turn(struct bytes *body, const struct image *img,
              const struct save_opts *opts, struct err *err)
{
    static const uint8_t no_density[5] = { 0, 0, 1, 0, 1 };
    uint8_t *p = body->data;
    if (body->size < PIXELS)
        return 0;
    if (opts->strip != STRIP_NOTHING)
        memcpy(p + UNIT, no_density, sizeof no_density);
    if (opts->strip != STRIP_NOTHING || opts->drop & DROP_THUMBNAIL) {
        memset(p + WIDTH, 0, 2);
        body->size = PIXELS;
    }
    if (xform_transposes(img->turned))
        axes_exchange_bytes(p + DENSITY_X, p + DENSITY_Y, 2);
    size_t pixels = (size_t)p[WIDTH] * p[HEIGHT];
    if (pixels == 0 || body->size < PIXELS + 3 * pixels)
        return 0;
    return thumbnail_turn_pixels(p + PIXELS, 3, &p[WIDTH], &p[HEIGHT],
                                 img->turned, err);
}

/* ---- JFXX: T.871, 10.2 to 10.5 --------------------------------------------*/

/* A byte says what the thumbnail is: a JPEG file, or its size in 2 bytes and
 * its pixels, before which a palette of 256 x 3 bytes may stand. */
enum { FORMAT_JPEG = 0x10, FORMAT_PALETTE = 0x11, FORMAT_RGB = 0x13 };
enum { THUMB_FILE = 1, THUMB_WIDTH = 1, THUMB_HEIGHT, THUMB_PIXELS };

static int turn_pixels(struct bytes *body, size_t at, size_t bytes,
                       enum xform t, struct err *err)
{
    uint8_t *p = body->data;
    if (body->size < at ||
        body->size - at < bytes * p[THUMB_WIDTH] * p[THUMB_HEIGHT] ||
        p[THUMB_WIDTH] * p[THUMB_HEIGHT] == 0)
        return fail(err, "it is cut short");
    return thumbnail_turn_pixels(p + at, bytes, &p[THUMB_WIDTH],
                                 &p[THUMB_HEIGHT], t, err);
}

static int turn_file(struct bytes *body, size_t room, const struct image *img,
                     const struct save_opts *opts, struct err *err)
{
    const struct bytes file = { .data = body->data + THUMB_FILE,
                                .size = body->size - THUMB_FILE };
    struct bytes turned = { 0 };
    int status = thumbnail_turn_file(&turned, file, img, opts, err);
    if (status == 0 && turned.size > room - THUMB_FILE)
        status = fail(err, "it no longer fits");
    if (status == 0) {
        body->size = THUMB_FILE;
        if (!bytes_append(body, turned.data, turned.size))
            status = fail_memory(err, "no memory");
    }
    bytes_free(&turned);
    return status;
}

static int turn_thumbnail(struct bytes *body, size_t room,
                          const struct image *img, const struct save_opts *opts,
                          struct err *err)
{
    switch (body->size ? body->data[0] : 0) {
    case FORMAT_JPEG:
        return turn_file(body, room, img, opts, err);
    case FORMAT_PALETTE:
        return turn_pixels(body, THUMB_PIXELS + 256 * 3, 1, img->turned, err);
    case FORMAT_RGB:
        return turn_pixels(body, THUMB_PIXELS, 3, img->turned, err);
    default:
        return fail(err, "its format is unknown");
    }
}

int jfif_turn_extension(struct bytes *body, size_t room,
                        const struct image *img, const struct save_opts *opts,
                        bool *kept, struct err *err)
{
    struct err why = { .text = "" };
    if (img->turned == XFORM_NONE ||
        turn_thumbnail(body, room, img, opts, &why) == 0)
        return 0;
    if (why.memory)
        return fail_memory(err, "the JFXX thumbnail: %s", why.text);
    warn(opts->warnings,
         "the JFXX thumbnail cannot be turned, so it is not kept: %s",
         why.text);
    *kept = false;
    return 0;
}
