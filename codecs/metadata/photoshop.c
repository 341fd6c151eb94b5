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

/* Appends the resource with a new thumbnail, or nothing with a warning. Its
 * data begin with the format, the width, the height, the bytes of a row, those
 * of all rows, those of the file, its depth and its planes; the file follows.
 */
static bool add_thumbnail(struct bytes *made,
                          const struct photoshop_resource *r, size_t room,
                          const struct image *img, const struct save_opts *opts)
{
    enum { HEAD = 28, JPEG = 1 };
    const uint8_t *data = r->at + r->head;
    const size_t begin = made->size;
    struct bytes turned = { 0 };
    struct err why = { .text = "" };
    bool kept = false;
    if (r->size < HEAD || read_be32(data) != JPEG) {
        fail(&why, "not a JPEG file");
    } else {
        const struct bytes file = { (uint8_t *)(uintptr_t)data + HEAD,
                                    r->size - HEAD, 0 };
        kept = thumbnail_turn_file(&turned, file, img, opts, &why) == 0;
    }
    const size_t size = HEAD + turned.size;
    if (kept && r->head + size + (size & 1) > room) {
        fail(&why, "it no longer fits");
        kept = false;
    }
    if (!kept && !why.memory)
        warn(opts->warnings,
             "the thumbnail of Photoshop cannot be turned, so "
             "it is not kept: %s",
             why.text);
    const bool added = kept && bytes_append(made, r->at, r->head + HEAD) &&
                       bytes_append(made, turned.data, turned.size) &&
                       bytes_append(made, "", size & 1);
    if (added) {
        uint8_t *head = made->data + begin + r->head;
        write_be32(head - 4, (uint32_t)size);
        write_be32(head + 20, (uint32_t)turned.size);
        if (xform_transposes(img->turned)) {
            axes_exchange(head + 4, head + 8, 4);
            uint32_t row = (read_be32(head + 4) * 24 + 31) / 32 * 4;
            write_be32(head + 12, row);
            write_be32(head + 16, row * read_be32(head + 8));
        }
    }
    bytes_free(&turned);
    return kept ? added : !why.memory;
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

/* Appends the resource as it has to be. EXIF and XMP keep their size here. */
static int add_resource(struct bytes *made, const struct photoshop_resource *r,
                        size_t room, const struct image *img,
                        const struct save_opts *opts, struct err *err)
{
    static const char no_memory[] = "no memory for the resources of Photoshop";
    const struct change change = image_change(img);
    const unsigned drops = drops_of(r);
    if (drops == DROP_THUMBNAIL && img->turned != XFORM_NONE)
        return add_thumbnail(made, r, room, img, opts)
                   ? 0
                   : fail_memory(err, "%s", no_memory);
    if (!bytes_append(made, r->at, r->whole))
        return fail_memory(err, "%s", no_memory);
    uint8_t *data = made->data + made->size - r->whole + r->head;
    struct bytes body = { data, r->size, 0 };
    if (r->number == RESOLUTION && r->size >= 16 &&
        xform_transposes(img->turned))
        axes_exchange(data, data + 8, 8);
    if (img->turned != XFORM_NONE &&
        (r->number == PATH_WORKING ||
         (r->number >= PATH_FIRST && r->number <= PATH_LAST)))
        turn_path(data, r->size, &change);
    return drops == DROP_XMP    ? xmp_drop(data, r->size, opts->drop, err)
           : drops == DROP_EXIF ? exif_drop(&body, opts->drop, err)
                                : 0;
}

int photoshop_turn(struct bytes *block, size_t room, const struct image *img,
                   const struct save_opts *opts, struct err *err)
{
    struct bytes made = { 0 };
    struct photoshop_resource r;
    size_t at = 0;
    int status = 0;
    if ((img->turned == XFORM_NONE && !opts->drop) || block->size == 0)
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
        if (!(opts->drop & drops))
            status =
                add_resource(&made, &r, room - (block->size - at) - made.size,
                             img, opts, err);
    }
    if (status == 0 && !bytes_append(&made, block->data + at, block->size - at))
        status = fail_memory(err, "no memory for the resources of Photoshop");
    bytes_free(status ? &made : block);
    if (status == 0)
        *block = made;
    return status;
}
