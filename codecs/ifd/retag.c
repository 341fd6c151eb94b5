/* The orientation tags of TIFF files and of raw files. */
#include "codecs/ifd/retag.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/tiff.h"
#include "codecs/metadata/xmp.h"

/* ---- EXIF in embedded JPEG files ------------------------------------------*/

struct bytes retag_find_exif(struct bytes file, uint64_t jpeg)
{
    enum { SOI = 0xffd8, APP0 = 0xffe0, APP1 = 0xffe1, COM = 0xfffe };
    const uint8_t *data = file.data;
    if (jpeg >= file.size || file.size - jpeg < 4 ||
        read_be16(data + jpeg) != SOI)
        return (struct bytes){ 0 };
    for (size_t at = (size_t)jpeg + 2; file.size - at >= 10;) {
        const unsigned marker = read_be16(data + at);
        const size_t size = read_be16(data + at + 2);
        if ((marker & 0xfff0) != APP0 && marker != COM)
            break;
        if (size < 2 || size > file.size - at - 2)
            break;
        if (marker == APP1 && size > 8 && !memcmp(data + at + 4, "Exif\0", 6))
            return (struct bytes){ .data = file.data + at + 10,
                                   .size = size - 8 };
        at += 2 + size;
    }
    return (struct bytes){ 0 };
}

void retag_set_exif(uint8_t *exif, size_t size, unsigned orientation)
{
    const unsigned thumbnail = exif_thumbnail_find(exif, size).orientation;
    exif_retag(exif, size, orientation,
               xform_then(xform_inverse(xform_from_exif(thumbnail)),
                          xform_from_exif(orientation)));
}

/* ---- Reading --------------------------------------------------------------*/

/* Tags of raw files that come before the orientation where readers look for it.
 */
static const struct {
    unsigned tag;
    const char *maker;
} others[] = { { 34310, "Leaf" }, { 46274, "Imacon" } };

/* Returns a packet of XMP, in the file. */
static struct bytes find_xmp(const struct directory *dir)
{
    const struct field *field = directory_find(dir, TAG_PACKET);
    return field && tiff_size_of(field->type) == 1
               ? (struct bytes){ .data = field->data, .size = field->size }
               : (struct bytes){ 0 };
}

/* Panasonic's own tags. */
enum {
    TAG_SENSOR_WIDTH = 2,
    TAG_SENSOR_HEIGHT = 3,
    TAG_SENSOR_BITS = 10,
    TAG_RAW_FORMAT = 45,
    TAG_RAW_OFFSET = 280,
};

/* Returns where the last of strips or tiles ends, or a JPEG file. Some cameras
 * write no place. The one strip of a picture that is not compressed has as many
 * bytes as its samples take, whatever it says. */
static uint64_t find_end(const struct directory *dir, unsigned places,
                         unsigned sizes)
{
    const struct directory_parts parts = directory_parts_of(dir, places, sizes);
    const uint64_t width = directory_number(dir, TAG_WIDTH, 0, UINT32_MAX),
                   height = directory_number(dir, TAG_HEIGHT, 0, UINT32_MAX),
                   bits = directory_number(dir, TAG_BITS, 0, 1),
                   samples = directory_number(dir, TAG_SAMPLES, 0, 1);
    uint64_t end = 0, most = UINT64_MAX / 2;
    if (places == TAG_STRIP_OFFSETS && parts.count == 1 &&
        directory_number(dir, TAG_COMPRESSION, 0, 1) == 1 && width < 1 << 20 &&
        height < 1 << 20 && bits <= 64 && samples <= 256)
        most = (width * bits * samples + 7) / 8 * height;
    for (uint64_t i = 0; i < parts.count; i++) {
        const uint64_t begin = directory_part(&parts, PART_AT, i),
                       size = directory_part(&parts, PART_SIZE, i),
                       bytes = size < most ? size : most;
        if (begin != UINT32_MAX && bytes > 0 && begin <= UINT64_MAX / 2 &&
            begin + bytes > end)
            end = begin + bytes;
    }
    return end;
}

/* Takes note of what a directory says. The first picture gives the size of a
 * TIFF file, the largest that of a raw one. */
