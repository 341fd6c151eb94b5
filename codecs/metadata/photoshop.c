/* Image resources of Photoshop.
 *
 * A resource is "8BIM", a number of 2 bytes, a name with its length in a byte
 * before it, the size of its data in 4 bytes, and the data; name and data are
 * filled up to an even size. What does not look like that ends the list, and
 * stays as it is: data may go on in the next segment. */
#include "codecs/metadata/blocks.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

enum {
    RESOLUTION = 0x03ed,
    THUMBNAIL_BGR = 0x0409, /* of Photoshop 4.0 */
    THUMBNAIL = 0x040c,
    PROFILE = 0x040f,
    EXIF_1 = 0x0422,
    EXIF_3 = 0x0423,
    XMP = 0x0424,
    PATH_WORKING = 1025,
    PATH_FIRST = 2000,
    PATH_LAST = 2997,
};

struct photoshop_resource {
    const uint8_t *at;
    unsigned number;
    size_t head, size; /* of what is before the data, and of the data */
    size_t whole;      /* with what fills it up */
    bool is_cut;       /* some of that is not there */
};

/* Reads the resource at `at`. Returns false if there is none. */
static bool read_resource(const struct bytes *block, size_t at,
                          struct photoshop_resource *r)
{
    enum { NAME = 4 + 2 };
    const size_t left = block->size - at;
    if (left < NAME + 2 || memcmp(block->data + at, "8BIM", 4) != 0)
        return false;
    r->at = block->data + at;
    size_t name = r->at[NAME] + 1u;
    r->head = NAME + name + (name & 1) + 4;
    if (left < r->head)
        return false;
    r->number = read_be16(r->at + 4);
    r->size = read_be32(r->at + r->head - 4);
    r->whole = r->head + r->size + (r->size & 1);
    r->is_cut = r->size > left || r->whole > left;
    return true;
}

/* Records of 26 bytes. Those of knots have three points, y before x, as shares
 * of the picture with 24 bits behind the point: of the stored one, and then of
 * what is left of it. */
static void turn_path(uint8_t *data, size_t size, const struct change *change)
{
    enum { RECORD = 26, POINTS = 3, ONE = 1 << 24 };
    const enum xform t = change->turn;
    for (size_t at = 0; size - at >= RECORD; at += RECORD) {
        unsigned selector = read_be16(data + at);
        if (selector != 1 && selector != 2 && selector != 4 && selector != 5)
            continue;
        for (unsigned i = 0; i < POINTS; i++) {
            uint8_t *place = data + at + 2 + 8 * i;
            int64_t y = (int32_t)read_be32(place),
                    x = (int32_t)read_be32(place + 4);
            if (change_trims(change)) {
                x = (int32_t)(x * change->width / change->kept_width);
                y = (int32_t)(y * change->height / change->kept_height);
            }
            const int64_t new_x = xform_transposes(t) ? y : x,
                          new_y = xform_transposes(t) ? x : y;
            write_be32(place,
                       (uint32_t)(t & XFORM_MIRROR_Y ? ONE - new_y : new_y));
            write_be32(place + 4,
                       (uint32_t)(t & XFORM_MIRROR_X ? ONE - new_x : new_x));
        }
    }
}

int photoshop_turn(struct bytes *block, const struct image *img,
                   const struct save_opts *opts, struct err *err)
{
    struct photoshop_resource r;
    size_t at = 0, to = 0; /* of the next resource, as it was and is */
    bool stale = false;    /* a thumbnail */
    const struct change change = image_change(img);
    int status = 0;
    if (img->turned == XFORM_NONE && !opts->drop)
        return 0;
    while (status == 0 && read_resource(block, at, &r)) {
        const unsigned n = r.number, /* which of --strip's words leave it out */
            drops = n == THUMBNAIL || n == THUMBNAIL_BGR ? DROP_THUMBNAIL
                    : n == PROFILE                       ? DROP_ICC
                    : n == XMP                           ? DROP_XMP
                    : n == EXIF_1 || n == EXIF_3         ? DROP_EXIF
                                                         : 0;
        if (r.is_cut && opts->drop & (drops | DROP_GPS))
            warn(opts->warnings,
                 "a resource of Photoshop, number %u, is cut short, so that it "
                 "stays as it is",
                 r.number);
        if (r.is_cut)
            break;
        at += r.whole;
        if (opts->drop & drops)
            continue;
        if (drops == DROP_THUMBNAIL && img->turned != XFORM_NONE) {
            stale = true;
            continue;
        }
        memmove(block->data + to, r.at, r.whole);
        /* EXIF and XMP keep their size here. */
        struct bytes body = { block->data + to + r.head, r.size, 0 };
        if (r.number == RESOLUTION && r.size >= 16 &&
            xform_transposes(img->turned))
            axes_exchange(body.data, body.data + 8, 8);
        if (img->turned != XFORM_NONE &&
            (r.number == PATH_WORKING ||
             (r.number >= PATH_FIRST && r.number <= PATH_LAST)))
            turn_path(body.data, r.size, &change);
        if (drops == DROP_XMP)
            status = xmp_drop(body.data, r.size, opts->drop, err);
        if (drops == DROP_EXIF)
            status = exif_drop(&body, opts->drop, err);
        to += r.whole;
    }
    if (to < at)
        memmove(block->data + to, block->data + at, block->size - at);
    block->size -= at - to;
    if (stale)
        warn(opts->warnings,
             "the thumbnail of Photoshop is not turned, so it is not kept");
    return status;
}
