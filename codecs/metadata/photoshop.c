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
    r->at = block->data + at;
    if (left < NAME + 2 || memcmp(r->at, "8BIM", 4) != 0)
        return false;
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

/* Makes a share of the stored picture one of the trimmed picture. */
static void scale(uint8_t *share, uint32_t was, uint32_t is)
{
    if (was != is)
        write_be32(share,
                   (uint32_t)((int64_t)(int32_t)read_be32(share) * was / is));
}

/* Records of 26 bytes. Those of knots have three points, y before x, as shares
 * of the picture with 24 bits behind the point. */
static void turn_path(uint8_t *data, size_t size, const struct change *change)
{
    enum { RECORD = 26, POINTS = 3, ONE = 1 << 24 };
    const enum xform t = change->turn;
    for (size_t at = 0; size - at >= RECORD; at += RECORD) {
        unsigned selector = read_be16(data + at);
        if (selector != 1 && selector != 2 && selector != 4 && selector != 5)
            continue;
        for (unsigned i = 0; i < POINTS; i++) {
            uint8_t *y = data + at + 2 + 8 * i, *x = y + 4;
            scale(x, change->width, change->kept_width);
            scale(y, change->height, change->kept_height);
            if (xform_transposes(t))
                axes_exchange(x, y, 4);
            if (t & XFORM_MIRROR_X)
                write_be32(x, ONE - read_be32(x));
            if (t & XFORM_MIRROR_Y)
                write_be32(y, ONE - read_be32(y));
        }
    }
}

/* Which of --strip's words leave a resource out. */
static unsigned drops_of(const struct photoshop_resource *r)
{
    switch (r->number) {
    case THUMBNAIL:
    case THUMBNAIL_BGR:
        return DROP_THUMBNAIL;
    case PROFILE:
        return DROP_ICC;
    case XMP:
        return DROP_XMP;
    case EXIF_1:
    case EXIF_3:
        return DROP_EXIF;
    default:
        return 0;
    }
}

/* Makes the data of a resource true of img. EXIF and XMP keep their size here.
 */
static int turn_resource(uint8_t *data, const struct photoshop_resource *r,
                         const struct image *img, unsigned drop,
                         struct err *err)
{
    const struct change change = image_change(img);
    const unsigned drops = drops_of(r);
    struct bytes body = { data, r->size, 0 };
    if (r->number == RESOLUTION && r->size >= 16 &&
        xform_transposes(img->turned))
        axes_exchange(data, data + 8, 8);
    if (img->turned != XFORM_NONE &&
        (r->number == PATH_WORKING ||
         (r->number >= PATH_FIRST && r->number <= PATH_LAST)))
        turn_path(data, r->size, &change);
    return drops == DROP_XMP    ? xmp_drop(data, r->size, drop, err)
           : drops == DROP_EXIF ? exif_drop(&body, drop, err)
                                : 0;
}

int photoshop_turn(struct bytes *block, const struct image *img,
                   const struct save_opts *opts, struct err *err)
{
    struct photoshop_resource r;
    size_t at = 0, to = 0; /* of the next resource, as it was and is */
    bool stale = false;    /* a thumbnail */
    int status = 0;
    if (img->turned == XFORM_NONE && !opts->drop)
        return 0;
    while (status == 0 && read_resource(block, at, &r)) {
        const unsigned drops = drops_of(&r);
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
        status =
            turn_resource(block->data + to + r.head, &r, img, opts->drop, err);
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
