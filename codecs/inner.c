/* A JPEG file within a picture's metadata, or behind it, turned. */
#include "codecs/inner.h"

#include <string.h>

#include "codecs/jpeg.h"

/* ---- Which turn -----------------------------------------------------------*/

/* Whether one of two pictures is broad and the other one high. */
static bool lie_across(uint32_t w, uint32_t h, uint32_t other_w,
                       uint32_t other_h)
{
    return (w < h && other_w > other_h) || (w > h && other_w < other_h);
}

/* A tag may be stale: programs set that of the picture and forget the one of
 * its thumbnail. If a picture would lie across by its tag, and does not
 * without, then it counts for nothing. */
enum xform inner_choose(const struct image *outer, unsigned tag, bool fold,
                        uint32_t width, uint32_t height)
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

static bool fits(const struct image *img, const struct image *outer,
                 enum fit fit)
{
    uint64_t across = (uint64_t)img->width * outer->height;
    uint64_t down = (uint64_t)img->height * outer->width;
    uint64_t off = across > down ? across - down : down - across;
    uint64_t pixel =
        outer->width > outer->height ? outer->width : outer->height;
    if (fit == FIT_SIDE)
        return !lie_across(img->width, img->height, outer->width,
                           outer->height);
    return fit == FIT_ANY || off <= down / 32 + pixel;
}

/* ---- The turn -------------------------------------------------------------*/

/* A block as codecs/image.h has it turned. */
static void turn_block(int16_t *to, const int16_t *from, enum xform t)
{
    for (unsigned v = 0; v < 8; v++)
        for (unsigned u = 0; u < 8; u++) {
            int value = from[xform_transposes(t) ? 8 * u + v : 8 * v + u];
            bool negate = ((t & XFORM_MIRROR_X) && u % 2) !=
                          ((t & XFORM_MIRROR_Y) && v % 2);
            to[8 * v + u] = (int16_t)(negate ? -value : value);
        }
}

/* The stage is not to be had from here, and is not needed: of a picture within
 * another there are few cells, if they are blocks. */
static void turn_planes(struct image *dst, const struct image *src,
                        enum xform t)
{
    size_t size = cell_size(dst->cell);
    uint32_t sx, sy;
    for (unsigned i = 0; i < dst->nplanes; i++) {
        const struct plane *to = &dst->plane[i];
        for (uint32_t y = 0; y < to->height; y++)
            for (uint32_t x = 0; x < to->width; x++) {
                xform_source(t, to->width, to->height, x, y, &sx, &sy);
                uint8_t *cell = (uint8_t *)plane_row(to, y) + x * size;
                const uint8_t *from =
                    (uint8_t *)plane_row(&src->plane[i], sy) + sx * size;
                if (dst->cell == CELL_DCT)
                    turn_block((int16_t *)(void *)cell,
                               (const int16_t *)(const void *)from, t);
                else
                    *cell = *from;
            }
    }
}

static enum xform turn_of(const struct inner *inner, const struct image *src,
                          const struct save_opts *save, unsigned *tag)
{
    *tag = inner->tag ? inner->tag : segments_orientation(src->meta);
    return inner_choose(inner->outer, *tag, save->orientation != 0, src->width,
                        src->height);
}

/* As coefficients, without loss, if it can be turned so. */
static int decode(struct image *src, struct bytes file,
                  const struct inner *inner, const struct save_opts *save,
                  struct err *err)
{
    struct load_opts load = { .limits = inner->limits,
                              .mem = mem_plain,
                              .form = FORM_CODED,
                              .warnings = save->warnings };
    unsigned warned = save->warnings->count, tag;
    struct coded coded;
    if (codec_jpeg.look(&coded, file, &load, err))
        return -1;
    save->warnings->count = warned; /* they come again */
    if (codec_jpeg.decode(src, file, &load, err))
        return -1;
    if (coded_turns(&coded, FORM_CODED, turn_of(inner, src, save, &tag)))
        return 0;
    image_free(src);
    save->warnings->count = warned;
    load.form = FORM_SAMPLES;
    return codec_jpeg.decode(src, file, &load, err);
}

static int turn(struct image *dst, struct image *src, struct inner *inner,
                const struct save_opts *save, struct err *err)
{
    unsigned tag;
    enum xform t = turn_of(inner, src, save, &tag);
    inner->turned = t;
    inner->pixels = (uint64_t)src->width * src->height;
    inner->same = t == XFORM_NONE && tag == 0;
    if (image_like(dst, src, t, mem_plain, err))
        return -1;
    if (!fits(dst, inner->outer, inner->fit))
        return fail(err, "its shape is another");
    turn_planes(dst, src, t);
    image_take_meta(dst, src);
    return 0;
}

int inner_turn(struct bytes *out, struct bytes file, struct inner *inner,
               const struct save_opts *save, struct err *err)
{
    struct image src = { 0 }, dst = { 0 };
    int status = -1;
    if (decode(&src, file, inner, save, err) == 0 &&
        turn(&dst, &src, inner, save, err) == 0) {
        if (!inner->same)
            status = codec_jpeg.encode(out, &dst, save, err);
        else if (bytes_append(out, file.data, file.size))
            status = 0;
        else
            fail(err, "no memory");
    }
    image_free(&dst);
    image_free(&src);
    return status;
}