static int read_tags(struct tiff_tags *tags, const struct directory *dir,
                     struct err *err)
{
    const bool first = dir == tags->all.first, camera = tags->all.camera;
    const bool exif = dir->tag == TAG_EXIF_IFD;
    struct stream_info *info = &tags->info;
    struct orientation *o = &info->orientation;
    const struct field *field = directory_find(dir, TAG_ORIENTATION);
    const struct bytes xmp = find_xmp(dir);
    const unsigned value = directory_orientation(dir);
    const uint64_t width = directory_number(
        dir, TAG_WIDTH, 0, directory_number(dir, TAG_SENSOR_WIDTH, 0, 0));
    const uint64_t height = directory_number(
        dir, TAG_HEIGHT, 0, directory_number(dir, TAG_SENSOR_HEIGHT, 0, 0));
    if (field && (!field_has_integers(field) || field->count != 1))
        return fail(err, "its orientation tag is malformed");
    if (first && xmp.size)
        xmp_note(xmp.data, xmp.size, o);
    if (first || (camera && !exif)) {
        if (!o->value || o->place != TAG_IFD)
            orientation_note(o, TAG_IFD, value);
        else if (value && value != o->value)
            tags->differs = value;
        if (width <= UINT32_MAX && height <= UINT32_MAX &&
            width * height > (uint64_t)info->width * info->height) {
            info->width = (uint32_t)width;
            info->height = (uint32_t)height;
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (camera && !exif && directory_find(dir, others[i].tag))
            return fail_unread(err,
                               "a raw picture of %s, whose readers ignore the "
                               "orientation tag; convert it to DNG first",
                               others[i].maker);
    return 0;
}

int retag_cut(const struct load_opts *opts, struct err *err)
{
    if (!opts->tolerant)
        return fail(err, "it is cut: what it names ends behind its own end; "
                         "--tolerant turns it all the same");
    warn(opts->warnings, "it is cut: what it names ends behind its own end");
    return 0;
}

int retag_read(struct tiff_tags *tags, struct bytes file, bool camera,
               const struct load_opts *opts, struct err *err)
{
    static const uint16_t places[][2] = {
        { TAG_STRIP_OFFSETS, TAG_STRIP_SIZES },
        { TAG_TILE_OFFSETS, TAG_TILE_SIZES },
        { TAG_JPEG_FILE, TAG_JPEG_SIZE }, /* of raw files */
    };
    enum { EARLIER = 14, FEW = 4096 };
    const struct directories *all = &tags->all;
    uint64_t end = 0;
    *tags = (struct tiff_tags){ .all = { .file = file,
                                         .opts = opts,
                                         .tags_only = true,
                                         .camera = camera } };
    if (directories_read(&tags->all, err))
        return -1;
    const bool panasonic = camera && memcmp(file.data, "IIU", 3) == 0;
    if (panasonic) {
        /* The samples take so many bytes at least: by their format and bits so
         * many pixels have 16 bytes, and those of later formats any. What the
         * tag counts may be that before they were packed, or 0. Files made for
         * their metadata have next to none. */
        static const uint8_t pixels[][2] = { { 10, 9 }, { 14, 11 }, { 10, 9 } };
        const struct directory *dir = all->first;
        const uint64_t width = directory_number(dir, TAG_SENSOR_WIDTH, 0, 0),
                       height = directory_number(dir, TAG_SENSOR_HEIGHT, 0, 0),
                       strip = directory_number(dir, TAG_STRIP_OFFSETS, 0, 0),
                       format = directory_number(dir, TAG_RAW_FORMAT, 0, 0);
        const bool fine = directory_number(dir, TAG_SENSOR_BITS, 0, 0) == 14;
        const unsigned packed =
            format >= 5 && format <= 7 ? pixels[format - 5][fine] : EARLIER;
        end = directory_number(dir, TAG_RAW_OFFSET, 0, strip);
        if (format <= 7 && width <= UINT16_MAX && height <= UINT16_MAX &&
            (end > file.size || file.size - end >= FEW))
            end += width / packed * 16 * height;
    }
    for (struct directory *dir = all->first; dir; dir = dir->then) {
        if (read_tags(tags, dir, err))
            return -1;
        for (unsigned k = dir == all->first && panasonic;
             k < 2u + camera && dir->tag != TAG_EXIF_IFD; k++) {
            const uint64_t last = find_end(dir, places[k][0], places[k][1]);
            end = last > end ? last : end;
        }
    }
    return end > file.size || all->cut ? retag_cut(opts, err) : 0;
}

/* ---- Writing --------------------------------------------------------------*/

/* All tags are set, since not every reader takes the first. A preview, a JPEG
 * file that in Panasonic's is in a tag of its own, follows if it has said the
 * same. */
int retag_write(struct bytes *out, const struct tiff_tags *tags, enum xform op,
                struct err *err)
{
    const struct directories *all = &tags->all;
    const struct bytes file = all->file;
    const unsigned wide = tiff_offset_size(all->form),
                   was = tags->info.orientation.value;
    uint64_t link = wide; /* where the place of the next page stands */
    unsigned page = 1;    /* what the page says afterwards */
    if (!bytes_append(out, file.data, file.size))
        return fail_memory(err, "no memory for the picture");
    const struct directory *dir = op == XFORM_NONE ? NULL : all->first;
    for (; dir; dir = dir->then) {
        const bool first = dir == all->first,
                   is_exif = dir->tag == TAG_EXIF_IFD;
        const unsigned turned = xform_retag(
            all->camera || first ? was : directory_orientation(dir), op);
        const struct field *own = directory_find(dir, TAG_PANASONIC_JPEG);
        const uint64_t strip =
            directory_number(dir, TAG_STRIP_OFFSETS, 0, file.size);
        const struct bytes xmp = find_xmp(dir),
                           exif = retag_find_exif(
                               file, own && own->size
                                         ? (uint64_t)(own->data - file.data)
                                         : directory_number(dir, TAG_JPEG_FILE,
                                                            0, strip));
        page = dir->tag ? page : turned;
        if (xmp.size)
            xmp_turn(out->data + (xmp.data - file.data), xmp.size, XFORM_NONE,
                     dir->tag == TAG_SUB_IFDS ? turned : page);
        if (all->camera && !is_exif && exif.size &&
            exif_tag(exif.data, exif.size) == (was ? was : 1))
            retag_set_exif(out->data + (exif.data - file.data), exif.size,
                           page);
        for (const struct field *field = dir->field;
             field < dir->field + dir->nfields; field++)
            if (field->tag == TAG_ORIENTATION && field_has_integers(field))
                tiff_write(dir->form, out->data + (field->data - file.data),
                           tiff_size_of(field->type), is_exif ? page : turned);
        if (dir->tag)
            continue;
        const size_t at = out->size + out->size % 2;
        const bool adds = !directory_find(dir, TAG_ORIENTATION) && page != 1 &&
                          (first || !all->camera);
        if (adds) {
            const size_t end = (size_t)dir->link,
                         size = end - (size_t)dir->at + 4 + 3 * wide;
            const struct tiff_ifd ifd = { (size_t)dir->at, end,
                                          out->size - end < wide ? 0 : end };
            if (!all->form.big &&
                (dir->nfields == UINT16_MAX || at + size > UINT32_MAX))
                return fail(err, "the orientation tag has no room in its first "
                                 "4 GB");
            if (!tiff_add_orientation(out, all->form.big_endian, all->form.big,
                                      &ifd, page))
                return fail_memory(err, "no memory for the picture");
            tiff_write(all->form, out->data + link, wide, at);
        }
        link = adds ? out->size - wide : dir->link;
    }
    return 0;
}

int retag_tiff(struct bytes *out, struct stream_info *info, struct bytes file,
               enum xform op, const struct load_opts *opts, struct err *err)
{
    struct tiff_tags tags;
    int status = retag_read(&tags, file, false, opts, err);
    *info = tags.info;
    if (status == 0)
        status = retag_write(out, &tags, op, err);
    directories_free(&tags.all);
    return status;
}

/* ---- Raw or not -----------------------------------------------------------*/

/* Of DNG; of what a sensor has measured, behind a filter of colors or linear
 * (DNG 1.7); of samples coded as only cameras do: Sony, Epson, Samsung, Nikon,
 * Kodak, Pentax; and of those that are refused. */
bool retag_is_raw(struct bytes file)
{
    enum { PAGES = 8, TAG_DNG_VERSION = 50706 }; /* raw files have no more */
    static const struct {
        uint16_t tag, value;
    } signs[] = {
        { TAG_PHOTOMETRIC, 32803 }, { TAG_PHOTOMETRIC, 34892 },
        { TAG_COMPRESSION, 32767 }, { TAG_COMPRESSION, 32769 },
        { TAG_COMPRESSION, 32770 }, { TAG_COMPRESSION, 34713 },
        { TAG_COMPRESSION, 65000 }, { TAG_COMPRESSION, 65535 },
    };
    struct directories all = {
        .file = file, .tags_only = true, .camera = true, .most = PAGES
    };
    struct err unheard;
    bool found = false;
    (void)directories_read(&all, &unheard);
    for (struct directory *dir = all.first; dir && !found; dir = dir->then) {
        if (dir->tag == TAG_EXIF_IFD)
            continue;
        found = directory_find(dir, TAG_DNG_VERSION);
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
            found = found ||
                    directory_number(dir, signs[i].tag, 0, 0) == signs[i].value;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            found = found || directory_find(dir, others[i].tag);
    }
    directories_free(&all);
    return found;
}
