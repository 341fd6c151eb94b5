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

struct resource {
    unsigned number;
    size_t head, size; /* of what is before the data, and of the data */
    size_t whole;      /* with what fills it up */
};

/* Reads the resource at `at`. Returns false if there is none. If the
 * resource is cut short, r->whole is larger than what is left. */
static bool read_resource(const uint8_t *at, size_t left, struct resource *r)
{
    enum { NAME = 4 + 2 };
    if (left < NAME + 2 || memcmp(at, "8BIM", 4) != 0)
        return false;
    size_t name = at[NAME] + 1u;
    r->head = NAME + name + (name & 1) + 4;
    if (left < r->head)
        return false;
    r->number = read_be16(at + 4);
    r->size = read_be32(at + r->head - 4);
    r->whole = r->head + r->size + (r->size & 1);
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

/* The head has the format, the width, the height, the bytes of a row, those of
 * all rows, those of the file, its depth and its planes; the file follows. */
static int turn_thumbnail(struct bytes *to, const uint8_t *data, size_t size,
                          const struct image *img, const struct save_opts *opts,
                          struct err *err)
{
    enum { HEAD = 28, JPEG = 1 };
    uint8_t head[HEAD];
    struct bytes turned = { 0 };
    if (size < HEAD || read_be32(data) != JPEG)
        return fail(err, "not a JPEG file");
    memcpy(head, data, HEAD);
    struct bytes file = { .data = (uint8_t *)(uintptr_t)data + HEAD,
                          .size = size - HEAD };
    if (xform_transposes(img->turned)) {
        axes_exchange(head + 4, head + 8, 4);
        uint32_t row = (read_be32(head + 4) * 24 + 31) / 32 * 4;
        write_be32(head + 12, row);
        write_be32(head + 16, row * read_be32(head + 8));
    }
    int status = thumbnail_turn_file(&turned, file, img, opts, err);
    write_be32(head + 20, (uint32_t)turned.size);
    if (status == 0 && (!bytes_append(to, head, HEAD) ||
                        !bytes_append(to, turned.data, turned.size)))
        status = fail_memory(err, "no memory");
    bytes_free(&turned);
    return status;
}

/* Appends the resource with a new thumbnail, or nothing with a warning. */
static bool add_thumbnail(struct bytes *made, const uint8_t *at,
                          const struct resource *r, size_t room,
                          const struct image *img, const struct save_opts *opts)
{
    struct bytes data = { 0 };
    struct err why = { .text = "it is cut short" };
    bool kept = true, fits = false;
    if (turn_thumbnail(&data, at + r->head, r->size, img, opts, &why) == 0) {
        fits = r->head + data.size + (data.size & 1) <= room;
        fail(&why, "it no longer fits");
    }
    if (why.memory) {
        kept = false;
    } else if (fits) {
        size_t begin = made->size;
        kept = bytes_append(made, at, r->head) &&
               bytes_append(made, data.data, data.size) &&
               bytes_append(made, "", data.size & 1);
        if (kept)
            write_be32(made->data + begin + r->head - 4, (uint32_t)data.size);
    } else {
        warn(opts->warnings,
             "the thumbnail of Photoshop cannot be turned, so "
             "it is not kept: %s",
             why.text);
    }
    bytes_free(&data);
    return kept;
}

/* Appends the resource as it has to be. */
static bool add_resource(struct bytes *made, const uint8_t *at,
                         const struct resource *r, size_t room,
                         const struct image *img, const struct save_opts *opts)
{
    if (r->number == THUMBNAIL || r->number == THUMBNAIL_BGR)
        return add_thumbnail(made, at, r, room, img, opts);
    if (!bytes_append(made, at, r->whole))
        return false;
    uint8_t *data = made->data + made->size - r->whole + r->head;
    if (r->number == RESOLUTION && r->size >= 16 &&
        xform_transposes(img->turned))
        axes_exchange(data, data + 8, 8);
    if (r->number == PATH_WORKING ||
        (r->number >= PATH_FIRST && r->number <= PATH_LAST)) {
        const struct change change = image_change(img);
        turn_path(data, r->size, &change);
    }
    return true;
}

int photoshop_turn(struct bytes *block, size_t room, const struct image *img,
                   const struct save_opts *opts, struct err *err)
{
    struct bytes made = { 0 };
    struct resource r;
    size_t at = 0;
    bool kept = true;
    if (img->turned == XFORM_NONE || block->size == 0)
        return 0;
    while (kept && read_resource(block->data + at, block->size - at, &r) &&
           r.size <= block->size - at && r.whole <= block->size - at) {
        size_t behind = block->size - at - r.whole;
        kept = add_resource(&made, block->data + at, &r,
                            room - behind - made.size, img, opts);
        at += r.whole;
    }
    if (!kept || !bytes_append(&made, block->data + at, block->size - at)) {
        bytes_free(&made);
        return fail_memory(err, "no memory for the resources of Photoshop");
    }
    bytes_free(block);
    *block = made;
    return 0;
}

/* ---- What is left out -----------------------------------------------------*/

/* Returns which of DROP_... leaves a resource out. */
static unsigned drop_of(unsigned number)
{
    switch (number) {
    case THUMBNAIL_BGR:
    case THUMBNAIL:
        return DROP_THUMBNAIL;
    case PROFILE:
        return DROP_ICC;
    case EXIF_1:
    case EXIF_3:
        return DROP_EXIF;
    case XMP:
        return DROP_XMP;
    default:
        return 0;
    }
}

/* EXIF and XMP keep their size here. */
static int drop_within(uint8_t *data, const struct resource *r, unsigned drop,
                       struct err *err)
{
    struct bytes exif = { .data = data, .size = r->size };
    if (r->number == XMP)
        return xmp_drop(data, r->size, drop, err);
    return r->number == EXIF_1 || r->number == EXIF_3
               ? exif_drop(&exif, drop, err)
               : 0;
}

int photoshop_drop(struct bytes *block, const struct save_opts *opts,
                   struct err *err)
{
    struct resource r;
    size_t at = 0, to = 0;
    if (!opts->drop || block->size == 0)
        return 0;
    while (read_resource(block->data + at, block->size - at, &r)) {
        bool whole = r.size <= block->size - at && r.whole <= block->size - at;
        if (!whole && (opts->drop & (drop_of(r.number) | DROP_GPS)))
            warn(opts->warnings,
                 "a resource of Photoshop, number %u, is cut short, so that it "
                 "stays as it is",
                 r.number);
        if (!whole)
            break;
        if (drop_within(block->data + at + r.head, &r, opts->drop, err))
            return -1;
        if (!(opts->drop & drop_of(r.number))) {
            memmove(block->data + to, block->data + at, r.whole);
            to += r.whole;
        }
        at += r.whole;
    }
    memmove(block->data + to, block->data + at, block->size - at);
    block->size -= at - to;
    return 0;
}
